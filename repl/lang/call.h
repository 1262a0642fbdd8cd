/* call.h — the parts of a call, for the files that take part in one. */
#ifndef TD_LANG_CALL_H
#define TD_LANG_CALL_H

#include "repl/lang/eval.h"

/* A function value of a prototype, capturing from the running function. */
status make_closure(session *s, const prototype *p, value *out);

/* Runs a function; `extra` locals are added to its parameters (freeze feeds placeholders so). */
status call_function(session *s, const function_object *f, const local *extra, size_t extra_count,
                     const arguments *a, value *out);
/* Marks an argument of a call as the place of the pending error: the one with this name, if it was given by name, else
 * the one at `position` (-1: none), unless it stands before the call (x.f(), x |> f()). */
void mark_argument(session *s, const arguments *a, int position, const symbol *name);
status call_builtin(session *s, const builtin *b, const arguments *a, value *out);

/* Do the parameters, which are the frame's first locals, have the types that are written? Names of sizes mean
 * one size per call. */
status check_annotations(session *s, const function_object *f, const frame *fr);

/* The function that v.name(..) calls (a new reference), and whether v is its first argument. */
status method_of(session *s, value v, const ast_node *n, value *f, bool *with_self);

status shape_value(session *s, tensor *t, value *out); /* a tuple of weak integers */
dtype dtype_alone(const tensor *t);                    /* what .dtype says */

#endif
