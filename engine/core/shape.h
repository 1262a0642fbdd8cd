/* shape.h — ranks, sizes and strides. */
#ifndef TD_CORE_SHAPE_H
#define TD_CORE_SHAPE_H

#include "engine/base/text.h"
#include "engine/core/dim.h"
#include "engine/core/dtype.h"

enum { MAX_RANK = 8 };

typedef struct shape {
    int rank;
    int hole;           /* always 0: in place of padding, since shapes compare and hash as bytes */
    dim size[MAX_RANK]; /* unused entries are 0 */
} shape;

/* What a shape rule knows of a tensor. `weak`: a weak scalar (rank 0, dtype i64 or f64). */
typedef struct meta {
    shape shape;
    dtype dtype;
    bool weak;
} meta;

/* Equality axis by axis (with guards when traced; t may be NULL when all is known). */
bool shape_same(dims *t, const shape *a, const shape *b);
/* Number of elements; -1 when it does not fit (known sizes only). */
dim shape_count(dims *t, const shape *s);
/* True when every size is known. */
bool shape_known(const shape *s);

/* NumPy broadcasting of a and b into out, with the guard that [..., N, 1] does not meet [N]. Sets e. */
status shape_broadcast(dims *t, const shape *a, const shape *b, shape *out, error *e);

/* Axis in -rank..rank-1 to 0..rank-1; a failure names the axis and the shape. */
status shape_axis(const dims *t, const shape *s, int64_t axis, int *out, error *e);

/* "f32[64, 10]", "i64" for rank 0. */
void shape_print(const dims *t, const shape *s, text *out);
void meta_print(const dims *t, const meta *m, text *out);
/* The same into a fixed buffer, for messages; returns buffer. */
const char *meta_text(const dims *t, const meta *m, char *buffer, size_t size);

/* Row-major strides, in elements, of a shape of known sizes. */
void shape_strides(const shape *s, int64_t stride[MAX_RANK]);

#endif
