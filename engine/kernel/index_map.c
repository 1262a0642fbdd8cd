/* index_map.c — see index_map.h. */
#include "engine/kernel/index_map.h"

#include <string.h>

index_map map_identity(const shape *s) {
    index_map m = {.rank = s->rank};
    for (int i = 0; i < s->rank; i++)
        if (s->size[i] != 1) m.coef[i][i] = 1;
    return m;
}

index_map map_broadcast(const shape *from, const shape *to, const index_map *m) {
    index_map r = {.rank = from->rank};
    int skip = to->rank - from->rank;
    for (int i = 0; i < from->rank; i++) {
        if (from->size[i] == 1) continue;
        r.offset[i] = m->offset[i + skip];
        memcpy(r.coef[i], m->coef[i + skip], sizeof r.coef[i]);
    }
    return r;
}

static void copy_axis(index_map *to, int i, const index_map *from, int j) {
    to->offset[i] = from->offset[j];
    memcpy(to->coef[i], from->coef[j], sizeof to->coef[i]);
}

/* *offset += factor * (axis j of m), coefficients likewise. */
static void add_scaled(dims *t, index_map *to, int i, dim factor, const index_map *m, int j) {
    to->offset[i] = dim_add(t, to->offset[i], dim_mul(t, factor, m->offset[j]));
    for (int k = 0; k < MAX_RANK; k++) {
        if (m->coef[j][k] == 0) continue;
        to->coef[i][k] = dim_add(t, to->coef[i][k], dim_mul(t, factor, m->coef[j][k]));
    }
}

bool dims_tied(const dims *t, dim a, dim b) {
    if (a == b) return true;
    if (dim_known(a) && dim_known(b)) return false;
    for (uint32_t i = 0; i < t->guard_count; i++) {
        const dim_guard *g = &t->guards[i];
        if (g->relation == DIM_EQ && ((g->a == a && g->b == b) || (g->a == b && g->b == a))) return true;
    }
    return false;
}

/* Axes of size 1 hold still; the others must pair up one to one, or one old axis with several new ones whose sizes
 * multiply to it. */
static bool view_reshape(const graph *g, const shape *from, const shape *to, const index_map *m,
                         index_map *out) {
    int i = 0, j = 0;
    for (;;) {
        while (i < from->rank && from->size[i] == 1) i++;
        while (j < to->rank && to->size[j] == 1) j++;
        if (i == from->rank || j == to->rank) return i == from->rank && j == to->rank;
        if (dims_tied(g->dims, from->size[i], to->size[j])) {
            copy_axis(out, i++, m, j++);
            continue;
        }
        dim product = to->size[j];
        int end = j + 1;
        while (end < to->rank && !dims_tied(g->dims, product, from->size[i]))
            product = dim_mul(g->dims, product, to->size[end++]);
        if (!dims_tied(g->dims, product, from->size[i])) return false;
        dim step = 1;
        for (int k = end - 1; k >= j; k--) {
            add_scaled(g->dims, out, i, step, m, k);
            step = dim_mul(g->dims, step, to->size[k]);
        }
        i++;
        j = end;
    }
}

bool map_view(const graph *g, const node *n, const index_map *m, index_map *out) {
    const shape *from = &graph_meta(g, n->in[0])->shape, *to = &graph_meta(g, n->out)->shape;
    index_map r = {.rank = from->rank};
    switch (n->op) {
    case OP_stop_grad:
        r = *m;
        break;
    case OP_expand:
        r = map_broadcast(from, to, m);
        break;
    case OP_transpose: {
        const transpose_attrs *a = n->attrs;
        for (int j = 0; j < to->rank; j++) {
            int64_t i = a->axes.v[j];
            copy_axis(&r, (int)(i < 0 ? i + from->rank : i), m, j);
        }
        break;
    }
    case OP_slice: {
        const slice_attrs *a = n->attrs;
        for (int i = 0; i < from->rank; i++) {
            r.offset[i] = a->start.v[i];
            add_scaled(g->dims, &r, i, a->step.v[i], m, i);
        }
        break;
    }
    case OP_reshape:
        if (!view_reshape(g, from, to, m, &r)) return false;
        break;
    default:
        return false;
    }
    *out = r;
    return true;
}

unsigned map_axes(const index_map *m) {
    unsigned mask = 0;
    for (int64_t i = 0; i < m->rank; i++)
        for (int k = 0; k < MAX_RANK; k++)
            if (m->coef[i][k] != 0) mask |= 1u << k;
    return mask;
}

bool map_bijection(const graph *g, const shape *s, const index_map *m, const dim *space, int axis[MAX_RANK]) {
    unsigned used = 0;
    for (int i = 0; i < s->rank; i++) {
        axis[i] = -1;
        for (int k = 0; k < MAX_RANK; k++) {
            if (m->coef[i][k] == 0) continue;
            if (axis[i] >= 0 || m->coef[i][k] != 1 || (used >> k & 1)) return false;
            axis[i] = k;
            used |= 1u << k;
        }
        if (m->offset[i] != 0) return false;
        if (axis[i] < 0 ? s->size[i] != 1 : !dims_tied(g->dims, s->size[i], space[axis[i]])) return false;
    }
    return true;
}

bool map_same(const index_map *a, const index_map *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

void map_strides(const graph *g, const shape *s, const index_map *m, dim stride[MAX_RANK], dim *offset) {
    index_map flat = {.rank = 1};
    dim step = 1;
    for (int i = s->rank - 1; i >= 0; i--) {
        if (s->size[i] == 1) continue; /* its index is 0 */
        add_scaled(g->dims, &flat, 0, step, m, i);
        step = dim_mul(g->dims, step, s->size[i]);
    }
    memcpy(stride, flat.coef[0], sizeof flat.coef[0]);
    *offset = flat.offset[0];
}
