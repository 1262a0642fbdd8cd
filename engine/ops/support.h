/* support.h — small things that the op families share. */
#ifndef TD_OPS_SUPPORT_H
#define TD_OPS_SUPPORT_H

#include "engine/ops/op.h"

/* Elements of a shape at the sizes of the traced call. */
double support_elements(const context *c, const meta *m);

/* A cost of `flops` arithmetic operations with every operand read and every result written once. */
op_cost support_cost(const op_call *call, double flops);

/* Adds a line per operand to the error that was just set; returns its code. */
status support_operands(op_call *call);

/* The result's meta of an op with one result. */
static inline void support_result(op_call *call, const shape *s, dtype t) {
    call->out[0] = (meta){.shape = *s, .dtype = t};
}

/* An attribute's list as a shape; false when it has too many axes or a negative size. */
bool support_shape(const int_list *list, shape *out);

/* Shape as an attribute's list. */
int_list support_list(const shape *s);

#endif
