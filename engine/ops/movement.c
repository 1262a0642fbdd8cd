/* movement.c — ops that show the same elements otherwise: stop_grad, reshape, transpose, expand, slice.
 *
 * Eagerly they are views wherever strides can say it; a result that the memory plan has placed is copied there. The
 * gradient of each is another of them. */
#include <string.h>

#include "engine/core/copy.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/movement.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

/* The result as a view of x, or copied through it into the given result. */
static status give_view(op_call *call, tensor **out, const int64_t *stride, int64_t offset) {
    context *c = call->c;
    tensor *x = call->in[0];
    const shape *s = &call->out[0].shape;
    if (out[0]) {
        int64_t packed[MAX_RANK];
        shape_strides(s, packed);
        size_t size = dtype_size(x->meta.dtype);
        const char *from = (const char *)x->store->data + offset * (int64_t)size;
        return copy_strided(c, s, size, tensor_data(out[0]), packed, from, stride);
    }
    out[0] = tensor_view(x, s, stride, offset);
    if (!out[0]) return c->err.code;
    out[0]->meta.weak = call->out[0].weak;
    return STATUS_OK;
}

static op_cost no_cost(void) {
    return (op_cost){0};
}

/* A result of shape s; a rank-0 one stays weak. */
static status same_elements(op_call *call, const shape *s) {
    const meta *x = &call->in[0]->meta;
    support_result(call, s, x->dtype);
    call->out[0].weak = x->weak && s->rank == 0;
    return STATUS_OK;
}

/* ---- stop_grad ---- */

status stop_grad_shape(op_call *call) {
    return same_elements(call, &call->in[0]->meta.shape);
}

status stop_grad_eval(op_call *call, tensor **out) {
    return give_view(call, out, call->in[0]->stride, call->in[0]->offset);
}

op_cost stop_grad_cost(const op_call *call) {
    (void)call;
    return no_cost();
}

/* ---- reshape ---- */

status reshape_shape(op_call *call) {
    context *c = call->c;
    const shape *x = &call->in[0]->meta.shape;
    shape s;
    if (!support_shape(&((const shape_attrs *)call->attrs)->shape, &s))
        return fail(&c->err, STATUS_SHAPE, 110, "reshape wants sizes of 0 and more, and at most %d axes",
                    MAX_RANK);
    dim from = shape_count(c->dims, x), to = shape_count(c->dims, &s);
    if (dim_same(c->dims, from, to)) return same_elements(call, &s);
    text a = {0}, b = {0}, n = {0}, m = {0};
    shape_print(c->dims, x, &a);
    shape_print(c->dims, &s, &b);
    dim_print(c->dims, from, &n);
    dim_print(c->dims, to, &m);
    fail(&c->err, STATUS_SHAPE, 110, "reshape of %s, which has %s elements, to %s, which has %s",
         text_str(&a), text_str(&n), text_str(&b), text_str(&m));
    text_free(&a);
    text_free(&b);
    text_free(&n);
    text_free(&m);
    return fail_hint(&c->err, "write -1 for the one size that should be whatever is left");
}

/* Strides that show t in shape s; false when they do not exist. Runs of axes that are one block in memory can be cut
 * anew; sizes of both sides are matched from the left. */
bool movement_restride(const tensor *t, const shape *s, int64_t stride[MAX_RANK]) {
    const shape *x = &t->meta.shape;
    shape_strides(s, stride);
    if (tensor_contiguous(t) || tensor_count(t) == 0) return true;
    int64_t size[MAX_RANK], step[MAX_RANK];
    int n = 0, i = 0, o = 0;
    for (int a = 0; a < x->rank; a++) {
        if (x->size[a] == 1) continue;
        size[n] = x->size[a];
        step[n++] = t->stride[a];
    }
    while (i < n) {
        int64_t old = size[i], new = 1;
        int first = o, begin = i;
        while (old != new || first == o) { /* take axes on the smaller side until the products agree */
            if (new < old || first == o) {
                if (o == s->rank) return false;
                new *= s->size[o++];
            } else {
                old *= size[++i];
            }
        }
        for (int a = begin; a < i; a++)
            if (step[a] != step[a + 1] * size[a + 1]) return false;
        int64_t at = step[i++];
        for (int a = o - 1; a >= first; a--) {
            stride[a] = at;
            at *= s->size[a];
        }
    }
    return true; /* what is left on the new side has size 1 */
}

