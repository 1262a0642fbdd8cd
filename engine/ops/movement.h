/* movement.h — boxes and strides that slice, update and reshape share. */
#ifndef TD_OPS_MOVEMENT_H
#define TD_OPS_MOVEMENT_H

#include "engine/ops/attrs.h"

/* Checks the slice_attrs of a call against its first operand and gives the box's shape. */
status movement_box(op_call *call, shape *box);

/* Strides and offset (elements from the storage's start) of x's box. */
void movement_box_strides(const tensor *x, const slice_attrs *a, int64_t stride[MAX_RANK], int64_t *offset);

/* Strides that show t in shape s, which has as many elements; false when only a copy can. */
bool movement_restride(const tensor *t, const shape *s, int64_t stride[MAX_RANK]);

/* `a[0] = 9` for a tensor that nobody else can see (tensor_unique, no overlapping strides): writes v, of the box's
 * shape and x's dtype, into x's storage. Both concrete; v must not be a view of x. */
status tensor_update_in_place(tensor *x, const slice_attrs *a, const tensor *v);

#endif
