/* rebuild.c — see rebuild.h. */
#include "engine/graph/passes/rebuild.h"

#include "engine/base/memory.h"
#include "engine/ops/loops.h"

status rebuild_begin(const graph *from, rebuild *r) {
    *r = (rebuild){.from = from, .to = graph_new_like(from)};
    r->map = mem_alloc(from->value_count * sizeof *r->map + 1);
    status code = r->to ? STATUS_OK : from->c->err.code;
    if (!code && !r->map) code = fail_memory(&from->c->err, from->value_count * sizeof *r->map);
    for (uint32_t i = 0; !code && i < from->value_count; i++) r->map[i] = NO_VALUE;
    for (int i = 0; !code && i < from->input_count; i++) {
        code = graph_add_input(r->to, graph_meta(from, from->inputs[i]), from->input_names[i],
                               &r->map[from->inputs[i]]);
        if (!code) r->to->nodes[r->to->node_count - 1].origin = graph_def(from, from->inputs[i])->origin;
    }
    return code ? rebuild_end(r, code, NULL) : STATUS_OK;
}

static void inherit(node *to, const node *n) {
    to->origin = n->origin;
    to->where = n->where;
    to->backward = n->backward;
    to->forward = n->forward;
    to->label = n->label;
}

status rebuild_op(rebuild *r, const node *n, op_id op, const value_id *in, int nin, const void *attrs,
                  const meta *out, value_id *result) {
    node *added;
    if (graph_add_op(r->to, op, in, nin, attrs, out, op_table[op].nout, n->where, &added))
        return r->to->c->err.code;
    inherit(added, n);
    *result = added->out;
    return STATUS_OK;
}

status rebuild_copy(rebuild *r, const node *n) {
    context *c = r->to->c;
    if (n->kind == NODE_INPUT) return STATUS_OK; /* there already */
    value_id result, in[MAX_INPUTS];
    if (n->kind == NODE_CONST) {
        if (graph_add_const(r->to, n->constant, n->where, &result)) return c->err.code;
        inherit(&r->to->nodes[r->to->node_count - 1], n);
    } else {
        meta out[MAX_OUTPUTS];
        for (int i = 0; i < n->nin; i++) in[i] = r->map[n->in[i]];
        for (int i = 0; i < n->nout; i++) out[i] = *graph_meta(r->from, n->out + (value_id)i);
        if (rebuild_op(r, n, n->op, in, n->nin, n->attrs, out, &result)) return c->err.code;
    }
    for (int i = 0; i < n->nout; i++) r->map[n->out + (value_id)i] = result + (value_id)i;
    return STATUS_OK;
}

status rebuild_end(rebuild *r, status code, graph **out) {
    context *c = r->from->c;
    value_id *outputs = NULL;
    if (!code) {
        outputs = mem_alloc((size_t)r->from->output_count * sizeof *outputs + 1);
        if (!outputs) code = fail_memory(&c->err, (uint64_t)r->from->output_count * sizeof *outputs);
    }
    for (int i = 0; !code && i < r->from->output_count; i++) outputs[i] = r->map[r->from->outputs[i]];
    if (!code) code = graph_set_outputs(r->to, outputs, r->from->output_count);
    mem_free(outputs);
    mem_free(r->map);
    if (code)
        graph_free(r->to);
    else
        *out = r->to;
    return code;
}

bool node_pure(const graph *g, const node *n) {
    if (n->kind != NODE_OP) return true;
    const op_info *op = &op_table[n->op];
    if (op->flags & OP_RAISES) return false;
    return !op_fault_info[n->op].message || dtype_is_float(graph_meta(g, n->out)->dtype);
}
