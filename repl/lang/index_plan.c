/* index_plan.c — items of an index against a shape: bounds, negative numbers, clipping; see index.h.
 *
 * Sizes may be symbols while freezing, so comparisons go through dim_less, which leaves guards behind. */
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/index.h"

static status eval_item(session *s, const ast_node *n, index_item *out) {
    *out = (index_item){.kind = (ast_kind)n->kind, .node = n};
    if (n->kind == AST_ELLIPSIS || n->kind == AST_NONE) return STATUS_OK;
    if (n->kind != AST_SLICE) return eval_expr(s, n, &out->v[0]);
    status st = STATUS_OK;
    for (int i = 0; i < 3 && !st; i++)
        if (n->child[i]) st = eval_expr(s, n->child[i], &out->v[i]);
    return st;
}

/* a[(i, j)] is a[i, j]. */
static status spread_tuple(session *s, index_items *x) {
    value tuple = x->items[0].v[0];
    size_t count = tuple.tuple->count;
    if (count > 2 * MAX_RANK) return STATUS_OK; /* refused later as too many */
    index_item *items = mem_calloc(count + 1, sizeof *items);
    if (!items) return fail_memory(&s->c->err, count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i] = (index_item){.kind = AST_TUPLE, .node = x->items[0].node};
        items[i].v[0] = value_retain(tuple.tuple->item[i]);
    }
    value_release(tuple);
    mem_free(x->items);
    *x = (index_items){items, (int)count};
    return STATUS_OK;
}

status index_items_eval(session *s, const ast_node *n, index_items *out) {
    *out = (index_items){mem_calloc(n->count, sizeof(index_item)), 0};
    if (!out->items) return fail_memory(&s->c->err, n->count * sizeof(index_item));
    status st = STATUS_OK;
    for (uint32_t i = 1; i < n->count && !st; i++) st = eval_item(s, n->child[i], &out->items[out->count++]);
    if (!st && out->count == 1 && out->items[0].v[0].kind == VALUE_TUPLE && out->items[0].kind != AST_SLICE)
        st = spread_tuple(s, out);
    if (st) index_items_free(out);
    return st;
}

void index_items_free(index_items *x) {
    for (int i = 0; i < x->count; i++)
        for (int k = 0; k < 3; k++) value_release(x->items[i].v[k]);
    mem_free(x->items);
    *x = (index_items){0};
}

/* How an item takes part. */
typedef enum item_role {
    ROLE_INT,
    ROLE_SLICE,
    ROLE_NEW,
    ROLE_REST,
    ROLE_TAKE,
    ROLE_MASK,
    ROLE_WRONG
} item_role;

static item_role role_of(session *s, const index_item *x) {
    dim unused;
    if (x->kind == AST_SLICE) return ROLE_SLICE;
    if (x->kind == AST_ELLIPSIS) return ROLE_REST;
    if (x->kind == AST_NONE || x->v[0].kind == VALUE_NONE) return ROLE_NEW;
    if (x->v[0].kind == VALUE_RANGE) return ROLE_SLICE;
    if (x->v[0].kind != VALUE_TENSOR) return ROLE_WRONG;
    tensor *t = x->v[0].tensor;
    if (t->meta.dtype == DT_BOOL) return t->meta.shape.rank ? ROLE_MASK : ROLE_WRONG;
    if (!dtype_is_integer(t->meta.dtype)) return ROLE_WRONG;
    if (t->meta.shape.rank > 0) return ROLE_TAKE;
    return tensor_concrete(t) || freezing_dim(s, t, &unused) ? ROLE_INT : ROLE_TAKE;
}

static status wrong_item(session *s, const index_item *x) {
    char buffer[120];
    error *e = &s->c->err;
    value v = x->v[0];
    status st =
        fail(e, STATUS_INDEX, E_INDEX_KIND, "%s is not an index", value_describe(v, buffer, sizeof buffer));
    if (v.kind == VALUE_TENSOR && dtype_is_float(v.tensor->meta.dtype))
        fail_hint(e, "divide integers with `//`, or cast: i as i64");
    else if (v.kind == VALUE_TENSOR)
        fail_hint(e, "a mask has the shape of what it selects from");
    else
        fail_hint(e, "indices are integers, slices a:b:c, ..., None, masks and integer tensors");
    return error_at(s, x->node->where, st);
}

/* The plan under construction. */
typedef struct planner {
    session *s;
    dims *dims;
    const shape *from;
    index_plan *p;
    int axis; /* next axis of `from` */
} planner;

static void keep_axis(planner *w, dim size) {
    w->p->kept.size[w->p->kept.rank++] = size;
}

static void box_axis(planner *w, dim start, dim size, int64_t step) {
    slice_attrs *b = &w->p->box;
    b->start.v[w->axis] = start;
    b->size.v[w->axis] = size;
    b->step.v[w->axis] = step;
    b->start.count = b->size.count = b->step.count = w->axis + 1;
    if (start != 0 || step != 1 || size != w->from->size[w->axis]) w->p->whole = false;
    w->axis++;
}

