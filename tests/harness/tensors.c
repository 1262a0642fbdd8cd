/* tensors.c — see tensors.h. */
#include "tests/harness/check.h"

#include "tests/harness/tensors.h"

#include <string.h>

tensor *tensors_ok(context *c, tensor *x) {
    if (!x || c->err.code)
        fail_msg("E%d %s\n%s\n%s", c->err.number, c->err.message, c->err.operands, c->err.hint);
    return x;
}

void tensors_refused(context *c, tensor *x, int number) {
    assert_null(x);
    if (c->err.number != number) fail_msg("expected E%d, got E%d %s", number, c->err.number, c->err.message);
    error_clear(&c->err);
}

tensor *tensors_fill(context *c, dtype t, int rank, const int64_t *size, uint64_t seed) {
    shape s = {.rank = rank};
    for (int i = 0; i < rank; i++) s.size[i] = size[i];
    tensor *wide = tensors_ok(c, tensor_new(c, DT_F64, &s));
    double *x = tensor_data(wide);
    for (int64_t i = 0, n = tensor_count(wide); i < n; i++) {
        uint64_t h = hash_u64(seed * 1000003 + (uint64_t)i + 1);
        double small = (double)(int)(h % 13) - (t == DT_U8 || t == DT_BOOL ? 0 : 6);
        x[i] = dtype_is_float(t) ? small + (double)(h >> 40) * 0x1p-24
               : t == DT_BOOL    ? (double)(h >> 20 & 1)
                                 : small;
    }
    tensor *out = tensors_ok(c, op_cast(c, wide, t, false));
    tensor_release(wide);
    return out;
}

tensor *tensors_layout(tensor *x, int layout) {
    context *c = x->c;
    int rank = x->meta.shape.rank;
    shape s = x->meta.shape;
    slice_attrs a = {.start = {.count = rank}, .size = {.count = rank}, .step = {.count = rank}};
    int64_t order[MAX_RANK];
    for (int i = 0; i < rank; i++) {
        int64_t n = x->meta.shape.size[i];
        order[i] = rank - 1 - i;
        a.size.v[i] = n;
        a.step.v[i] = layout == LAYOUT_GAPS ? 2 : layout == LAYOUT_BACKWARDS ? -1 : 1;
        a.start.v[i] = layout == LAYOUT_BACKWARDS && n > 0 ? n - 1 : 0;
        if (layout == LAYOUT_GAPS) s.size[i] = 2 * n + 1;
        if (layout == LAYOUT_REVERSED_AXES) s.size[i] = x->meta.shape.size[rank - 1 - i];
    }
    if (layout == LAYOUT_PLAIN || rank == 0) return tensor_retain(x);
    tensor *home = tensors_ok(c, tensor_new(c, x->meta.dtype, &s));
    memset(tensor_data(home), 0, (size_t)tensor_count(home) * dtype_size(x->meta.dtype));
    tensor *view;
    if (layout == LAYOUT_REVERSED_AXES)
        view = tensors_ok(c, op_transpose(c, home, rank, order));
    else
        view = tensors_ok(c, op_call1(c, OP_slice, home, &a));
    size_t size = dtype_size(x->meta.dtype);
    tensor *plain = tensors_ok(c, tensor_to_contiguous(x));
    for (int64_t i = 0, n = tensor_count(x); i < n; i++) { /* one element at a time, by its index */
        int64_t rest = i, at = view->offset;
        for (int j = rank - 1; j >= 0; j--) {
            at += rest % view->meta.shape.size[j] * view->stride[j];
            rest /= view->meta.shape.size[j];
        }
        memcpy((char *)view->store->data + at * (int64_t)size, (char *)tensor_data(plain) + i * (int64_t)size,
               size);
    }
    tensor_release(plain);
    tensor_release(home);
    return view;
}

bool tensors_same(tensor *a, tensor *b) {
    if (a->meta.dtype != b->meta.dtype || !shape_same(NULL, &a->meta.shape, &b->meta.shape)) return false;
    tensor *x = tensor_to_contiguous(a), *y = tensor_to_contiguous(b);
    size_t size = dtype_size(a->meta.dtype);
    bool same = x && y;
    for (int64_t i = 0, n = tensor_count(a); same && i < n; i++) {
        const char *p = (char *)tensor_data(x) + i * (int64_t)size,
                   *q = (char *)tensor_data(y) + i * (int64_t)size;
        if (memcmp(p, q, size) == 0) continue;
        double u = tensor_get_real(x, i), v = tensor_get_real(y, i);
        same = u != u && v != v;
    }
    tensor_release(x);
    tensor_release(y);
    return same;
}
