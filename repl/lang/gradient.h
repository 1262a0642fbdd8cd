/* gradient.h — grad and its kin as values: functions derived from functions, pullbacks, tapes.
 *
 * A derived function calls the function that it comes from with stand-ins for the arguments it differentiates
 * by (the same contents under identities of their own, so that the same tensor may be passed twice), records
 * on a tape of its own, and walks back. Tapes nest, so any of these may be applied to any other. */
#ifndef TD_LANG_GRADIENT_H
#define TD_LANG_GRADIENT_H

#include "repl/lang/eval.h"
#include "repl/lang/leaves.h"

typedef enum derived_kind {
    DERIVED_GRAD,
    DERIVED_VALUE_AND_GRAD,
    DERIVED_JACOBIAN,
    DERIVED_HESSIAN
} derived_kind;

enum { MAX_WRT = 8 };

typedef struct derived_object {
    object head;
    derived_kind derived;
    value f;
    int wrt[MAX_WRT], wrt_count; /* numbers of the arguments to differentiate by */
    bool wrt_tuple;              /* wrt was a tuple: the gradient is one too */
} derived_object;

/* A call's arguments with those to differentiate by replaced by watched stand-ins. */
typedef struct watched_call {
    arguments a;
    value *pos; /* [a.npos], owned */
    tape *tape;
    tensor_list x; /* the stand-ins */
} watched_call;

/* Copies the arguments and watches those with numbers in `wrt`; one without float tensors is an error unless
 * `lenient`. w must be freed also after a failure. */
status watched_make(session *s, const arguments *a, const int *wrt, int wrt_count, bool lenient,
                    watched_call *w);
/* Calls f with the tape on the stack. */
status watched_run(session *s, value f, watched_call *w, span where, value *out);
void watched_free(watched_call *w);
/* From gradients in the order of the stand-ins to structures like the arguments, with None for what is no
 * parameter; *out is a tuple of them, or the only one. */
status gradients_alike(session *s, const value *pos, const int *wrt, int wrt_count, bool tuple,
                       tensor *const *g, value *out);

typedef struct pullback_object {
    object head;
    watched_call w;
    value y;        /* the function's result */
    tensor_list ys; /* its float leaves */
    int wrt[MAX_WRT], wrt_count;
    bool tuple; /* several arguments: the gradient is a tuple */
} pullback_object;

typedef struct tape_object {
    object head;
    tape *tape;
} tape_object;

status derived_call(session *s, derived_object *d, const arguments *a, span where, value *out);
status pullback_call(session *s, pullback_object *p, const arguments *a, value *out);
status eval_tape(session *s, const ast_node *n, value *out);
/* The builtin behind t.grad(y, x). */
value tape_method(session *s);
/* "grad", "value_and_grad", ... */
const char *derived_name(derived_kind kind);

/* Is it grad, value_and_grad, jacobian or hessian? They only make a function. */
bool builtin_derives(const builtin *b);

/* x under an identity of its own, on the outer tapes as the same value. */
tensor *gradient_stand_in(session *s, tensor *x);

#endif
