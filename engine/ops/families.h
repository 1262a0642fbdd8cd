/* families.h — the functions that rows name: NAME_shape, NAME_eval, NAME_gradient, NAME_cost of every OP row (declared
 * from the table itself), and the ones shared by all rows of a kind. */
#ifndef TD_OPS_FAMILIES_H
#define TD_OPS_FAMILIES_H

#include "engine/ops/op.h"

/* Rows of their own, and the gradients that reductions name; a row that says no_gradient has none. */
#define UNARY(...)
#define BINARY(...)
#define COMPARE(...)
#define TERNARY(...)
#define MIXED(...)
#define REDUCE(name, class, width, autocast, samples, first, merge, last, gradient, ...)                     \
    void gradient(gradient_call *k);
#define FAULT(...)
#define OP(name, ...)                                                                                        \
    status name##_shape(op_call *call);                                                                      \
    status name##_eval(op_call *call, tensor **out);                                                         \
    void name##_gradient(gradient_call *k);                                                                  \
    op_cost name##_cost(const op_call *call);
#include "engine/ops/ops.def"
#undef UNARY
#undef BINARY
#undef COMPARE
#undef TERNARY
#undef MIXED
#undef REDUCE
#undef OP
#undef FAULT

/* Element-wise rows (ops/elementwise.c): the broadcast shape, and the loops over tiles. */
status elementwise_shape(op_call *call);
status elementwise_eval(op_call *call, tensor **out);

/* Reductions (ops/reduce.c). */
status reduce_shape(op_call *call);
status reduce_eval(op_call *call, tensor **out);
op_cost reduce_cost(const op_call *call);

#endif
