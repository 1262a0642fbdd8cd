/* main.c — the program `tapedeck`; all of it is in repl/shell/. */
#include "repl/shell/shell.h"

int main(int argc, char **argv) {
    return shell_main(argc, argv);
}
