/* fuse.c — places each node of a graph in groups; see fuse.h. */
#include "engine/kernel/fuse.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/ops/loops.h"

enum { CHEAP = 2, REPEAT_LIMIT = 8, TINY_LIMIT = 64 }; /* flops an element */

ctype fuse_ctype(const graph *g, const node *n) {
    const op_info *op = &op_table[n->op];
    if (op->kind == KIND_MIXED) return CT_I64;
    dtype t = graph_meta(g, n->in[op->kind == KIND_TERNARY ? 1 : 0])->dtype;
    return op->kind == KIND_REDUCE ? op_reduce_ctype(op, t) : dtype_compute(t);
}

bool fuse_faults(const graph *g, const node *n) {
    const op_info *op = &op_table[n->op];
    return op->kind <= KIND_MIXED && op_faults[n->op][fuse_ctype(g, n)] != NULL;
}

static bool reduced(const graph *g, const node *n, bool axis[MAX_RANK]) {
    const reduce_attrs *a = n->attrs;
    const shape *s = &graph_meta(g, n->in[0])->shape;
    bool moves = false;
    for (int i = 0; i < s->rank; i++) axis[i] = a->axes.count < 0;
    for (int i = 0; i < a->axes.count; i++)
        axis[a->axes.v[i] < 0 ? a->axes.v[i] + s->rank : a->axes.v[i]] = true;
    for (int i = 0; i < s->rank; i++) moves |= axis[i] && s->size[i] != 1;
    return moves;
}

/* Can a kernel compute this node? Reductions over axes of size 1 alone are left to the library. */
static bool fusible(const graph *g, const node *n) {
    bool axis[MAX_RANK];
    const op_info *op = &op_table[n->op];
    if (op_elementwise(op)) return true;
    if (op->kind == KIND_REDUCE) return reduced(g, n, axis);
    return n->op == OP_full || n->op == OP_extent || n->op == OP_arange;
}

static double flops(const node *n) {
    return op_table[n->op].kind <= KIND_MIXED ? op_table[n->op].flops_per_element : 1;
}

static bool is_reduce(const node *n) {
    return op_table[n->op].kind == KIND_REDUCE;
}

/* ---- computing a node inside a kernel ---- */

static unsigned all_axes(const fuse_group *g) {
    return (1u << g->axes) - 1;
}

/* A mask of leading axes, not all. */
static bool leading(const fuse_group *g, unsigned mask) {
    return mask != all_axes(g) && (mask & (mask + 1)) == 0;
}

/* May group compute element-wise n at map without repeating it? Rows of a group that has no inner axes yet: the
 * axes that n does not move along become inner (`*split`). */
static bool fits(const fuse_group *g, const node *n, const index_map *map, bool *split) {
    unsigned mask = map_axes(map), all = all_axes(g);
    *split = false;
    if (mask == all || mask == 0) return true;
    if (g->split && mask == (all & ~g->inner)) return true;
    if (flops(n) <= CHEAP) return true;
    *split = !g->split && g->product < 0 && leading(g, mask);
    return *split;
}

/* Can group compute reduction n, wanted at map? On success *grown is the group with its space extended or split as
 * needed, and *in the operand's map. */
static bool fits_reduce(const fusion *f, const fuse_group *g, const node *n, const index_map *map,
                        fuse_group *grown, index_map *in) {
    const shape *from = &graph_meta(f->g, n->in[0])->shape, *to = &graph_meta(f->g, n->out)->shape;
    bool axis[MAX_RANK];
    int place[MAX_RANK];
    if (!reduced(f->g, n, axis) || !map_bijection(f->g, to, map, g->size, place)) return false;
    unsigned mask = map_axes(map), rest = all_axes(g) & ~mask;
    if ((g->split && rest != g->inner) || g->product >= 0) return false;
    *grown = *g;
    *in = (index_map){.rank = from->rank};
    bool append = !g->split && rest == 0;
    int keep = ((const reduce_attrs *)n->attrs)->keep != 0;
    for (int i = 0, j = 0, k = 0; i < from->rank; i++) {
        if (!axis[i]) {
            memcpy(in->coef[i], map->coef[j], sizeof in->coef[i]);
            j++;
            continue;
        }
        j += keep;
        if (from->size[i] == 1) continue;
        if (append) {
            if (grown->axes == MAX_RANK) return false;
            k = grown->axes++;
            grown->size[k] = from->size[i];
            grown->inner |= 1u << k;
        } else {
            while (k < g->axes && !(rest >> k & 1)) k++;
            if (k == g->axes || !dims_tied(f->g->dims, g->size[k], from->size[i])) return false;
            rest &= ~(1u << k);
        }
        in->coef[i][k] = 1;
    }
    if (!append && rest) return false;
    if (!g->split && !append) grown->inner = all_axes(g) & ~mask;
    grown->split = true;
    return true;
}

