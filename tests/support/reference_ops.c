/* reference_ops.c — the rows with functions of their own, by index arithmetic on host arrays. */
#include "tests/support/reference.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ROW(name)                                                                                            \
    static int name(arena *m, const host *in, int nin, const void *attrs, host *out, host *tolerance)
#define PLAIN (void)m, (void)in, (void)nin, (void)attrs, (void)tolerance

static shape listed(const int_list *l) {
    return shape_of((int)l->count, l->v);
}

/* The index of row-major element i of shape s. */
static void unravel(const shape *s, int64_t i, int64_t at[MAX_RANK]) {
    for (int a = s->rank - 1; a >= 0; a--) {
        at[a] = i % s->size[a];
        i /= s->size[a];
    }
}

static int64_t ravel(const shape *s, const int64_t at[MAX_RANK]) {
    int64_t i = 0;
    for (int a = 0; a < s->rank; a++) i = i * s->size[a] + at[a];
    return i;
}

static void move(const host *from, int64_t i, host *to, int64_t j) {
    size_t size = dtype_size(from->dtype);
    memcpy((char *)to->data + (size_t)j * size, (const char *)from->data + (size_t)i * size, size);
}

static int axis_in(int64_t axis, int rank) {
    return (int)(axis < 0 ? axis + rank : axis);
}

/* ---- views ---- */

ROW(cast) {
    PLAIN;
    const cast_attrs *a = attrs;
    *out = host_new(m, (dtype)a->dtype, &in->shape);
    out->weak = a->weak;
    for (int64_t i = 0; i < in->count; i++) host_convert(in, i, out, i);
    return 0;
}

ROW(fit) {
    PLAIN;
    dtype to = (dtype)((const dtype_attrs *)attrs)->dtype;
    if (dtype_is_float(in->dtype)) return 107;
    *out = host_new(m, to, &in->shape);
    for (int64_t i = 0; i < in->count; i++) {
        host_convert(in, i, out, i);
        if (host_int(out, i) != host_int(in, i)) return 106;
    }
    return 0;
}

ROW(stop_grad) {
    PLAIN;
    *out = *in;
    return 0;
}

ROW(reshape) {
    PLAIN;
    *out = *in;
    out->shape = listed(&((const shape_attrs *)attrs)->shape);
    return shape_elements(&out->shape) == in->count ? 0 : 110;
}

ROW(transpose) {
    PLAIN;
    const transpose_attrs *a = attrs;
    shape s = {.rank = in->shape.rank};
    for (int i = 0; i < s.rank; i++) s.size[i] = in->shape.size[a->axes.v[i]];
    *out = host_new(m, in->dtype, &s);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t to[MAX_RANK], from[MAX_RANK];
        unravel(&s, i, to);
        for (int k = 0; k < s.rank; k++) from[a->axes.v[k]] = to[k];
        move(in, ravel(&in->shape, from), out, i);
    }
    return 0;
}

ROW(expand) {
    PLAIN;
    shape s = listed(&((const shape_attrs *)attrs)->shape);
    *out = host_new(m, in->dtype, &s);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t to[MAX_RANK], from[MAX_RANK];
        unravel(&s, i, to);
        for (int k = 0; k < in->shape.rank; k++)
            from[k] = in->shape.size[k] == 1 ? 0 : to[k + s.rank - in->shape.rank];
        move(in, ravel(&in->shape, from), out, i);
    }
    return 0;
}

/* Where element i of the box lies in x. */
static int64_t in_box(const shape *x, const slice_attrs *a, int64_t i) {
    int64_t at[MAX_RANK];
    shape box = listed(&a->size);
    unravel(&box, i, at);
    for (int k = 0; k < x->rank; k++) at[k] = a->start.v[k] + at[k] * a->step.v[k];
    return ravel(x, at);
}

ROW(slice) {
    PLAIN;
    const slice_attrs *a = attrs;
    shape s = listed(&a->size);
    *out = host_new(m, in->dtype, &s);
    for (int64_t i = 0; i < out->count; i++) move(in, in_box(&in->shape, a, i), out, i);
    return 0;
}

ROW(update) {
    PLAIN;
    if (in[0].dtype != in[1].dtype) return 107;
    *out = host_new(m, in->dtype, &in->shape);
    for (int64_t i = 0; i < in->count; i++) move(in, i, out, i);
    for (int64_t i = 0; i < in[1].count; i++) move(&in[1], i, out, in_box(&in->shape, attrs, i));
    return 0;
}

/* ---- joining, products ---- */

