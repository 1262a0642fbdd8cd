/* session.h — one conversation: its bindings, its texts, its history, and running text in it.
 *
 * session_run parses a text and runs its statements one after the other. Each statement is a transaction over
 * bindings and the random stream: an error or an interrupt leaves both as they were before it, and what ran
 * before it stays. The host (prompt, file runner, test) is told what to show through callbacks. */
#ifndef TD_LANG_SESSION_H
#define TD_LANG_SESSION_H

#include "engine/engine.h"
#include "repl/lang/builtin.h"
#include "repl/lang/source.h"
#include "repl/lang/value.h"

/* What a top-level statement has to show. */
typedef enum echo_kind {
    ECHO_VALUE, /* an expression: print the value */
    ECHO_ASSIGN /* an assignment: print the name and the value's header line; once per name */
} echo_kind;

typedef struct session_echo {
    echo_kind kind;
    value value;      /* borrowed; never None for ECHO_VALUE */
    const char *name; /* ECHO_ASSIGN: the name that was bound */
    int number;       /* ECHO_VALUE: its n in Out[n] */
    span where;       /* the statement */
} session_echo;

/* Callbacks; any may be NULL (echo, warn: nothing is shown; print: output is dropped; command: commands are an
 * error). Those that return a status set session_context(s)->err when they fail, and the statement fails. */
typedef struct session_host {
    void *user;
    status (*echo)(void *user, session *s, const session_echo *what);
    status (*print)(void *user, session *s, const value *items, size_t count); /* print(..): one line */
    /* A workbench command: text from the `:` or `?` on. A failure stops the text that contains it. */
    status (*command)(void *user, session *s, const char *text, size_t length, span where);
    void (*warn)(void *user, session *s, span where, const char *message); /* one line */
} session_host;

/* A session over a context, which outlives it. NULL when out of memory or when the prelude fails (the
 * context's error says why). */
session *session_new(context *c);
void session_free(session *s); /* NULL is fine */

context *session_context(const session *s);
const source_table *session_sources(const session *s);
symbol_table *session_symbols(session *s);

/* Runs `content`. `name`: what errors call the source; NULL for a line of the prompt. `host` is used during the
 * call only. Runs do not nest: a command must not call it. On failure the error is in session_context(s)->err
 * until the next run, and session_render_error shows it. */
status session_run(session *s, const char *name, const char *content, size_t length,
                   const session_host *host);
void session_render_error(const session *s, int width, text *out);

/* As session_run, with the statements in bytes [begin, end) of a source (a command's argument), which keep their places.
 * May be called from a command. */
status session_run_part(session *s, span where, const session_host *host);

/* Evaluates the expression in bytes [begin, end) of source `source` (a command's argument) without echo: *out
 * is a new reference. May be called from a command. */
status session_evaluate(session *s, span where, value *out);

/* Runs the statements in bytes [begin, end) of source `source` (a command's argument) as one transaction,
 * without echo. With `keep` false it is a rehearsal: what it prints or warns of is dropped, and bindings and
 * the random stream are as before when it returns. May be called from a command. */
status session_perform(session *s, span where, bool keep);

/* ---- bindings ---- */

/* The value of a top-level name, borrowed; NULL when it is not bound by the user. */
const value *session_get(const session *s, const char *name);
/* Binds a top-level name (from a command or the host); part of the running statement when there is one. */
status session_set(session *s, const char *name, value v);
/* Every top-level name that is bound, in the order of first binding. Stops when `visit` returns false. */
void session_each(const session *s, bool (*visit)(void *user, const symbol *name, value v), void *user);

/* Every name that can be called or read besides bindings: builtins, the prelude's functions, rows of ops.def,
 * constants. */
typedef struct session_function {
    const char *name;
    const char *signature; /* "x, axis=None, keep=false"; NULL for constants */
    const char *doc;       /* one line; may be "" */
    value value;           /* borrowed */
} session_function;
/* `signature` and `doc` are good until the next call of these two. */
status session_each_function(session *s, bool (*visit)(void *user, const session_function *f), void *user);
/* One of them by name; false when there is none (or with the error set when memory ran out). */
bool session_find_function(session *s, const char *name, session_function *out);

/* More builtins, such as load and save: `list` ends with a NULL name and outlives the session. */
status session_add_builtins(session *s, const builtin *list);

/* ---- history ---- */

/* Takes back, or brings back, the bindings and the random state of the last statement that changed any. When
 * there is none, they fail with STATUS_VALUE. The names that changed are appended to *names ("a, b"; may be
 * NULL). */
status session_undo(session *s, text *names);
status session_redo(session *s, text *names);

/* `_` and Out[n]: the value echoed as number n (1 is the first; the last SESSION_OUTPUTS are kept), borrowed;
 * NULL when it is gone or never was. */
enum { SESSION_OUTPUTS = 100, SESSION_UNDO = 100 };
const value *session_output(const session *s, int n);
int session_output_count(const session *s); /* n of the last one */
/* Drops outputs and undo history, which hold memory. */
void session_forget(session *s);

#endif
