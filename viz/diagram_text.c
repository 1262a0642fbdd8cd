/* diagram_text.c — what boxes and arrows of a diagram say. See diagram.h. */
#include "viz/diagram.h"
#include "viz/diagram_impl.h"

#include <stdio.h>
#include <string.h>

enum { LINE_MOST = 46, OPS_MOST = 4 };

/* Appends s, at most `most` columns of it. */
static void put_cut(text *out, const char *s, size_t length, int most) {
    int columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = utf8_decode(s + at, length - at, &code);
        columns += bytes ? unicode_width(code) : 1;
        if (columns > most - 2 && at + bytes < length) {
            text_add(out, "..");
            return;
        }
        text_add_bytes(out, bytes ? s + at : "?", bytes ? bytes : 1);
        at += bytes ? bytes : 1;
    }
}

void diagram_time(double ns, text *out) {
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    int u = 0;
    while (ns >= 999.5 && u < 3) ns /= 1000, u++;
    text_printf(out, ns < 9.995 && u ? "%.2f %s" : ns < 99.95 && u ? "%.1f %s" : "%.0f %s", ns, unit[u]);
}

void diagram_count(double n, const char *unit, text *out) {
    static const char prefix[] = " kMGTP";
    int p = 0;
    while (n >= 999.5 && p < 5) n /= 1000, p++;
    text_printf(out, p == 0 || n >= 99.5 ? "%.0f" : n >= 9.995 ? "%.1f" : "%.2f", n);
    if (p || *unit) text_char(out, ' ');
    if (p) text_char(out, prefix[p]);
    text_add(out, unit);
}

/* "12.0%, 1.20 ms" */
static void put_share(const diagram *d, double ns, text *out) {
    text_printf(out, "%.1f%%, ", 100 * ns / d->ns);
    diagram_time(ns, out);
    if (!d->measured) text_add(out, " predicted");
}

/* The value of a one-element constant. */
static void put_constant(text *out, const tensor *t) {
    if (dtype_is_float(t->meta.dtype))
        text_printf(out, "%.6g", tensor_get_real(t, 0));
    else if (t->meta.dtype == DT_BOOL)
        text_add(out, tensor_get_int(t, 0) ? "true" : "false");
    else
        text_printf(out, "%lld", (long long)tensor_get_int(t, 0));
}

static void put_place(const diagram *d, const node *n, text *out) {
    source_line line;
    if (!diagram_place(d, n, &line)) return;
    put_cut(out, line.file ? line.file : "?", line.file ? strlen(line.file) : 1, LINE_MOST);
    text_printf(out, ":%u", line.line);
}

/* Is it what it would be without being said? Sizes and dtypes of the result stand in the box anyway. */
static bool attribute_goes_without_saying(const attr_field *f, const void *attrs) {
    int64_t value;
    memcpy(&value, (const char *)attrs + f->offset, sizeof value); /* of a list: its count */
    if (strcmp(f->name, "shape") == 0 || strcmp(f->name, "dtype") == 0) return true;
    return f->has_default && f->type != ATTR_INTS && f->type != ATTR_SHAPE && value == f->fallback;
}

/* " axis=1": the attributes that tell something. attrs_print writes all, one after the other by their names. */
static void put_attributes(const diagram *d, const node *n, text *out) {
    const op_info *op = &op_table[n->op];
    attr_field fields[MAX_ATTRS];
    text all = {0}, telling = {0};
    int count = n->attrs && op->attr_bytes ? attrs_fields(op, fields) : 0;
    if (count) attrs_print(op, d->of->dims, n->attrs, &all);
    const char *at = text_str(&all);
    for (int i = 0; i < count; i++) {
        char next[24];
        snprintf(next, sizeof next, " %s=", i + 1 < count ? fields[i + 1].name : "");
        const char *end = i + 1 < count ? strstr(at, next) : NULL;
        if (!end) end = at + strlen(at);
        if (!attribute_goes_without_saying(&fields[i], n->attrs))
            text_add_bytes(&telling, at, (size_t)(end - at));
        at = end;
    }
    put_cut(out, text_str(&telling), telling.length, LINE_MOST);
    out->failed |= all.failed || telling.failed;
    text_free(&all);
    text_free(&telling);
}

