/* tape.h — the record of what was computed from watched tensors, and the walk back over it.
 *
 * While a tape is on the context's stack, op_apply records every differentiable call that depends on a tensor
 * the tape knows. Tapes nest: the gradient's own ops are recorded on the tapes outside, which is how
 * gradients of gradients (and jvp by double vjp) come about. The tape keeps its tensors alive. Nothing here
 * recurses. */
#ifndef TD_AUTOGRAD_TAPE_H
#define TD_AUTOGRAD_TAPE_H

#include "engine/ops/op.h"

typedef struct tape tape;

tape *tape_new(context *c); /* NULL with the error set when out of memory */
void tape_free(tape *t);    /* must not be on the stack; NULL is fine */

/* The stack of recording tapes. Pop removes the innermost, which must be t. */
void tape_push(context *c, tape *t);
void tape_pop(context *c, tape *t);

/* Marks x as something to differentiate by. A dtype that is not a float is refused (hint: 3.0). */
status tape_watch(tape *t, tensor *x);
/* Watch every float operand of every later op as well (language's `tape { }`: any value on the tape can be
 * asked for). */
void tape_watch_all(tape *t);
/* Is x watched or computed from something watched? */
bool tape_knows(const tape *t, const tensor *x);
/* Records a call that succeeded; called by op_apply for each tape on the stack. */
status tape_record(tape *t, const op_call *call, tensor *const *out);
/* Number of recorded calls. */
int64_t tape_length(const tape *t);

/* Gradients of y (weighted by `seed` of y's shape; NULL: y must be a scalar, and 1 is used) by x[0 .. nx).
 * out[i] gets a new reference shaped like x[i]: zeros where y does not depend on it. t must not be on the
 * stack; the tapes that are record the walk. */
status tape_gradient(tape *t, tensor *y, tensor *seed, tensor *const *x, int nx, tensor **out);
/* The same for several results at once: ys[i] weighted by seeds[i]. */
status tape_vjp(tape *t, tensor *const *ys, tensor *const *seeds, int ny, tensor *const *x, int nx,
                tensor **out);

/* Sums g over the axes that broadcasting added or stretched, so that it has the shape of m; a new reference.
 * The one place where that happens. */
tensor *tape_unbroadcast(context *c, tensor *g, const meta *m);

#endif