/* Makes d a computation of its group: wants the operands. The group's space is already right. */
static status compute(fusion *f, const node *n, fuse_demand *d, const index_map *reduce_in) {
    const shape *to = &graph_meta(f->g, n->out)->shape;
    int group = fuse_find(f, d->group);
    d->inlined = true;
    for (int i = 0; i < n->nin; i++) {
        const shape *from = &graph_meta(f->g, n->in[i])->shape;
        index_map m = reduce_in          ? *reduce_in
                      : n->op == OP_full ? (index_map){0}
                                         : map_broadcast(from, to, &d->map);
        d->operand_demands[i] = fuse_want(f, n->in[i], group, 0, &m);
        if (!d->operand_demands[i]) return STATUS_MEMORY;
    }
    return STATUS_OK;
}

static bool roomy(const fuse_group *g) {
    return g->demand_count < FUSE_MAX_DEMANDS;
}

/* Could d's group compute n for d? Changes nothing. */
static bool computable(const fusion *f, const node *n, const fuse_demand *d) {
    const fuse_group *g = &f->groups[fuse_find(f, d->group)];
    if (g->kind != FUSE_KERNEL || !roomy(g)) return false;
    fuse_group grown;
    index_map in;
    bool split;
    return is_reduce(n) ? fits_reduce(f, g, n, &d->map, &grown, &in) : fits(g, n, &d->map, &split);
}

static status compute_in(fusion *f, const node *n, fuse_demand *d) {
    fuse_group *g = &f->groups[fuse_find(f, d->group)], grown;
    index_map in;
    bool split = false;
    if (is_reduce(n)) {
        fits_reduce(f, g, n, &d->map, &grown, &in);
        *g = grown;
        return compute(f, n, d, &in);
    }
    fits(g, n, &d->map, &split);
    if (split) {
        g->inner = all_axes(g) & ~map_axes(&d->map);
        g->split = true;
    }
    return compute(f, n, d, NULL);
}

/* ---- giving a value a buffer ---- */

static status store(fusion *f, value_id v, int group, fuse_demand *d) {
    fuse_stored *s = arena_alloc(f->memory, sizeof *s);
    if (!s) return fail_memory(&f->g->c->err, sizeof *s);
    *s = (fuse_stored){.value = v, .demand = d, .next = f->groups[group].stored};
    f->groups[group].stored = s;
    f->values[v].owner = group;
    f->values[v].buffer = true;
    return STATUS_OK;
}

static status note_raise(fusion *f, uint32_t number, int group) {
    fuse_raise *r = arena_alloc(f->memory, sizeof *r);
    if (!r) return fail_memory(&f->g->c->err, sizeof *r);
    *r = (fuse_raise){.node = number, .next = f->groups[group].raises};
    f->groups[group].raises = r;
    f->group_of[number] = group;
    return STATUS_OK;
}

/* The map of n's result in a group of its own, whose space is set: the result's axes, then the reduced ones. */
static index_map own_space(const fusion *f, const node *n, fuse_group *g, index_map *reduce_in) {
    const shape *to = &graph_meta(f->g, n->out)->shape;
    index_map m = {.rank = to->rank};
    for (int i = 0; i < to->rank; i++) {
        if (to->size[i] == 1) continue;
        m.coef[i][g->axes] = 1;
        g->size[g->axes++] = to->size[i];
    }
    if (!is_reduce(n)) return m;
    fuse_group grown = *g;
    fits_reduce(f, g, n, &m, &grown, reduce_in);
    *g = grown;
    return m;
}

