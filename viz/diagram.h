/* diagram.h — a graph as boxes and arrows, before anything is drawn.
 *
 * One-element constants become part of the text of the boxes that use them. The rest is one box for each node
 * and one for each output, unless there are too many: then the nodes of a kernel, or those of a source line,
 * become one box, and the diagram says so.
 *
 * A training step has a part that runs forward, one that runs backward, and one after both (the optimiser's).
 * Graphviz lays out the backward part quickly and readably when its arrows are reversed (its nodes then stand
 * beside the forward nodes whose gradients they compute) and when arrows between the parts do not take part in
 * the layout; the parts and pairs are found here.
 *
 * Long arrows are what makes diagrams slow to lay out and hard to read. Where a value goes far, or an input
 * into another part, a small box with its name (a reference) stands near the user instead. */
#ifndef TD_VIZ_DIAGRAM_H
#define TD_VIZ_DIAGRAM_H

#include "profiler/trace.h"

enum { DIAGRAM_MOST = 300 }; /* boxes that are shown without folding */

typedef struct diagram_options {
    const char *title;             /* NULL: the graph's name */
    const program_kernel *kernels; /* of the graph's program: `kernel_count`; NULL: none */
    int kernel_count;
    const source_finder *finder; /* NULL: places are not shown */
    bool cost;                   /* show flops and bytes, and heat by `times` or `predicted` */
    const recording *times;      /* measured: events of this graph; NULL: none */
    const double *predicted;     /* ns of each node, used when nothing of the graph was measured; NULL */
    uint32_t most;               /* boxes before folding; 0: DIAGRAM_MOST */
} diagram_options;

typedef enum diagram_part { PART_FORWARD, PART_BACKWARD, PART_AFTER } diagram_part;
typedef enum diagram_fold { FOLD_NONE, FOLD_KERNEL, FOLD_LINE } diagram_fold;
#define NO_BOX UINT32_MAX

typedef struct diagram_box {
    uint32_t first;     /* the first of its nodes; of outputs and references: the node that they show */
    uint32_t count;     /* of nodes; 0: the box of an output, or a reference */
    int output;         /* number of an output, or -1 */
    uint32_t reference; /* the box that this one refers to, or NO_BOX */
    int kernel;         /* index of options.kernels, or -1 */
    uint32_t pair;      /* the backward box to be drawn beside it, or NO_BOX */
    diagram_part part;
    double ns;           /* time of its kernel (or of itself), 0: unknown */
    double flops, bytes; /* negative: sizes are unknown */
} diagram_box;

typedef struct diagram_arrow {
    uint32_t from, to; /* boxes, as values flow */
    value_id value;    /* the first value that flows here */
    uint32_t count;    /* of values */
} diagram_arrow;

typedef struct diagram {
    const graph *of; /* borrowed, as are the options */
    const diagram_options *options;
    diagram_fold fold;
    uint32_t shown_nodes; /* nodes that would have had boxes */
    diagram_box *boxes;
    uint32_t box_count;
    diagram_arrow *arrows;
    uint32_t arrow_count;
    uint32_t *box_of;   /* of each node, or NO_BOX */
    int *kernel_of;     /* of each node: index of options.kernels, or -1 */
    diagram_part *part; /* of each node */
    bool backward;      /* there is a backward part */
    bool measured;      /* ns were measured, not predicted */
    double ns;          /* sum over kernels and boxes outside kernels */
    int64_t *sizes;     /* of the graph's dims, from their hints: see graph_node_cost */
} diagram;

status diagram_build(const graph *g, const diagram_options *options, diagram *out, error *e);
void diagram_free(diagram *d);

/* Where a node comes from; false when nobody knows. */
bool diagram_place(const diagram *d, const node *n, source_line *out);
/* Is this a constant that is shown in its users' texts? */
bool diagram_inlined(const graph *g, const node *n);

/* Texts (plain, lines separated by '\n'): what stands in a box, what is said when one points at it, what
 * stands beside an arrow ("" for most), and the head line. */
void diagram_label(const diagram *d, const diagram_box *b, text *out);
void diagram_tooltip(const diagram *d, const diagram_box *b, text *out);
void diagram_arrow_label(const diagram *d, const diagram_arrow *a, text *out);
void diagram_title(const diagram *d, text *out);
/* "k3_add_tanh  12% 1.2 ms": the head of a kernel's cluster. */
void diagram_kernel_label(const diagram *d, int kernel, text *out);

#endif