static status out_of_range(planner *w, const index_item *x, int64_t i) {
    text size = {0};
    dim_print(w->dims, w->from->size[w->axis], &size);
    status st =
        fail(&w->s->c->err, STATUS_INDEX, E_INDEX_RANGE, "index %lld is out of range for axis %d of size %s",
             (long long)i, w->axis, text_str(&size));
    text_free(&size);
    return error_at(w->s, x->node->where, st);
}

/* Is position i < 0 of an axis of n elements, counted from the end, before its begin? */
static bool before_begin(dims *t, dim i, dim n) {
    if (dim_known(i)) return i < -INT64_MAX || dim_less(t, n, -i);
    return dim_less(t, dim_add(t, n, i), 0);
}

static status plan_int(planner *w, const index_item *x) {
    dim i, n = w->from->size[w->axis];
    status st = scalar_dim(w->s, x->v[0], "an index", &i);
    if (st) return error_at(w->s, x->node->where, st);
    if (dim_less(w->dims, i, 0)) {
        if (before_begin(w->dims, i, n)) return out_of_range(w, x, dim_hint(w->dims, i));
        i = dim_add(w->dims, n, i);
    } else if (dim_known(i) ? !dim_less(w->dims, i, n) : dim_less(w->dims, n, dim_add(w->dims, i, 1))) {
        return out_of_range(w, x, dim_hint(w->dims, i));
    }
    box_axis(w, i, 1, 1);
    w->p->reshaped = true;
    return STATUS_OK;
}

/* a - b where both may be n plus a number. */
static dim difference(dims *t, dim a, dim b) {
    if (dim_known(b)) return dim_add(t, a, -b);
    dim base_a = a, base_b = b, more_a = 0, more_b = 0;
    const dim_node *na = dim_known(a) ? NULL : &t->nodes[dim_index(a)], *nb = &t->nodes[dim_index(b)];
    if (na && na->op == DIM_ADD && dim_known(na->b)) base_a = na->a, more_a = na->b;
    if (nb->op == DIM_ADD && dim_known(nb->b)) base_b = nb->a, more_b = nb->b;
    return base_a == base_b ? more_a - more_b : dim_sub(t, a, b);
}

/* A bound of a slice as a position: negative counts from the end, what lies outside is clipped to low..high (0..n,
 * or -1..n-1 for a negative step). */
static status clip_bound(planner *w, value v, bool backwards, const char *what, dim *out) {
    dims *t = w->dims;
    dim n = w->from->size[w->axis], high = backwards ? dim_add(t, n, -1) : n;
    dim b;
    status st = scalar_dim(w->s, v, what, &b);
    if (st) return st;
    if (dim_less(t, b, 0)) {
        bool below = before_begin(t, b, n);
        *out = below ? (backwards ? -1 : 0) : dim_add(t, n, b);
    } else {
        *out = b == high || !dim_less(t, high, b) ? b : high;
    }
    return STATUS_OK;
}

static status slice_step(planner *w, const index_item *x, int64_t *step) {
    *step = 1;
    if (x->v[2].kind == VALUE_ABSENT) return STATUS_OK;
    status st = scalar_int(w->s, x->v[2], "a slice's step", step);
    if (!st && *step == 0) st = fail(&w->s->c->err, STATUS_INDEX, E_SLICE_STEP, "a slice's step can't be 0");
    if (!st && (*step > (1LL << 60) || *step < -(1LL << 60)))
        st = fail(&w->s->c->err, STATUS_INDEX, E_SLICE_STEP, "a slice's step is too large");
    return st;
}

/* How many of from, from + step, ... come before `to`. */
static dim steps_between(dims *t, dim from, dim to, int64_t step) {
    bool backwards = step < 0;
    dim low = backwards ? to : from, high = backwards ? from : to;
    if (low == high || dim_less(t, high, dim_add(t, low, 1))) return 0;
    int64_t width = backwards ? -step : step;
    dim span_of = difference(t, high, low);
    return width == 1 ? span_of : dim_div(t, dim_add(t, span_of, width - 1), width);
}

static status plan_slice(planner *w, const index_item *x) {
    value begin = x->v[0], end = x->v[1], parts[2] = {{0}, {0}};
    int64_t step;
    dims *t = w->dims;
    dim n = w->from->size[w->axis];
    status st = slice_step(w, x, &step);
    if (st) return st;
    if (x->kind != AST_SLICE) { /* a range */
        st = value_from_dim(w->s, x->v[0].range->begin, &parts[0]);
        if (!st) st = value_from_dim(w->s, x->v[0].range->end, &parts[1]);
        begin = parts[0];
        end = parts[1];
    }
    bool backwards = step < 0;
    dim from = backwards ? dim_add(t, n, -1) : 0, to = backwards ? -1 : n;
    if (!st && begin.kind != VALUE_ABSENT) st = clip_bound(w, begin, backwards, "a slice's begin", &from);
    if (!st && end.kind != VALUE_ABSENT) st = clip_bound(w, end, backwards, "a slice's end", &to);
    value_release(parts[0]);
    value_release(parts[1]);
    if (st) return st;
    bool full = begin.kind == VALUE_ABSENT && end.kind == VALUE_ABSENT && (step == 1 || step == -1);
    dim count = full ? n : steps_between(t, from, to, step);
    if (count == 0) from = 0;
    if (count == 0 || count == 1) step = 1; /* one spelling per selection */
    if (dim_known(from) && from < 0) from = 0;
    box_axis(w, from, count, step);
    keep_axis(w, count);
    return STATUS_OK;
}