/* A kernel whose first computation is v. `stores`: into v's buffer. */
static status own_group(fusion *f, value_id v, uint32_t number, bool stores) {
    const node *n = &f->g->nodes[number];
    int group = fuse_new_group(f, FUSE_KERNEL, number);
    index_map in, m = own_space(f, n, &f->groups[group], &in);
    fuse_demand *d = fuse_want(f, v, group, 0, &m);
    if (!d) return STATUS_MEMORY;
    if (stores && store(f, v, group, d)) return STATUS_MEMORY;
    if (op_table[n->op].kind == KIND_VIEW) { /* a copy */
        index_map through;
        map_view(f->g, n, &m, &through);
        d->inlined = true;
        d->operand_demands[0] = fuse_want(f, n->in[0], group, 0, &through);
        return d->operand_demands[0] ? STATUS_OK : STATUS_MEMORY;
    }
    if (fuse_faults(f->g, n) && note_raise(f, number, group)) return STATUS_MEMORY;
    return compute(f, n, d, is_reduce(n) ? &in : NULL);
}

/* Does d's group visit each element of v exactly once (each row, when v is a row value)? */
static bool whole(const fusion *f, value_id v, const fuse_demand *d) {
    const fuse_group *g = &f->groups[fuse_find(f, d->group)];
    int axis[MAX_RANK];
    if (g->kind != FUSE_KERNEL || !map_bijection(f->g, &graph_meta(f->g, v)->shape, &d->map, g->size, axis))
        return false;
    unsigned mask = map_axes(&d->map), all = all_axes(g);
    if (mask == all) return true;
    return g->split ? mask == (all & ~g->inner) : leading(g, mask);
}

/* Can n's buffer be written by d's group? Every other reader has to come later. */
static bool can_own(fusion *f, value_id v, const node *n, const fuse_demand *d, bool raises) {
    if (!whole(f, v, d) || !computable(f, n, d)) return false;
    int group = fuse_find(f, d->group);
    unsigned mask = map_axes(&d->map);
    if (!f->groups[group].split && mask != all_axes(&f->groups[group]) && !is_reduce(n) && flops(n) <= CHEAP)
        return false;
    for (value_id a = v; a != NO_VALUE; a = a == v ? f->values[v].aliases : f->values[a].next_alias)
        for (const fuse_demand *e = f->values[a].demands; e; e = e->next_of_value) {
            if (e->dead || e == d) continue;
            int reader = fuse_find(f, e->group);
            if (reader == group)
                return false; /* the same kernel at another index: the buffer must be complete */
            if (fuse_reaches(f, reader, group)) return false;
        }
    if (!raises) return true;
    uint32_t next = f->next_raise[f->g->values[v].node];
    int after = next == UINT32_MAX || f->group_of[next] < 0 ? -1 : fuse_find(f, f->group_of[next]);
    return after < 0 || after == group || !fuse_reaches(f, after, group);
}

/* ---- one node ---- */

/* What is known of v's readers. */
typedef struct readers {
    int count, kernels, first; /* demands; distinct kernels among them; one of those */
    bool several;              /* one kernel reads it at two indices */
    bool hard;                 /* something reads it that is no kernel */
    bool computable;           /* by every reading kernel */
    double repeated;
} readers;

static readers survey(const fusion *f, value_id v, const node *n) {
    readers r = {.first = -1, .hard = f->values[v].must, .computable = true};
    for (const fuse_demand *d = f->values[v].demands; d; d = d->next_of_value) {
        if (d->dead) continue;
        int group = fuse_find(f, d->group);
        r.count++;
        if (f->groups[group].kind != FUSE_KERNEL) {
            r.hard = true;
            continue;
        }
        if (!computable(f, n, d)) r.computable = false;
        bool seen = false;
        for (const fuse_demand *e = f->values[v].demands; e != d; e = e->next_of_value)
            seen |= !e->dead && fuse_find(f, e->group) == group;
        r.several |= seen;
        r.kernels += !seen;
        r.first = group;
    }
    return r;
}

/* May n be computed in each of its readers? */
static bool repeatable(const fusion *f, value_id v, const node *n) {
    if (is_reduce(n)) return false;
    const shape *s = &graph_meta(f->g, v)->shape;
    bool one = true;
    int moving = 0;
    for (int i = 0; i < s->rank; i++) one &= s->size[i] == 1;
    if (one) return flops(n) + f->values[v].repeated <= TINY_LIMIT;
    for (int i = 0; i < n->nin; i++) moving += graph_meta(f->g, n->in[i])->shape.rank > 0;
    return moving <= 1 && flops(n) <= CHEAP && flops(n) + f->values[v].repeated <= REPEAT_LIMIT;
}