/* "mul(_, 0.5)", "sum axes=(1) keep=true": the op, the constants that it is given, its attributes. */
static void put_call(const diagram *d, const node *n, text *out) {
    const op_info *op = &op_table[n->op];
    text_add(out, op->name);
    bool constants = false;
    for (int i = 0; i < n->nin; i++) constants |= diagram_inlined(d->of, graph_def(d->of, n->in[i]));
    for (int i = 0; constants && i < n->nin; i++) {
        const node *def = graph_def(d->of, n->in[i]);
        text_add(out, i ? ", " : "(");
        if (diagram_inlined(d->of, def))
            put_constant(out, def->constant);
        else
            text_char(out, '_');
    }
    if (constants) text_char(out, ')');
    put_attributes(d, n, out);
}

/* "add 3, mul 2, ..": the ops of a folded box, the most frequent first. */
static void put_ops(const diagram *d, const diagram_box *b, text *out) {
    uint32_t count[OP_COUNT] = {0}, box = d->box_of[b->first];
    for (uint32_t i = b->first; i < d->of->node_count; i++)
        if (d->box_of[i] == box && d->of->nodes[i].kind == NODE_OP) count[d->of->nodes[i].op]++;
    for (int shown = 0;; shown++) {
        int best = -1;
        for (int k = 0; k < OP_COUNT; k++)
            if (count[k] && (best < 0 || count[k] > count[best])) best = k;
        if (best < 0) return;
        text_add(out, shown ? ", " : "");
        if (shown == OPS_MOST) {
            text_add(out, "..");
            return;
        }
        text_add(out, op_table[best].name);
        if (count[best] > 1) text_printf(out, " x%u", count[best]);
        count[best] = 0;
    }
}

/* Flops and bytes of the box; its kernel, where no cluster shows it, with the kernel's time. */
static void put_cost(const diagram *d, const diagram_box *b, text *out) {
    if (!b->count || d->of->nodes[b->first].kind != NODE_OP) return;
    if (d->options->cost && b->flops >= 0 && b->bytes > 0) {
        text_char(out, '\n');
        diagram_count(b->flops, "flop, ", out);
        diagram_count(b->bytes, "B", out);
    }
    bool cluster = b->kernel >= 0 && d->fold == FOLD_NONE && !d->backward;
    bool named = b->kernel >= 0 && d->fold == FOLD_NONE && d->backward;
    bool timed = d->options->cost && b->ns > 0 && d->ns > 0;
    if (cluster || !(named || timed)) return;
    text_char(out, '\n');
    if (named) text_printf(out, "kernel %u%s", d->options->kernels[b->kernel].id, timed ? ": " : "");
    if (timed) put_share(d, b->ns, out);
}

static void put_fold(const diagram *d, const diagram_box *b, text *out) {
    const node *n = &d->of->nodes[b->first];
    source_line line;
    if (d->fold == FOLD_KERNEL) {
        const char *name = d->options->kernels[b->kernel].name;
        put_cut(out, name, strlen(name), LINE_MOST);
        text_char(out, '\n');
    } else if (diagram_place(d, n, &line) && line.text) {
        while (line.length && (*line.text == ' ' || *line.text == '\t')) line.text++, line.length--;
        put_cut(out, line.text, line.length, LINE_MOST);
        text_char(out, '\n');
    }
    text_printf(out, "%u nodes: ", b->count);
    put_ops(d, b, out);
    text_char(out, '\n');
    put_place(d, n, out);
}

static void put_input(const diagram *d, const node *n, text *out) {
    const char *name = d->of->input_names[n->input];
    if (name && *name)
        text_add(out, name);
    else
        text_printf(out, "input %d", n->input);
}

/* Dtype and sizes; where costs stand beside them, the sizes that they are of. */
static void put_meta(const diagram *d, value_id v, text *out) {
    meta m = *graph_meta(d->of, v);
    for (int i = 0; d->options->cost && i < m.shape.rank; i++) {
        int64_t size = dim_hint(d->of->dims, m.shape.size[i]);
        if (size >= 0) m.shape.size[i] = size;
    }
    meta_print(d->of->dims, &m, out);
}

/* What a node is called: its name in the program, or its op. */
static void put_name(const diagram *d, const node *n, text *out) {
    if (n->kind == NODE_INPUT)
        put_input(d, n, out);
    else if (n->kind == NODE_CONST)
        text_add(out, "constant");
    else
        text_add(out, n->label ? n->label : op_table[n->op].name);
}

