/* dot.c — see dot.h.
 *
 * Colours: the fill is the part (input, constant, forward, backward, after) or, with costs, the heat; the
 * frame is the kernel. What every box or arrow has in common is set once on the graph. */
#include "viz/dot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <graphviz/cgraph.h>

/* The kinds of things that carry attributes are cgraph's; `fine` turns false when memory runs out. */
typedef struct dot_writer {
    const diagram *d;
    Agraph_t *g;
    Agnode_t **nodes; /* of each box */
    text scratch;
    bool fine;
} dot_writer;

static const char *const part_fill[] = {"#dcebf8", "#fadfd9", "#e8def5"};
static const char *const part_line[] = {"#3f74a8", "#b5523f", "#7a52a8"};
/* Frames of kernels, one after the other; told apart also by the text in the boxes. */
static const char *const kernel_line[] = {"#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e",
                                          "#b8860b", "#a6761d", "#1f78b4", "#e31a1c", "#6a3d9a"};
static const char *const heat_fill[] = {"#ffffff", "#fff3e6", "#fee3c8", "#fdcb9b",
                                        "#fdae6b", "#fd8d3c", "#f0642a"};
enum { KERNEL_LINES = 10, HEATS = 7, EFFORT_BOXES = 200 };

static void set(dot_writer *w, void *object, const char *name, const char *value) {
    if (agsafeset(object, (char *)name, (char *)value, (char *)"") != 0) w->fine = false;
}

/* A text as an escString: backslashes are doubled, lines end with `end` ("\\n" centred, "\\l" to the left). */
static void set_text(dot_writer *w, void *object, const char *name, const text *value, const char *end) {
    text escaped = {0};
    for (const char *s = text_str(value); *s; s++) {
        if (*s == '\n')
            text_add(&escaped, end);
        else if (*s == '\\')
            text_add(&escaped, "\\\\");
        else
            text_char(&escaped, (unsigned char)*s < 32 ? '?' : *s);
    }
    if (value->failed || escaped.failed) w->fine = false;
    set(w, object, name, text_str(&escaped));
    text_free(&escaped);
}

static void set_defaults(dot_writer *w) {
    static const char *const graph_set[][2] = {
        {"rankdir", "TB"},    {"labelloc", "t"},  {"fontname", "Helvetica"}, {"fontsize", "14"},
        {"nodesep", "0.25"},  {"ranksep", "0.4"}, {"bgcolor", "white"},      {"newrank", "true"},
        {"charset", "UTF-8"}, {"tooltip", " "}};
    static const char *const node_set[][2] = {
        {"shape", "box"},        {"style", "rounded,filled"}, {"fontname", "Helvetica"}, {"fontsize", "10"},
        {"margin", "0.12,0.06"}, {"height", "0.3"},           {"penwidth", "1"}};
    static const char *const edge_set[][2] = {{"color", "#555555"},
                                              {"fontname", "Helvetica"},
                                              {"fontsize", "9"},
                                              {"arrowsize", "0.6"},
                                              {"fontcolor", "#555555"}};
    for (size_t i = 0; i < sizeof graph_set / sizeof *graph_set; i++)
        set(w, w->g, graph_set[i][0], graph_set[i][1]);
    for (size_t i = 0; i < sizeof node_set / sizeof *node_set; i++)
        if (!agattr(w->g, AGNODE, (char *)node_set[i][0], (char *)node_set[i][1])) w->fine = false;
    for (size_t i = 0; i < sizeof edge_set / sizeof *edge_set; i++)
        if (!agattr(w->g, AGEDGE, (char *)edge_set[i][0], (char *)edge_set[i][1])) w->fine = false;
}

static bool heated(const diagram *d) {
    return d->options->cost && d->ns > 0;
}

/* Heat by the square root of the share, so that what takes a tenth is still seen. */
static const char *heat_of(const diagram *d, const diagram_box *b) {
    double share = b->ns / d->ns;
    int step = (int)(sqrt(share > 1 ? 1 : share) * (HEATS - 1) + 0.5);
    return heat_fill[step < HEATS ? step : HEATS - 1];
}

