/* assign_tensor.c — see assign_tensor.h.
 *
 * Every form ends in one `update` of the strided box that the index's integers and slices describe. A mask
 * chooses between the box and the new values; an index tensor first brings the new values into the box's
 * order (the last of repeated indices wins), which needs the indices' numbers now. All of it is made of ops,
 * so gradients flow to the old and the new elements. */
#include "repl/lang/assign_tensor.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/core/copy.h"
#include "engine/ops/apply.h"
#include "engine/ops/movement.h"
#include "repl/lang/eval_errors.h"

static int_list sizes_of(const shape *s) {
    int_list list = {.count = s->rank};
    memcpy(list.v, s->size, sizeof list.v);
    return list;
}

static status view(session *s, op_id id, tensor *t, const shape *to, span where, value *out) {
    if (shape_same(s->c->dims, &t->meta.shape, to)) {
        *out = value_tensor(tensor_retain(t));
        return STATUS_OK;
    }
    shape_attrs a = {.shape = sizes_of(to)};
    return run_op(s, id, &t, 1, &a, where, out);
}

/* v in dtype d, broadcast to a shape; a message of its own when it does not fit. */
static status fit(session *s, tensor *v, dtype d, const shape *to, span where, value *out) {
    shape met;
    char buffer[120];
    error quiet = {0};
    bool fits = v->meta.shape.rank <= to->rank &&
                !shape_broadcast(s->c->dims, &v->meta.shape, to, &met, &quiet) &&
                shape_same(s->c->dims, &met, to);
    if (!fits && v->meta.shape.rank < to->rank) { /* the guard against silent squares does not apply here */
        fits = true;
        for (int i = 0; i < v->meta.shape.rank; i++) {
            dim have = v->meta.shape.size[i], want = to->size[to->rank - v->meta.shape.rank + i];
            fits = fits && (have == 1 || dim_same(s->c->dims, have, want));
        }
    }
    if (!fits) {
        text want = {0};
        shape_print(s->c->dims, to, &want);
        fail(&s->c->err, STATUS_SHAPE, E_SELECTED, "%s does not fit the selected elements, of shape %s",
             meta_text(s->c->dims, &v->meta, buffer, sizeof buffer), text_str(&want));
        text_free(&want);
        return error_at(s, where, s->c->err.code);
    }
    value cast = {0};
    cast_attrs a = {.dtype = d};
    status st = error_at(s, where, op_check_fits(s->c, v, d));
    if (!st && op_fits_later(v, d))
        st = run_op(s, OP_fit, &v, 1, &(dtype_attrs){.dtype = d}, where, &cast);
    else if (!st)
        st = run_op(s, OP_cast, &v, 1, &a, where, &cast);
    if (!st) st = view(s, OP_expand, cast.tensor, to, where, out);
    value_release(cast);
    return st;
}

/* A mask or a vector along `axis` of a shape, expanded to it. */
static status spread(session *s, tensor *t, int axis, const shape *to, span where, value *out) {
    shape lined = {.rank = to->rank - axis};
    int rank = t->meta.shape.rank;
    for (int i = 0; i < lined.rank; i++) lined.size[i] = i < rank ? t->meta.shape.size[i] : 1;
    value r = {0};
    status st = view(s, OP_reshape, t, &lined, where, &r);
    if (!st) st = view(s, OP_expand, r.tensor, to, where, out);
    value_release(r);
    return st;
}

/* where(mask, v, box) with everything in the box's shape. */
static status masked(session *s, tensor *box, const index_plan *p, tensor *v, value *out) {
    int rest = p->kept.rank - p->axis - p->picker->meta.shape.rank;
    if (v->meta.shape.rank > rest) {
        char buffer[120];
        fail(&s->c->err, STATUS_SHAPE, E_SELECTED, "%s for the elements that a mask selects",
             meta_text(s->c->dims, &v->meta, buffer, sizeof buffer));
        fail_hint(&s->c->err, "assign one value, or write a = where(mask, b, a) with b of a's shape");
        return s->c->err.code;
    }
    value wide = {0}, mask = {0};
    status st = fit(s, v, box->meta.dtype, &p->kept, p->where, &wide);
    if (!st) st = spread(s, p->picker, p->axis, &p->kept, p->where, &mask);
    if (!st) st = run_op(s, OP_where, (tensor *[]){mask.tensor, wide.tensor, box}, 3, NULL, p->where, out);
    value_release(wide);
    value_release(mask);
    return st;
}

enum { POLL = 1 << 16 }; /* indices between two looks at the interrupt flag */

