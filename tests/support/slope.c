/* slope.c — see slope.h. */
#include "tests/harness/check.h"

#include "tests/support/slope.h"

#include <math.h>
#include <string.h>

#include "engine/autograd/tape.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"

enum { POINTS = MAX_SAMPLE_OPERANDS + 1 };

/* The call, and where its function is being looked at: the operands, then the weights w. */
typedef struct point {
    bench *b;
    const op_info *op;
    const void *attrs;
    int nin;
    host at[POINTS];          /* at[nin] is w */
    int variable[POINTS], nx; /* which of them are floats */
    host v[POINTS];           /* weights of the gradients, for the second order */
} point;

static tensor *weighted(context *c, tensor *y, tensor *w) {
    tensor *p = scope_add(c, op_call2(c, OP_mul, y, w, NULL));
    return p ? scope_add(c, op_reduce(c, OP_sum, p, NULL, false)) : NULL;
}

/* sum(w * op(x)) recorded on the tapes that are on the stack; the result belongs to the scope. */
static tensor *loss(const point *p, tensor *const *x) {
    context *c = p->b->c;
    tensor *y;
    if (op_apply(c, p->op->id, x, p->nin, p->attrs, &y)) return NULL;
    return weighted(c, scope_add(c, y), x[p->nin]);
}

static bool make_tensors(const point *p, tensor **x) {
    for (int i = 0; i <= p->nin; i++) {
        x[i] = host_tensor(p->b->c, &p->at[i], LAYOUT_PLAIN);
        assert_non_null(x[i]);
    }
    return true;
}

static void drop_tensors(const point *p, tensor **x) {
    for (int i = 0; i <= p->nin; i++) tensor_release(x[i]);
}

static tape *watching(const point *p, tensor *const *x) {
    tape *t = tape_new(p->b->c);
    assert_non_null(t);
    for (int i = 0; i < p->nx; i++) assert_int_equal(tape_watch(t, x[p->variable[i]]), STATUS_OK);
    return t;
}

static void variables(const point *p, tensor *const *x, tensor **out) {
    for (int i = 0; i < p->nx; i++) out[i] = x[p->variable[i]];
}

/* L's gradients into out (new references), with the tape on top of those that are recording. */
static bool first_order(const point *p, tensor *const *x, tensor **out) {
    context *c = p->b->c;
    tensor *by[POINTS];
    tape *t = watching(p, x);
    tape_push(c, t);
    tensor *l = loss(p, x);
    tape_pop(c, t);
    variables(p, x, by);
    bool good = l && tape_gradient(t, l, NULL, by, p->nx, out) == STATUS_OK;
    tape_free(t);
    return good;
}

/* G = sum of v * gradient over all; belongs to the scope. */
static tensor *combined(const point *p, tensor *const *x) {
    context *c = p->b->c;
    tensor *g[POINTS], *sum = NULL;
    if (!first_order(p, x, g)) return NULL;
    for (int i = 0; i < p->nx; i++) {
        tensor *v = scope_add(c, host_tensor(c, &p->v[i], LAYOUT_PLAIN));
        scope_add(c, g[i]);
        tensor *part = v ? weighted(c, g[i], v) : NULL;
        sum = !part ? NULL : i ? scope_add(c, op_call2(c, OP_add, sum, part, NULL)) : part;
        if (!sum) return NULL;
    }
    return sum;
}

/* The gradients of order 1 or 2 as host arrays. */
static bool gradients(point *p, int order, host *out) {
    context *c = p->b->c;
    tensor *x[POINTS], *g[POINTS] = {0}, *by[POINTS];
    scope s;
    make_tensors(p, x);
    scope_open(c, &s);
    bool good;
    if (order == 1) {
        good = first_order(p, x, g);
    } else {
        tape *t = watching(p, x);
        tape_push(c, t);
        tensor *total = combined(p, x);
        tape_pop(c, t);
        variables(p, x, by);
        good = total && tape_gradient(t, total, NULL, by, p->nx, g) == STATUS_OK;
        tape_free(t);
    }
    for (int i = 0; good && i < p->nx; i++) {
        out[i] = host_read(p->b->memory, g[i]);
        tensor_release(g[i]);
    }
    scope_close(c, &s);
    drop_tensors(p, x);
    return good;
}

/* L or G at the point. */
static bool value(point *p, int order, long double *out) {
    context *c = p->b->c;
    tensor *x[POINTS];
    scope s;
    make_tensors(p, x);
    scope_open(c, &s);
    tensor *l = order == 1 ? loss(p, x) : combined(p, x);
    if (l) *out = (long double)tensor_get_real(l, 0);
    scope_close(c, &s);
    drop_tensors(p, x);
    return l != NULL;
}