static void style_box(dot_writer *w, Agnode_t *n, const diagram_box *b) {
    const diagram *d = w->d;
    const node *first = &d->of->nodes[b->first];
    if (b->reference != NO_BOX) {
        set(w, n, "shape", first->kind == NODE_INPUT ? "ellipse" : "box");
        set(w, n, "style", "filled,dashed");
        set(w, n, "fillcolor", first->kind == NODE_INPUT ? "#eef8ec" : "#ffffff");
        set(w, n, "color", first->kind == NODE_INPUT ? "#3c8c3c" : "#888888");
        set(w, n, "margin", "0.04,0.02");
        set(w, n, "height", "0.2");
    } else if (b->output >= 0) {
        set(w, n, "shape", "ellipse");
        set(w, n, "fillcolor", "#ffe9a8");
        set(w, n, "color", "#b8860b");
        set(w, n, "penwidth", "1.6");
    } else if (first->kind == NODE_INPUT) {
        set(w, n, "shape", "ellipse");
        set(w, n, "fillcolor", "#d8efd3");
        set(w, n, "color", "#3c8c3c");
    } else if (first->kind == NODE_CONST) {
        set(w, n, "fillcolor", "#eeeeee");
        set(w, n, "color", "#888888");
        set(w, n, "style", "filled");
    } else {
        set(w, n, "fillcolor", heated(d) ? heat_of(d, b) : part_fill[b->part]);
        set(w, n, "color",
            b->kernel >= 0 && d->backward ? kernel_line[b->kernel % KERNEL_LINES] : part_line[b->part]);
        if (b->kernel >= 0 && d->backward) set(w, n, "penwidth", "1.8");
        if (b->count > 1) set(w, n, "peripheries", "2");
    }
}

/* The cluster of a kernel, made when first asked for. NULL: there is none. */
static Agraph_t *cluster_of(dot_writer *w, const diagram_box *b) {
    const diagram *d = w->d;
    if (b->kernel < 0 || d->backward || d->fold != FOLD_NONE || !b->count) return NULL;
    char name[32];
    snprintf(name, sizeof name, "cluster_k%u", d->options->kernels[b->kernel].id);
    Agraph_t *cluster = agsubg(w->g, name, 0);
    if (cluster) return cluster;
    cluster = agsubg(w->g, name, 1);
    if (!cluster) {
        w->fine = false;
        return NULL;
    }
    text_clear(&w->scratch);
    diagram_kernel_label(d, b->kernel, &w->scratch);
    set_text(w, cluster, "label", &w->scratch, "\\n");
    set(w, cluster, "style", "rounded,filled");
    set(w, cluster, "fillcolor", "#f6f6f6");
    set(w, cluster, "color", kernel_line[b->kernel % KERNEL_LINES]);
    set(w, cluster, "fontsize", "9");
    set(w, cluster, "labeljust", "l");
    return cluster;
}

static void write_box(dot_writer *w, uint32_t i) {
    const diagram_box *b = &w->d->boxes[i];
    char name[16];
    snprintf(name, sizeof name, "b%u", i);
    Agnode_t *n = w->nodes[i] = agnode(w->g, name, 1);
    if (!n) {
        w->fine = false;
        return;
    }
    Agraph_t *cluster = cluster_of(w, b);
    if (cluster && !agsubnode(cluster, n, 1)) w->fine = false;
    set(w, n, "id", name);
    text_clear(&w->scratch);
    diagram_label(w->d, b, &w->scratch);
    set_text(w, n, "label", &w->scratch, "\\n");
    text_clear(&w->scratch);
    diagram_tooltip(w->d, b, &w->scratch);
    set_text(w, n, "tooltip", &w->scratch, "\\n");
    style_box(w, n, b);
}

/* Forward arrows give the layout its order; backward ones do with their ends exchanged; arrows from the
 * forward part into the others only go along. */
