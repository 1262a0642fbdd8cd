/* rebuild.h — the frame of a pass: a new graph grown from an old one, with a map from old values to new. */
#ifndef TD_GRAPH_PASSES_REBUILD_H
#define TD_GRAPH_PASSES_REBUILD_H

#include "engine/graph/graph.h"
#include "engine/graph/passes.h"

typedef struct rebuild {
    const graph *from;
    graph *to;
    value_id *map; /* old value -> new value, NO_VALUE before it is mapped */
} rebuild;

/* Starts with all inputs copied, in order. */
status rebuild_begin(const graph *from, rebuild *r);
/* Copies node n as it is and maps its results. */
status rebuild_copy(rebuild *r, const node *n);
/* Adds an op in place of node n (its origin, place and label), operands being new values. */
status rebuild_op(rebuild *r, const node *n, op_id op, const value_id *in, int nin, const void *attrs,
                  const meta *out, value_id *result);
/* Ends: outputs mapped; *out gets the new graph when `code` is STATUS_OK, else it is freed. Returns code. */
status rebuild_end(rebuild *r, status code, graph **out);

/* Is the node free of effects: not raising, so that it may be dropped, merged or folded? */
bool node_pure(const graph *g, const node *n);

#endif
