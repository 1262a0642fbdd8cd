/* graph.c — building and freeing graphs. */
#include "engine/graph/graph.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"

static graph *allocate(context *c, const char *name) {
    graph *g = mem_calloc(1, sizeof *g);
    if (!g) {
        fail_memory(&c->err, sizeof *g);
        return NULL;
    }
    g->c = c;
    g->id = ++c->next_graph;
    g->seed_input = g->counter_input = -1;
    g->memory = arena_new();
    if (g->memory) g->name = arena_text(g->memory, name, strlen(name));
    if (g->name) return g;
    fail_memory(&c->err, sizeof(arena *));
    graph_free(g);
    return NULL;
}

graph *graph_new(context *c, const char *name) {
    graph *g = allocate(c, name);
    if (!g) return NULL;
    g->dims = dims_new();
    g->dims_refs = mem_calloc(1, sizeof *g->dims_refs);
    if (g->dims_refs) *g->dims_refs = 1;
    if (g->dims && g->dims_refs) return g;
    fail_memory(&c->err, sizeof(dims));
    graph_free(g);
    return NULL;
}

graph *graph_new_like(const graph *like) {
    graph *g = allocate(like->c, like->name);
    if (!g) return NULL;
    g->dims = like->dims;
    g->dims_refs = like->dims_refs;
    ++*g->dims_refs;
    g->seed_input = like->seed_input;
    g->counter_input = like->counter_input;
    return g;
}

void graph_free(graph *g) {
    if (!g) return;
    for (uint32_t i = 0; i < g->node_count; i++) tensor_release(g->nodes[i].constant);
    if (!g->dims_refs || --*g->dims_refs == 0) {
        dims_free(g->dims);
        mem_free(g->dims_refs);
    }
    mem_free(g->nodes);
    mem_free(g->values);
    mem_free(g->inputs);
    mem_free(g->input_names);
    mem_free(g->outputs);
    arena_free(g->memory);
    mem_free(g);
}

/* Room for one more node with `results` values. */
static status reserve(graph *g, int results) {
    if (g->node_count == g->node_capacity) {
        uint32_t capacity = g->node_capacity ? 2 * g->node_capacity : 32;
        node *grown = mem_realloc(g->nodes, capacity * sizeof *grown);
        if (!grown) return fail_memory(&g->c->err, capacity * sizeof *grown);
        g->nodes = grown;
        g->node_capacity = capacity;
    }
    if (g->value_count + (uint32_t)results > g->value_capacity) {
        uint32_t capacity = (g->value_capacity ? 2 * g->value_capacity : 32) + (uint32_t)results;
        graph_value *grown = mem_realloc(g->values, capacity * sizeof *grown);
        if (!grown) return fail_memory(&g->c->err, capacity * sizeof *grown);
        g->values = grown;
        g->value_capacity = capacity;
    }
    return STATUS_OK;
}

/* Appends a node whose results have the given metas; there is room. */
static node *append(graph *g, node_kind kind, const meta *out, int nout) {
    node *n = &g->nodes[g->node_count];
    *n = (node){
        .kind = kind, .origin = g->node_count, .nout = nout, .out = g->value_count, .forward = NO_NODE};
    for (int i = 0; i < nout; i++)
        g->values[g->value_count++] = (graph_value){.meta = out[i], .node = g->node_count, .result = i};
    g->node_count++;
    return n;
}

/* A copy of a name that may be any text (a record's key), so that it stays on its line in the graph's text and can't end
 * the comments of emitted code. NULL when out of memory. */
static const char *plain_name(graph *g, const char *name) {
    char *copy = arena_text(g->memory, name ? name : "", name ? strlen(name) : 0);
    for (char *c = copy; copy && *c; c++) {
        if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
        if (*c == '*') *c = '_';
    }
    return copy;
}

status graph_add_input(graph *g, const meta *m, const char *name, value_id *out) {
    error *e = &g->c->err;
    if (g->input_count == g->input_capacity) {
        int capacity = g->input_capacity ? 2 * g->input_capacity : 8;
        value_id *inputs = mem_realloc(g->inputs, (size_t)capacity * sizeof *inputs);
        if (!inputs) return fail_memory(e, (uint64_t)capacity * sizeof *inputs);
        g->inputs = inputs;
        const char **names = mem_realloc(g->input_names, (size_t)capacity * sizeof *names);
        if (!names) return fail_memory(e, (uint64_t)capacity * sizeof *names);
        g->input_names = names;
        g->input_capacity = capacity;
    }
    const char *copy = plain_name(g, name);
    if (!copy) return fail_memory(e, 64);
    if (reserve(g, 1)) return e->code;
    node *n = append(g, NODE_INPUT, m, 1);
    n->input = g->input_count;
    n->label = copy;
    g->inputs[g->input_count] = n->out;
    g->input_names[g->input_count++] = copy;
    *out = n->out;
    return STATUS_OK;
}

status graph_add_const(graph *g, tensor *t, span where, value_id *out) {
    if (reserve(g, 1)) return g->c->err.code;
    node *n = append(g, NODE_CONST, &t->meta, 1);
    n->constant = tensor_retain(t);
    n->where = where;
    *out = n->out;
    return STATUS_OK;
}

status graph_add_op(graph *g, op_id op, const value_id *in, int nin, const void *attrs, const meta *out,
                    int nout, span where, node **added) {
    error *e = &g->c->err;
    size_t bytes = op_table[op].attr_bytes;
    value_id *operands = arena_alloc(g->memory, (size_t)nin * sizeof *in + 1);
    void *copy = bytes ? arena_alloc(g->memory, bytes) : NULL;
    if (!operands || (bytes && !copy)) return fail_memory(e, bytes + (size_t)nin * sizeof *in);
    if (reserve(g, nout)) return e->code;
    if (nin) memcpy(operands, in, (size_t)nin * sizeof *in);
    if (bytes) memcpy(copy, attrs, bytes);
    node *n = append(g, NODE_OP, out, nout);
    n->op = op;
    n->in = operands;
    n->nin = nin;
    n->attrs = copy;
    n->where = where;
    if (added) *added = n;
    return STATUS_OK;
}

status graph_set_outputs(graph *g, const value_id *out, int count) {
    value_id *copy = mem_alloc((size_t)count * sizeof *copy);
    if (!copy) return fail_memory(&g->c->err, (uint64_t)count * sizeof *copy);
    if (count) memcpy(copy, out, (size_t)count * sizeof *copy);
    mem_free(g->outputs);
    g->outputs = copy;
    g->output_count = count;
    return STATUS_OK;
}
