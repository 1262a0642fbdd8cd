/* cmd_source.c — :source shows what was made of a frozen graph: the C or CUDA of its kernels, its text, or what
 * each pass did to it. */
#include <string.h>

#include "repl/shell/seen_graph.h"

enum { CUDA, GRAPH, PASSES, OPTIONS };

/* The line that says what kernel this is. */
static void kernel_head(shell *sh, const seen_graph *g, const program_kernel *k, text *out) {
    source_finder finder = seen_finder(sh);
    source_line line;
    const graph *shown = program_graph(g->p);
    text_printf(out, "/* kernel %u: %s [%s]", k->id, k->name, k->tier ? k->tier : "");
    if (k->node_count > 0 && finder.find(finder.user, shown->nodes[k->nodes[0]].where, &line))
        text_printf(out, ", %s:%u", line.file, line.line);
    text_printf(out, ", %d node%s:", k->node_count, k->node_count == 1 ? "" : "s");
    for (int i = 0; i < k->node_count; i++) {
        const node *n = &shown->nodes[k->nodes[i]];
        text_printf(out, " %%%u", n->out);
    }
    text_add(out, " */\n");
}

static void show_kernels(shell *sh, const seen_graph *g, bool cuda, text *out) {
    for (int i = 0; i < g->kernel_count; i++) {
        const program_kernel *k = &g->kernels[i];
        const char *source = cuda ? k->source_cuda : k->source_c;
        if (i) text_char(out, '\n');
        kernel_head(sh, g, k, out);
        bool library = k->tier && strcmp(k->tier, "library") == 0;
        if (source)
            seen_places(sh, source, out);
        else
            text_add(out, library ? "/* computed by the library */\n" : "/* none was made of it yet */\n");
    }
    if (!g->kernel_count) text_add(out, "/* no kernels: the results are inputs and constants */\n");
}

typedef struct pass_log {
    shell *sh;
    text *out;
    text before; /* the graph before the pass */
} pass_log;

static void log_pass(void *user, const char *pass, const graph *g) {
    pass_log *log = user;
    text now = {0};
    seen_graph_text(log->sh, g, &now);
    bool same =
        log->before.length == now.length && memcmp(text_str(&log->before), text_str(&now), now.length) == 0;
    text_printf(log->out, "# %s: %u nodes%s\n", pass, g->node_count, same ? ", unchanged" : "");
    if (!same) text_add_bytes(log->out, text_str(&now), now.length);
    log->out->failed |= now.failed;
    text_free(&log->before);
    log->before = now;
}

static status show_passes(shell *sh, const seen_graph *g, text *out) {
    pass_log log = {.sh = sh, .out = out};
    graph *last = NULL;
    status s = pipeline_run(g->traced, &last, log_pass, &log);
    graph_free(last);
    text_free(&log.before);
    return s;
}

status cmd_source(shell *sh, const char *args) {
    command_option o[OPTIONS] = {{.name = "--cuda"}, {.name = "--graph"}, {.name = "--passes"}};
    option_args a;
    seen_graph g = {0};
    text out = {0};
    status s = command_options(sh, args, o, OPTIONS, &a);
    if (!s && o[CUDA].given + o[GRAPH].given + o[PASSES].given > 1) s = command_usage(sh, "source");
    if (!s) s = seen_graph_get(sh, "source", a.rest, a.length, &g);
    if (!s && o[PASSES].given)
        s = show_passes(sh, &g, &out);
    else if (!s && o[GRAPH].given)
        seen_graph_text(sh, program_graph(g.p), &out);
    else if (!s)
        show_kernels(sh, &g, o[CUDA].given, &out);
    seen_graph_free(&g);
    command_options_free(o, OPTIONS);
    return seen_show(sh, s, &out);
}
