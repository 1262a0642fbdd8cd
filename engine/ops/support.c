/* support.c — see support.h. */
#include "engine/ops/support.h"

#include <string.h>

#include "engine/ops/apply.h"

double support_elements(const context *c, const meta *m) {
    double n = 1;
    for (int i = 0; i < m->shape.rank; i++) n *= dim_estimate(c->dims, m->shape.size[i]);
    return n < 0 ? 0 : n;
}

static double bytes_of(const context *c, const meta *m) {
    return support_elements(c, m) * (double)dtype_size(m->dtype);
}

op_cost support_cost(const op_call *call, double flops) {
    op_cost cost = {.flops = flops};
    for (int i = 0; i < call->nin; i++) cost.bytes += bytes_of(call->c, &call->in[i]->meta);
    for (int i = 0; i < call->nout; i++) cost.bytes += bytes_of(call->c, &call->out[i]);
    return cost;
}

status support_operands(op_call *call) {
    op_describe_operands(call->c, call->in, call->nin);
    return call->c->err.code;
}

bool support_shape(const int_list *list, shape *out) {
    *out = (shape){0};
    if (list->count < 0 || list->count > MAX_RANK) return false;
    out->rank = (int)list->count;
    for (int i = 0; i < out->rank; i++) {
        out->size[i] = list->v[i];
        if (dim_known(list->v[i]) && list->v[i] < 0) return false;
    }
    return true;
}

int_list support_list(const shape *s) {
    int_list list = {.count = s->rank};
    memcpy(list.v, s->size, (size_t)s->rank * sizeof list.v[0]);
    return list;
}
