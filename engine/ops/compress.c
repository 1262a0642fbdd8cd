/* compress.c — compress: the elements of an axis where a bool vector holds, x[mask]. */
#include "engine/core/scope.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/index.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

/* Elements between two looks at the interrupt flag. */
enum { STRETCH = 1 << 20 };

/* How many elements of a concrete bool vector hold; their positions into `at` when it is not NULL. -1 with the error set
 * when interrupted. */
static int64_t holding(context *c, const tensor *mask, int64_t *at) {
    int64_t n = mask->meta.shape.size[0], step = mask->stride[0], found = 0;
    const uint8_t *m = tensor_data(mask);
    for (int64_t begin = 0; begin < n; begin += STRETCH) {
        int64_t end = begin + STRETCH < n ? begin + STRETCH : n;
        if (context_interrupted(c)) return -1;
        if (!at)
            for (int64_t i = begin; i < end; i++) found += m[i * step];
        else
            for (int64_t i = begin; i < end; i++)
                if (m[i * step]) at[found++] = i;
    }
    return found;
}

/* The positions where the mask holds, as an i64 vector. */
static tensor *positions(context *c, const tensor *mask) {
    int64_t found = holding(c, mask, NULL);
    tensor *index = found < 0 ? NULL : tensor_new(c, DT_I64, &(shape){.rank = 1, .size = {found}});
    if (!index || holding(c, mask, tensor_data(index)) >= 0) return index;
    tensor_release(index);
    return NULL;
}

status compress_shape(op_call *call) {
    context *c = call->c;
    const tensor *mask = call->in[1];
    int axis;
    if (index_axis(call, &axis)) return c->err.code;
    shape s = call->in[0]->meta.shape;
    if (mask->meta.dtype != DT_BOOL || mask->meta.shape.rank != 1 ||
        !dim_same(c->dims, mask->meta.shape.size[0], s.size[axis]))
        return index_misfit(call, "the mask must be a bool vector as long as the axis");
    if (!tensor_concrete(mask)) {
        fail(&c->err, STATUS_FREEZE, 512, "the shape of the result depends on the values of the mask");
        return fail_hint(&c->err, "where(mask, x, 0) keeps the shape");
    }
    if ((s.size[axis] = holding(c, mask, NULL)) < 0) return c->err.code;
    support_result(call, &s, call->in[0]->meta.dtype);
    return STATUS_OK;
}

status compress_eval(op_call *call, tensor **out) {
    context *c = call->c;
    tensor *index = positions(c, call->in[1]);
    if (!index) return c->err.code;
    tensor *in[2] = {call->in[0], index};
    op_call taking = *call;
    taking.in = in;
    take_eval(&taking, out);
    tensor_release(index);
    return c->err.code;
}

void compress_gradient(gradient_call *k) {
    if (!k->need[0]) return;
    const meta *x = &k->in[0]->meta;
    tensor *index = scope_add(k->c, positions(k->c, k->in[1]));
    tensor *zeros = scope_add(k->c, op_full(k->c, 0, &x->shape, x->dtype));
    k->gin[0] = rule_attrs(k, OP_take_add, (tensor *[]){zeros, index, k->g[0]}, 3, k->attrs);
}

op_cost compress_cost(const op_call *call) {
    return support_cost(call, 0);
}
