/* apply.h — the one way to run an operation.
 *
 * op_apply promotes the operands (numerics of language.md, "Numbers"), applies the row's shape rule, hands
 * the call to the context's executor and records it on the context's tapes. Mixed and weak operands become
 * explicit cast ops, so that graphs and tapes see them. */
#ifndef TD_OPS_APPLY_H
#define TD_OPS_APPLY_H

#include "engine/ops/attrs.h"
#include "engine/ops/op.h"

/* Runs op `id` on nin operands (borrowed) with its attribute struct (NULL: defaults). out[0 .. nout) get new
 * references, owned by the caller; on failure they are NULL and c->err says why. A NULL operand is a poisoned
 * value of a failed call: the failure is passed on. */
status op_apply(context *c, op_id id, tensor *const *in, int nin, const void *attrs, tensor **out);

/* One result, as a value: NULL on failure. New references. */
tensor *op_call0(context *c, op_id id, const void *attrs);
tensor *op_call1(context *c, op_id id, tensor *x, const void *attrs);
tensor *op_call2(context *c, op_id id, tensor *x, tensor *y, const void *attrs);
tensor *op_call3(context *c, op_id id, tensor *x, tensor *y, tensor *z, const void *attrs);

/* Common calls with attributes spelled out; new references, NULL on failure. */
tensor *op_cast(context *c, tensor *x, dtype t, bool weak);
tensor *op_reshape(context *c, tensor *x, const shape *s);
tensor *op_expand(context *c, tensor *x, const shape *s);
tensor *op_transpose(context *c, tensor *x, int rank, const int64_t *axes);
tensor *op_reduce(context *c, op_id id, tensor *x, const int_list *axes, bool keep); /* axes NULL: all */
tensor *op_full(context *c, double value, const shape *s, dtype t);

/* The dtype that operands meet in (*met) and what class `class` (see op.h) makes of that (*out); sets *weak when all are
 * weak scalars. */
status op_promote(context *c, const op_info *op, tensor *const *in, int nin, dtype *out, dtype *met,
                  bool *weak);

/* Refuses (error 106) a value that integer dtype t can't hold. */
status op_refuse_unfit(context *c, int64_t value, dtype t);
/* The same of a weak integer whose value is known; a strong one wraps. */
status op_check_fits(context *c, const tensor *weak, dtype t);
/* Is x a traced weak integer, so that whether t holds it is seen when the graph runs (by the row `fit`)? */
bool op_fits_later(const tensor *x, dtype t);

/* "what was wrong" helpers: a line per operand appended to the pending error. */
void op_describe_operands(context *c, tensor *const *in, int nin);

#endif