static status compute_everywhere(fusion *f, value_id v, const node *n, bool repeats) {
    for (fuse_demand *d = f->values[v].demands; d; d = d->next_of_value) {
        if (d->dead || d->inlined) continue;
        if (compute_in(f, n, d)) return STATUS_MEMORY;
        for (int i = 0; i < n->nin && repeats; i++) {
            double *r = &f->values[n->in[i]].repeated, total = f->values[v].repeated + flops(n);
            if (*r < total) *r = total;
        }
    }
    return STATUS_OK;
}

static status place_fusible(fusion *f, uint32_t number) {
    const node *n = &f->g->nodes[number];
    value_id v = n->out;
    bool raises = fuse_faults(f->g, n);
    fuse_merge_readers(f, v);
    readers r = survey(f, v, n);
    if (r.count == 0 && !r.hard) return raises ? own_group(f, v, number, false) : STATUS_OK;
    if (!r.hard && !raises && r.computable) {
        if (r.kernels == 1 && !r.several) return compute_everywhere(f, v, n, false);
        if (repeatable(f, v, n)) return compute_everywhere(f, v, n, true);
    }
    for (fuse_demand *d = f->values[v].demands; d; d = d->next_of_value) {
        if (d->dead || !can_own(f, v, n, d, raises)) continue;
        int group = fuse_find(f, d->group);
        if (raises && note_raise(f, number, group)) return STATUS_MEMORY;
        if ((r.hard || r.kernels > 1) && store(f, v, group, d)) return STATUS_MEMORY;
        return compute_in(f, n, d);
    }
    return own_group(f, v, number, true);
}

/* Makes v share the buffer of its operand, which must then have one. */
static void make_alias(fusion *f, value_id v, value_id base) {
    fuse_value *a = &f->values[v], *b = &f->values[base];
    a->alias = base;
    a->buffer = true;
    b->must = true;
    value_id last = v;
    a->next_alias = a->aliases;
    while (f->values[last].next_alias != NO_VALUE) last = f->values[last].next_alias;
    f->values[last].next_alias = b->aliases;
    b->aliases = v;
}

static status place_view(fusion *f, uint32_t number) {
    const node *n = &f->g->nodes[number];
    value_id v = n->out;
    bool plain = n->op == OP_reshape || n->op == OP_stop_grad, failing = f->values[v].must;
    index_map m;
    for (const fuse_demand *d = f->values[v].demands; d; d = d->next_of_value)
        if (!d->dead && !map_view(f->g, n, &d->map, &m)) failing = true;
    if (failing && plain) {
        make_alias(f, v, n->in[0]);
        fuse_merge_readers(f, v);
        return STATUS_OK;
    }
    if (failing) return own_group(f, v, number, true);
    for (fuse_demand *d = f->values[v].demands; d; d = d->next_of_value) {
        if (d->dead) continue;
        map_view(f->g, n, &d->map, &m);
        d->inlined = true;
        d->operand_demands[0] = fuse_want(f, n->in[0], fuse_find(f, d->group), d->operand, &m);
        if (!d->operand_demands[0]) return STATUS_MEMORY;
    }
    return STATUS_OK;
}

/* Does d's kernel, without reductions, go through the elements of product v in their order, reading each once? */
static bool reads_one_for_one(const fusion *f, value_id v, const fuse_demand *d) {
    const fuse_group *g = &f->groups[fuse_find(f, d->group)];
    const shape *s = &graph_meta(f->g, v)->shape;
    int axis[MAX_RANK], next = 0;
    if (d->dead || g->kind != FUSE_KERNEL || g->split || g->product >= 0) return false;
    if (!map_bijection(f->g, s, &d->map, g->size, axis)) return false;
    for (int i = 0; i < s->rank; i++)
        if (axis[i] >= 0 && axis[i] != next++) return false;
    return next == g->axes;
}

/* Can d's kernel run when v is not yet complete? No other reader of v may come before it or be in it. */
static bool needs_no_more(fusion *f, value_id v, const fuse_demand *d) {
    for (value_id a = v; a != NO_VALUE; a = a == v ? f->values[v].aliases : f->values[a].next_alias)
        for (const fuse_demand *e = f->values[a].demands; e; e = e->next_of_value)
            if (e != d && !e->dead && fuse_reaches(f, fuse_find(f, e->group), fuse_find(f, d->group)))
                return false;
    return true;
}

