/* elementwise.h — the driver of loops over broadcast operands, for element-wise rows, casts and copies. */
#ifndef TD_OPS_ELEMENTWISE_H
#define TD_OPS_ELEMENTWISE_H

#include "engine/ops/op.h"

/* Computes n elements from operands of which step says whether they advance; may run on several lanes at once. */
typedef void (*tile_fn)(void *user, const void *const *in, const int *step, void *out, int64_t n);

/* Calls `run` over all of `out` (row-major) with the operands broadcast to it (at most 3). as[k] is the dtype in which
 * run wants operand k, as[nin] the one that it writes: halves are converted in between. Polls the interrupt flag. */
status elementwise_walk(context *c, tensor *const *in, int nin, const dtype *as, tensor *out, tile_fn run,
                        void *user);

/* Copies (and converts) src into dst, which is row-major and of the same shape. */
status elementwise_copy(context *c, tensor *src, tensor *dst);

#endif
