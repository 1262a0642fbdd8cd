/* fold.c — pure ops whose operands are all constants are computed now, by the kernels that run eagerly. */
#include "engine/graph/passes/rebuild.h"

enum { LARGEST = 4096 }; /* elements of a folded result: larger ones would trade time for memory */

static bool foldable(const rebuild *r, const node *n) {
    if (n->kind != NODE_OP || n->nin == 0 || n->nout != 1 || !node_pure(r->from, n)) return false;
    if (op_table[n->op].flags & (OP_RANDOM | OP_DYNAMIC)) return false;
    for (int i = 0; i < n->nin; i++)
        if (graph_def(r->to, r->map[n->in[i]])->kind != NODE_CONST) return false;
    const shape *s = &graph_meta(r->from, n->out)->shape;
    return shape_known(s) && shape_count(NULL, s) <= LARGEST;
}

static status fold(rebuild *r, const node *n) {
    context *c = r->to->c;
    tensor *in[MAX_INPUTS], *result = NULL;
    for (int i = 0; i < n->nin; i++) in[i] = graph_def(r->to, r->map[n->in[i]])->constant;
    op_call call = {.c = c,
                    .op = &op_table[n->op],
                    .in = in,
                    .nin = n->nin,
                    .attrs = n->attrs,
                    .nout = n->nout,
                    .out = {*graph_meta(r->from, n->out)}};
    status code = call.op->eval(&call, &result);
    if (!code) code = graph_add_const(r->to, result, n->where, &r->map[n->out]);
    if (!code) r->to->nodes[r->to->node_count - 1].origin = n->origin;
    tensor_release(result);
    return code;
}

status pass_fold(const graph *g, graph **out) {
    rebuild r;
    status code = rebuild_begin(g, &r);
    if (code) return code;
    for (uint32_t i = 0; !code && i < g->node_count; i++)
        code = foldable(&r, &g->nodes[i]) ? fold(&r, &g->nodes[i]) : rebuild_copy(&r, &g->nodes[i]);
    return rebuild_end(&r, code, out);
}
