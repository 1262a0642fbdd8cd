/* gradients.h — the gradient expressions of element-wise rows as functions gradient_of_NAME (gradients.c). */
#ifndef TD_OPS_GRADIENTS_H
#define TD_OPS_GRADIENTS_H

#include "engine/ops/op.h"

#define ROW(name) void gradient_of_##name(gradient_call *k);
#include "engine/ops/rows.h"
#undef ROW

#endif