static void write_arrow(dot_writer *w, const diagram_arrow *a) {
    diagram_part from = w->d->boxes[a->from].part, to = w->d->boxes[a->to].part;
    bool reversed = from == PART_BACKWARD && to == PART_BACKWARD;
    uint32_t tail = reversed ? a->to : a->from, head = reversed ? a->from : a->to;
    Agedge_t *edge = agedge(w->g, w->nodes[tail], w->nodes[head], NULL, 1);
    if (!edge) {
        w->fine = false;
        return;
    }
    text_clear(&w->scratch);
    diagram_arrow_label(w->d, a, &w->scratch);
    if (w->scratch.length) set_text(w, edge, "label", &w->scratch, "\\n");
    text_clear(&w->scratch);
    meta_print(w->d->of->dims, graph_meta(w->d->of, a->value), &w->scratch);
    set_text(w, edge, "tooltip", &w->scratch, "\\n");
    if (reversed) {
        set(w, edge, "dir", "back");
        set(w, edge, "color", part_line[PART_BACKWARD]);
    } else if (from == PART_FORWARD && to != PART_FORWARD) {
        set(w, edge, "constraint", "false");
        set(w, edge, "style", "dashed");
        set(w, edge, "color", "#aaaaaa");
    } else if (to == PART_AFTER) {
        set(w, edge, "color", part_line[PART_AFTER]);
    }
}

/* A forward box and the backward box of its gradient stand on one rank. */
static void write_pair(dot_writer *w, uint32_t forward, uint32_t backward) {
    Agraph_t *rank = agsubg(w->g, NULL, 1);
    if (!rank || !agsubnode(rank, w->nodes[forward], 1) || !agsubnode(rank, w->nodes[backward], 1)) {
        w->fine = false;
        return;
    }
    set(w, rank, "rank", "same");
}

/* Large diagrams are placed less than perfectly: the steps of Graphviz's optimiser (network simplex) are
 * bounded by nslimit times the number of boxes and bends, and their cost grows with both. */
static void limit_effort(dot_writer *w) {
    if (w->d->box_count <= EFFORT_BOXES) return;
    char limit[32];
    int thousandths = (int)(1000.0 * EFFORT_BOXES / w->d->box_count);
    snprintf(limit, sizeof limit, "0.%03d", thousandths < 20 ? 20 : thousandths > 999 ? 999 : thousandths);
    set(w, w->g, "nslimit", limit);
}

static void write_all(dot_writer *w) {
    const diagram *d = w->d;
    set_defaults(w);
    diagram_title(d, &w->scratch);
    set_text(w, w->g, "label", &w->scratch, "\\n");
    limit_effort(w);
    for (uint32_t i = 0; w->fine && i < d->box_count; i++) write_box(w, i);
    for (uint32_t i = 0; w->fine && i < d->arrow_count; i++) write_arrow(w, &d->arrows[i]);
    for (uint32_t i = 0; w->fine && i < d->box_count; i++)
        if (d->boxes[i].pair != NO_BOX) write_pair(w, i, d->boxes[i].pair);
}

static int put_text(void *to, const char *s) {
    text *out = to;
    text_add(out, s);
    return out->failed ? EOF : 0;
}

static int put_nothing(void *to) {
    (void)to;
    return 0;
}

status dot_graph(const graph *g, const diagram_options *options, text *out, error *e) {
    diagram d;
    status s = diagram_build(g, options, &d, e);
    if (s) return s;
    Agiodisc_t io = {AgIoDisc.afread, put_text, put_nothing};
    Agdisc_t disc = {&AgMemDisc, &AgIdDisc, &io};
    dot_writer w = {.d = &d, .fine = true};
    w.nodes = mem_calloc((size_t)d.box_count + 1, sizeof *w.nodes);
    w.g = w.nodes ? agopen((char *)"tapedeck", Agdirected, &disc) : NULL;
    if (w.g) {
        write_all(&w);
        if (w.fine && (agwrite(w.g, out) != 0 || out->failed)) w.fine = false;
        agclose(w.g);
    } else {
        w.fine = false;
    }
    mem_free(w.nodes);
    text_free(&w.scratch);
    diagram_free(&d);
    return w.fine ? STATUS_OK : fail_memory(e, out->length);
}
