/* graph.h — the intermediate representation: nodes in topological order, each defining values that later
 * nodes use.
 *
 * Values have a meta whose sizes may be symbols of the graph's `dims`. Nodes are inputs, constants (tensors
 * known while tracing) and ops of the table. A pass reads one graph and writes another (passes.h); what a
 * node came from is kept in `origin`, so that diagrams, profiles and errors can go back to the traced
 * program. Structured control flow will be two more node kinds whose nodes own region graphs. */
#ifndef TD_GRAPH_GRAPH_H
#define TD_GRAPH_GRAPH_H

#include "engine/base/arena.h"
#include "engine/ops/attrs.h"
#include "engine/ops/op.h"

typedef uint32_t value_id;
#define NO_VALUE UINT32_MAX
#define NO_NODE UINT32_MAX

typedef enum node_kind { NODE_INPUT, NODE_CONST, NODE_OP } node_kind;

typedef struct node {
    node_kind kind;
    op_id op;        /* NODE_OP */
    uint32_t origin; /* number of the node in the traced graph that this one came from */
    int nin, nout;
    value_id *in;      /* nin values */
    value_id out;      /* nout consecutive values from this one */
    const void *attrs; /* op_table[op].attr_bytes bytes; NULL when there are none */
    tensor *constant;  /* NODE_CONST: retained */
    int input;         /* NODE_INPUT: its number */
    span where;        /* source text */
    bool backward;     /* recorded while a gradient was walked back */
    uint32_t forward; /* backward nodes: the forward node whose gradient this helps compute (its number in the
                         traced graph), or NO_NODE */
    const char *label; /* a name of the program for the first result ("h"); NULL */
} node;

typedef struct graph_value {
    meta meta;
    uint32_t node; /* that defines it */
    int result;    /* which of its results */
} graph_value;

typedef struct graph {
    context *c;
    uint32_t id; /* unique in the context; events carry it */
    const char *name;
    arena *memory;
    dims *dims; /* shared by the graphs of one trace: reference counted through dims_refs */
    int *dims_refs;
    node *nodes;
    uint32_t node_count, node_capacity;
    graph_value *values;
    uint32_t value_count, value_capacity;
    value_id *inputs; /* value of each input number */
    const char **input_names;
    int input_count, input_capacity;
    value_id *outputs;
    int output_count;
    /* Of a program that draws random numbers: the inputs that are its stream, and the last output is the advanced counter;
     * -1 when it does not. */
    int seed_input, counter_input;
} graph;

/* An empty graph; it takes over dims (NULL: a new table). NULL with the error set when out of memory. */
graph *graph_new(context *c, const char *name);
/* An empty graph over the same symbols, for the result of a pass. */
graph *graph_new_like(const graph *like);
void graph_free(graph *g); /* NULL is fine */

/* Building; each fails only when out of memory. `attrs` is copied. The values of
 * the new node are numbered from value_count on. */
status graph_add_input(graph *g, const meta *m, const char *name, value_id *out);
status graph_add_const(graph *g, tensor *t, span where, value_id *out);
status graph_add_op(graph *g, op_id op, const value_id *in, int nin, const void *attrs, const meta *out,
                    int nout, span where, node **added);
status graph_set_outputs(graph *g, const value_id *out, int count);

static inline const meta *graph_meta(const graph *g, value_id v) {
    return &g->values[v].meta;
}
static inline node *graph_def(const graph *g, value_id v) {
    return &g->nodes[g->values[v].node];
}

/* Checks every invariant (order, operand counts, metas re-derived by the shape rules, attribute sizes); on
 * failure the error names the node. Run after every pass in debug builds and tests. */
status graph_verify(const graph *g);

/* The text form, one line a node:  `%3 = matmul %0 %1 : f32[s0, 10]   # digits.td:4`; docs/manual.md
 * describes it. */
void graph_print(const graph *g, text *out);

/* Cost of one node at the sizes in `values` (dims_evaluate's result; NULL when all sizes are known). */
op_cost graph_node_cost(const graph *g, const node *n, const int64_t *values);

#endif
