/* costs.h — the text form of a graph with what its nodes cost. */
#ifndef TD_VIZ_COSTS_H
#define TD_VIZ_COSTS_H

#include "viz/diagram.h"

/* Appends `lines`, the text form of g (a line before the nodes, one for each node, lines after), each behind the columns
 * kernel, share, time, flops and bytes; above them where the times come from, and the sizes that they are for. A kernel's
 * time stands at its first node. `options`: cost is set. */
status graph_costs(const graph *g, const diagram_options *options, const char *lines, text *out, error *e);

#endif
