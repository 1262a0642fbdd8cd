/* costs.c — see costs.h. The figures are those of the diagram of the same graph, one box for each node. */
#include "viz/costs.h"

#include <stdio.h>
#include <string.h>

#include "viz/diagram_impl.h"

enum { COST_COLUMNS = 42 };

/* Appends s at the right of `columns` columns. */
static void put_right(text *out, text *s, int columns) {
    text_printf(out, "%*s", columns, text_str(s));
    out->failed |= s->failed;
    text_clear(s);
}

/* Kernel, share and time: of a kernel at the first of its nodes. */
static void put_time(const diagram *d, uint32_t i, bool first, text *out) {
    const diagram_box *b = &d->boxes[d->box_of[i]];
    text cell = {0};
    if (b->kernel >= 0) text_printf(&cell, "k%u", d->options->kernels[b->kernel].id);
    text_printf(out, "%-4s", text_str(&cell));
    text_clear(&cell);
    bool timed = first && b->ns > 0 && d->ns > 0;
    if (timed) text_printf(&cell, "%.1f%%", 100 * b->ns / d->ns);
    put_right(out, &cell, 7);
    if (timed) diagram_time(b->ns, &cell);
    put_right(out, &cell, 9);
    text_free(&cell);
}

static void put_work(const diagram_box *b, text *out) {
    text cell = {0};
    bool known = b->flops >= 0 && b->bytes > 0;
    if (known) diagram_count(b->flops, "", &cell);
    put_right(out, &cell, 9);
    if (known) diagram_count(b->bytes, "B", &cell);
    put_right(out, &cell, 11);
    text_free(&cell);
}

/* The columns of node i; `seen` has the kernels that stood there before. */
static void put_columns(const diagram *d, uint32_t i, bool *seen, text *out) {
    if (d->box_of[i] == NO_BOX || d->of->nodes[i].kind != NODE_OP) {
        text_printf(out, "%*s", COST_COLUMNS - 2, "");
        return;
    }
    const diagram_box *b = &d->boxes[d->box_of[i]];
    bool first = b->kernel < 0 || !seen[b->kernel];
    if (b->kernel >= 0) seen[b->kernel] = true;
    put_time(d, i, first, out);
    put_work(b, out);
}

/* "predicted: 4.2 us, for s0 = 5, s1 = 6" */
static void put_head(const diagram *d, text *out) {
    const dims *t = d->of->dims;
    if (d->ns > 0) {
        text_add(out, d->measured ? "measured: " : "predicted: ");
        diagram_time(d->ns, out);
    } else {
        text_add(out, "no costs: the graph was made for sizes that are open");
    }
    bool first = true;
    for (uint32_t i = 0; t && i < t->count; i++) {
        if (t->nodes[i].op != DIM_INPUT || t->nodes[i].hint < 0) continue;
        text_add(out, first ? ", for " : ", ");
        dim_print(t, dim_of_node(i), out);
        text_printf(out, " = %lld", (long long)t->nodes[i].hint);
        first = false;
    }
    text_printf(out, "\n%-4s%7s%9s%9s%11s\n", "", "share", "time", "flop", "bytes");
}

static void put_lines(const diagram *d, const char *lines, bool *seen, text *out) {
    for (uint32_t line = 0; *lines; line++) {
        size_t length = strcspn(lines, "\n");
        if (line >= 1 && line <= d->of->node_count)
            put_columns(d, line - 1, seen, out);
        else
            text_printf(out, "%*s", COST_COLUMNS - 2, "");
        text_add(out, "  ");
        text_add_bytes(out, lines, length);
        text_char(out, '\n');
        lines += length + (lines[length] == '\n');
    }
}

status graph_costs(const graph *g, const diagram_options *options, const char *lines, text *out, error *e) {
    diagram d;
    diagram_options each = *options;
    each.most = UINT32_MAX; /* nothing is folded */
    status s = diagram_build(g, &each, &d, e);
    if (s) return s;
    bool *seen = mem_calloc((size_t)each.kernel_count + 1, sizeof *seen);
    if (seen) {
        put_head(&d, out);
        put_lines(&d, lines, seen, out);
    } else {
        s = fail_memory(e, (uint64_t)each.kernel_count);
    }
    mem_free(seen);
    diagram_free(&d);
    return s;
}