status reshape_eval(op_call *call, tensor **out) {
    tensor *x = call->in[0];
    int64_t stride[MAX_RANK];
    if (!out[0] && movement_restride(x, &call->out[0].shape, stride))
        return give_view(call, out, stride, x->offset);
    tensor *result = op_output(call, 0, out);
    if (!result) return call->c->err.code;
    return copy_tensor(x, tensor_data(result));
}

void reshape_gradient(gradient_call *k) {
    shape_attrs back = {.shape = support_list(&k->in[0]->meta.shape)};
    if (k->need[0]) k->gin[0] = rule_attrs(k, OP_reshape, k->g, 1, &back);
}

op_cost reshape_cost(const op_call *call) {
    (void)call;
    return no_cost();
}

/* ---- transpose ---- */

/* The axes as a permutation of 0 .. rank - 1. */
static status permutation(context *c, const shape *s, const int_list *axes, int order[MAX_RANK]) {
    bool seen[MAX_RANK] = {false};
    if (axes->count != s->rank) {
        fail(&c->err, STATUS_SHAPE, 111, "transpose names %lld axes of a tensor that has %d",
             (long long)axes->count, s->rank);
        return fail_hint(&c->err, "name every axis once, in the order that you want");
    }
    for (int i = 0; i < s->rank; i++) {
        if (shape_axis(c->dims, s, axes->v[i], &order[i], &c->err)) return c->err.code;
        if (seen[order[i]])
            return fail(&c->err, STATUS_INDEX, 310, "axis %lld is named twice", (long long)axes->v[i]);
        seen[order[i]] = true;
    }
    return STATUS_OK;
}

status transpose_shape(op_call *call) {
    const transpose_attrs *a = call->attrs;
    const shape *x = &call->in[0]->meta.shape;
    int order[MAX_RANK];
    if (permutation(call->c, x, &a->axes, order)) return call->c->err.code;
    shape s = {.rank = x->rank};
    for (int i = 0; i < s.rank; i++) s.size[i] = x->size[order[i]];
    return same_elements(call, &s);
}

status transpose_eval(op_call *call, tensor **out) {
    const transpose_attrs *a = call->attrs;
    const tensor *x = call->in[0];
    int order[MAX_RANK];
    if (permutation(call->c, &x->meta.shape, &a->axes, order)) return call->c->err.code;
    int64_t stride[MAX_RANK] = {0};
    for (int i = 0; i < x->meta.shape.rank; i++) stride[i] = x->stride[order[i]];
    return give_view(call, out, stride, x->offset);
}

void transpose_gradient(gradient_call *k) {
    const transpose_attrs *a = k->attrs;
    int order[MAX_RANK];
    if (!k->need[0] || permutation(k->c, &k->in[0]->meta.shape, &a->axes, order)) return;
    transpose_attrs back = {.axes = {.count = a->axes.count}};
    for (int i = 0; i < (int)a->axes.count; i++) back.axes.v[order[i]] = i;
    k->gin[0] = rule_attrs(k, OP_transpose, k->g, 1, &back);
}

op_cost transpose_cost(const op_call *call) {
    (void)call;
    return no_cost();
}

/* ---- expand ---- */

