/* seen_graph.h — frozen graphs as arguments of commands. */
#ifndef TD_SHELL_SEEN_GRAPH_H
#define TD_SHELL_SEEN_GRAPH_H

#include "repl/lang/freeze.h"
#include "repl/shell/seen.h"

/* A frozen graph that a command asks about. `v` keeps it alive; seen_graph_free lets it go. */
typedef struct seen_graph {
    value v;
    const frozen *f;
    program *p;          /* of the specialisation that ran last */
    const graph *traced; /* before any pass */
    program_kernel *kernels;
    int kernel_count;
} seen_graph;
/* Evaluates `length` bytes of the command's text. Fails when it is not a frozen graph or has no specialisation. */
status seen_graph_get(shell *sh, const char *name, const char *expression, size_t length, seen_graph *out);
void seen_graph_free(seen_graph *g);

/* Appends what the engine wrote about a graph, with places in the source instead of spans (` @1:20-25`). */
void seen_places(shell *sh, const char *content, text *out);
/* The text form of g with places in the source, as people read it, instead of spans. */
void seen_graph_text(shell *sh, const graph *g, text *out);

#endif
