/* stand_in.h — abstract tensors for a node's operands, so that the table's shape rules and cost models, which speak of
 * calls on tensors, can be asked about nodes. */
#ifndef TD_GRAPH_STAND_IN_H
#define TD_GRAPH_STAND_IN_H

#include "engine/graph/graph.h"

typedef struct stand_in {
    tensor *in[MAX_INPUTS];
    op_call call;
} stand_in;

/* A call like node n's. Sizes are symbols, or numbers when `values` (dims_evaluate's result) is given. */
status stand_in_open(const graph *g, const node *n, const int64_t *values, stand_in *s);
void stand_in_close(stand_in *s);

#endif
