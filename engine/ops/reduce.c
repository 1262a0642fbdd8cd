/* reduce.c — sum, mean, max, min, any, all: shape rule, cost and gradients of every REDUCE row. The kernel is
 * reduce_walk.c. */
#include <string.h>

#include "engine/ops/families.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

/* Marks the axes that attrs names; an empty list means all. */
static status reduced_axes(context *c, const shape *s, const reduce_attrs *a, bool reduced[MAX_RANK]) {
    memset(reduced, a->axes.count < 0, MAX_RANK * sizeof *reduced);
    if (a->axes.count > MAX_RANK)
        return fail(&c->err, STATUS_INDEX, 301, "%lld axes are more than the %d that a tensor can have",
                    (long long)a->axes.count, MAX_RANK);
    for (int64_t i = 0; i < a->axes.count; i++) {
        int axis;
        if (shape_axis(c->dims, s, a->axes.v[i], &axis, &c->err)) return c->err.code;
        if (reduced[axis])
            return fail(&c->err, STATUS_INDEX, 310, "axis %lld is named twice", (long long)a->axes.v[i]);
        reduced[axis] = true;
    }
    return STATUS_OK;
}

/* max and min of nothing have no value; every other row starts from its neutral one. */
static bool needs_elements(const op_info *op) {
    return op->id == OP_max || op->id == OP_min;
}

status reduce_shape(op_call *call) {
    context *c = call->c;
    const meta *x = &call->in[0]->meta;
    const reduce_attrs *a = call->attrs;
    bool reduced[MAX_RANK];
    if (reduced_axes(c, &x->shape, a, reduced)) return c->err.code;
    shape s = {0};
    for (int i = 0; i < x->shape.rank; i++) {
        if (!reduced[i])
            s.size[s.rank++] = x->shape.size[i];
        else if (a->keep)
            s.size[s.rank++] = 1;
        if (!reduced[i] || !needs_elements(call->op) || !dim_same(c->dims, x->shape.size[i], 0)) continue;
        fail(&c->err, STATUS_VALUE, 311, "%s of no elements: axis %d has size 0", call->op->name, i);
        support_operands(call);
        return fail_hint(&c->err, "test the size first, or concat a value that is the least you accept");
    }
    support_result(call, &s, op_reduce_result(call->op, x->dtype));
    call->out[0].weak = x->weak && s.rank == 0 && call->out[0].dtype == x->dtype;
    return STATUS_OK;
}

op_cost reduce_cost(const op_call *call) {
    double n = support_elements(call->c, &call->in[0]->meta);
    return support_cost(call, n * call->op->flops_per_element);
}

status reduce_eval(op_call *call, tensor **out) {
    context *c = call->c;
    const tensor *x = call->in[0];
    bool reduced[MAX_RANK];
    if (reduced_axes(c, &x->meta.shape, call->attrs, reduced)) return c->err.code;
    tensor *result = op_output(call, 0, out);
    if (!result) return c->err.code;
    reduction r = {.acc = op_reduce_ctype(call->op, x->meta.dtype),
                   .from = x->meta.dtype,
                   .to = result->meta.dtype,
                   .x = tensor_data(x),
                   .out = tensor_data(result)};
    r.fns = &loops()->reduce[call->op->id][r.acc];
    for (int i = 0; i < x->meta.shape.rank; i++) {
        reduce_axis axis = {.n = x->meta.shape.size[i], .stride = x->stride[i]};
        if (reduced[i])
            r.reduced_axis[r.reduced++] = axis;
        else
            r.kept_axis[r.kept++] = axis;
    }
    return reduction_run(c, &r);
}

/* ---- gradients ---- */

/* x's shape with the reduced axes as 1, and how many elements met in each result. */
static shape kept_shape(gradient_call *k, dim *count) {
    context *c = k->c;
    shape s = k->in[0]->meta.shape;
    bool reduced[MAX_RANK];
    *count = 1;
    if (reduced_axes(c, &s, k->attrs, reduced)) return s;
    for (int i = 0; i < s.rank; i++) {
        if (!reduced[i]) continue;
        *count = dim_mul(c->dims, *count, s.size[i]);
        s.size[i] = 1;
    }
    return s;
}

static tensor *reshaped(gradient_call *k, tensor *x, const shape *s) {
    return rule_attrs(k, OP_reshape, &x, 1, &(shape_attrs){.shape = support_list(s)});
}

static tensor *cast_to(gradient_call *k, tensor *x, dtype t) {
    if (!x || x->meta.dtype == t) return x;
    return rule_attrs(k, OP_cast, &x, 1, &(cast_attrs){.dtype = t});
}

/* Counts do not fit f16, so halves divide in f32. */
static dtype counting_dtype(dtype t) {
    return dtype_is_half(t) ? DT_F32 : t;
}

/* g with the reduced axes put back as 1, spread over x's shape. */
static tensor *spread(gradient_call *k, tensor *g, const shape *kept) {
    tensor *wide = g ? reshaped(k, g, kept) : NULL;
    shape_attrs all = {.shape = support_list(&k->in[0]->meta.shape)};
    return rule_attrs(k, OP_expand, &wide, 1, &all);
}

void sum_gradient(gradient_call *k) {
    dim count;
    shape kept = kept_shape(k, &count);
    if (k->need[0]) k->gin[0] = spread(k, k->g[0], &kept);
}

void mean_gradient(gradient_call *k) {
    dim count;
    shape kept = kept_shape(k, &count);
    if (!k->need[0]) return;
    tensor *g = cast_to(k, k->g[0], counting_dtype(k->g[0]->meta.dtype));
    tensor *n = rule_attrs(k, OP_extent, NULL, 0, &(extent_attrs){.size = count});
    k->gin[0] = spread(k, cast_to(k, rule2(k, OP_div, g, n), k->g[0]->meta.dtype), &kept);
}

/* An element takes part when it is the result, or is NaN (then the result is NaN, and equal to nothing). */
void extreme_gradient(gradient_call *k) {
    dim count;
    shape kept = kept_shape(k, &count);
    if (!k->need[0]) return;
    tensor *x = k->in[0];
    dtype t = x->meta.dtype, wide = counting_dtype(t);
    tensor *r = reshaped(k, k->out[0], &kept), *g = reshaped(k, k->g[0], &kept);
    tensor *part = rule2(k, OP_bits_or, rule2(k, OP_eq, x, r), rule2(k, OP_ne, x, x));
    tensor *one = cast_to(k, part, wide);
    reduce_attrs over = *(const reduce_attrs *)k->attrs;
    over.keep = true;
    tensor *ties = rule_attrs(k, OP_sum, &one, 1, &over);
    tensor *share = cast_to(k, rule2(k, OP_div, cast_to(k, g, wide), ties), t);
    k->gin[0] = rule3(k, OP_where, part, share, rule_const(k, 0));
}