/* The slope along element j of variable i by a five-point formula with step h. */
static bool slope(point *p, int order, int i, int64_t j, long double h, long double *out) {
    host *at = &p->at[p->variable[i]];
    long double middle = host_real(at, j), f[4];
    static const int steps[4] = {-2, -1, 1, 2};
    bool good = true;
    for (int k = 0; good && k < 4; k++) {
        host_set_real(at, j, middle + steps[k] * h);
        good = value(p, order, &f[k]);
    }
    host_set_real(at, j, middle);
    *out = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
    return good;
}

static void compare(point *p, int order, int i, const host *gradient, slope_count *n) {
    const meta want = {p->at[p->variable[i]].shape, p->at[p->variable[i]].dtype, p->at[p->variable[i]].weak};
    const meta got = {gradient->shape, gradient->dtype, gradient->weak};
    const char *call = bench_call_text(p->b, p->op, p->at, p->nin, p->attrs);
    if (want.dtype != got.dtype || want.weak != got.weak || !shape_same(NULL, &want.shape, &got.shape)) {
        failures_add(&p->b->failures, "%s: gradient %d of order %d has another meta than its operand", call,
                     i, order);
        return;
    }
    for (int64_t j = 0; j < gradient->count; j++) {
        long double coarse, fine, g = host_real(gradient, j);
        if (!slope(p, order, i, j, 2e-3L, &coarse) || !slope(p, order, i, j, 1e-3L, &fine)) {
            failures_add(&p->b->failures, "%s: %s", call, p->b->c->err.message);
            error_clear(&p->b->c->err);
            return;
        }
        long double scale = 1 + fabsl(fine);
        if (!(fabsl(coarse - fine) <= 1e-6L * scale)) {
            n->skipped++;
            continue;
        }
        n->compared++;
        if (fabsl(g - fine) <= 3e-6L * scale) continue;
        failures_add(&p->b->failures,
                     "%s: gradient %d of order %d, element %lld at %.9Lg is %.9Lg, the slope %.9Lg", call, i,
                     order, (long long)j, host_real(&p->at[p->variable[i]], j), g, fine);
        return;
    }
}

/* The operands and weights of a call; false when it fails or its result is no float. */
static bool open_point(point *p, bench *b, const op_info *op, const host *in, int nin, const void *attrs,
                       const host *w) {
    outcome o = bench_call(b, op, in, nin, NULL, attrs);
    *p = (point){.b = b, .op = op, .attrs = attrs, .nin = nin};
    if (o.number || !dtype_is_float(o.out[0].dtype)) return false;
    for (int i = 0; i < nin; i++) p->at[i] = in[i];
    if (w)
        p->at[nin] = *w;
    else {
        p->at[nin] = host_new(b->memory, o.out[0].dtype, &o.out[0].shape);
        generate(&b->rng, "nonzero", 0, GENTLE, &p->at[nin]);
    }
    for (int i = 0; i <= nin; i++)
        if (dtype_is_float(p->at[i].dtype)) p->variable[p->nx++] = i;
    for (int i = 0; i < p->nx; i++) {
        const host *at = &p->at[p->variable[i]];
        p->v[i] = host_new(b->memory, at->dtype, &at->shape);
        generate(&b->rng, "nonzero", 0, GENTLE, &p->v[i]);
    }
    return true;
}

slope_count slope_check(bench *b, const op_info *op, const host *in, int nin, const void *attrs, bool cut) {
    point p;
    host g[POINTS];
    slope_count n = {0};
    if (!open_point(&p, b, op, in, nin, attrs, NULL)) return n;
    for (int order = 1; order <= 2; order++) {
        if (!gradients(&p, order, g)) {
            failures_add(&b->failures, "%s: gradient of order %d: %s", bench_call_text(b, op, in, nin, attrs),
                         order, b->c->err.message);
            error_clear(&b->c->err);
            return n;
        }
        for (int i = 0; i < p.nx; i++) {
            if (cut && p.variable[i] < nin) {
                for (int64_t j = 0; order == 1 && j < g[i].count; j++)
                    if (host_real(&g[i], j) != 0)
                        failures_add(&b->failures, "%s: a gradient that is cut off", op->name);
                continue;
            }
            if (!cut) compare(&p, order, i, &g[i], &n);
        }
    }
    return n;
}

bool slope_gradients(bench *b, const op_info *op, const host *in, int nin, const void *attrs, host *w,
                     host *out, int *nout) {
    point p;
    if (!open_point(&p, b, op, in, nin, attrs, w && w->data ? w : NULL)) return false;
    if (w) *w = p.at[nin];
    *nout = p.nx;
    return gradients(&p, 1, out);
}
