/* interrupt.c — Ctrl-C.
 *
 * The handler sets the context's flag, which kernels, loops and the evaluator poll. Signals carry no
 * pointer, so the flag's address is kept here: one of the documented pieces of global state. Without a
 * prompt to come back to, a second Ctrl-C while the first is still pending ends the process. */
#include <signal.h>
#include <unistd.h>

#include "repl/shell/shell.h"

static atomic_int *volatile flag;
static volatile sig_atomic_t ends_process;

static void on_interrupt(int number) {
    (void)number;
    atomic_int *f = flag;
    if (f && atomic_exchange(f, 1) != 0 && ends_process) _exit(EXIT_INTERRUPT);
}

void interrupt_install(context *c, bool interactive) {
    flag = &c->interrupt;
    ends_process = !interactive;
    /* Without SA_RESTART: a read that waits comes back and sees the flag. */
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = SIG_IGN; /* a closed pipe shows as a failed write */
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL); /* and so does the largest size that a file may have */
}

void interrupt_remove(void) {
    signal(SIGINT, SIG_DFL);
    flag = NULL;
}
