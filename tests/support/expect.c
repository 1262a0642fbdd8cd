/* expect.c — see expect.h. */
#include "tests/harness/check.h"

#include "tests/support/expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/ops/loops.h"

int expect_broadcast(const shape *a, const shape *b, shape *out) {
    shape r = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int swap = 0; swap < 2; swap++) {
        const shape *p = swap ? b : a, *q = swap ? a : b;
        if (p->rank >= 2 && q->rank == 1 && p->size[p->rank - 1] == 1 && q->size[0] > 1 &&
            p->size[p->rank - 2] == q->size[0])
            return 103;
    }
    for (int i = 1; i <= r.rank; i++) {
        int64_t x = i <= a->rank ? a->size[a->rank - i] : 1, y = i <= b->rank ? b->size[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1) return 102;
        r.size[r.rank - i] = x == 1 ? y : x;
    }
    *out = r;
    return 0;
}

int64_t expect_source(const shape *from, const shape *to, int64_t i) {
    int64_t at = 0, step = 1;
    for (int a = to->rank - 1, b = from->rank - 1; b >= 0; a--, b--) {
        if (from->size[b] != 1) at += i % to->size[a] * step;
        i /= to->size[a];
        step *= from->size[b];
    }
    return at;
}

/* ---- one element ---- */

typedef struct plan {
    const op_info *op;
    const reference *ref; /* NULL: held to its own f64 or i64 */
    int nin;
    dtype meet; /* the operands' dtype (of `where`: y's and z's) */
    bool exact; /* an integer is compared with a float: nothing is converted */
} plan;

/* The row's own evaluation of one element in f64 or i64. */
static long double own_real(const op_info *op, const long double *v, int *ulps) {
    double x[3] = {(double)v[0], (double)v[1], (double)v[2]}, out[1] = {0};
    uint8_t condition = v[0] != 0, truth = 0;
    const void *in[3] = {op->kind == KIND_TERNARY ? (const void *)&condition : x, x + 1, x + 2};
    bool compare = op->kind == KIND_COMPARE;
    loops()->elementwise[op->id][CT_F64](in, (int[]){1, 1, 1}, compare ? (void *)&truth : out, 1);
    *ulps = compare ? 0 : EXPECT_OWN_ULPS;
    return compare ? truth : (long double)out[0];
}

static wide own_whole(const op_info *op, const wide *v, bool *fault) {
    int64_t x[3] = {(int64_t)v[0], (int64_t)v[1], (int64_t)v[2]}, out[1] = {0};
    uint8_t condition = v[0] != 0, truth = 0;
    const void *in[3] = {op->kind == KIND_TERNARY ? (const void *)&condition : x, x + 1, x + 2};
    bool compare = op->kind == KIND_COMPARE;
    fault_fn faults = op_faults[op->id][CT_I64];
    *fault = faults && faults(in, (int[]){1, 1, 1}, 1) > 0;
    loops()->elementwise[op->id][CT_I64](in, (int[]){1, 1, 1}, compare ? (void *)&truth : out, 1);
    return compare ? truth : out[0];
}

static long double apply_real(const plan *p, const long double *v, dtype t, int *ulps) {
    *ulps = 0;
    if (p->ref) return p->ref->real(v, t, ulps);
    return own_real(p->op, v, ulps);
}

/* What led to a small result of a row's own evaluation may have been below the smallest normal f32, 2^-126, and have lost
 * most of its bits there: such a result is held to a part of that number. */
static long double small_slack(const plan *p, dtype compute, long double r) {
    return !p->ref && compute == DT_F32 && fabsl(r) < 0x1p-110L ? 0x1p-138L : 0;
}

static void set_bounds(const plan *p, expectation *e, int64_t i, const long double *v) {
    dtype compute = dtype_is_half(p->meet) ? DT_F32 : p->meet, result = e->value.dtype;
    int ulps;
    long double r = real_round(compute, apply_real(p, v, p->meet, &ulps)), low = r, high = r;
    if (ulps && !isnan(r)) {
        low = real_step(compute, r, -ulps) - small_slack(p, compute, r);
        high = real_step(compute, r, ulps) + small_slack(p, compute, r);
    }
    host_set_real(&e->value, i, real_round(result, r));
    host_set_real(&e->low, i, real_round(result, low));
    host_set_real(&e->high, i, real_round(result, high));
}

/* The result of element i. `met` are the operands in the dtype that they meet in. */
static void set_element(const plan *p, expectation *e, int64_t i, const host *met, bool *fault) {
    long double v[3] = {0};
    wide w[3] = {0};
    for (int k = 0; k < p->nin; k++) {
        int64_t at = expect_source(&met[k].shape, &e->value.shape, i);
        v[k] = host_real(&met[k], at);
        if (!dtype_is_float(met[k].dtype)) w[k] = host_int(&met[k], at);
    }
    bool reals = dtype_is_float(p->meet) || p->exact, fail = false;
    if (reals && dtype_is_float(e->value.dtype)) {
        set_bounds(p, e, i, v);
        return;
    }
    int ulps;
    if (reals)
        host_set_int(&e->value, i, (wide)apply_real(p, v, p->meet, &ulps));
    else
        host_set_int(&e->value, i, p->ref ? p->ref->whole(w, p->meet, &fail) : own_whole(p->op, w, &fail));
    *fault = *fault || fail;
}

