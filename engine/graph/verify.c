/* verify.c — the invariants of a graph, and its metas re-derived by the shape rules. */
#include <string.h>

#include "engine/graph/graph.h"
#include "engine/graph/stand_in.h"

static status broken(const graph *g, uint32_t number, const char *what) {
    const node *n = &g->nodes[number];
    return fail(&g->c->err, STATUS_FREEZE, 590, "graph %s, node %u (%s): %s", g->name, number,
                n->kind == NODE_OP      ? op_table[n->op].name
                : n->kind == NODE_INPUT ? "input"
                                        : "constant",
                what);
}

static bool same_meta(dims *t, const meta *a, const meta *b) {
    return a->dtype == b->dtype && a->weak == b->weak && shape_same(t, &a->shape, &b->shape);
}

static status check_metas(const graph *g, uint32_t number) {
    const node *n = &g->nodes[number];
    context *c = g->c;
    stand_in s;
    if (stand_in_open(g, n, NULL, &s)) return c->err.code;
    dims *outer = c->dims;
    c->dims = g->dims;
    status code = s.call.op->shape(&s.call);
    bool same = true;
    for (int i = 0; !code && i < n->nout; i++)
        same = same && same_meta(g->dims, &s.call.out[i], graph_meta(g, n->out + (value_id)i));
    c->dims = outer;
    stand_in_close(&s);
    if (code) return code;
    return same ? STATUS_OK : broken(g, number, "its results are not what the shape rule says");
}

static status check_op(const graph *g, uint32_t number) {
    const node *n = &g->nodes[number];
    if ((unsigned)n->op >= OP_COUNT) return broken(g, number, "unknown op");
    const op_info *op = &op_table[n->op];
    if (op->nin >= 0 && n->nin != op->nin) return broken(g, number, "wrong number of operands");
    if (n->nout != op->nout) return broken(g, number, "wrong number of results");
    if ((op->attr_bytes != 0) != (n->attrs != NULL))
        return broken(g, number, "attributes missing or too many");
    for (int k = 0; k < n->nin; k++)
        if (n->in[k] >= n->out) return broken(g, number, "uses a value before it is defined");
    return check_metas(g, number);
}

status graph_verify(const graph *g) {
    value_id next = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const node *n = &g->nodes[i];
        if (n->out != next) return broken(g, i, "results are out of order");
        next += (value_id)n->nout;
        for (int k = 0; k < n->nout; k++)
            if (g->values[n->out + (value_id)k].node != i || g->values[n->out + (value_id)k].result != k)
                return broken(g, i, "a result does not point back");
        if (n->kind == NODE_INPUT &&
            (n->input < 0 || n->input >= g->input_count || g->inputs[n->input] != n->out))
            return broken(g, i, "not in the list of inputs");
        if (n->kind == NODE_CONST &&
            (!n->constant || !same_meta(g->dims, &n->constant->meta, graph_meta(g, n->out))))
            return broken(g, i, "does not match its tensor");
        if (n->kind == NODE_OP && check_op(g, i)) return g->c->err.code;
    }
    for (int i = 0; i < g->output_count; i++)
        if (g->outputs[i] >= next)
            return fail(&g->c->err, STATUS_FREEZE, 591, "graph %s: output %d is no value", g->name, i);
    return STATUS_OK;
}
