/* script.h — running programs of the language in tests, with what they echo and print as text. */
#ifndef TD_HARNESS_SCRIPT_H
#define TD_HARNESS_SCRIPT_H

#include "repl/lang/session.h"

typedef struct script {
    context *c;
    session *s;
    text out; /* of the last run: one line per echo or print, values as value_dump writes them */
} script;

/* A session of its own; fails the test when there is none. */
void script_open(script *p);
void script_close(script *p);

/* Runs text. *out has the echoes ("x = f32[2]" for an assignment's header); after a failure it ends with the error as
 * it is rendered. */
status script_run(script *p, const char *code);

/* Runs `code` in a session of its own and compares what it shows with `expected` (without the final newline). */
void script_expect(const char *code, const char *expected);
/* The same for a program that fails: its last error's number, and text that the rendered error contains. */
void script_expect_error(const char *code, int number, const char *contains);

#endif
