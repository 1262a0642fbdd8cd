/* diagram.c — see diagram.h: boxes, arrows, parts, times. The texts are in diagram_text.c. */
#include "viz/diagram.h"
#include "viz/diagram_impl.h"

#include <string.h>

bool diagram_inlined(const graph *g, const node *n) {
    if (n->kind != NODE_CONST || !n->constant || !tensor_concrete(n->constant)) return false;
    if (tensor_count(n->constant) != 1) return false;
    for (int i = 0; i < g->output_count; i++)
        if (g->outputs[i] == n->out) return false;
    return true;
}

bool diagram_place(const diagram *d, const node *n, source_line *out) {
    const source_finder *f = d->options->finder;
    return f && f->find && n->where.source && f->find(f->user, n->where, out);
}

/* ---- parts ---- */

/* Does the node stand at the beginning of things: an op of nothing but constants? */
static bool is_source(const graph *g, const node *n) {
    bool source = n->kind == NODE_OP;
    for (int k = 0; k < n->nin; k++) source = source && graph_def(g, n->in[k])->kind == NODE_CONST;
    return source;
}

/* Sources that only one of the later parts uses belong to it. `user`: for each node, 1 + the part of its users, 9
 * when they differ or it is an output. */
static void move_sources(diagram *d, char *user) {
    const graph *g = d->of;
    for (int o = 0; o < g->output_count; o++) user[g->values[g->outputs[o]].node] = 9;
    for (uint32_t i = 0; i < g->node_count; i++)
        for (int k = 0; k < g->nodes[i].nin; k++) {
            char *u = &user[g->values[g->nodes[i].in[k]].node], part = (char)(1 + d->part[i]);
            *u = *u == 0 || *u == part ? part : 9;
        }
    for (uint32_t i = 0; i < g->node_count; i++)
        if (user[i] && user[i] != 9 && is_source(g, &g->nodes[i])) d->part[i] = (diagram_part)(user[i] - 1);
}

/* Nodes come after their operands, so one pass forward finds what follows the backward part. */
static bool find_parts(diagram *d) {
    const graph *g = d->of;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const node *n = &g->nodes[i];
        d->part[i] = n->backward ? PART_BACKWARD : PART_FORWARD;
        if (n->backward) d->backward = true;
        for (int k = 0; k < n->nin && !n->backward; k++)
            if (d->part[g->values[n->in[k]].node] != PART_FORWARD) d->part[i] = PART_AFTER;
    }
    char *user = mem_calloc((size_t)g->node_count + 1, 1);
    if (user) move_sources(d, user);
    mem_free(user);
    return user != NULL;
}

/* ---- boxes ---- */

static diagram_box *add_box(diagram *d, uint32_t first, uint32_t count) {
    diagram_box *b = &d->boxes[d->box_count++];
    *b = (diagram_box){
        .first = first, .count = count, .output = -1, .reference = NO_BOX, .kernel = -1, .pair = NO_BOX};
    if (count) {
        b->kernel = d->kernel_of[first];
        b->part = d->part[first];
    }
    return b;
}

/* What nodes have in common that share a box; 0: nothing, the node stays alone. */
static uint64_t fold_key(const diagram *d, uint32_t i) {
    const node *n = &d->of->nodes[i];
    if (n->kind != NODE_OP) return 0;
    if (d->fold == FOLD_KERNEL) return d->kernel_of[i] < 0 ? 0 : (uint64_t)d->kernel_of[i] + 1;
    source_line line;
    if (!n->where.source) return 0;
    uint32_t at = diagram_place(d, n, &line) ? line.line : n->where.begin;
    uint32_t key[] = {n->where.source, at, d->part[i]};
    return hash_bytes(key, sizeof key, 0) | 1;
}

/* A box for every node that is shown; when folding, nodes of the same key go into the box of the first. */
static bool make_boxes(diagram *d) {
    const graph *g = d->of;
    map index = {0};
    bool fine = true;
    for (uint32_t i = 0; fine && i < g->node_count; i++) {
        d->box_of[i] = NO_BOX;
        if (diagram_inlined(g, &g->nodes[i])) continue;
        d->shown_nodes++;
        uint64_t key = d->fold == FOLD_NONE ? 0 : fold_key(d, i);
        uintptr_t box;
        if (key && map_get(&index, key, &box)) {
            d->boxes[box].count++;
            if (d->boxes[box].kernel != d->kernel_of[i]) d->boxes[box].kernel = -1;
            d->box_of[i] = (uint32_t)box;
            continue;
        }
        d->box_of[i] = d->box_count;
        if (key) fine = map_put(&index, key, d->box_count);
        add_box(d, i, 1);
    }
    map_free(&index);
    return fine;
}

