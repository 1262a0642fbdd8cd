/* stand_in.c — see stand_in.h. */
#include "engine/graph/stand_in.h"

static meta at_sizes(meta m, const int64_t *values) {
    for (int i = 0; values && i < m.shape.rank; i++) m.shape.size[i] = dim_value(m.shape.size[i], values);
    return m;
}

status stand_in_open(const graph *g, const node *n, const int64_t *values, stand_in *s) {
    *s = (stand_in){0};
    s->call = (op_call){
        .c = g->c, .op = &op_table[n->op], .in = s->in, .nin = n->nin, .attrs = n->attrs, .nout = n->nout};
    for (int i = 0; i < n->nin; i++) {
        meta m = at_sizes(*graph_meta(g, n->in[i]), values);
        s->in[i] = tensor_new_abstract(g->c, &m);
        if (s->in[i]) continue;
        stand_in_close(s);
        return g->c->err.code;
    }
    for (int i = 0; i < n->nout; i++) s->call.out[i] = at_sizes(*graph_meta(g, n->out + (value_id)i), values);
    return STATUS_OK;
}

void stand_in_close(stand_in *s) {
    for (int i = 0; i < s->call.nin; i++) tensor_release(s->in[i]);
}

op_cost graph_node_cost(const graph *g, const node *n, const int64_t *values) {
    stand_in s;
    context *c = g->c;
    dims *outer = c->dims;
    op_cost cost = {0};
    if (n->kind != NODE_OP) return cost;
    if (stand_in_open(g, n, values, &s)) {
        error_clear(&c->err); /* a figure for display: without memory it is 0 */
        return cost;
    }
    c->dims = g->dims;
    cost = op_cost_of(&s.call);
    c->dims = outer;
    stand_in_close(&s);
    return cost;
}
