/* simplify.c — identities that hold bit for bit (numerics.md, "Graph rewrites"): x * 1, x / 1, x - 0, double negation,
 * views that change nothing or cancel, casts to the same dtype, division by a power of two. */
#include <math.h>
#include <string.h>

#include "engine/graph/passes/rebuild.h"

/* The constant scalar that value v is everywhere; false when it is none. Looks through casts that fold has left. */
static bool scalar_value(const graph *g, value_id v, double *out) {
    const node *n = graph_def(g, v);
    if (n->kind != NODE_CONST || n->constant->meta.shape.rank != 0) return false;
    *out = tensor_get_real(n->constant, 0);
    return true;
}

static bool same_shape_and_dtype(const graph *g, value_id a, value_id b) {
    const meta *x = graph_meta(g, a), *y = graph_meta(g, b);
    return x->dtype == y->dtype && x->weak == y->weak && memcmp(&x->shape, &y->shape, sizeof x->shape) == 0;
}

static const node *defining(const graph *g, value_id v, op_id op) {
    const node *n = graph_def(g, v);
    return n->kind == NODE_OP && n->op == op ? n : NULL;
}

/* transpose(transpose(x)) that is the identity. */
static bool cancels(const node *outer, const node *inner) {
    const transpose_attrs *a = outer->attrs, *b = inner->attrs;
    for (int64_t i = 0; i < a->axes.count; i++)
        if (b->axes.v[a->axes.v[i]] != i) return false;
    return true;
}

static bool identity_axes(const transpose_attrs *a) {
    for (int64_t i = 0; i < a->axes.count; i++)
        if (a->axes.v[i] != i) return false;
    return true;
}

/* The value that node n (operands `in`, in the new graph) equals bit for bit, or NO_VALUE. `keeps`: operand 0 has the
 * result's shape and dtype; `keeps_second`: operand 1 has. */
static value_id equals(const graph *g, const node *n, const value_id *in, bool keeps, bool keeps_second) {
    double y;
    const node *inner;
    switch (n->op) {
    case OP_mul:
        if (keeps_second && scalar_value(g, in[0], &y) && y == 1) return in[1];
        return keeps && scalar_value(g, in[1], &y) && y == 1 ? in[0] : NO_VALUE;
    case OP_div:
        return keeps && scalar_value(g, in[1], &y) && y == 1 ? in[0] : NO_VALUE;
    case OP_sub:
        return keeps && scalar_value(g, in[1], &y) && y == 0 && !signbit(y) ? in[0] : NO_VALUE;
    case OP_neg:
        return (inner = defining(g, in[0], OP_neg)) ? inner->in[0] : NO_VALUE;
    case OP_stop_grad:
        return in[0];
    case OP_cast:
    case OP_reshape:
    case OP_expand:
        return keeps ? in[0] : NO_VALUE;
    case OP_transpose:
        if (identity_axes(n->attrs)) return in[0];
        inner = defining(g, in[0], OP_transpose);
        return inner && cancels(n, inner) ? inner->in[0] : NO_VALUE;
    default:
        return NO_VALUE;
    }
}

/* x / c for c a power of two whose reciprocal is normal: the same bits as x * (1 / c), which is faster. */
static bool by_power_of_two(const graph *g, const node *n, const value_id *in, double *reciprocal) {
    double y;
    int exponent;
    if (n->op != OP_div || !scalar_value(g, in[1], &y) || !isfinite(y) || y == 0) return false;
    if (fabs(frexp(y, &exponent)) != 0.5) return false;
    *reciprocal = 1 / y;
    switch (graph_meta(g, in[1])->dtype) {
    case DT_F16:
        return exponent > -13 && exponent < 15;
    case DT_BF16:
    case DT_F32:
        return exponent > -125 && exponent < 126;
    default:
        return exponent > -1021 && exponent < 1022;
    }
}

static status multiply_instead(rebuild *r, const node *n, value_id *in, double reciprocal) {
    context *c = r->to->c;
    tensor *old = graph_def(r->to, in[1])->constant, *wide = tensor_weak_real(c, reciprocal), *fit = NULL;
    op_call call = {.c = c,
                    .op = &op_table[OP_cast],
                    .in = &wide,
                    .nin = 1,
                    .nout = 1,
                    .out = {old->meta},
                    .attrs = &(cast_attrs){.dtype = old->meta.dtype, .weak = old->meta.weak}};
    status code = wide ? call.op->eval(&call, &fit) : c->err.code;
    if (!code) code = graph_add_const(r->to, fit, n->where, &in[1]);
    if (!code) code = rebuild_op(r, n, OP_mul, in, 2, NULL, graph_meta(r->from, n->out), &r->map[n->out]);
    tensor_release(wide);
    tensor_release(fit);
    return code;
}

static status simplify(rebuild *r, const node *n) {
    value_id in[MAX_INPUTS];
    double reciprocal;
    if (n->kind != NODE_OP || n->nin == 0) return rebuild_copy(r, n);
    for (int i = 0; i < n->nin; i++) in[i] = r->map[n->in[i]];
    value_id same = equals(r->to, n, in, same_shape_and_dtype(r->from, n->in[0], n->out),
                           n->nin > 1 && same_shape_and_dtype(r->from, n->in[1], n->out));
    if (same != NO_VALUE) {
        r->map[n->out] = same;
        return STATUS_OK;
    }
    if (by_power_of_two(r->to, n, in, &reciprocal)) return multiply_instead(r, n, in, reciprocal);
    return rebuild_copy(r, n);
}

status pass_simplify(const graph *g, graph **out) {
    rebuild r;
    status code = rebuild_begin(g, &r);
    if (code) return code;
    for (uint32_t i = 0; !code && i < g->node_count; i++) code = simplify(&r, &g->nodes[i]);
    return rebuild_end(&r, code, out);
}
