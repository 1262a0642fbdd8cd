/* shape.c — see shape.h. */
#include "engine/core/shape.h"

#include <stdio.h>
#include <string.h>

bool shape_same(dims *t, const shape *a, const shape *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (!dim_same(t, a->size[i], b->size[i])) return false;
    return true;
}

dim shape_count(dims *t, const shape *s) {
    dim n = 1;
    for (int i = 0; i < s->rank; i++)
        if (s->size[i] == 0) return 0;
    for (int i = 0; i < s->rank; i++) {
        n = dim_mul(t, n, s->size[i]);
        if (n == -1) return -1;
    }
    return n;
}

bool shape_known(const shape *s) {
    for (int i = 0; i < s->rank; i++)
        if (!dim_known(s->size[i])) return false;
    return true;
}

/* The silent N x N mistake: a is [..., N, 1] and b is [N] (rank 1) with the same N > 1. */
static bool column_meets_vector(dims *t, const shape *a, const shape *b) {
    return a->rank >= 2 && b->rank == 1 && a->size[a->rank - 1] == 1 && b->size[0] != 1 && b->size[0] != 0 &&
           a->size[a->rank - 2] != 1 && dim_same(t, a->size[a->rank - 2], b->size[0]);
}

/* `left`: the column is the first operand. Hints say left and right where the evaluator knows what they are called. */
static status refuse_column(dims *t, const shape *column, const shape *vector, bool left, error *e) {
    text a = {0}, b = {0};
    shape_print(t, column, &a);
    shape_print(t, vector, &b);
    status code =
        fail(e, STATUS_SHAPE, 103, "%s with %s would silently make a square", text_str(&a), text_str(&b));
    fail_hint(e, "write %s[..., 0] to go element by element, or %s[None, :] to mean the square",
              left ? "left" : "right", left ? "right" : "left");
    text_free(&a);
    text_free(&b);
    return code;
}

/* A vector that has an entry for each row, rather than each column, of the other operand is the usual case. */
static void hint_rows(dims *t, const shape *a, const shape *b, error *e) {
    if (a->rank > 1 && b->rank == 1 && dim_same(t, a->size[a->rank - 2], b->size[0]))
        fail_hint(e, "write right[:, None] to line it up with axis %d", a->rank - 2);
    else if (b->rank > 1 && a->rank == 1 && dim_same(t, b->size[b->rank - 2], a->size[0]))
        fail_hint(e, "write left[:, None] to line it up with axis %d", b->rank - 2);
    else
        fail_hint(e, "sizes must be equal or 1, counted from the last axis; reshape or index with None to "
                     "line them up");
}

status shape_broadcast(dims *t, const shape *a, const shape *b, shape *out, error *e) {
    if (memcmp(a, b, sizeof *a) == 0) { /* by far the most common case */
        if (out != a) *out = *a;
        return STATUS_OK;
    }
    if (column_meets_vector(t, a, b)) return refuse_column(t, a, b, true, e);
    if (column_meets_vector(t, b, a)) return refuse_column(t, b, a, false, e);
    shape r = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 0; i < r.rank; i++) {
        int ia = a->rank - r.rank + i, ib = b->rank - r.rank + i;
        dim x = ia < 0 ? 1 : a->size[ia], y = ib < 0 ? 1 : b->size[ib];
        if (x == 1 || y == 1 || dim_same(t, x, y)) {
            r.size[i] = x == 1 ? y : dim_known(y) && y != 1 ? y : x;
            continue;
        }
        text sa = {0}, sb = {0}, dx = {0}, dy = {0};
        shape_print(t, a, &sa);
        shape_print(t, b, &sb);
        dim_print(t, x, &dx);
        dim_print(t, y, &dy);
        fail(e, STATUS_SHAPE, 102, "shapes %s and %s do not broadcast", text_str(&sa), text_str(&sb));
        fail_operand(e, "%s (left axis %d) is not %s (right axis %d)", text_str(&dx), ia, text_str(&dy), ib);
        hint_rows(t, a, b, e);
        text_free(&sa);
        text_free(&sb);
        text_free(&dx);
        text_free(&dy);
        return e->code;
    }
    *out = r;
    return STATUS_OK;
}

status shape_axis(const dims *t, const shape *s, int64_t axis, int *out, error *e) {
    int64_t i = axis < 0 ? axis + s->rank : axis;
    *out = (int)i;
    if (i >= 0 && i < s->rank) return STATUS_OK;
    *out = 0;
    text p = {0};
    shape_print(t, s, &p);
    fail(e, STATUS_INDEX, 301, "axis %lld is out of range for shape %s", (long long)axis, text_str(&p));
    text_free(&p);
    if (s->rank == 0) return fail_hint(e, "a scalar has no axes; leave axis= out");
    return fail_hint(e, "axes go from 0 to %d, or -%d to -1 from the end", s->rank - 1, s->rank);
}

static void print_sizes(const dims *t, const shape *s, text *out) {
    text_char(out, '[');
    for (int i = 0; i < s->rank; i++) {
        if (i) text_add(out, ", ");
        dim_print(t, s->size[i], out);
    }
    text_char(out, ']');
}

void shape_print(const dims *t, const shape *s, text *out) {
    print_sizes(t, s, out);
}

void meta_print(const dims *t, const meta *m, text *out) {
    if (m->weak)
        text_add(out, m->dtype == DT_F64 ? "real" : "integer");
    else
        text_add(out, dtype_name(m->dtype));
    if (m->shape.rank > 0) print_sizes(t, &m->shape, out);
}

const char *meta_text(const dims *t, const meta *m, char *buffer, size_t size) {
    text p = {0};
    meta_print(t, m, &p);
    snprintf(buffer, size, "%s", text_str(&p));
    text_free(&p);
    return buffer;
}

void shape_strides(const shape *s, int64_t stride[MAX_RANK]) {
    int64_t step = 1;
    for (int i = s->rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= s->size[i] > 1 ? s->size[i] : 1;
    }
}
