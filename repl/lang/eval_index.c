/* eval_index.c — reading a[..] of tensors, tuples, records and strings. */
#include <string.h>

#include "repl/lang/eval_errors.h"
#include "repl/lang/index.h"

static int_list sizes_of(const shape *s) {
    int_list list = {.count = s->rank};
    memcpy(list.v, s->size, sizeof list.v);
    return list;
}

static status reshape_to(session *s, tensor *t, const shape *to, span where, value *out) {
    shape_attrs a = {.shape = sizes_of(to)};
    return run_op(s, OP_reshape, &t, 1, &a, where, out);
}

status index_read_box(session *s, tensor *t, const index_plan *p, span where, value *out) {
    value boxed = value_tensor(tensor_retain(t)), kept = {0};
    status st = STATUS_OK;
    if (!p->whole) {
        value_drop(&boxed);
        st = run_op(s, OP_slice, &t, 1, &p->box, where, &boxed);
    }
    if (!st && p->reshaped) {
        st = reshape_to(s, boxed.tensor, &p->kept, where, &kept);
        value_release(boxed);
        boxed = kept;
    }
    if (!st) *out = boxed;
    return st;
}

/* Axes axis .. axis + count - 1 of a shape made one. */
static shape merge_axes(dims *t, const shape *s, int axis, int count) {
    shape r = {.rank = s->rank - count + 1};
    for (int i = 0; i < axis; i++) r.size[i] = s->size[i];
    r.size[axis] = 1;
    for (int i = axis; i < axis + count; i++) r.size[axis] = dim_mul(t, r.size[axis], s->size[i]);
    for (int i = axis + count; i < s->rank; i++) r.size[i - count + 1] = s->size[i];
    return r;
}

static status read_mask(session *s, tensor *t, const index_plan *p, value *out) {
    tensor *mask = p->picker;
    int rank = mask->meta.shape.rank;
    value flat = {0}, flat_mask = {0};
    axis_attrs a = {.axis = p->axis};
    if (rank == 1) return run_op(s, OP_compress, (tensor *[]){t, mask}, 2, &a, p->where, out);
    shape merged = merge_axes(s->c->dims, &p->kept, p->axis, rank);
    shape merged_mask = merge_axes(s->c->dims, &mask->meta.shape, 0, rank);
    status st = reshape_to(s, t, &merged, p->where, &flat);
    if (!st) st = reshape_to(s, mask, &merged_mask, p->where, &flat_mask);
    if (!st) st = run_op(s, OP_compress, (tensor *[]){flat.tensor, flat_mask.tensor}, 2, &a, p->where, out);
    value_release(flat);
    value_release(flat_mask);
    return st;
}

status index_read(session *s, tensor *t, const index_plan *p, span where, value *out) {
    value box = {0};
    status st = index_read_box(s, t, p, where, &box);
    if (st || !p->picker) {
        if (!st) *out = box;
        return st;
    }
    axis_attrs a = {.axis = p->axis};
    if (p->mask)
        st = read_mask(s, box.tensor, p, out);
    else
        st = run_op(s, OP_take, (tensor *[]){box.tensor, p->picker}, 2, &a, p->where, out);
    value_release(box);
    return st;
}

static __attribute__((noinline)) status index_tensor(session *s, tensor *t, const index_items *x, span where,
                                                     value *out) {
    index_plan p;
    if (!s->in_prelude) s->c->here = where;
    status st = index_plan_make(s, &t->meta, x, &p);
    return error_at(s, where, st ? st : index_read(s, t, &p, where, out));
}

status tensor_row(session *s, tensor *t, int64_t i, value *out) {
    slice_attrs box = {0};
    shape row = {.rank = t->meta.shape.rank - 1}, one = t->meta.shape;
    one.size[0] = 1;
    box.size = sizes_of(&one);
    box.start.count = box.step.count = one.rank;
    box.start.v[0] = i;
    for (int k = 0; k < one.rank; k++) box.step.v[k] = 1;
    for (int k = 0; k < row.rank; k++) row.size[k] = one.size[k + 1];
    value sliced = {0};
    status st = run_op(s, OP_slice, &t, 1, &box, s->c->here, &sliced);
    if (!st) st = reshape_to(s, sliced.tensor, &row, s->c->here, out);
    value_release(sliced);
    return st;
}

/* ---- tuples, records ---- */