static void find_kernels(diagram *d) {
    const graph *g = d->of;
    for (uint32_t i = 0; i < g->node_count; i++) d->kernel_of[i] = -1;
    for (int k = 0; d->options->kernels && k < d->options->kernel_count; k++) {
        const program_kernel *kernel = &d->options->kernels[k];
        for (int j = 0; j < kernel->node_count; j++)
            if (kernel->nodes[j] < g->node_count) d->kernel_of[kernel->nodes[j]] = k;
    }
}

/* Folds by kernel where there are kernels, by line where that does not help or there are none. */
static bool choose_boxes(diagram *d) {
    uint32_t most = d->options->most ? d->options->most : DIAGRAM_MOST;
    if (!make_boxes(d)) return false;
    uint32_t unfolded = d->box_count;
    const diagram_fold tries[] = {FOLD_KERNEL, FOLD_LINE};
    for (size_t t = 0; t < 2 && d->box_count > most; t++) {
        if (tries[t] == FOLD_KERNEL && !d->options->kernels) continue;
        d->fold = tries[t];
        d->box_count = d->shown_nodes = 0;
        if (!make_boxes(d)) return false;
    }
    if (d->box_count == unfolded) d->fold = FOLD_NONE;
    return true;
}

/* Each forward node is paired with the last backward node that works for its gradient. */
static bool find_pairs(diagram *d) {
    const graph *g = d->of;
    if (!d->backward || d->fold != FOLD_NONE) return true;
    map forward = {0};
    bool fine = true;
    for (uint32_t i = 0; fine && i < g->node_count; i++)
        if (!g->nodes[i].backward && d->box_of[i] != NO_BOX)
            fine = map_put(&forward, (uint64_t)g->nodes[i].origin + 1, d->box_of[i]);
    for (uint32_t i = 0; fine && i < g->node_count; i++) {
        const node *n = &g->nodes[i];
        uintptr_t box;
        if (n->backward && n->forward != NO_NODE && d->box_of[i] != NO_BOX &&
            map_get(&forward, (uint64_t)n->forward + 1, &box))
            d->boxes[box].pair = d->box_of[i];
    }
    map_free(&forward);
    return fine;
}

/* ---- arrows ---- */

static bool add_arrow(diagram *d, map *index, value_id v, uint32_t to) {
    uint32_t from = d->box_of[d->of->values[v].node];
    if (from == NO_BOX || from == to) return true;
    uint64_t key = ((uint64_t)from << 32 | to) + 1;
    uintptr_t at;
    if (map_get(index, key, &at)) {
        diagram_arrow *a = &d->arrows[at];
        if (a->value != v) a->count++;
        return true;
    }
    if (!map_put(index, key, d->arrow_count)) return false;
    d->arrows[d->arrow_count++] = (diagram_arrow){from, to, v, 1};
    return true;
}

static bool make_arrows(diagram *d) {
    const graph *g = d->of;
    map index = {0};
    bool fine = true;
    for (uint32_t i = 0; i < g->node_count; i++)
        for (int k = 0; fine && d->box_of[i] != NO_BOX && k < g->nodes[i].nin; k++)
            fine = add_arrow(d, &index, g->nodes[i].in[k], d->box_of[i]);
    for (int o = 0; fine && o < g->output_count; o++) {
        uint32_t box = d->box_count;
        diagram_box *b = add_box(d, g->values[g->outputs[o]].node, 0);
        b->output = o;
        b->part = d->part[b->first] == PART_BACKWARD ? PART_AFTER : d->part[b->first];
        fine = add_arrow(d, &index, g->outputs[o], box);
    }
    map_free(&index);
    return fine;
}

/* ---- times and costs ---- */

/* Self time of this graph's events by kernel and, outside kernels, by node; only the main lane counts. */
static void measure(diagram *d, double *by_kernel, double *by_node) {
    const recording *r = d->options->times;
    for (uint32_t i = 0; r && i < r->count; i++) {
        const recorded *e = &r->events[i];
        if (e->graph != d->of->id || e->lane != 0 || e->kind == EVENT_SPAN || e->kind == EVENT_COMPILE)
            continue;
        int kernel = -1;
        for (int k = 0; k < d->options->kernel_count && e->kernel; k++)
            if (d->options->kernels[k].id == e->kernel) kernel = k;
        if (kernel >= 0)
            by_kernel[kernel] += (double)e->self;
        else if (e->node < d->of->node_count)
            by_node[e->node] += (double)e->self;
        else
            continue;
        d->measured = true;
    }
}

