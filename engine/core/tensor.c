/* tensor.c — see tensor.h. */
#include "engine/core/tensor.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/math/cast.h"
#include "engine/math/half.h"

static tensor *take_struct(context *c) {
    tensor *t = c->free_tensors;
    if (t)
        c->free_tensors = t->next_free;
    else if (!(t = mem_alloc(sizeof *t)))
        fail_memory(&c->err, sizeof *t);
    return t;
}

static void put_struct(tensor *t) {
    context *c = t->c;
    t->next_free = c->free_tensors;
    c->free_tensors = t;
}

static tensor *make(context *c, const meta *m, storage *store) {
    tensor *t = take_struct(c);
    if (!t) return NULL;
    *t = (tensor){.refs = 1, .id = ++c->next_id, .c = c, .meta = *m, .store = store};
    return t;
}

static storage *storage_new(context *c, size_t bytes) {
    size_t granted;
    /* the header lives in front of the data, in the same block */
    char *block = allocator_get(c->memory, bytes + 64, &granted);
    if (!block) {
        allocator_failed(c->memory, bytes, &c->err);
        return NULL;
    }
    storage *s = (storage *)(void *)block;
    *s = (storage){.refs = 1, .bytes = granted, .data = block + 64};
    return s;
}

static void storage_release(context *c, storage *s) {
    if (--s->refs == 0) allocator_put(c->memory, s, s->bytes);
}

tensor *tensor_new(context *c, dtype d, const shape *s) {
    size_t bytes = dtype_size(d);
    for (int i = 0; i < s->rank; i++) {
        if (s->size[i] >= 0 && mem_mul(bytes, (size_t)s->size[i], &bytes)) continue;
        fail(&c->err, STATUS_MEMORY, 904, "a tensor of this size does not fit any memory");
        return NULL;
    }
    storage *store = storage_new(c, bytes);
    if (!store) return NULL;
    tensor *t = make(c, &(meta){.shape = *s, .dtype = d}, store);
    if (!t) {
        storage_release(c, store);
        return NULL;
    }
    shape_strides(s, t->stride);
    return t;
}

tensor *tensor_new_abstract(context *c, const meta *m) {
    return make(c, m, NULL);
}

tensor *tensor_view(tensor *base, const shape *s, const int64_t *stride, int64_t offset) {
    tensor *t = make(base->c, &(meta){.shape = *s, .dtype = base->meta.dtype}, base->store);
    if (!t) return NULL;
    base->store->refs++;
    memcpy(t->stride, stride, (size_t)s->rank * sizeof *stride);
    t->offset = offset;
    return t;
}

tensor *tensor_alias(tensor *base) {
    tensor *t = make(base->c, &base->meta, base->store);
    if (!t) return NULL;
    if (base->store) base->store->refs++;
    memcpy(t->stride, base->stride, sizeof t->stride);
    t->offset = base->offset;
    t->trace = base->trace;
    t->value = base->value;
    return t;
}

tensor *tensor_from(context *c, dtype d, const shape *s, const void *data) {
    tensor *t = tensor_new(c, d, s);
    if (t && tensor_count(t) > 0) memcpy(tensor_data(t), data, (size_t)tensor_count(t) * dtype_size(d));
    return t;
}

static tensor *rank0(context *c, dtype d, bool weak, const void *value) {
    tensor *t = tensor_new(c, d, &(shape){0});
    if (!t) return NULL;
    t->meta.weak = weak;
    memcpy(tensor_data(t), value, dtype_size(d));
    return t;
}

tensor *tensor_weak_int(context *c, int64_t value) {
    return rank0(c, DT_I64, true, &value);
}

tensor *tensor_weak_real(context *c, double value) {
    return rank0(c, DT_F64, true, &value);
}

tensor *tensor_scalar_i64(context *c, int64_t value) {
    return rank0(c, DT_I64, false, &value);
}

tensor *tensor_scalar_bool(context *c, bool value) {
    uint8_t byte = value;
    return rank0(c, DT_BOOL, false, &byte);
}

tensor *tensor_retain(tensor *t) {
    t->refs++;
    return t;
}

void tensor_release(tensor *t) {
    if (!t || --t->refs > 0) return;
    if (t->store) storage_release(t->c, t->store);
    put_struct(t);
}

int64_t tensor_count(const tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->meta.shape.rank; i++) n *= t->meta.shape.size[i];
    return n;
}

bool tensor_contiguous(const tensor *t) {
    int64_t step = 1;
    for (int i = t->meta.shape.rank - 1; i >= 0; i--) {
        int64_t n = t->meta.shape.size[i];
        if (n == 0) return true;
        if (n != 1 && t->stride[i] != step) return false;
        step *= n;
    }
    return true;
}

/* Address of row-major element `index`. */
static const void *element(const tensor *t, int64_t index) {
    int64_t at = t->offset;
    for (int i = t->meta.shape.rank - 1; i >= 0; i--) {
        at += index % t->meta.shape.size[i] * t->stride[i];
        index /= t->meta.shape.size[i];
    }
    return (const char *)t->store->data + at * (int64_t)dtype_size(t->meta.dtype);
}

double tensor_get_real(const tensor *t, int64_t index) {
    const void *p = element(t, index);
    switch (t->meta.dtype) {
    case DT_F64:
        return *(const double *)p;
    case DT_F32:
        return (double)*(const float *)p;
    case DT_F16:
        return (double)vm_f16_to_f32(*(const uint16_t *)p);
    case DT_BF16:
        return (double)vm_bf16_to_f32(*(const uint16_t *)p);
    default:
        return (double)tensor_get_int(t, index);
    }
}

int64_t tensor_get_int(const tensor *t, int64_t index) {
    const void *p = element(t, index);
    switch (t->meta.dtype) {
    case DT_BOOL:
    case DT_U8:
        return *(const uint8_t *)p;
    case DT_I8:
        return *(const int8_t *)p;
    case DT_I32:
        return *(const int32_t *)p;
    case DT_I64:
        return *(const int64_t *)p;
    default:
        return vm_cast_f64_i64(tensor_get_real(t, index));
    }
}
