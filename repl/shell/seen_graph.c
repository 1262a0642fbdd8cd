/* seen_graph.c — see seen_graph.h. */
#include "repl/shell/seen_graph.h"

#include <stdio.h>

static status find_program(shell *sh, const char *name, seen_graph *g) {
    error *e = &sh->c->err;
    char what[160];
    if (g->v.kind != VALUE_GRAPH) {
        fail(e, STATUS_TYPE, 708, "`:%s` wants a frozen graph, and this is %s", name,
             value_describe(g->v, what, sizeof what));
        return fail_hint(e, "g = freeze(f), and after a call of g  :%s g", name);
    }
    g->f = g->v.graph;
    int current = frozen_current(g->f);
    if (current < 0) {
        fail(e, STATUS_VALUE, 707,
             "%s has no graph yet: it is made for the dtypes and ranks of its first call", frozen_name(g->f));
        return fail_hint(e, "call it once, or freeze it with types: freeze(f, f32[?, 64])");
    }
    g->p = frozen_program(g->f, current);
    g->traced = frozen_traced(g->f, current);
    g->kernel_count = program_kernel_count(g->p);
    g->kernels = mem_calloc((size_t)g->kernel_count + 1, sizeof *g->kernels);
    if (!g->kernels) return fail_memory(e, (uint64_t)g->kernel_count * sizeof *g->kernels);
    for (int i = 0; i < g->kernel_count; i++) g->kernels[i] = program_kernel_at(g->p, i);
    return STATUS_OK;
}

status seen_graph_get(shell *sh, const char *name, const char *expression, size_t length, seen_graph *out) {
    *out = (seen_graph){0};
    if (!length) return command_usage(sh, name);
    if (command_evaluate(sh, expression, length, &out->v)) return sh->c->err.code;
    status s = find_program(sh, name, out);
    if (s) seen_graph_free(out);
    return s;
}

void seen_graph_free(seen_graph *g) {
    mem_free(g->kernels);
    value_release(g->v);
    *g = (seen_graph){0};
}

/* " @1:20-25" or " @1:20" as " digits.td:4", or as nothing when the text is unknown. Returns what follows it. */
static const char *put_span(const source_finder *finder, const char *at, text *out) {
    unsigned source, begin, end;
    int length = 0, longer = 0;
    source_line line;
    if (sscanf(at, " @%u:%u%n-%u%n", &source, &begin, &length, &end, &longer) < 2 || !length) {
        text_char(out, *at);
        return at + 1;
    }
    if (finder->find(finder->user, (span){source, begin, begin}, &line))
        text_printf(out, " %s:%u", line.file, line.line);
    return at + (longer > length ? longer : length);
}

void seen_places(shell *sh, const char *content, text *out) {
    source_finder finder = seen_finder(sh);
    for (const char *at = content; *at;) {
        if (at[0] == ' ' && at[1] == '@')
            at = put_span(&finder, at, out);
        else
            text_char(out, *at++);
    }
}

void seen_graph_text(shell *sh, const graph *g, text *out) {
    text plain = {0};
    graph_print(g, &plain);
    seen_places(sh, text_str(&plain), out);
    out->failed |= plain.failed;
    text_free(&plain);
}
