/* reference_reduce.c — reductions in the canonical order of numerics.md, one element at a time. */
#include "tests/support/reference.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const reference_reduction rows[] = {
    {"sum", CLASS_NUMERIC, AUTOCAST_F32, true, 0, 1, "1"},
    {"mean", CLASS_QUOTIENT, AUTOCAST_F32, false, 0, 1, "1"},
    {"max", CLASS_NUMERIC, AUTOCAST_KEEP, false, 311, 1, "1"},
    {"min", CLASS_NUMERIC, AUTOCAST_KEEP, false, 311, 1, "1"},
    {"any", CLASS_TRUTH, AUTOCAST_KEEP, false, 0, 1, ""},
    {"all", CLASS_TRUTH, AUTOCAST_KEEP, false, 0, 1, ""},
};

const reference_reduction *reference_reduction_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/* An accumulator's or element's value. */
typedef struct item {
    long double r;
    wide w;
} item;

typedef struct fold {
    dtype t;               /* that accumulates */
    const reference *with; /* how two values meet */
    item start;            /* the value of nothing */
} fold;

static item start_of(const char *name, dtype t) {
    bool real = dtype_is_float(t);
    if (strcmp(name, "max") == 0) return (item){-INFINITY, real ? 0 : int_lowest(t)};
    if (strcmp(name, "min") == 0) return (item){INFINITY, real ? 0 : int_highest(t)};
    if (strcmp(name, "all") == 0) return (item){0, 1};
    return (item){0, 0};
}

/* What two values of the reduction become; any and all are maximum and minimum of 0 and 1. */
static const reference *combination(const char *name) {
    if (strcmp(name, "max") == 0 || strcmp(name, "any") == 0) return reference_find("maximum");
    return reference_find(strcmp(name, "min") == 0 || strcmp(name, "all") == 0 ? "minimum" : "add");
}

static item combine(const fold *f, item a, item x) {
    bool fault = false;
    int ulps = 0;
    if (!dtype_is_float(f->t))
        return (item){.w = int_wrap(f->t, f->with->whole((wide[]){a.w, x.w, 0}, f->t, &fault))};
    return (item){.r = real_round(f->t, f->with->real((long double[]){a.r, x.r, 0}, f->t, &ulps))};
}

/* One block of at most 1024 elements: 16 lanes, folded by halves. */
static item fold_block(const fold *f, const item *x, int64_t n) {
    item lane[16];
    for (int j = 0; j < 16; j++) lane[j] = f->start;
    for (int64_t i = 0; i < n; i++) lane[i % 16] = combine(f, lane[i % 16], x[i]);
    for (int half = 8; half >= 1; half /= 2)
        for (int j = 0; j < half; j++) lane[j] = combine(f, lane[j], lane[j + half]);
    return lane[0];
}

/* Blocks meet as the digits of a binary counter: equal ones as soon as there are two, the rest from the newest up. */
static item fold_all(const fold *f, const item *x, int64_t n) {
    item held[64];
    int64_t size[64];
    int count = 0;
    if (n == 0) return f->start;
    for (int64_t i = 0; i < n; i += 1024) {
        held[count] = fold_block(f, x + i, n - i < 1024 ? n - i : 1024);
        size[count++] = 1;
        while (count > 1 && size[count - 1] == size[count - 2]) {
            held[count - 2] = combine(f, held[count - 2], held[count - 1]);
            size[count - 2] *= 2;
            count--;
        }
    }
    for (; count > 1; count--) held[count - 2] = combine(f, held[count - 2], held[count - 1]);
    return held[0];
}

/* The elements of shape s that meet in output `o`, row-major over the reduced axes: numbers into index; returns how many. */
static int64_t members(const shape *s, unsigned mask, int64_t o, int64_t *index) {
    int64_t step[MAX_RANK], at[MAX_RANK] = {0}, first = 0, n = 1, axis_step = 1;
    for (int i = s->rank - 1; i >= 0; axis_step *= s->size[i--]) {
        step[i] = axis_step;
        if (mask >> i & 1) {
            n *= s->size[i];
        } else {
            first += o % s->size[i] * axis_step;
            o /= s->size[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        index[i] = first;
        for (int a = s->rank - 1; a >= 0; a--) {
            if (!(mask >> a & 1)) continue;
            first += step[a];
            if (++at[a] < s->size[a]) break;
            first -= at[a] * step[a];
            at[a] = 0;
        }
    }
    return n;
}

static shape reduced_shape(const shape *s, unsigned mask, bool keep) {
    shape r = {0};
    for (int i = 0; i < s->rank; i++) {
        if (!(mask >> i & 1))
            r.size[r.rank++] = s->size[i];
        else if (keep)
            r.size[r.rank++] = 1;
    }
    return r;
}

/* in's elements in the class's dtype. */
static host promoted(arena *m, op_class class, const host *in) {
    dtype t;
    bool weak;
    reference_meet(class, in, 1, &t, &weak);
    if (class == CLASS_QUOTIENT && !dtype_is_float(in->dtype)) t = DT_F64;
    host to = host_new(m, t, &in->shape);
    for (int64_t i = 0; i < in->count; i++) host_convert(in, i, &to, i);
    return to;
}

host reference_reduce(arena *m, const char *name, const host *given, unsigned mask, bool keep) {
    const reference_reduction *row = reference_reduction_find(name);
    host in = promoted(m, row->class, given);
    bool whole = !dtype_is_float(in.dtype);
    dtype t = dtype_is_half(in.dtype) ? DT_F32 : whole && row->widens ? DT_I64 : in.dtype;
    fold f = {t, combination(name), start_of(name, t)};
    dtype result = dtype_is_half(in.dtype) ? in.dtype : f.t;
    if (row->class == CLASS_QUOTIENT && !dtype_is_float(given->dtype)) result = DT_F32;
    shape s = reduced_shape(&in.shape, mask, keep);
    host out = host_new(m, result, &s);
    int64_t *index = arena_alloc(m, ((size_t)in.count + 1) * sizeof *index);
    item *x = arena_alloc(m, ((size_t)in.count + 1) * sizeof *x);
    assert(index && x);
    for (int64_t o = 0; o < out.count; o++) {
        int64_t n = members(&in.shape, mask, o, index);
        for (int64_t i = 0; i < n; i++)
            x[i] = (item){host_real(&in, index[i]), whole ? host_int(&in, index[i]) : 0};
        item a = fold_all(&f, x, n);
        if (strcmp(name, "mean") == 0)
            a.r = real_round(f.t, f.t == DT_F64 ? (long double)((double)a.r / (double)n)
                                                : a.r / real_round(DT_F32, n));
        if (whole)
            host_set_int(&out, o, a.w);
        else
            host_set_real(&out, o, a.r);
    }
    return out;
}

long double reference_exact(const char *name, const host *in, unsigned mask, int64_t output) {
    arena *m = arena_new();
    assert(m);
    int64_t *index = arena_alloc(m, ((size_t)in->count + 1) * sizeof *index);
    assert(index);
    int64_t n = members(&in->shape, mask, output, index);
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += host_real(in, index[i]);
    arena_free(m);
    return strcmp(name, "mean") == 0 ? sum / n : sum;
}