void diagram_label(const diagram *d, const diagram_box *b, text *out) {
    const graph *g = d->of;
    const node *n = &g->nodes[b->first];
    if (b->reference != NO_BOX) {
        put_name(d, n, out);
        if (n->kind == NODE_OP) text_printf(out, " (node %u)", b->first);
        return;
    }
    if (b->output >= 0) {
        text_printf(out, "output %d", b->output);
        if (n->label && n->kind == NODE_OP) text_printf(out, "\n%s", n->label);
        return;
    }
    if (b->count > 1) {
        put_fold(d, b, out);
        put_cost(d, b, out);
        return;
    }
    if (n->kind == NODE_OP)
        put_call(d, n, out);
    else
        put_name(d, n, out);
    for (int i = 0; i < n->nout; i++) {
        text_add(out, i ? ", " : "\n");
        put_meta(d, n->out + (value_id)i, out);
    }
    if (n->kind == NODE_OP) {
        text place = {0};
        if (n->label) text_printf(&place, "%s  ", n->label);
        put_place(d, n, &place);
        if (place.length) text_printf(out, "\n%s", place.data);
        out->failed |= place.failed;
        text_free(&place);
    }
    put_cost(d, b, out);
}

void diagram_tooltip(const diagram *d, const diagram_box *b, text *out) {
    const graph *g = d->of;
    const node *n = &g->nodes[b->first];
    source_line line;
    if (b->output >= 0)
        text_printf(out, "output %d = node %u", b->output, b->first);
    else
        text_printf(out, "node %u", b->first);
    if (b->kernel >= 0)
        text_printf(out, ", kernel %u %s", d->options->kernels[b->kernel].id,
                    d->options->kernels[b->kernel].name);
    if (b->count == 1 && n->kind == NODE_OP)
        text_printf(out, "\n%s: %s", op_table[n->op].name, op_table[n->op].doc);
    if (!diagram_place(d, n, &line)) return;
    text_char(out, '\n');
    put_place(d, n, out);
    if (line.text) {
        text_add(out, ": ");
        put_cut(out, line.text, line.length, 200);
    }
}

void diagram_arrow_label(const diagram *d, const diagram_arrow *a, text *out) {
    const diagram_box *from = &d->boxes[a->from];
    const graph_value *v = &d->of->values[a->value];
    if (a->count > 1)
        text_printf(out, "%u values", a->count);
    else if (from->count > 1)
        put_meta(d, a->value, out);
    else if (d->of->nodes[v->node].nout > 1)
        text_printf(out, "result %d", v->result);
}

/* Boxes that stand for nodes. */
static uint32_t folded_boxes(const diagram *d) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < d->box_count; b++) count += d->boxes[b].count > 0;
    return count;
}

void diagram_title(const diagram *d, text *out) {
    const char *title = d->options->title ? d->options->title : d->of->name;
    put_cut(out, title ? title : "graph", title ? strlen(title) : 5, 2 * LINE_MOST);
    if (d->fold != FOLD_NONE)
        text_printf(out, "\n%u nodes, folded by %s into %u boxes", d->shown_nodes,
                    d->fold == FOLD_KERNEL ? "kernel" : "source line", folded_boxes(d));
    bool heat = d->options->cost && d->ns > 0;
    if (d->backward && !heat) text_add(out, "\nblue: forward, red: backward, violet: after both");
    if (d->backward && heat) text_add(out, "\nred arrows: backward, violet: after both");
    if (heat) {
        text_add(out, d->measured ? "\nmeasured: " : "\npredicted: ");
        diagram_time(d->ns, out);
        text_add(out, "; the hotter a box, the more of it");
    }
}

void diagram_kernel_label(const diagram *d, int kernel, text *out) {
    const program_kernel *k = &d->options->kernels[kernel];
    text_printf(out, "kernel %u: ", k->id);
    put_cut(out, k->name, strlen(k->name), LINE_MOST);
    if (k->tier) text_printf(out, " [%s]", k->tier);
    double ns = 0;
    for (uint32_t b = 0; b < d->box_count && ns <= 0; b++)
        if (d->boxes[b].kernel == kernel) ns = d->boxes[b].ns;
    if (ns <= 0 || d->ns <= 0) return;
    text_char(out, '\n');
    put_share(d, ns, out);
}
