/* index_map.h — where in a value's index space a kernel reads it: an affine map from the axes of the kernel's
 * iteration space to the axes of the value.
 *
 * Views are maps: composing them is how transposes, slices, broadcasts and reshapes become strides of loads. All
 * numbers may be symbols. */
#ifndef TD_KERNEL_INDEX_MAP_H
#define TD_KERNEL_INDEX_MAP_H

#include "engine/graph/graph.h"

/* Index along the value's axis i = offset[i] + sum over space axes k of coef[i][k] * index k. Unused entries are 0,
 * so that maps compare as bytes. */
typedef struct index_map {
    int64_t rank; /* of the value; 8 bytes, so that there is no padding */
    dim offset[MAX_RANK];
    dim coef[MAX_RANK][MAX_RANK];
} index_map;

/* The map of a value of shape s onto a space of its own axes; axes of size 1 do not move. */
index_map map_identity(const shape *s);
/* The map of an operand of shape `from`, broadcast to `to`, when the result is read through m. */
index_map map_broadcast(const shape *from, const shape *to, const index_map *m);
/* The map of a view node's operand when its result is read through m; false when strides cannot say it (some
 * reshapes). */
bool map_view(const graph *g, const node *n, const index_map *m, index_map *out);
/* Space axes that the map moves along, as a mask. */
unsigned map_axes(const index_map *m);
/* When m walks every axis of s (those of size 1 aside) along one space axis of its own, with step 1 from 0, and the
 * sizes agree, the space axis of each (-1 for size 1); else false. */
bool map_bijection(const graph *g, const shape *s, const index_map *m, const dim *space, int axis[MAX_RANK]);
bool map_same(const index_map *a, const index_map *b);

/* Strides per space axis and offset, in elements, of a row-major buffer of shape s read through m. */
void map_strides(const graph *g, const shape *s, const index_map *m, dim stride[MAX_RANK], dim *offset);

/* Are these sizes equal in every run (the same expression, or tied by an equality guard)? */
bool dims_tied(const dims *t, dim a, dim b);

#endif
