/* cast.c — conversions between dtypes, and strided copies (a conversion to the same dtype). */
#include "engine/ops/apply.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/families.h"
#include "engine/ops/loops.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

status cast_shape(op_call *call) {
    const cast_attrs *a = call->attrs;
    call->out[0] = call->in[0]->meta;
    call->out[0].dtype = (dtype)a->dtype;
    call->out[0].weak = a->weak;
    return STATUS_OK;
}

typedef struct conversion {
    cast_fn cast;
    size_t bytes; /* of a result */
} conversion;

static void convert(void *user, const void *const *in, const int *step, void *out, int64_t n) {
    const conversion *v = user;
    if (step[0]) {
        v->cast(in[0], out, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) v->cast(in[0], (char *)out + i * (int64_t)v->bytes, 1);
}

status elementwise_copy(context *c, tensor *src, tensor *dst) {
    dtype from = src->meta.dtype, to = dst->meta.dtype;
    conversion v = {.cast = loops()->cast[from][to], .bytes = dtype_size(to)};
    return elementwise_walk(c, &src, 1, (dtype[]){from, to}, dst, convert, &v);
}

status cast_eval(op_call *call, tensor **out) {
    bool ours = !out[0];
    if (!op_output(call, 0, out)) return call->c->err.code;
    status code = elementwise_copy(call->c, call->in[0], out[0]);
    if (code && ours) {
        tensor_release(out[0]);
        out[0] = NULL;
    }
    return code;
}

/* ---- conversion that must not change the number ---- */

status fit_shape(op_call *call) {
    const dtype_attrs *a = call->attrs;
    const meta *m = &call->in[0]->meta;
    if (!dtype_is_integer((dtype)a->dtype) || !(dtype_is_integer(m->dtype) || m->dtype == DT_BOOL)) {
        fail(&call->c->err, STATUS_DTYPE, 107, "fit is for integers");
        return support_operands(call);
    }
    support_result(call, &m->shape, (dtype)a->dtype);
    return STATUS_OK;
}

enum { FIT_POLL = 1 << 16 }; /* elements between two looks at the interrupt flag */

status fit_eval(op_call *call, tensor **out) {
    tensor *x = call->in[0];
    int64_t n = tensor_count(x);
    for (int64_t i = 0; i < n; i++) {
        if (i % FIT_POLL == 0 && context_interrupted(call->c)) return call->c->err.code;
        if (op_refuse_unfit(call->c, tensor_get_int(x, i), call->out[0].dtype)) return call->c->err.code;
    }
    return cast_eval(call, out);
}

op_cost fit_cost(const op_call *call) {
    return support_cost(call, support_elements(call->c, &call->out[0]));
}

void cast_gradient(gradient_call *k) {
    const meta *m = &k->in[0]->meta;
    if (!dtype_is_float(m->dtype)) return;
    k->gin[0] = rule_attrs(k, OP_cast, k->g, 1, &(cast_attrs){.dtype = m->dtype, .weak = m->weak});
}

op_cost cast_cost(const op_call *call) {
    return support_cost(call, support_elements(call->c, &call->out[0]));
}
