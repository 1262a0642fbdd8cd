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

/* A function that was running when something failed. */
typedef struct error_call {
    char name[40];
    span where;     /* its call; source 0: in a text that is not shown */
    uint32_t times; /* so many of its calls from there stood right above each other: a recursion */
} error_call;

/* Of a deep chain of calls the innermost and the outermost are kept. */
enum { ERROR_CALLS_INNER = 6, ERROR_CALLS_OUTER = 3, ERROR_CALLS = ERROR_CALLS_INNER + ERROR_CALLS_OUTER };

/* Why something failed. All strings are NUL-terminated and cut to fit. */
typedef struct error {
    status code;
    int number;         /* E101: see docs and :explain; 0 when nothing is set */
    char message[400];  /* one line: what was wrong, with numbers in it */
    char operands[400]; /* lines separated by '\n': what each operand was; may be empty */
    char hint[400];     /* a fix that works; may be empty */
    span where;         /* the offending text; source 0 when unknown */
    error_call calls[ERROR_CALLS];
    uint32_t call_count;     /* of `calls`, innermost first */
    uint32_t calls_left_out; /* behind the first ERROR_CALLS_INNER */
} error;

/* Sets `e` (unless it is already set) and returns `code`. `number` picks the row of errors.def. */
status fail(error *e, status code, int number, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds the fix, or a line about an operand, to an error that was just set; both return e->code. */
status fail_hint(error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
status fail_operand(error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Out of memory while allocating `bytes`. Returns STATUS_MEMORY. */
status fail_memory(error *e, uint64_t bytes);

/* Adds the next outer running function to an error that was just set. */
void error_called(error *e, const char *name, span where);
/* The same for one that runs under a name of its own another function, which was perhaps added for this call. */
void error_renamed(error *e, const char *name, span where);

/* Makes `e` empty again. */
void error_clear(error *e);

/* "shape", "dtype", ...: the word printed after the number. */
const char *status_name(status code);

#endif
