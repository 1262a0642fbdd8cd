/* builtin.h — functions that are written in C.
 *
 * A builtin is described by its signature, from which arguments are bound before it runs, and which help and
 * completion show: parameters separated by ", ", each "name", "name=default" (the default's text is for
 * readers: an argument that is not given arrives as VALUE_ABSENT), or "*name", which collects the remaining
 * positional arguments into a tuple. A keyword must be one of the names. */
#ifndef TD_LANG_BUILTIN_H
#define TD_LANG_BUILTIN_H

#include "repl/lang/value.h"

typedef struct session session;

enum { BUILTIN_MAX_PARAMS = 8 };

/* `args` holds one value per parameter, borrowed. On success *out is a new reference (a kind other than
 * VALUE_ABSENT); on failure the error of session_context(s) is set. */
typedef status (*builtin_fn)(session *s, const value *args, value *out);

typedef struct builtin {
    const char *name;      /* "t.grad": a method, whose first parameter is what stands before the point */
    const char *signature; /* "x, axis=None, *sizes" */
    builtin_fn run;
    const char *doc; /* one line */
} builtin;

/* Says that the error that was just set is about this parameter, so that its argument is marked; returns the status. */
status blame(session *s, const char *parameter);

/* Helpers for reading arguments: fail with the argument's name in the message. */
status arg_tensor(session *s, const char *function, const char *name, value v, tensor **out); /* borrowed */
status arg_int(session *s, const char *function, const char *name, value v, int64_t *out);
status arg_real(session *s, const char *function, const char *name, value v, double *out);
status arg_bool(session *s, const char *function, const char *name, value v, bool *out);
status arg_dtype(session *s, const char *function, const char *name, value v, dtype *out);
status arg_string(session *s, const char *function, const char *name, value v, const char **out,
                  size_t *length);
/* An integer, a tuple of integers or an integer vector. Sizes may be symbols while freezing. */
status arg_ints(session *s, const char *function, const char *name, value v, int_list *out);

#endif
