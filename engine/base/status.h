/* status.h — what a function that can fail returns, and the record that says why.
 *
 * Every fallible function returns a `status`; the message is written where the fault is known, into an
 * `error` record with fixed buffers, so that reporting "out of memory" needs no memory. The first failure
 * wins: `fail` leaves a record that is already set alone, so that callers can add nothing by accident. */
#ifndef TD_BASE_STATUS_H
#define TD_BASE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* The class of a failure; STATUS_OK is 0 so that `if (f(...)) return` reads as "if it failed". */
typedef enum status {
    STATUS_OK = 0,
    STATUS_MEMORY,      /* an allocation failed or the byte limit was reached */
    STATUS_INTERRUPT,   /* Ctrl-C */
    STATUS_SYNTAX,      /* the text is not in the language */
    STATUS_NAME,        /* an unknown name */
    STATUS_TYPE,        /* a value of the wrong kind */
    STATUS_SHAPE,       /* shapes do not fit */
    STATUS_DTYPE,       /* dtypes do not fit */
    STATUS_INDEX,       /* an index out of range */
    STATUS_VALUE,       /* a value outside the function's domain */
    STATUS_GRAD,        /* a gradient that does not exist */
    STATUS_FREEZE,      /* a program that can't be frozen */
    STATUS_IO,          /* files */
    STATUS_ASSERT,      /* a failed assert() of a program */
    STATUS_LIMIT,       /* recursion depth and other documented limits */
    STATUS_UNSUPPORTED, /* this build or machine lacks it */
    STATUS_COUNT
} status;

/* A range of bytes [begin, end) in source text number `source` (0: no source). Carried from the lexer to
 * graph nodes and timeline events. */
typedef struct span {
    uint32_t source;
    uint32_t begin, end;
} span;

/* Why something failed. All strings are NUL-terminated and cut to fit. */
typedef struct error {
    status code;
    int number;         /* E101: see docs and :explain; 0 when nothing is set */
    char message[400];  /* one line: what was wrong, with numbers in it */
    char operands[400]; /* lines separated by '\n': what each operand was; may be empty */
    char hint[400];     /* a fix that works; may be empty */
    span where;         /* the offending text; source 0 when unknown */
} error;

/* Sets `e` (unless it is already set) and returns `code`. `number` picks the row of errors.def. */
status fail(error *e, status code, int number, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds the fix, or a line about an operand, to an error that was just set; both return e->code. */
status fail_hint(error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
status fail_operand(error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Out of memory while allocating `bytes`. Returns STATUS_MEMORY. */
status fail_memory(error *e, uint64_t bytes);

/* Makes `e` empty again. */
void error_clear(error *e);

/* "shape", "dtype", ...: the word printed after the number. */
const char *status_name(status code);

#endif