/* ---- a call ---- */

static host converted(arena *m, const host *from, dtype t) {
    if (from->dtype == t) return *from;
    host to = host_new(m, t, &from->shape);
    for (int64_t i = 0; i < to.count; i++) host_convert(from, i, &to, i);
    return to;
}

/* Dtypes and shape; returns an error's number. */
static int plan_call(plan *p, const host *in, meta *out) {
    const op_info *op = p->op;
    op_class class = p->ref ? p->ref->class : op->class;
    op_kind kind = p->ref ? p->ref->kind : op->kind;
    int first = kind == KIND_TERNARY, number;
    bool weak = false, quotient = false;
    *out = (meta){.dtype = DT_BOOL};
    if (kind == KIND_MIXED) {
        p->exact = true;
        p->meet = DT_F64;
        out->dtype = DT_I8;
    } else {
        bool floats[2] = {dtype_is_float(in[0].dtype), p->nin > 1 && dtype_is_float(in[1].dtype)};
        p->exact = kind == KIND_COMPARE && floats[0] != floats[1] && !in[floats[0]].weak;
        number = reference_meet(class, in + first, p->nin - first, &p->meet, &weak);
        bool whole = true;
        for (int i = 0; i < p->nin; i++) whole = whole && !dtype_is_float(in[i].dtype);
        quotient = class == CLASS_QUOTIENT && whole && !weak;
        if (number && !p->exact && !quotient) return number;
        if (quotient) p->meet = DT_F64;
        if (kind != KIND_COMPARE) out->dtype = quotient ? DT_F32 : p->meet;
    }
    out->weak = weak && kind != KIND_COMPARE;
    out->shape = in[p->nin - 1].shape;
    for (int i = p->nin - 2; i >= 0; i--)
        if ((number = expect_broadcast(&in[i].shape, &out->shape, &out->shape))) return number;
    if (out->weak && out->shape.rank > 0) { /* where(mask, 1, 0.5): materialised alone */
        out->weak = false;
        p->meet = out->dtype = out->dtype == DT_F64 ? DT_F32 : out->dtype;
    }
    return 0;
}

expectation expect_elementwise(arena *m, const op_info *op, const host *in, int nin) {
    plan p = {.op = op, .ref = reference_find(op->name), .nin = nin};
    meta out;
    expectation e = {.number = plan_call(&p, in, &out)};
    if (e.number) return e;
    e.value = host_new(m, out.dtype, &out.shape);
    e.value.weak = out.weak;
    if (dtype_is_float(out.dtype)) {
        e.low = host_new(m, out.dtype, &out.shape);
        e.high = host_new(m, out.dtype, &out.shape);
    }
    host met[3];
    for (int k = 0; k < nin; k++) {
        bool condition = k == 0 && op->kind == KIND_TERNARY;
        met[k] = p.exact ? in[k] : converted(m, &in[k], condition ? DT_BOOL : p.meet);
    }
    bool fault = false;
    for (int64_t i = 0; i < e.value.count; i++) set_element(&p, &e, i, met, &fault);
    if (fault) e.number = p.ref ? p.ref->fault : op_fault_info[op->id].number;
    return e;
}

static bool within(const expectation *e, const host *got, int64_t i) {
    long double v = host_real(got, i), low = host_real(&e->low, i), high = host_real(&e->high, i);
    if (isnan(low) || isnan(v) || real_same(low, high)) return real_same(v, low);
    if (v == 0 && !isnan(low))
        return low <= 0 && high >= 0 && !signbit(v) == !signbit(host_real(&e->value, i));
    return low <= v && v <= high;
}

int64_t expect_differs(const expectation *e, const host *got) {
    host blank = e->value;
    if (!dtype_is_float(blank.dtype)) return host_differs(&blank, got);
    blank.data = got->data;
    if (host_differs(&blank, got) == -2) return -2;
    for (int64_t i = 0; i < got->count; i++)
        if (!within(e, got, i)) return i;
    return -1;
}

/* ---- failures ---- */

enum { SHOWN = 12 };

void failures_add(failures *f, const char *format, ...) {
    if (f->count++ >= SHOWN) return;
    char line[6000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_printf(&f->lines, "  %s\n", line);
}

void failures_end(failures *f) {
    if (f->count == 0) return;
    print_error("%s", text_str(&f->lines));
    text_free(&f->lines);
    fail_msg("%d failures", f->count);
}