ROW(concat) {
    PLAIN;
    int axis = axis_in(((const axis_attrs *)attrs)->axis, in->shape.rank);
    shape s = in->shape;
    for (int k = 1; k < nin; k++) s.size[axis] += in[k].shape.size[axis];
    *out = host_new(m, in->dtype, &s);
    int64_t begin = 0;
    for (int k = 0; k < nin; k++) {
        for (int64_t i = 0; i < in[k].count; i++) {
            int64_t at[MAX_RANK];
            unravel(&in[k].shape, i, at);
            at[axis] += begin;
            move(&in[k], i, out, ravel(&s, at));
        }
        begin += in[k].shape.size[axis];
    }
    return 0;
}

/* x and y as matrices with a batch in front; the result's shape and the numbers of its element i. */
typedef struct product {
    shape x, y, out; /* with the axes that vectors lack */
    int64_t inner;
} product;

static product product_of(const shape *a, const shape *b) {
    product p = {.x = *a, .y = *b};
    if (a->rank == 1) p.x = (shape){.rank = 2, .size = {1, a->size[0]}};
    if (b->rank == 1) p.y = (shape){.rank = 2, .size = {b->size[0], 1}};
    p.out.rank = p.x.rank > p.y.rank ? p.x.rank : p.y.rank;
    for (int i = 1; i <= p.out.rank; i++) {
        int64_t m = i <= p.x.rank ? p.x.size[p.x.rank - i] : 1,
                n = i <= p.y.rank ? p.y.size[p.y.rank - i] : 1;
        p.out.size[p.out.rank - i] = i == 1 ? n : i == 2 ? m : m == 1 ? n : m;
    }
    p.inner = p.x.size[p.x.rank - 1];
    return p;
}

/* Element (k of the inner axis) of an operand for the output index `at`. */
static int64_t factor(const product *p, const shape *s, const int64_t at[MAX_RANK], int64_t k, bool left) {
    int64_t from[MAX_RANK];
    for (int i = 0; i < s->rank; i++) {
        int64_t o = at[i + p->out.rank - s->rank];
        from[i] = s->size[i] == 1 ? 0 : o;
    }
    from[s->rank - (left ? 1 : 2)] = k;
    if (left) from[s->rank - 2] = at[p->out.rank - 2];
    if (!left) from[s->rank - 1] = at[p->out.rank - 1];
    return ravel(s, from);
}

ROW(matmul) {
    PLAIN;
    product p = product_of(&in[0].shape, &in[1].shape);
    shape s = p.out;
    if (in[1].shape.rank == 1) s.size[--s.rank] = 0;
    if (in[0].shape.rank == 1) { /* the axis before the last one that is left */
        int last = s.rank - 1, row = in[1].shape.rank == 1 ? last : last - 1;
        for (int i = row; i < last; i++) s.size[i] = s.size[i + 1];
        s.size[last] = 0;
        s.rank--;
    }
    dtype t = in->dtype, compute = dtype_is_half(t) ? DT_F32 : t;
    *out = host_new(m, t, &s);
    bool real = dtype_is_float(t);
    if (real) *tolerance = host_new(m, DT_F64, &s);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at[MAX_RANK];
        long double sum = 0, size = 0;
        wide whole = 0;
        unravel(&p.out, i, at);
        for (int64_t k = 0; k < p.inner; k++) {
            int64_t a = factor(&p, &p.x, at, k, true), b = factor(&p, &p.y, at, k, false);
            if (!real)
                whole = int_wrap(t, whole + host_int(&in[0], a) * host_int(&in[1], b));
            else {
                long double v = host_real(&in[0], a) * host_real(&in[1], b);
                sum += v;
                size += fabsl(v);
            }
        }
        if (!real) {
            host_set_int(out, i, whole);
            continue;
        }
        host_set_real(out, i, sum);
        long double off = (long double)p.inner * size * ldexpl(1, -real_digits(compute));
        if (dtype_is_half(t)) off += fabsl(sum) * ldexpl(1, 1 - real_digits(t)) + real_tiniest(t);
        host_set_real(tolerance, i, off);
    }
    return 0;
}

ROW(argmax) {
    PLAIN;
    const argmax_attrs *a = attrs;
    int axis = axis_in(a->axis, in->shape.rank);
    shape s = {0};
    for (int i = 0; i < in->shape.rank; i++) {
        if (i != axis)
            s.size[s.rank++] = in->shape.size[i];
        else if (a->keep)
            s.size[s.rank++] = 1;
    }
    if (in->shape.size[axis] == 0) return 311;
    *out = host_new(m, DT_I64, &s);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at[MAX_RANK], from[MAX_RANK] = {0}, best = -1;
        long double top = 0;
        unravel(&s, i, at);
        for (int k = 0, n = 0; k < in->shape.rank; k++) {
            if (k != axis)
                from[k] = at[n++];
            else if (a->keep)
                n++;
        }
        for (int64_t k = 0; k < in->shape.size[axis]; k++) {
            from[axis] = k;
            long double v = host_real(in, ravel(&in->shape, from));
            bool better = best < 0 || v > top || (isnan(v) && !isnan(top));
            if (best >= 0 && isnan(top)) better = false;
            if (!better) continue;
            top = v;
            best = k;
        }
        host_set_int(out, i, best);
    }
    return 0;
}

