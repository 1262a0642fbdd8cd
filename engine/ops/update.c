/* update.c — a tensor with a box replaced: what `a[0, :] = 9` makes. A value never changes: the result is a copy, or,
 * when the evaluator knows that nobody else holds the tensor, the tensor itself. */
#include "engine/core/copy.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/movement.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

status update_shape(op_call *call) {
    context *c = call->c;
    const meta *x = &call->in[0]->meta, *v = &call->in[1]->meta;
    shape box;
    if (movement_box(call, &box)) return c->err.code;
    if (v->dtype != x->dtype) {
        fail(&c->err, STATUS_DTYPE, 107, "update of %s elements by %s ones", dtype_name(x->dtype),
             dtype_name(v->dtype));
        return fail_hint(&c->err, "cast the new elements: v as %s", dtype_name(x->dtype));
    }
    if (!shape_same(c->dims, &box, &v->shape)) {
        text a = {0}, b = {0};
        shape_print(c->dims, &box, &a);
        shape_print(c->dims, &v->shape, &b);
        fail(&c->err, STATUS_SHAPE, 114, "the place has shape %s, the new elements %s", text_str(&a),
             text_str(&b));
        text_free(&a);
        text_free(&b);
        return support_operands(call);
    }
    support_result(call, &x->shape, x->dtype);
    return STATUS_OK;
}

/* v into the box of the tensor whose element [0, 0, ...] is x's. */
static status write_box(context *c, const tensor *x, const slice_attrs *a, const tensor *v) {
    int64_t stride[MAX_RANK] = {0}, offset;
    movement_box_strides(x, a, stride, &offset);
    size_t size = dtype_size(x->meta.dtype);
    char *to = (char *)x->store->data + offset * (int64_t)size;
    return copy_strided(c, &v->meta.shape, size, to, stride, tensor_data(v), v->stride);
}

status update_eval(op_call *call, tensor **out) {
    tensor *result = op_output(call, 0, out);
    if (!result) return call->c->err.code;
    if (copy_tensor(call->in[0], tensor_data(result))) return call->c->err.code;
    return write_box(call->c, result, call->attrs, call->in[1]);
}

status tensor_update_in_place(tensor *x, const slice_attrs *a, const tensor *v) {
    op_call call = {.c = x->c,
                    .op = &op_table[OP_update],
                    .in = (tensor *[]){x, (tensor *)(uintptr_t)v},
                    .nin = 2,
                    .attrs = a,
                    .nout = 1};
    if (update_shape(&call)) return x->c->err.code;
    return write_box(x->c, x, a, v);
}

void update_gradient(gradient_call *k) {
    const meta *v = &k->in[1]->meta;
    if (k->need[0]) {
        tensor *zeros = scope_add(k->c, op_full(k->c, 0, &v->shape, v->dtype));
        k->gin[0] = rule_attrs(k, OP_update, (tensor *[]){k->g[0], zeros}, 2, k->attrs);
    }
    if (k->need[1]) k->gin[1] = rule_attrs(k, OP_slice, k->g, 1, k->attrs);
}

op_cost update_cost(const op_call *call) {
    return support_cost(call, 0);
}