status expand_shape(op_call *call) {
    context *c = call->c;
    const shape *x = &call->in[0]->meta.shape;
    shape s;
    bool fits = support_shape(&((const shape_attrs *)call->attrs)->shape, &s) && s.rank >= x->rank;
    for (int i = 0; fits && i < x->rank; i++) {
        dim from = x->size[i], to = s.size[s.rank - x->rank + i];
        fits = from == 1 || dim_same(c->dims, from, to);
    }
    if (fits) return same_elements(call, &s);
    text a = {0}, b = {0};
    shape_print(c->dims, x, &a);
    shape_print(c->dims, &s, &b);
    fail(&c->err, STATUS_SHAPE, 112, "%s does not expand to %s", text_str(&a), text_str(&b));
    text_free(&a);
    text_free(&b);
    return fail_hint(&c->err, "only axes of size 1 grow, and new axes come in front");
}

status expand_eval(op_call *call, tensor **out) {
    const tensor *x = call->in[0];
    const shape *s = &call->out[0].shape;
    int64_t stride[MAX_RANK] = {0};
    int added = s->rank - x->meta.shape.rank;
    for (int i = added; i < s->rank; i++)
        stride[i] = x->meta.shape.size[i - added] == 1 && s->size[i] != 1 ? 0 : x->stride[i - added];
    return give_view(call, out, stride, x->offset);
}

/* The walk sums over what broadcasting added. */
void expand_gradient(gradient_call *k) {
    if (k->need[0]) k->gin[0] = k->g[0];
}

op_cost expand_cost(const op_call *call) {
    (void)call;
    return no_cost();
}

/* ---- slice ---- */

static bool run_inside(int64_t start, int64_t size, int64_t step, int64_t all) {
    int64_t last = start + (size > 0 ? size - 1 : 0) * step;
    bool inside = start >= 0 && last >= 0 && (size == 0 ? start <= all : start < all && last < all);
    return inside && (step != 0 || size <= 1);
}

status movement_box(op_call *call, shape *box) {
    context *c = call->c;
    const slice_attrs *a = call->attrs;
    const shape *x = &call->in[0]->meta.shape;
    bool ranks = a->start.count == x->rank && a->size.count == x->rank && a->step.count == x->rank;
    if (!ranks || !support_shape(&a->size, box))
        return fail(&c->err, STATUS_SHAPE, 113, "%s wants start, size and step for each of %d axes",
                    call->op->name, x->rank);
    for (int i = 0; i < x->rank; i++) {
        dim start = a->start.v[i], size = box->size[i];
        if (!dim_known(start) || !dim_known(size) || !dim_known(x->size[i]))
            continue; /* the caller's guards; a plan looks again when sizes are known */
        if (run_inside(start, size, a->step.v[i], x->size[i])) continue;
        return fail(&c->err, STATUS_INDEX, 304,
                    "%lld elements from %lld in steps of %lld leave axis %d of size %lld", (long long)size,
                    (long long)start, (long long)a->step.v[i], i, (long long)x->size[i]);
    }
    return STATUS_OK;
}

void movement_box_strides(const tensor *x, const slice_attrs *a, int64_t stride[MAX_RANK], int64_t *offset) {
    *offset = x->offset;
    for (int i = 0; i < x->meta.shape.rank; i++) {
        if (a->size.v[i] > 0) *offset += a->start.v[i] * x->stride[i];
        stride[i] = x->stride[i] * a->step.v[i];
    }
}

status slice_shape(op_call *call) {
    shape box;
    if (movement_box(call, &box)) return call->c->err.code;
    return same_elements(call, &box);
}

status slice_eval(op_call *call, tensor **out) {
    int64_t stride[MAX_RANK] = {0}, offset;
    movement_box_strides(call->in[0], call->attrs, stride, &offset);
    return give_view(call, out, stride, offset);
}

/* Zeros with g in the box. */
void slice_gradient(gradient_call *k) {
    if (!k->need[0]) return;
    const meta *x = &k->in[0]->meta;
    tensor *zeros = scope_add(k->c, op_full(k->c, 0, &x->shape, x->dtype));
    k->gin[0] = rule_attrs(k, OP_update, (tensor *[]){zeros, k->g[0]}, 2, k->attrs);
}

op_cost slice_cost(const op_call *call) {
    (void)call;
    return no_cost();
}
