/* index.h — what the ops that pick by index tensors share: reading and checking those, and their errors. */
#ifndef TD_OPS_INDEX_H
#define TD_OPS_INDEX_H

#include "engine/ops/op.h"

/* Operand i of the call must be an integer tensor. */
status index_dtype(op_call *call, int i);

/* The attribute's axis of operand 0, counted from 0. */
status index_axis(op_call *call, int *axis);

/* Fails with "OP: WHAT" and a line per operand. */
status index_misfit(op_call *call, const char *what);

/* Operand i's elements as a new row-major i64 tensor of numbers in 0 .. size; where `wrap`, negative ones count from
 * the end. NULL with the error set: an index out of range is named with its position and the size. */
tensor *index_checked(op_call *call, int i, int64_t size, bool wrap);

#endif