static status tuple_slice(session *s, value v, const index_item *x, value *out) {
    int64_t n = (int64_t)v.tuple->count, from = 0, to = n, step = 1;
    status st = STATUS_OK;
    if (x->v[2].kind != VALUE_ABSENT) st = scalar_int(s, x->v[2], "a slice's step", &step);
    if (!st && step != 1)
        st = fail(&s->c->err, STATUS_INDEX, E_SLICE_STEP, "a slice of a tuple goes in steps of 1");
    if (!st && x->v[0].kind != VALUE_ABSENT) st = scalar_int(s, x->v[0], "a slice's begin", &from);
    if (!st && x->v[1].kind != VALUE_ABSENT) st = scalar_int(s, x->v[1], "a slice's end", &to);
    if (st) return st;
    if (from < 0) from = from + n < 0 ? 0 : from + n;
    if (to < 0) to += n;
    if (to > n) to = n;
    if (from > to) from = to < 0 ? (to = 0) : to;
    return value_new_tuple(&s->c->err, v.tuple->item + from, (size_t)(to - from), out);
}

static status index_tuple(session *s, value v, const index_items *x, value *out) {
    const index_item *item = &x->items[0];
    if (x->count == 1 && item->kind == AST_SLICE) return tuple_slice(s, v, item, out);
    if (x->count != 1 || item->kind == AST_ELLIPSIS || item->kind == AST_NONE)
        return fail(&s->c->err, STATUS_INDEX, E_INDEX_ENTRY, "a tuple is indexed by one integer or slice");
    int64_t i, n = (int64_t)v.tuple->count;
    status st = scalar_int(s, item->v[0], "an index", &i);
    if (st) return st;
    if (i < -n || i >= n)
        return fail(&s->c->err, STATUS_INDEX, E_INDEX_RANGE, "index %lld is out of range for a tuple of %lld",
                    (long long)i, (long long)n);
    *out = value_retain(v.tuple->item[i < 0 ? i + n : i]);
    return STATUS_OK;
}

static status index_record(session *s, value v, const index_items *x, value *out) {
    const index_item *item = &x->items[0];
    if (x->count != 1 || item->v[0].kind != VALUE_STRING || item->kind == AST_SLICE) {
        fail(&s->c->err, STATUS_INDEX, E_INDEX_ENTRY, "a record is indexed by a string");
        return fail_hint(&s->c->err, "write r.name or r[\"name\"]");
    }
    const string_object *key = item->v[0].string;
    const symbol *name = symbol_find(&s->symbols, symbol_hash(key->text, key->length));
    const value *field = name ? value_field(v, name) : NULL;
    if (!field)
        return fail(&s->c->err, STATUS_NAME, E_UNKNOWN_FIELD, "the record has no field \"%.100s\"",
                    key->text);
    *out = value_retain(*field);
    return STATUS_OK;
}

static status index_output(session *s, const index_items *x, value *out) {
    int64_t n;
    status st = x->count == 1 ? scalar_int(s, x->items[0].v[0], "the number of an output", &n)
                              : fail(&s->c->err, STATUS_INDEX, E_INDEX_ENTRY, "write Out[n]");
    if (st) return st;
    const value *v = n > 0 && n <= INT32_MAX ? session_output(s, (int)n) : NULL;
    if (!v) return fail(&s->c->err, STATUS_INDEX, E_INDEX_RANGE, "there is no output %lld", (long long)n);
    *out = value_retain(*v);
    return STATUS_OK;
}

static status index_value(session *s, value v, const index_items *x, span where, value *out) {
    char buffer[120];
    switch (v.kind) {
    case VALUE_TENSOR:
        return index_tensor(s, v.tensor, x, where, out);
    case VALUE_TUPLE:
        return index_tuple(s, v, x, out);
    case VALUE_RECORD:
        return index_record(s, v, x, out);
    default:
        fail(&s->c->err, STATUS_TYPE, E_NOT_INDEXED, "%s can't be indexed",
             value_describe(v, buffer, sizeof buffer));
        if (value_callable(v)) fail_hint(&s->c->err, "functions are called with parentheses: f(x)");
        return s->c->err.code;
    }
}

status eval_index(session *s, const ast_node *n, value *out) {
    const ast_node *base = n->child[0];
    bool output = base->kind == AST_NAME && base->hash == s->known.Out->hash && !lookup(s, base->hash);
    value v = {0};
    index_items items = {0};
    if (s->c->err.code) return s->c->err.code;
    status st = output ? STATUS_OK : eval_expr(s, base, &v);
    if (!st) st = index_items_eval(s, n, &items);
    if (!st) {
        st = output ? index_output(s, &items, out) : index_value(s, v, &items, n->where, out);
        error_at(s, n->where, st);
        index_items_free(&items);
    }
    value_release(v);
    return st;
}
