/* cmd_graph.c — :graph shows a frozen graph: as text, or as a diagram in a file. */
#include <string.h>

#include "profiler/predict.h"
#include "repl/shell/seen_graph.h"
#include "viz/dot.h"
#include "viz/render.h"

enum { BEFORE, COST, DOT, OUT, OPTIONS };

/* A diagram's DOT text. Costs come from the last recording when it has this graph, else they are predicted. */
static status make_dot(shell *sh, const seen_graph *g, const command_option *o, text *dot) {
    const graph *shown = o[BEFORE].given ? g->traced : program_graph(g->p);
    source_finder finder = seen_finder(sh);
    diagram_options d = {.title = frozen_name(g->f), .finder = &finder, .cost = o[COST].given};
    if (!o[BEFORE].given) {
        d.kernels = g->kernels;
        d.kernel_count = g->kernel_count;
    }
    double *predicted = NULL;
    if (d.cost) {
        const machine_limits *limits = seen_limits(sh, false);
        if (!limits) return sh->c->err.code;
        predicted = mem_calloc((size_t)shown->node_count + 1, sizeof *predicted);
        if (!predicted) return fail_memory(&sh->c->err, shown->node_count * sizeof *predicted);
        if (predict_times(shown, d.kernels, d.kernel_count, limits, predicted)) d.predicted = predicted;
        d.times = seen_of(sh)->last;
    }
    status s = dot_graph(shown, &d, dot, &sh->c->err);
    mem_free(predicted);
    return s;
}

static status show_graph(shell *sh, const seen_graph *g, const command_option *o) {
    text out = {0}, dot = {0};
    status s = STATUS_OK;
    if (!o[OUT].given && !o[DOT].given) {
        seen_graph_text(sh, o[BEFORE].given ? g->traced : program_graph(g->p), &out);
        return seen_show(sh, s, &out);
    }
    /* A name that nothing can be drawn under is told before anything is done. */
    s = make_dot(sh, g, o, &dot);
    if (!s && o[OUT].given) {
        render_options limit = {.stop = &sh->c->interrupt};
        s = render_file(text_str(&dot), o[OUT].value, &limit, &sh->c->err);
        if (s == STATUS_INTERRUPT) atomic_store(&sh->c->interrupt, 0);
        if (!s) text_printf(&out, "wrote %s\n", o[OUT].value);
    } else if (!s) {
        text_add_bytes(&out, text_str(&dot), dot.length);
    }
    text_free(&dot);
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
    if (!s) s = seen_graph_get(sh, "graph", a.rest, a.length, &g);
    if (!s) s = show_graph(sh, &g, o);
    seen_graph_free(&g);
    command_options_free(o, OPTIONS);
    return s;
}
