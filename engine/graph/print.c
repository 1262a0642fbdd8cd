/* print.c — the text form of a graph, one line a node. */
#include <string.h>

#include "engine/graph/graph.h"

enum { NOTE_COLUMN = 56 };

static void print_scalar(const tensor *t, text *out) {
    if (t->meta.dtype == DT_BOOL)
        text_add(out, tensor_get_int(t, 0) ? "true" : "false");
    else if (dtype_is_float(t->meta.dtype))
        text_printf(out, "%.9g", tensor_get_real(t, 0));
    else
        text_printf(out, "%lld", (long long)tensor_get_int(t, 0));
}

static void print_node(const graph *g, const node *n, text *out) {
    size_t start = out->length;
    text_add(out, "  ");
    for (int i = 0; i < n->nout; i++) text_printf(out, "%s%%%u", i ? ", " : "", n->out + (value_id)i);
    text_add(out, " = ");
    if (n->kind == NODE_INPUT) text_printf(out, "input %d %s", n->input, n->label);
    if (n->kind == NODE_CONST) {
        text_add(out, "const");
        if (n->constant->meta.shape.rank == 0) {
            text_char(out, ' ');
            print_scalar(n->constant, out);
        }
    }
    if (n->kind == NODE_OP) {
        text_add(out, op_table[n->op].name);
        for (int i = 0; i < n->nin; i++) text_printf(out, " %%%u", n->in[i]);
        if (n->attrs) attrs_print(&op_table[n->op], g->dims, n->attrs, out);
    }
    text_add(out, " : ");
    for (int i = 0; i < n->nout; i++) {
        if (i) text_add(out, ", ");
        meta_print(g->dims, graph_meta(g, n->out + (value_id)i), out);
    }
    if (n->kind != NODE_INPUT && (n->label || n->backward || n->where.source)) {
        do text_char(out, ' ');
        while (!out->failed && out->length - start < NOTE_COLUMN);
        text_add(out, "#");
        if (n->label) text_printf(out, " %s", n->label);
        if (n->backward) text_add(out, " backward");
        if (n->where.source) text_printf(out, " @%u:%u-%u", n->where.source, n->where.begin, n->where.end);
    }
    text_char(out, '\n');
}

void graph_print(const graph *g, text *out) {
    text_printf(out, "graph %s {\n", g->name);
    for (uint32_t i = 0; i < g->node_count; i++) print_node(g, &g->nodes[i], out);
    text_add(out, "  return");
    for (int i = 0; i < g->output_count; i++) text_printf(out, " %%%u", g->outputs[i]);
    text_add(out, "\n}\n");
}
