/* reduce.h — the walk over elements that reductions and dot products share: the canonical order of ops/loops.h
 * for operands of any strides. */
#ifndef TD_OPS_REDUCE_H
#define TD_OPS_REDUCE_H

#include "engine/ops/loops.h"

/* One axis of a tensor that is walked: size and stride in elements. */
typedef struct reduce_axis {
    int64_t n, stride;
} reduce_axis;

/* Reduces x over some axes into `out`, row-major over the kept axes. */
typedef struct reduction {
    const reduce_fns *fns;
    ctype acc;      /* accumulator type */
    dtype from, to; /* dtypes of x and of out */
    const void *x;  /* element [0, 0, ...] */
    void *out;
    int kept, reduced; /* numbers of axes, outermost first */
    reduce_axis kept_axis[MAX_RANK], reduced_axis[MAX_RANK];
} reduction;

/* Fails when out of memory or interrupted. */
status reduction_run(context *c, const reduction *r);

/* Adds up the last step of the canonical order: `blocks` results of `width` accumulators each, [blocks][width],
 * combine into the first row as a binary counter. blocks > 0. */
void reduction_tree(const reduce_fns *fns, size_t acc_bytes, void *partial, int64_t blocks, int64_t row,
                    int64_t width);

/* Folds the 16 lanes [16][width], of which `used` may differ from the neutral value, into the first. */
void reduction_fold(const reduce_fns *fns, size_t acc_bytes, void *lanes, int64_t width, int64_t used);

#endif
