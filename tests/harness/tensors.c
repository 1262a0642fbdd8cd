/* tensors.c — see tensors.h. */
#include "tests/harness/check.h"

#include "tests/harness/tensors.h"

#include <math.h>
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
    int64_t digit[MAX_RANK] = {0}, at = view->offset;
    for (int64_t i = 0, n = tensor_count(x); i < n; i++) { /* one element at a time, by its index */
        memcpy((char *)view->store->data + at * (int64_t)size, (char *)tensor_data(plain) + i * (int64_t)size,
               size);
        for (int j = rank - 1; j >= 0; j--) {
            at += view->stride[j];
            if (++digit[j] < view->meta.shape.size[j]) break;
            at -= digit[j] * view->stride[j];
            digit[j] = 0;
        }
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

/* ---- gradients ---- */

/* A fixed weight for element i, so that every element of a result counts differently. */
static tensor *weights_like(context *c, tensor *x) {
    const shape *s = &x->meta.shape;
    return tensors_fill(c, DT_F64, s->rank, s->size, 99);
}

/* sum(weights * op(in)), recorded on the tapes. */
static tensor *weighted(context *c, op_id op, tensor *const *in, int nin, const void *attrs) {
    tensor *y;
    op_apply(c, op, in, nin, attrs, &y);
    tensors_ok(c, y);
    tensor *w = weights_like(c, y), *wy = tensors_ok(c, op_call2(c, OP_mul, y, w, NULL));
    tensor *sum = tensors_ok(c, op_reduce(c, OP_sum, wy, NULL, false));
    tensor_release(y);
    tensor_release(w);
    tensor_release(wy);
    return sum;
}

/* The gradient of weighted() by in[which]; with `twice`, sum(weights * gradient^2) by it again. */
static tensor *gradient(context *c, op_id op, tensor *const *in, int nin, const void *attrs, int which,
                        bool twice, tensor **scalar) {
    tape *outer = twice ? tape_new(c) : NULL, *inner = tape_new(c);
    if (twice) {
        tape_watch(outer, in[which]);
        tape_push(c, outer);
    }
    tape_watch(inner, in[which]);
    tape_push(c, inner);
    tensor *y = weighted(c, op, in, nin, attrs), *g = NULL, *h = NULL;
    tape_pop(c, inner);
    if (tape_gradient(inner, y, NULL, &in[which], 1, &g)) g = NULL;
    tensors_ok(c, g);
    tape_free(inner);
    *scalar = y;
    if (!twice) return g;
    tensor *w = weights_like(c, g), *gg = tensors_ok(c, op_call2(c, OP_mul, g, g, NULL));
    tensor *wgg = tensors_ok(c, op_call2(c, OP_mul, gg, w, NULL));
    tensor *sum = tensors_ok(c, op_reduce(c, OP_sum, wgg, NULL, false));
    tape_pop(c, outer);
    if (tape_gradient(outer, sum, NULL, &in[which], 1, &h)) h = NULL;
    tensors_ok(c, h);
    tape_free(outer);
    tensor_release(y);
    tensor_release(g);
    tensor_release(w);
    tensor_release(gg);
    tensor_release(wgg);
    *scalar = sum;
    return h;
}

/* The value that gradient() differentiates, at in[which] changed by `step` in element i. */
static double value_at(context *c, op_id op, tensor *const *in, int nin, const void *attrs, int which,
                       bool twice, int64_t i, double step) {
    tensor *moved[MAX_INPUTS], *scalar;
    for (int k = 0; k < nin; k++) moved[k] = in[k];
    tensor *x = tensors_ok(c, tensor_new(c, DT_F64, &in[which]->meta.shape));
    for (int64_t j = 0; j < tensor_count(x); j++)
        ((double *)tensor_data(x))[j] = tensor_get_real(in[which], j);
    ((double *)tensor_data(x))[i] += step;
    moved[which] = x;
    tensor *g = gradient(c, op, moved, nin, attrs, which, twice, &scalar);
    double value = tensor_get_real(scalar, 0);
    tensor_release(g);
    tensor_release(scalar);
    tensor_release(x);
    return value;
}

void tensors_check_gradient(context *c, op_id op, tensor *const *in, int nin, const void *attrs) {
    for (int which = 0; which < nin; which++) {
        if (in[which]->meta.dtype != DT_F64 || in[which]->meta.weak) continue;
        for (int twice = 0; twice < 2; twice++) {
            tensor *scalar, *g = gradient(c, op, in, nin, attrs, which, twice, &scalar);
            assert_true(shape_same(NULL, &g->meta.shape, &in[which]->meta.shape));
            assert_int_equal(g->meta.dtype, DT_F64);
            double h = 1e-4, scale = 1 + fabs(tensor_get_real(scalar, 0));
            for (int64_t i = 0; i < tensor_count(g); i++) {
                double up = value_at(c, op, in, nin, attrs, which, twice, i, h);
                double down = value_at(c, op, in, nin, attrs, which, twice, i, -h),
                       want = (up - down) / (2 * h);
                double is = tensor_get_real(g, i);
                if (!(fabs(is - want) <= 1e-6 * (scale + fabs(want))))
                    fail_msg("gradient of %s by operand %d%s: element %lld is %g, not %g", op_table[op].name,
                             which, twice ? " (second)" : "", (long long)i, is, want);
            }
            tensor_release(g);
            tensor_release(scalar);
        }
    }
}