/* Makes a kernel that reads product v the epilogue of `library`, which computes it. From then on the kernel takes
 * element-wise producers of its other operands in, and nothing else. */
static void find_epilogue(fusion *f, int library, value_id v) {
    for (const fuse_demand *d = f->values[v].demands; d; d = d->next_of_value) {
        if (!reads_one_for_one(f, v, d) || !needs_no_more(f, v, d)) continue;
        f->groups[library].epilogue = fuse_find(f, d->group);
        f->groups[f->groups[library].epilogue].product = library;
        return;
    }
}

static status place_library(fusion *f, uint32_t number) {
    const node *n = &f->g->nodes[number];
    bool used = op_table[n->op].flags & OP_RAISES;
    for (int i = 0; i < n->nout; i++) {
        const fuse_value *v = &f->values[n->out + (value_id)i];
        used |= v->demands != NULL || v->must;
        fuse_merge_readers(f, n->out + (value_id)i);
    }
    if (!used) return STATUS_OK;
    int group = fuse_new_group(f, FUSE_LIBRARY, number);
    if ((op_table[n->op].flags & OP_RAISES) && note_raise(f, number, group)) return STATUS_MEMORY;
    for (int i = 0; i < n->nout; i++) {
        f->values[n->out + (value_id)i].owner = group;
        f->values[n->out + (value_id)i].buffer = true;
    }
    if (n->op == OP_matmul) find_epilogue(f, group, n->out);
    for (int i = 0; i < n->nin; i++) {
        index_map m = map_identity(&graph_meta(f->g, n->in[i])->shape);
        if (!fuse_want(f, n->in[i], group, i, &m)) return STATUS_MEMORY;
    }
    return STATUS_OK;
}

static status place(fusion *f, uint32_t number) {
    const node *n = &f->g->nodes[number];
    if (n->kind != NODE_OP) {
        f->values[n->out].buffer = true;
        fuse_merge_readers(f, n->out);
        return STATUS_OK;
    }
    if (op_table[n->op].kind == KIND_VIEW) return place_view(f, number);
    return fusible(f->g, n) ? place_fusible(f, number) : place_library(f, number);
}

/* ---- the whole graph ---- */

static status prepare(fusion *f) {
    const graph *g = f->g;
    size_t nodes = g->node_count, values = g->value_count, groups = nodes * 2 + 2;
    f->values = arena_alloc(f->memory, (values + 1) * sizeof *f->values);
    f->group_of = arena_alloc(f->memory, (nodes + 1) * sizeof *f->group_of);
    f->next_raise = arena_alloc(f->memory, (nodes + 1) * sizeof *f->next_raise);
    f->groups = arena_alloc(f->memory, groups * sizeof *f->groups);
    f->stack = arena_alloc(f->memory, groups * sizeof *f->stack);
    if (!f->values || !f->group_of || !f->next_raise || !f->groups || !f->stack)
        return fail_memory(&g->c->err, groups * sizeof *f->groups);
    for (size_t v = 0; v < values; v++)
        f->values[v] =
            (fuse_value){.owner = -1, .alias = NO_VALUE, .aliases = NO_VALUE, .next_alias = NO_VALUE};
    uint32_t next = UINT32_MAX;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const node *n = &g->nodes[i];
        f->group_of[i] = -1;
        f->next_raise[i] = next;
        if (n->kind == NODE_OP && ((op_table[n->op].flags & OP_RAISES) || fuse_faults(g, n))) next = i;
    }
    return STATUS_OK;
}

status fuse_graph(const graph *g, arena *memory, fusion *f) {
    *f = (fusion){.g = g, .memory = memory};
    if (prepare(f)) return STATUS_MEMORY;
    f->outputs = fuse_new_group(f, FUSE_OUTPUTS, UINT32_MAX);
    for (int i = 0; i < g->output_count; i++) {
        index_map m = map_identity(&graph_meta(g, g->outputs[i])->shape);
        if (!fuse_want(f, g->outputs[i], f->outputs, i, &m)) return STATUS_MEMORY;
    }
    for (uint32_t i = g->node_count; i-- > 0;)
        if (place(f, i)) return STATUS_MEMORY;
    return fuse_order(f);
}
