/* frozen.c — see frozen.h. */
#include "tests/harness/frozen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tensor *b1(context *c, op_id op, tensor *x) {
    return scope_add(c, op_call1(c, op, x, NULL));
}

tensor *b2(context *c, op_id op, tensor *x, tensor *y) {
    return scope_add(c, op_call2(c, op, x, y, NULL));
}

tensor *b3(context *c, op_id op, tensor *x, tensor *y, tensor *z) {
    return scope_add(c, op_call3(c, op, x, y, z, NULL));
}

tensor *breduce(context *c, op_id op, tensor *x, int axis, bool keep) {
    int_list axes = {.count = 1, .v = {axis}};
    return scope_add(c, op_reduce(c, op, x, axis == 99 ? NULL : &axes, keep));
}

tensor *btranspose(context *c, tensor *x) {
    int64_t axes[MAX_RANK];
    if (!x) return NULL;
    int rank = x->meta.shape.rank;
    for (int i = 0; i < rank; i++) axes[i] = i;
    axes[rank - 1] = rank - 2;
    axes[rank - 2] = rank - 1;
    return scope_add(c, op_transpose(c, x, rank, axes));
}

tensor *breshape(context *c, tensor *x, int rank, const int64_t *sizes) {
    shape s = {.rank = rank};
    memcpy(s.size, sizes, (size_t)rank * sizeof *sizes);
    return scope_add(c, op_reshape(c, x, &s));
}

tensor *bslice(context *c, tensor *x, int axis, int64_t start, int64_t size, int64_t step) {
    if (!x) return NULL;
    slice_attrs a;
    memset(&a, 0, sizeof a);
    a.start.count = a.size.count = a.step.count = x->meta.shape.rank;
    for (int i = 0; i < x->meta.shape.rank; i++) {
        a.size.v[i] = i == axis ? size : x->meta.shape.size[i];
        a.start.v[i] = i == axis ? start : 0;
        a.step.v[i] = i == axis ? step : 1;
    }
    return scope_add(c, op_call1(c, OP_slice, x, &a));
}

tensor *bcast(context *c, tensor *x, dtype t) {
    return scope_add(c, op_cast(c, x, t, false));
}

tensor *bnumber(context *c, double value) {
    return scope_add(c, tensor_weak_real(c, value));
}

tensor *bkeep(tensor *x) {
    return x ? tensor_retain(x) : NULL;
}

tensor *sample(context *c, dtype t, int rank, const int64_t *sizes, uint64_t seed) {
    shape s = {.rank = rank};
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= s.size[i] = sizes[i];
    tensor *raw = tensor_new(c, DT_F64, &s);
    if (!raw) return NULL;
    double *x = tensor_data(raw);
    for (int64_t i = 0; i < n; i++) {
        uint64_t h = hash_u64(seed * 1000003 + (uint64_t)i + 1);
        x[i] = dtype_is_float(t) ? ((double)(h >> 11) * 0x1p-53 - 0.5) * 6 : (double)(h % 19) - 9;
        if (t == DT_U8) x[i] = fabs(x[i]);
    }
    tensor *r = op_cast(c, raw, t, false);
    tensor_release(raw);
    return r;
}

/* ---- frozen ---- */

program *freeze_body(context *c, body_fn body, tensor *const *x, int nx) {
    tensor *in[16] = {NULL}, *out[BODY_OUTPUTS] = {NULL};
    trace *t = trace_begin(c, "body");
    if (!t) return NULL;
    scope s;
    scope_open(c, &s);
    for (int i = 0; i < nx; i++) in[i] = scope_add(c, trace_input(t, x[i], "x"));
    int n = c->err.code ? 0 : body(c, in, out);
    scope_close(c, &s);
    graph *g = NULL, *better = NULL;
    if (c->err.code)
        trace_abandon(t);
    else if (trace_end(t, out, n, &g))
        g = NULL;
    for (int i = 0; i < n; i++) tensor_release(out[i]);
    if (g && !graph_verify(g)) pipeline_run(g, &better, NULL, NULL);
    graph_free(g);
    if (!better) return NULL;
    program *p;
    return program_new(c, better, &p) ? NULL : p;
}

static bool is_nan(const tensor *t, int64_t i) {
    return dtype_is_float(t->meta.dtype) && isnan(tensor_get_real(t, i));
}

bool same_bits(const tensor *a, const tensor *b) {
    if (a->meta.dtype != b->meta.dtype || a->meta.weak != b->meta.weak ||
        memcmp(&a->meta.shape, &b->meta.shape, sizeof a->meta.shape) != 0) {
        printf("metas differ\n");
        return false;
    }
    bool real = dtype_is_float(a->meta.dtype);
    for (int64_t i = 0; i < tensor_count(a); i++) {
        if (is_nan(a, i) && is_nan(b, i)) continue;
        double x = real ? tensor_get_real(a, i) : 0, y = real ? tensor_get_real(b, i) : 0;
        bool same = real ? x == y && signbit(x) == signbit(y) : tensor_get_int(a, i) == tensor_get_int(b, i);
        if (same) continue;
        if (!real) {
            x = (double)tensor_get_int(a, i);
            y = (double)tensor_get_int(b, i);
        }
        printf("element %lld of %lld: %.17g is not %.17g\n", (long long)i, (long long)tensor_count(a), y, x);
        return false;
    }
    return true;
}

bool frozen_matches(context *c, program *p, body_fn body, tensor *const *x, int nx) {
    tensor *want[BODY_OUTPUTS] = {NULL}, *have[BODY_OUTPUTS] = {NULL};
    text why = {0};
    scope s;
    scope_open(c, &s);
    int n = body(c, x, want);
    scope_close(c, &s);
    bool good = !c->err.code && program_accepts(p, x, nx, &why);
    if (!good) printf("not run: %s%s\n", c->err.message, text_str(&why));
    if (good && program_run(p, x, nx, have)) {
        printf("failed: %s\n", c->err.message);
        good = false;
    }
    for (int i = 0; i < n; i++) {
        if (good && !same_bits(want[i], have[i])) {
            printf("output %d\n", i);
            good = false;
        }
        tensor_release(want[i]);
        tensor_release(have[i]);
    }
    text_free(&why);
    return good;
}