static void plan_rest(planner *w, int axes) {
    for (int i = 0; i < axes; i++) {
        dim n = w->from->size[w->axis];
        box_axis(w, 0, n, 1);
        keep_axis(w, n);
    }
}

static status plan_picker(planner *w, const index_item *x, bool mask) {
    session *s = w->s;
    tensor *t = x->v[0].tensor;
    if (w->p->picker) {
        fail(&s->c->err, STATUS_INDEX, E_INDEX_MIXED, "two index tensors or masks in one index");
        fail_hint(&s->c->err, "pick one after the other: a[i][:, j]; or use gather for pairs");
        return error_at(s, x->node->where, s->c->err.code);
    }
    w->p->picker = t;
    w->p->mask = mask;
    w->p->axis = w->p->kept.rank;
    w->p->where = x->node->where;
    for (int i = 0; mask && i < t->meta.shape.rank; i++) {
        if (dim_same(w->dims, t->meta.shape.size[i], w->from->size[w->axis + i])) continue;
        char mask_text[120];
        text from = {0};
        shape_print(w->dims, w->from, &from);
        fail(&s->c->err, STATUS_INDEX, E_MASK, "the mask %s does not fit axis %d of a tensor of shape %s",
             value_describe(x->v[0], mask_text, sizeof mask_text), w->axis + i, text_str(&from));
        text_free(&from);
        return error_at(s, x->node->where, s->c->err.code);
    }
    plan_rest(w, mask ? t->meta.shape.rank : 1);
    return STATUS_OK;
}

static int axes_of(const index_item *x, item_role role) {
    switch (role) {
    case ROLE_NEW:
    case ROLE_REST:
        return 0;
    case ROLE_MASK:
        return x->v[0].tensor->meta.shape.rank;
    default:
        return 1;
    }
}

/* Fails when there are more items than axes; *rest is what `...` (or the end) stands for. */
static status count_axes(session *s, const meta *m, const index_items *x, int *rest) {
    int used = 0, added = 0;
    char buffer[120];
    for (int i = 0; i < x->count; i++) {
        item_role role = role_of(s, &x->items[i]);
        if (role == ROLE_WRONG) return wrong_item(s, &x->items[i]);
        used += axes_of(&x->items[i], role);
        added += role == ROLE_NEW;
    }
    *rest = m->shape.rank - used;
    if (*rest >= 0 && m->shape.rank + added <= MAX_RANK) return STATUS_OK;
    if (*rest < 0)
        fail(&s->c->err, STATUS_INDEX, E_INDEX_COUNT, "%d ind%s into %s, which has %d ax%s", used,
             used == 1 ? "ex" : "ices", meta_text(s->c->dims, m, buffer, sizeof buffer), m->shape.rank,
             m->shape.rank == 1 ? "is" : "es");
    else
        fail(&s->c->err, STATUS_SHAPE, E_RANK, "a tensor has at most %d axes", MAX_RANK);
    return s->c->err.code;
}

status index_plan_make(session *s, const meta *m, const index_items *x, index_plan *out) {
    int rest = 0;
    bool had_rest = false;
    *out = (index_plan){.whole = true};
    planner w = {s, s->c->dims, &m->shape, out, 0};
    if (w.dims) w.dims->here = s->c->here;
    status st = count_axes(s, m, x, &rest);
    for (int i = 0; i < x->count && !st; i++) {
        const index_item *item = &x->items[i];
        switch (role_of(s, item)) {
        case ROLE_INT:
            st = plan_int(&w, item);
            break;
        case ROLE_SLICE:
            st = error_at(s, item->node->where, plan_slice(&w, item));
            break;
        case ROLE_NEW:
            keep_axis(&w, 1);
            out->reshaped = true;
            break;
        case ROLE_REST:
            plan_rest(&w, rest);
            had_rest = true;
            break;
        case ROLE_TAKE:
            st = plan_picker(&w, item, false);
            break;
        default:
            st = plan_picker(&w, item, true);
            break;
        }
    }
    if (!st && !had_rest) plan_rest(&w, rest);
    if (!st && s->c->dims && s->c->dims->failed) st = fail_memory(&s->c->err, sizeof(dim_node));
    return st;
}
