/* concat.c — operands one after the other along an axis. */
#include "engine/core/copy.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

status concat_shape(op_call *call) {
    context *c = call->c;
    const axis_attrs *a = call->attrs;
    shape s = call->in[0]->meta.shape;
    int axis;
    if (s.rank == 0) {
        fail(&c->err, STATUS_SHAPE, 115, "concat of scalars, which have no axis");
        return fail_hint(&c->err, "[a, b] or stack((a, b)) makes a vector of scalars");
    }
    if (shape_axis(c->dims, &s, a->axis, &axis, &c->err)) return c->err.code;
    for (int i = 1; i < call->nin; i++) {
        const shape *x = &call->in[i]->meta.shape;
        bool fits = x->rank == s.rank;
        for (int j = 0; fits && j < s.rank; j++) fits = j == axis || dim_same(c->dims, x->size[j], s.size[j]);
        if (!fits) {
            fail(&c->err, STATUS_SHAPE, 115,
                 "operand %d does not fit the first: all sizes but axis %d must agree", i + 1, axis);
            return support_operands(call);
        }
        s.size[axis] = dim_add(c->dims, s.size[axis], x->size[axis]);
        if (s.size[axis] == -1) return fail(&c->err, STATUS_MEMORY, 904, "a size does not fit 64 bits");
    }
    support_result(call, &s, call->in[0]->meta.dtype);
    return STATUS_OK;
}

status concat_eval(op_call *call, tensor **out) {
    context *c = call->c;
    int axis;
    if (shape_axis(NULL, &call->out[0].shape, ((const axis_attrs *)call->attrs)->axis, &axis, &c->err))
        return c->err.code;
    tensor *result = op_output(call, 0, out);
    if (!result) return c->err.code;
    size_t size = dtype_size(result->meta.dtype);
    char *to = tensor_data(result);
    for (int i = 0; i < call->nin; i++) {
        const tensor *x = call->in[i];
        if (copy_strided(c, &x->meta.shape, size, to, result->stride, tensor_data(x), x->stride))
            return c->err.code;
        to += x->meta.shape.size[axis] * result->stride[axis] * (int64_t)size;
    }
    return STATUS_OK;
}

/* Each operand gets its slice of g. */
void concat_gradient(gradient_call *k) {
    context *c = k->c;
    const shape *s = &k->g[0]->meta.shape;
    int axis;
    if (shape_axis(c->dims, s, ((const axis_attrs *)k->attrs)->axis, &axis, &c->err)) return;
    slice_attrs a = {.start = {.count = s->rank}, .step = {.count = s->rank}};
    for (int i = 0; i < s->rank; i++) a.step.v[i] = 1;
    for (int i = 0; i < k->nin; i++) {
        const shape *x = &k->in[i]->meta.shape;
        a.size = support_list(x);
        if (k->need[i]) k->gin[i] = rule_attrs(k, OP_slice, k->g, 1, &a);
        a.start.v[axis] = dim_add(c->dims, a.start.v[axis], x->size[axis]);
    }
}

op_cost concat_cost(const op_call *call) {
    return support_cost(call, 0);
}