/* ---- indices ---- */

/* Element i of index h into an axis of n, negatives from the end; -1 when out of range. */
static int64_t index_at(const host *h, int64_t i, int64_t n, bool negatives) {
    wide v = host_int(h, i);
    if (negatives && v < 0) v += n;
    return v >= 0 && v < n ? (int64_t)v : -1;
}

/* Where element i of take's result comes from in x: the result's axes are x's with the axis replaced by the index's. */
static int64_t take_from(const host *x, const host *index, int axis, const shape *result, int64_t i) {
    int64_t at[MAX_RANK], from[MAX_RANK] = {0}, pick[MAX_RANK] = {0};
    unravel(result, i, at);
    for (int k = 0; k < axis; k++) from[k] = at[k];
    for (int k = 0; k < index->shape.rank; k++) pick[k] = at[axis + k];
    for (int k = axis + 1; k < x->shape.rank; k++) from[k] = at[k - 1 + index->shape.rank];
    from[axis] = index_at(index, ravel(&index->shape, pick), x->shape.size[axis], true);
    return from[axis] < 0 ? -1 : ravel(&x->shape, from);
}

static shape take_shape_of(const host *x, const host *index, int axis) {
    shape s = {0};
    for (int k = 0; k < axis; k++) s.size[s.rank++] = x->shape.size[k];
    for (int k = 0; k < index->shape.rank; k++) s.size[s.rank++] = index->shape.size[k];
    for (int k = axis + 1; k < x->shape.rank; k++) s.size[s.rank++] = x->shape.size[k];
    return s;
}

static int64_t gather_from(const host *x, const host *index, int axis, int64_t i) {
    int64_t at[MAX_RANK];
    unravel(&index->shape, i, at);
    at[axis] = index_at(index, i, x->shape.size[axis], true);
    return at[axis] < 0 ? -1 : ravel(&x->shape, at);
}

ROW(take) {
    PLAIN;
    int axis = axis_in(((const axis_attrs *)attrs)->axis, in->shape.rank);
    shape s = take_shape_of(&in[0], &in[1], axis);
    *out = host_new(m, in->dtype, &s);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t from = take_from(&in[0], &in[1], axis, &s, i);
        if (from < 0) return 306;
        move(in, from, out, i);
    }
    return 0;
}

ROW(gather) {
    PLAIN;
    int axis = axis_in(((const axis_attrs *)attrs)->axis, in->shape.rank);
    *out = host_new(m, in->dtype, &in[1].shape);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t from = gather_from(&in[0], &in[1], axis, i);
        if (from < 0) return 306;
        move(in, from, out, i);
    }
    return 0;
}

/* x with v's element i added at place(i), in order of i, in x's compute type; halves are rounded once at the end. */
static int add_at(arena *m, const host *in, int axis, host *out, bool each) {
    if (in[0].dtype != in[2].dtype) return 107;
    dtype t = in->dtype, compute = dtype_is_half(t) ? DT_F32 : t;
    host sum = host_new(m, compute, &in->shape);
    for (int64_t i = 0; i < sum.count; i++) host_convert(in, i, &sum, i);
    for (int64_t i = 0; i < in[2].count; i++) {
        int64_t at =
            each ? gather_from(&in[0], &in[1], axis, i) : take_from(&in[0], &in[1], axis, &in[2].shape, i);
        if (at < 0) return 306;
        if (t == DT_BOOL)
            host_set_int(&sum, at, host_int(&sum, at) | host_int(&in[2], i));
        else if (!dtype_is_float(t))
            host_set_int(&sum, at, host_int(&sum, at) + host_int(&in[2], i));
        else if (t == DT_F64)
            host_set_real(&sum, at,
                          (long double)((double)host_real(&sum, at) + (double)host_real(&in[2], i)));
        else
            host_set_real(&sum, at, host_real(&sum, at) + host_real(&in[2], i));
    }
    *out = host_new(m, t, &in->shape);
    for (int64_t i = 0; i < sum.count; i++) host_convert(&sum, i, out, i);
    return 0;
}

ROW(take_add) {
    PLAIN;
    return add_at(m, in, axis_in(((const axis_attrs *)attrs)->axis, in->shape.rank), out, false);
}

ROW(scatter_add) {
    PLAIN;
    return add_at(m, in, axis_in(((const axis_attrs *)attrs)->axis, in->shape.rank), out, true);
}