/* For each place along the axis: which of the picked values lands there, and whether one does. */
static status winners(session *s, const index_plan *p, int64_t places, tensor **from, tensor **hit) {
    tensor *index = p->picker;
    shape one = {.rank = 1, .size = {places}};
    *from = tensor_new(s->c, DT_I64, &one);
    *hit = *from ? tensor_new(s->c, DT_BOOL, &one) : NULL;
    if (!*hit) return s->c->err.code;
    int64_t *source = tensor_data(*from), count = tensor_count(index);
    uint8_t *is_hit = tensor_data(*hit);
    if (copy_zeros(s->c, source, (size_t)places * sizeof *source) || copy_zeros(s->c, is_hit, (size_t)places))
        return s->c->err.code;
    for (int64_t i = 0; i < count; i++) {
        if (i % POLL == 0 && context_interrupted(s->c)) return s->c->err.code;
        int64_t at = tensor_get_int(index, i);
        if (at < -places || at >= places)
            return fail(&s->c->err, STATUS_INDEX, E_INDEX_RANGE,
                        "index %lld is out of range for axis %d of size %lld", (long long)at, p->axis,
                        (long long)places);
        if (at < 0) at += places;
        source[at] = i;
        is_hit[at] = 1;
    }
    return STATUS_OK;
}

/* kept with the picked axis replaced by the picker's axes, and by their product. */
static void picked_shapes(const index_plan *p, shape *wide, shape *flat) {
    const shape *kept = &p->kept, *index = &p->picker->meta.shape;
    *wide = *flat = (shape){0};
    for (int i = 0; i < p->axis; i++) wide->size[wide->rank++] = flat->size[flat->rank++] = kept->size[i];
    flat->size[flat->rank++] = tensor_count(p->picker);
    for (int i = 0; i < index->rank; i++) wide->size[wide->rank++] = index->size[i];
    for (int i = p->axis + 1; i < kept->rank; i++)
        wide->size[wide->rank++] = flat->size[flat->rank++] = kept->size[i];
}

static status scattered(session *s, tensor *box, const index_plan *p, tensor *v, value *out) {
    error *e = &s->c->err;
    dim places = p->kept.size[p->axis];
    if (!tensor_concrete(p->picker) || !dim_known(places)) {
        fail(e, STATUS_FREEZE, E_FREEZE_SHAPE, "assigning by indices of run-time values is not captured yet");
        return fail_hint(e, "scatter_add adds by indices; or keep this line outside of freeze");
    }
    if (p->kept.rank + p->picker->meta.shape.rank - 1 > MAX_RANK)
        return fail(e, STATUS_SHAPE, E_RANK, "a tensor has at most %d axes", MAX_RANK);
    shape wide, flat;
    picked_shapes(p, &wide, &flat);
    value values = {0}, lined = {0}, moved = {0}, mask = {0};
    tensor *from = NULL, *hit = NULL;
    axis_attrs a = {.axis = p->axis};
    status st = fit(s, v, box->meta.dtype, &wide, p->where, &values);
    if (!st && tensor_count(p->picker) == 0) {
        value_release(values);
        *out = value_tensor(tensor_retain(box));
        return st;
    }
    if (!st) st = winners(s, p, places, &from, &hit);
    if (!st) st = view(s, OP_reshape, values.tensor, &flat, p->where, &lined);
    if (!st) st = run_op(s, OP_take, (tensor *[]){lined.tensor, from}, 2, &a, p->where, &moved);
    if (!st) st = spread(s, hit, p->axis, &p->kept, p->where, &mask);
    if (!st) st = run_op(s, OP_where, (tensor *[]){mask.tensor, moved.tensor, box}, 3, NULL, p->where, out);
    tensor_release(from);
    tensor_release(hit);
    value_release(values);
    value_release(lined);
    value_release(moved);
    value_release(mask);
    return st;
}

/* What the box becomes, in the box's own shape. */
static status new_box(session *s, tensor *t, const index_plan *p, tensor *v, span where, value *out) {
    value kept = {0}, box = {0};
    status st;
    if (p->picker) {
        st = index_read_box(s, t, p, where, &box);
        if (!st) st = p->mask ? masked(s, box.tensor, p, v, &kept) : scattered(s, box.tensor, p, v, &kept);
        value_release(box);
    } else {
        st = fit(s, v, t->meta.dtype, &p->kept, where, &kept);
    }
    shape sizes = {.rank = t->meta.shape.rank};
    memcpy(sizes.size, p->box.size.v, sizeof sizes.size);
    if (!st) st = view(s, OP_reshape, kept.tensor, &sizes, where, out);
    value_release(kept);
    return st;
}

/* Nobody else holds the elements, and no tape or trace wants to know. */
static bool can_write_into(const session *s, const tensor *t) {
    return !s->c->tapes && !s->c->trace && tensor_concrete(t) && tensor_unique(t);
}

status assign_elements(session *s, value *t, const index_items *x, value v, span where) {
    char buffer[120];
    if (v.kind != VALUE_TENSOR)
        return fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "elements of a tensor are numbers, not %s",
                    value_describe(v, buffer, sizeof buffer));
    index_plan p;
    value box = {0}, made = {0};
    if (!s->in_prelude) s->c->here = where;
    status st = index_plan_make(s, &t->tensor->meta, x, &p);
    if (!st) st = new_box(s, t->tensor, &p, v.tensor, where, &box);
    if (!st && can_write_into(s, t->tensor)) {
        st = tensor_update_in_place(t->tensor, &p.box, box.tensor);
        value_release(box);
        return st;
    }
    if (!st) st = run_op(s, OP_update, (tensor *[]){t->tensor, box.tensor}, 2, &p.box, where, &made);
    value_release(box);
    if (st) return st;
    value_release(*t);
    *t = made;
    return STATUS_OK;
}
