/* shell.h — what surrounds a session: where its results and diagnostics go, the prompt or the files that
 * feed it, and the commands.
 *
 * Results are written to standard output, diagnostics to standard error, through the functions below. One
 * shell serves a process; what must be reached from a signal or from Readline, which pass no pointer, is in
 * interrupt.c and line.c and documented there. */
#ifndef TD_SHELL_SHELL_H
#define TD_SHELL_SHELL_H

#include "repl/lang/session.h"
#include "repl/shell/options.h"
#include "repl/shell/print.h"

enum { EXIT_FINE = 0, EXIT_EVALUATION = 1, EXIT_USAGE = 2, EXIT_ASSERT = 3, EXIT_INTERRUPT = 130 };

typedef struct shell {
    context *c;
    session *session;
    const shell_options *options;
    bool json;        /* echoed values as JSON lines */
    bool quiet;       /* nothing is echoed (the start-up file) */
    bool interactive; /* a prompt on a terminal */
    bool colour_out, colour_err;
    bool leaving; /* :quit was given */
    int leaving_status;
    int output_errno;         /* writing results failed: why; 0: it did not */
    int nesting;              /* of :run */
    const char *command_text; /* of the running command, and where it stands */
    span command_where;
    int last_error; /* number of the last error shown, for :explain */
    void *pictures; /* what profiler and picture commands keep between calls (their file frees it) */
    void (*pictures_free)(struct shell *sh);
} shell;

/* Runs the program; returns the exit status. */
int shell_main(int argc, char **argv);

/* Opens the engine and a session of a shell whose other fields are set; shell_close frees both, also after a
 * failure, whose reason is in sh->c->err (sh->c NULL: out of memory). */
status shell_open(shell *sh);
void shell_close(shell *sh);

/* ---- output (output.c) ---- */

/* Writes to standard output or error. The texts are emptied. shell_results fails, with the context's error
 * set, when the output can't be written or memory ran out while `out` was made. */
status shell_results(shell *sh, text *out);
void shell_diagnostics(shell *sh, text *out);
/* The pending error of the context as people see it. Clears nothing. */
void shell_show_error(shell *sh);
/* "warning: ..." */
void shell_warn(shell *sh, span where, const char *message);
status shell_flush(shell *sh);

/* The size of the window, or 80 x 24 when the output is no terminal; colours if wanted. */
print_options shell_window(const shell *sh);

/* ---- running (run.c) ---- */

/* Runs text as the language with this shell as its host. `name` as in session_run. Errors are left in the
 * context. */
status shell_run_text(shell *sh, const char *name, const char *content, size_t length);
/* The same with a part of what runs (a command's argument). */
status shell_run_part(shell *sh, span where);
/* Reads a file and runs it. */
status shell_run_file(shell *sh, const char *path);
/* The exit status for a failure. */
int shell_exit_status(status code);

/* ---- commands (commands.c) ---- */

/* Runs the command in `line` (":name args" or "?name"), `length` bytes at `where`. */
status shell_command(shell *sh, const char *line, size_t length, span where);

/* ---- the prompt (line.c) ---- */

/* Reads and runs statements until :quit or the end of input; returns the exit status. */
int line_loop(shell *sh);
/* Appends the last `most` statements typed, oldest first, numbered. */
void line_history(text *out, int most, bool json);

/* ---- interrupts (interrupt.c) ---- */

/* Lets Ctrl-C set c's interrupt flag, from now on for this process's only shell. */
void interrupt_install(context *c, bool interactive);
/* Before the context goes. */
void interrupt_remove(void);

#endif
