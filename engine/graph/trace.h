/* trace.h — building a graph by running a program on stand-ins.
 *
 * trace_begin makes the context's executor the tracing one; inputs are stand-in tensors whose sizes above 1
 * are symbols. Ops on concrete operands only are computed at once (what is known while freezing is run then);
 * the others become nodes (also large `full` and `arange`, which would be large constants). Traces do not nest in one context. The random stream is traced too: the first draw
 * makes seed and counter inputs of the graph, and the advanced counter an output. */
#ifndef TD_GRAPH_TRACE_H
#define TD_GRAPH_TRACE_H

#include "engine/graph/graph.h"

typedef struct trace trace;

/* Starts tracing; NULL with the error set when out of memory or when a trace is in progress. */
trace *trace_begin(context *c, const char *name);

/* A stand-in for `example`, input number trace_inputs(t) so far (a new reference). Sizes other than 0 and 1
 * become symbols with the example's sizes as hints; weak scalars stay weak. `name` is copied. */
tensor *trace_input(trace *t, const tensor *example, const char *name);
/* The same from a meta: sizes of -1 are symbols without a hint (`?`), others are as given. `names` (may be
 * NULL) name the axes. */
tensor *trace_input_meta(trace *t, const meta *given, const char *name, const char *const *names);

/* How many inputs there are so far. */
int trace_inputs(const trace *t);
/* The name that the program gives a traced value, for diagrams: the first one stays. */
void trace_label(trace *t, const tensor *x, const char *name);
/* The graph as far as it is built: for asking what a traced value was computed from. */
const graph *trace_graph(const trace *t);

/* Ends tracing and restores the executor. The graph's outputs are `outputs` (traced tensors, or concrete
 * ones, which become constants), then, when the program drew random numbers, the advanced counter. */
status trace_end(trace *t, tensor *const *outputs, int count, graph **out);
/* Ends tracing after a failure; the trace is freed. */
void trace_abandon(trace *t);

#endif
