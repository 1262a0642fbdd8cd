/* cmd_graph.c — :graph shows a frozen graph: as text, or as a diagram in a file. */
#include <string.h>

#include "profiler/predict.h"
#include "repl/shell/seen_graph.h"
#include "viz/costs.h"
#include "viz/dot.h"
#include "viz/render.h"

enum { BEFORE, COST, DOT, OUT, OPTIONS };

/* What a diagram or a text with costs is made of. */
typedef struct picture {
    const graph *shown;
    source_finder finder;
    double *predicted; /* owned */
    diagram_options o;
} picture;

/* Costs come from the last recording when it has this graph, else they are predicted. */
static status add_costs(shell *sh, picture *p) {
    const machine_limits *limits = seen_limits(sh, false);
    if (!limits) return sh->c->err.code;
    p->predicted = mem_calloc((size_t)p->shown->node_count + 1, sizeof *p->predicted);
    if (!p->predicted) return fail_memory(&sh->c->err, p->shown->node_count * sizeof *p->predicted);
    if (predict_times(p->shown, p->o.kernels, p->o.kernel_count, limits, p->predicted))
        p->o.predicted = p->predicted;
    p->o.times = seen_of(sh)->last;
    return STATUS_OK;
}

/* *p stays where it is until its predicted times are freed. */
static status picture_of(shell *sh, const seen_graph *g, const command_option *o, picture *p) {
    *p = (picture){.shown = o[BEFORE].given ? g->traced : program_graph(g->p), .finder = seen_finder(sh)};
    p->o = (diagram_options){.title = frozen_name(g->f), .finder = &p->finder, .cost = o[COST].given};
    if (!o[BEFORE].given) {
        p->o.kernels = g->kernels;
        p->o.kernel_count = g->kernel_count;
    }
    return o[COST].given ? add_costs(sh, p) : STATUS_OK;
}

static status draw(shell *sh, const picture *p, const char *path, text *out) {
    text dot = {0};
    render_options limit = {.stop = &sh->c->interrupt};
    status s = dot_graph(p->shown, &p->o, &dot, &sh->c->err);
    if (!s) s = render_file(text_str(&dot), path, &limit, &sh->c->err);
    if (s == STATUS_INTERRUPT) atomic_store(&sh->c->interrupt, 0);
    if (!s) text_printf(out, "wrote %s\n", path);
    text_free(&dot);
    return s;
}

static status write_text(shell *sh, const picture *p, text *out) {
    text lines = {0};
    seen_graph_text(sh, p->shown, &lines);
    status s = lines.failed ? fail_memory(&sh->c->err, lines.length) : STATUS_OK;
    if (!s && p->o.cost)
        s = graph_costs(p->shown, &p->o, text_str(&lines), out, &sh->c->err);
    else if (!s)
        text_add_bytes(out, text_str(&lines), lines.length);
    text_free(&lines);
    return s;
}

static status show_graph(shell *sh, const seen_graph *g, const command_option *o) {
    text out = {0};
    picture p;
    status s = picture_of(sh, g, o, &p);
    if (!s && o[OUT].given)
        s = draw(sh, &p, o[OUT].value, &out);
    else if (!s && o[DOT].given)
        s = dot_graph(p.shown, &p.o, &out, &sh->c->err);
    else if (!s)
        s = write_text(sh, &p, &out);
    mem_free(p.predicted);
    return seen_show(sh, s, &out);
}

status cmd_graph(shell *sh, const char *args) {
    command_option o[OPTIONS] = {[BEFORE] = {.name = "--before"},
                                 [COST] = {.name = "--cost"},
                                 [DOT] = {.name = "--dot"},
                                 [OUT] = {.name = "--out", .valued = true}};
    option_args a;
    seen_graph g = {0};
    status s = command_options(sh, args, o, OPTIONS, &a);
    if (!s && o[OUT].given) s = render_check(o[OUT].value, &sh->c->err);
    if (!s) s = seen_graph_get(sh, "graph", a.rest, a.length, &g);
    if (!s) s = show_graph(sh, &g, o);
    seen_graph_free(&g);
    command_options_free(o, OPTIONS);
    return s;
}
