/* dot.h — a diagram as a DOT text, through libcgraph. Any Graphviz program can lay it out; render.h does. */
#ifndef TD_VIZ_DOT_H
#define TD_VIZ_DOT_H

#include "viz/diagram.h"

/* Appends the diagram of g. Box i has the name and id "bI"; kernels are clusters, or frames of one colour
 * where a backward part is drawn beside the forward part (Graphviz can't have both). */
status dot_graph(const graph *g, const diagram_options *options, text *out, error *e);

#endif