static void predict(const diagram *d, double *by_kernel, double *by_node) {
    for (uint32_t i = 0; d->options->predicted && i < d->of->node_count; i++) {
        if (d->kernel_of[i] >= 0)
            by_kernel[d->kernel_of[i]] += d->options->predicted[i];
        else
            by_node[i] += d->options->predicted[i];
    }
}

/* Into the boxes: a kernel's time stands at each of its boxes, except where boxes of a source line have parts of
 * several kernels, which then share it evenly. */
static void spread_times(diagram *d, size_t kernels, const double *by_kernel, const double *by_node) {
    for (size_t k = 0; k < kernels; k++) d->ns += by_kernel[k];
    for (uint32_t i = 0; i < d->of->node_count; i++) {
        d->ns += by_node[i];
        if (d->box_of[i] == NO_BOX) continue;
        diagram_box *b = &d->boxes[d->box_of[i]];
        b->ns += by_node[i];
        int k = d->kernel_of[i];
        if (k >= 0 && d->fold == FOLD_LINE) b->ns += by_kernel[k] / d->options->kernels[k].node_count;
    }
    for (uint32_t b = 0; b < d->box_count && d->fold != FOLD_LINE; b++)
        if (d->boxes[b].kernel >= 0) d->boxes[b].ns += by_kernel[d->boxes[b].kernel];
}

static bool find_times(diagram *d) {
    size_t kernels =
        d->options->kernels && d->options->kernel_count > 0 ? (size_t)d->options->kernel_count : 0;
    double *by_kernel = mem_calloc(kernels + 1, sizeof *by_kernel);
    double *by_node = mem_calloc((size_t)d->of->node_count + 1, sizeof *by_node);
    bool fine = by_kernel && by_node;
    if (fine) {
        measure(d, by_kernel, by_node);
        if (!d->measured) predict(d, by_kernel, by_node);
        spread_times(d, kernels, by_kernel, by_node);
    }
    mem_free(by_kernel);
    mem_free(by_node);
    return fine;
}

/* Sizes of symbols are those of the traced call; without them costs are unknown. */
static bool find_costs(diagram *d) {
    const dims *t = d->of->dims;
    uint32_t count = t ? t->count : 0;
    d->sizes = mem_alloc(((size_t)count + 1) * sizeof *d->sizes);
    if (!d->sizes) return false;
    bool known = true;
    for (uint32_t i = 0; i < count; i++) {
        d->sizes[i] = t->nodes[i].hint;
        if (t->nodes[i].op == DIM_INPUT && t->nodes[i].hint < 0) known = false;
    }
    for (uint32_t i = 0; i < d->of->node_count; i++) {
        if (d->box_of[i] == NO_BOX || d->of->nodes[i].kind != NODE_OP) continue;
        op_cost cost = known ? graph_node_cost(d->of, &d->of->nodes[i], d->sizes) : (op_cost){-1, -1};
        d->boxes[d->box_of[i]].flops += cost.flops;
        d->boxes[d->box_of[i]].bytes += cost.bytes;
    }
    return true;
}

/* ---- all of it ---- */

static bool reserve(diagram *d) {
    const graph *g = d->of;
    size_t nodes = (size_t)g->node_count + 1, arrows = (size_t)g->output_count + 1;
    for (uint32_t i = 0; i < g->node_count; i++) arrows += (size_t)g->nodes[i].nin;
    d->boxes = mem_calloc(nodes + (size_t)g->output_count, sizeof *d->boxes);
    d->arrows = mem_calloc(arrows, sizeof *d->arrows);
    d->box_of = mem_calloc(nodes, sizeof *d->box_of);
    d->kernel_of = mem_calloc(nodes, sizeof *d->kernel_of);
    d->part = mem_calloc(nodes, sizeof *d->part);
    return d->boxes && d->arrows && d->box_of && d->kernel_of && d->part;
}

status diagram_build(const graph *g, const diagram_options *options, diagram *out, error *e) {
    *out = (diagram){.of = g, .options = options};
    bool fine = reserve(out);
    if (fine) {
        find_kernels(out);
        fine = find_parts(out) && choose_boxes(out) && find_pairs(out) && make_arrows(out) &&
               diagram_cut_far(out);
    }
    if (fine && options->cost) fine = find_times(out) && find_costs(out);
    if (fine) return STATUS_OK;
    diagram_free(out);
    return fail_memory(e, (uint64_t)g->node_count * sizeof(diagram_box));
}

void diagram_free(diagram *d) {
    mem_free(d->boxes);
    mem_free(d->arrows);
    mem_free(d->box_of);
    mem_free(d->kernel_of);
    mem_free(d->part);
    mem_free(d->sizes);
    *d = (diagram){0};
}