ROW(compress) {
    PLAIN;
    int axis = axis_in(((const axis_attrs *)attrs)->axis, in->shape.rank);
    shape s = in->shape;
    int64_t *keep = arena_alloc(m, ((size_t)in[1].count + 1) * sizeof *keep), n = 0;
    assert(keep);
    for (int64_t i = 0; i < in[1].count; i++)
        if (host_int(&in[1], i)) keep[n++] = i;
    s.size[axis] = n;
    *out = host_new(m, in->dtype, &s);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at[MAX_RANK];
        unravel(&s, i, at);
        at[axis] = keep[at[axis]];
        move(in, ravel(&in->shape, at), out, i);
    }
    return 0;
}

ROW(one_hot) {
    PLAIN;
    const one_hot_attrs *a = attrs;
    shape s = in->shape;
    s.size[s.rank++] = a->classes;
    *out = host_new(m, (dtype)a->dtype, &s);
    for (int64_t i = 0; i < in->count; i++) {
        int64_t k = index_at(in, i, a->classes, false);
        if (k < 0) return 306;
        host one = host_scalar(m, DT_BOOL, false);
        host_set_int(&one, 0, 1);
        host_convert(&one, 0, out, i * a->classes + k);
    }
    return 0;
}

/* ---- creation ---- */

ROW(full) {
    PLAIN;
    const full_attrs *a = attrs;
    shape s = listed(&a->shape);
    *out = host_new(m, (dtype)a->dtype, &s);
    for (int64_t i = 0; i < out->count; i++) host_convert(in, 0, out, i);
    return 0;
}

ROW(arange) {
    PLAIN;
    const arange_attrs *a = attrs;
    *out = host_new(m, (dtype)a->dtype, &(shape){.rank = 1, .size = {a->count}});
    host v = host_new(m, DT_F64, &(shape){0});
    for (int64_t i = 0; i < a->count; i++) {
        double step = (double)i * a->step;
        host_set_real(&v, 0, (long double)(a->start + step));
        host_convert(&v, 0, out, i);
    }
    return 0;
}

ROW(extent) {
    PLAIN;
    *out = host_scalar(m, DT_I64, true);
    host_set_int(out, 0, ((const extent_attrs *)attrs)->size);
    return 0;
}

static const reference_op rows[] = {
    {"cast", CLASS_NONE, AUTOCAST_KEEP, 0, "weak=false", "1", cast},
    {"fit", CLASS_NONE, AUTOCAST_KEEP, OP_RAISES, "", "", fit},
    {"stop_grad", CLASS_NONE, AUTOCAST_KEEP, 0, "", "cut", stop_grad},
    {"reshape", CLASS_NONE, AUTOCAST_KEEP, 0, "", "1", reshape},
    {"transpose", CLASS_NONE, AUTOCAST_KEEP, 0, "", "1", transpose},
    {"expand", CLASS_NONE, AUTOCAST_KEEP, 0, "", "1", expand},
    {"slice", CLASS_NONE, AUTOCAST_KEEP, 0, "", "1", slice},
    {"update", CLASS_NONE, AUTOCAST_KEEP, 0, "", "11", update},
    {"concat", CLASS_ALL, AUTOCAST_KEEP, 0, "axis=0", "1", concat},
    {"matmul", CLASS_NUMERIC, AUTOCAST_LOW, 0, "", "11", matmul},
    {"argmax", CLASS_NONE, AUTOCAST_KEEP, 0, "keep=false", "", argmax},
    {"take", CLASS_NONE, AUTOCAST_KEEP, OP_RAISES, "axis=0", "1", take},
    {"take_add", CLASS_NONE, AUTOCAST_KEEP, OP_RAISES, "axis=0", "101", take_add},
    {"gather", CLASS_NONE, AUTOCAST_KEEP, OP_RAISES, "axis=0", "1", gather},
    {"scatter_add", CLASS_NONE, AUTOCAST_KEEP, OP_RAISES, "axis=0", "101", scatter_add},
    {"compress", CLASS_NONE, AUTOCAST_KEEP, OP_DYNAMIC, "axis=0", "1", compress},
    {"one_hot", CLASS_NONE, AUTOCAST_KEEP, OP_RAISES, "dtype=f32", "", one_hot},
    {"full", CLASS_NONE, AUTOCAST_KEEP, 0, "", "1", full},
    {"arange", CLASS_NONE, AUTOCAST_KEEP, 0, "", "", arange},
    {"extent", CLASS_NONE, AUTOCAST_KEEP, 0, "", "", extent},
    {"rand", CLASS_NONE, AUTOCAST_KEEP, OP_RANDOM, "dtype=f32", "", reference_rand},
    {"randn", CLASS_NONE, AUTOCAST_KEEP, OP_RANDOM, "dtype=f32", "", reference_randn},
};

const reference_op *reference_op_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}
