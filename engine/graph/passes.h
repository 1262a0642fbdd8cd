/* passes.h — graph to graph, one file each under passes/. Each is printable before and after (`:source`,
 * `:passes`).
 *
 * A pass returns a new graph in *out and leaves g alone; on failure nothing is made. numerics.md, "Graph
 * rewrites", says what they may do. */
#ifndef TD_GRAPH_PASSES_H
#define TD_GRAPH_PASSES_H

#include "engine/graph/graph.h"

status pass_fold(const graph *g,
                 graph **out); /* ops on constants are computed by the kernels that run eagerly */
status pass_cse(const graph *g, graph **out);      /* equal pure nodes become one */
status pass_dce(const graph *g, graph **out);      /* what no output needs and can't raise is dropped */
status pass_simplify(const graph *g, graph **out); /* identities that hold bit for bit */

typedef struct pass_info {
    const char *name, *doc;
    status (*run)(const graph *g, graph **out);
} pass_info;
extern const pass_info pass_list[]; /* in order; ends with a NULL name */

/* Runs the whole list. When `observe` is not NULL it is called with the graph before the first and after each
 * pass. */
status pipeline_run(const graph *g, graph **out,
                    void (*observe)(void *user, const char *pass, const graph *g), void *user);

#endif
