/* copy.h — moving boxes of elements between strided memories: what makes views contiguous and what concat,
 * slice and update are made of. */
#ifndef TD_CORE_COPY_H
#define TD_CORE_COPY_H

#include "engine/core/tensor.h"

/* Copies every element of a box of shape s (known sizes) from `from` to `to`, both the addresses of element
 * [0, 0, ...], with strides in elements of `size` bytes (1, 2, 4 or 8). The two must not overlap; strides of
 * `to` must not be 0 on axes longer than 1. Large boxes are split over c's workers, and fail when interrupted; without
 * a context (NULL) they do not. */
status copy_strided(context *c, const shape *s, size_t size, void *to, const int64_t *to_stride,
                    const void *from, const int64_t *from_stride);

/* t's elements into row-major memory. */
status copy_tensor(const tensor *t, void *to);

/* Sets `bytes` bytes to 0; fails when interrupted. */
status copy_zeros(context *c, void *to, size_t bytes);

#endif
