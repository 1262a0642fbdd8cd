/* tensor.h — strided views over shared storage, immutable as far as anyone can see.
 *
 * A tensor is one of three things:
 *   concrete  store != NULL: elements in memory;
 *   traced    trace != NULL: a value of the graph being built (sizes may be symbols);
 *   shape     neither: produced by the shapes-only executor.
 * Tensors are reference counted and belong to one context. `id` is the identity that tapes know values by. */
#ifndef TD_CORE_TENSOR_H
#define TD_CORE_TENSOR_H

#include "engine/core/context.h"
#include "engine/core/shape.h"

typedef struct storage {
    int64_t refs;
    size_t bytes; /* granted by the allocator */
    void *data;
} storage;

struct tensor {
    int64_t refs;
    uint64_t id;
    union {
        context *c;
        tensor *next_free; /* of a recycled struct (context.free_tensors) */
    };
    meta meta;
    int64_t stride[MAX_RANK]; /* in elements; may be 0 or negative; concrete tensors only */
    int64_t offset;           /* of element [0, 0, ...] in elements from store->data */
    storage *store;
    struct trace *trace;
    uint32_t value; /* number of the traced value */
};

/* A new concrete tensor with row-major strides and undefined elements (shape of known sizes); a new
 * reference, owned by the caller; NULL with the error set when out of memory. */
tensor *tensor_new(context *c, dtype d, const shape *s);
/* A new tensor without elements (for the tracing and shapes-only executors). */
tensor *tensor_new_abstract(context *c, const meta *m);
/* A view of base's storage. */
tensor *tensor_view(tensor *base, const shape *s, const int64_t *stride, int64_t offset);
/* Another tensor with base's contents but an identity of its own. */
tensor *tensor_alias(tensor *base);
/* Row-major copy of host data: `data` holds count(s) elements of dtype d. */
tensor *tensor_from(context *c, dtype d, const shape *s, const void *data);

/* Rank-0 tensors. The weak ones carry i64 or f64. */
tensor *tensor_weak_int(context *c, int64_t value);
tensor *tensor_weak_real(context *c, double value);
tensor *tensor_scalar_i64(context *c, int64_t value);
tensor *tensor_scalar_bool(context *c, bool value);

tensor *tensor_retain(tensor *t);
void tensor_release(tensor *t); /* NULL is fine */

/* Address of element [0, 0, ...]. */
static inline void *tensor_data(const tensor *t) {
    return (char *)t->store->data + t->offset * (int64_t)dtype_size(t->meta.dtype);
}
static inline bool tensor_concrete(const tensor *t) {
    return t->store != NULL;
}
/* Elements of a concrete tensor. */
int64_t tensor_count(const tensor *t);
bool tensor_contiguous(const tensor *t); /* row-major without gaps */
/* t itself (retained) when row-major, else a row-major copy; a new reference, NULL with the error set. */
tensor *tensor_to_contiguous(tensor *t);
/* True when writing into t's storage can be seen through t alone. */
static inline bool tensor_unique(const tensor *t) {
    return t->refs == 1 && t->store && t->store->refs == 1;
}

/* Element number `index` (row-major) converted; concrete only. The integer reading truncates and saturates.
 */
double tensor_get_real(const tensor *t, int64_t index);
int64_t tensor_get_int(const tensor *t, int64_t index);

#endif
