/* commands.h — what a command sees, and the table of commands.def. A command is a function in a file of its
 * own or with its kin (cmd_*.c), and a row; nothing else needs to know of it. */
#ifndef TD_SHELL_COMMANDS_H
#define TD_SHELL_COMMANDS_H

#include "repl/shell/shell.h"

#define GROUP(title)
#define COMMAND(name, arguments, doc, function) status function(shell *sh, const char *args);
#include "repl/shell/commands.def"
#undef COMMAND
#undef GROUP

/* `args`: what follows the name on the line, without blanks around it. A failure is left in the context. */
typedef status (*command_fn)(shell *sh, const char *args);

typedef struct command {
    const char *name; /* NULL: a group's title, in doc */
    const char *arguments, *doc;
    command_fn run;
} command;

extern const command commands[];
extern const int command_count;
const command *command_find(const char *name, size_t length);

/* Name of topic i of :help, NULL behind the last (cmd_help.c). */
const char *help_topic(int i);

/* Options of a command, taken from either end of its arguments; what is between them is `rest`. --json is
 * given when the program's own --json is. */
typedef struct command_option {
    const char *name; /* "--runs" */
    bool valued;      /* the next word (which may be quoted) is its value */
    bool given;
    char *value; /* owned; NULL without one */
} command_option;
typedef struct option_args {
    const char *rest; /* into the command's text, not NUL-terminated at `length` */
    size_t length;
} option_args;
/* There are `count` options; command_options_free frees their values, also after a failure. */
status command_options(shell *sh, const char *args, command_option *options, int count, option_args *out);
void command_options_free(command_option *options, int count);

/* Arguments taken apart: --json and --out FILE from either end (FILE may be quoted), and the rest between
 * them. */
typedef struct command_args {
    bool json;
    char *out;        /* owned; NULL when not given */
    const char *rest; /* into args, not NUL-terminated at `length` */
    size_t length;
} command_args;
status command_split(shell *sh, const char *args, command_args *a);
void command_args_free(command_args *a);

/* Where a part of the running command's args is. */
span command_place(const shell *sh, const char *part, size_t length);
/* The value of an expression that stands within the running command's args; a new reference. */
status command_evaluate(shell *sh, const char *expression, size_t length, value *out);

/* A name of a file as a command's argument: quotes around it are taken off. Freed by the caller; NULL with
 * the error set. */
char *command_path(shell *sh, const char *s, size_t length);

/* "`:vars` takes no arguments" and the like. */
status command_usage(shell *sh, const char *name);

#endif
