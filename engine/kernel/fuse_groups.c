/* fuse_groups.c — the groups of fuse.h: demands, dependence between groups, joining two, and their order.
 *
 * Groups are merged as in a union-find structure; a merged group's lists move to the one that stays. Group A must
 * run before B when B demands a value that A stores, or when A holds a node that can raise and B the next such node:
 * errors come in the order of the program. */
#include <string.h>

#include "engine/base/memory.h"
#include "engine/kernel/fuse.h"

enum { TRIES = 64 }; /* readers of one value that are compared with each other */

int fuse_find(const fusion *f, int group) {
    while (f->groups[group].parent != group) group = f->groups[group].parent;
    return group;
}

int fuse_unit(const fusion *f, int group) {
    group = fuse_find(f, group);
    int product = f->groups[group].product;
    return product < 0 ? group : product;
}

fuse_demand *fuse_same(fuse_demand *d) {
    while (d->same) d = d->same;
    return d;
}

value_id fuse_base(const fusion *f, value_id v) {
    while (f->values[v].alias != NO_VALUE) v = f->values[v].alias;
    return v;
}

int fuse_new_group(fusion *f, fuse_kind kind, uint32_t number) {
    int id = f->group_count++; /* room for one per node and the outputs was made at the start */
    f->groups[id] = (fuse_group){.kind = kind, .parent = id, .node = number, .product = -1, .epilogue = -1};
    return id;
}

fuse_demand *fuse_want(fusion *f, value_id v, int group, int operand, const index_map *map) {
    fuse_group *g = &f->groups[group];
    if (g->kind == FUSE_KERNEL)
        for (fuse_demand *d = f->values[v].demands; d; d = d->next_of_value)
            if (!d->dead && fuse_find(f, d->group) == group && map_same(&d->map, map)) return d;
    fuse_demand *d = arena_alloc(f->memory, sizeof *d);
    if (!d) {
        fail_memory(&f->g->c->err, sizeof *d);
        return NULL;
    }
    *d = (fuse_demand){.value = v, .group = group, .operand = operand, .map = *map, .instr = -1};
    d->next_of_value = f->values[v].demands;
    f->values[v].demands = d;
    d->next_in_group = g->demands;
    g->demands = d;
    g->demand_count++;
    return d;
}

/* ---- dependence ---- */

static int push(fusion *f, int unit, int top) {
    if (f->groups[unit].visited == f->stamp) return top;
    f->groups[unit].visited = f->stamp;
    f->stack[top] = unit;
    return top + 1;
}

/* Pushes what demands v or one of its aliases. */
static int push_readers(fusion *f, value_id v, int top) {
    for (value_id a = v; a != NO_VALUE; a = a == v ? f->values[v].aliases : f->values[a].next_alias) {
        for (fuse_demand *d = f->values[a].demands; d; d = d->next_of_value) {
            if (!d->dead) top = push(f, fuse_unit(f, d->group), top);
        }
    }
    return top;
}

/* Pushes what has to run after `group` (and is not its unit, which has been visited). */
static int push_after(fusion *f, int group, int top) {
    const fuse_group *g = &f->groups[group];
    if (g->kind == FUSE_LIBRARY) {
        const node *n = &f->g->nodes[g->node];
        for (int i = 0; i < n->nout; i++) top = push_readers(f, n->out + (value_id)i, top);
    }
    for (const fuse_stored *s = g->stored; s; s = s->next) top = push_readers(f, s->value, top);
    for (const fuse_raise *r = g->raises; r; r = r->next) {
        if (f->next_raise[r->node] == UINT32_MAX || f->group_of[f->next_raise[r->node]] < 0) continue;
        top = push(f, fuse_unit(f, f->group_of[f->next_raise[r->node]]), top);
    }
    return g->epilogue < 0 ? top : push_after(f, g->epilogue, top);
}

bool fuse_reaches(fusion *f, int from, int to) {
    from = fuse_unit(f, from);
    to = fuse_unit(f, to);
    if (from == to) return true;
    f->stamp++;
    f->groups[from].visited = f->stamp;
    int top = 0;
    f->stack[top++] = from;
    while (top > 0) {
        int group = f->stack[--top];
        if (group == to) return true;
        top = push_after(f, group, top);
    }
    return false;
}

/* ---- joining kernels ---- */

static unsigned all_axes(const fuse_group *g) {
    return (1u << g->axes) - 1;
}

/* The axis of `to` for each axis of `from`, when both read value v through the bijections a and b. The spaces must
 * agree; see the cases. */
static bool match_spaces(fusion *f, value_id v, const fuse_group *from, const fuse_demand *df,
                         const fuse_group *to, const fuse_demand *dt, int axis[MAX_RANK]) {
    const shape *s = &graph_meta(f->g, v)->shape;
    int a[MAX_RANK], b[MAX_RANK];
    if (!map_bijection(f->g, s, &df->map, from->size, a) || !map_bijection(f->g, s, &dt->map, to->size, b))
        return false;
    unsigned rest_from = all_axes(from), rest_to = all_axes(to);
    for (int i = 0; i < s->rank; i++) {
        if (a[i] < 0) continue;
        axis[a[i]] = b[i];
        rest_from &= ~(1u << a[i]);
        rest_to &= ~(1u << b[i]);
    }
    if (!rest_from && !rest_to) { /* v fills both spaces: what is inner must be so in both, in one order */
        if (!from->split || !to->split) return true;
        int last = -1;
        for (int k = 0; k < from->axes; k++) {
            if ((from->inner >> k & 1) != (to->inner >> axis[k] & 1)) return false;
            if (!(from->inner >> k & 1)) continue;
            if (axis[k] < last) return false;
            last = axis[k];
        }
        return true;
    }
    /* v fills from's space and the rows of to */
    if (!rest_from) return !from->split && to->split && rest_to == to->inner;
    /* v fills the rows of both, and the inner axes agree */
    if (!from->split || !to->split || rest_from != from->inner || rest_to != to->inner) return false;
    int j = 0;
    for (int k = 0; k < from->axes; k++) {
        if (!(from->inner >> k & 1)) continue;
        while (j < to->axes && !(to->inner >> j & 1)) j++;
        if (j == to->axes || !dims_tied(f->g->dims, from->size[k], to->size[j])) return false;
        axis[k] = j++;
    }
    while (j < to->axes && !(to->inner >> j & 1)) j++;
    return j == to->axes;
}

static void move_map(index_map *m, int axes, const int axis[MAX_RANK]) {
    index_map old = *m;
    memset(m->coef, 0, sizeof m->coef);
    for (int64_t i = 0; i < m->rank; i++)
        for (int k = 0; k < axes; k++)
            if (old.coef[i][k] != 0) m->coef[i][axis[k]] = old.coef[i][k];
}

static void merge(fusion *f, int from, int to, const int axis[MAX_RANK]) {
    fuse_group *a = &f->groups[from], *b = &f->groups[to];
    if (a->split && !b->split) {
        b->split = true;
        for (int k = 0; k < a->axes; k++)
            if (a->inner >> k & 1) b->inner |= 1u << axis[k];
    }
    for (fuse_demand *d = a->demands, *next; d; d = next) {
        next = d->next_in_group;
        move_map(&d->map, a->axes, axis);
        for (fuse_demand *e = f->values[d->value].demands; e && !d->same; e = e->next_of_value)
            if (e != d && !e->dead && fuse_find(f, e->group) == to && map_same(&e->map, &d->map)) d->same = e;
        d->dead = d->same != NULL;
        if (d->dead) continue;
        d->next_in_group = b->demands;
        b->demands = d;
        b->demand_count++;
    }
    if (a->node > b->node) b->node = a->node;
    fuse_stored **s = &b->stored;
    while (*s) s = &(*s)->next;
    *s = a->stored;
    fuse_raise **r = &b->raises;
    while (*r) r = &(*r)->next;
    *r = a->raises;
    a->parent = to;
}

/* Joins the groups of two demands of v when that is possible. */
static bool try_merge(fusion *f, value_id v, const fuse_demand *x, const fuse_demand *y) {
    int from = fuse_find(f, x->group), to = fuse_find(f, y->group), axis[MAX_RANK];
    const fuse_group *a = &f->groups[from], *b = &f->groups[to];
    if (from == to || a->kind != FUSE_KERNEL || b->kind != FUSE_KERNEL) return false;
    if (a->product >= 0 || b->product >= 0) return false;
    if (a->demand_count + b->demand_count > FUSE_MAX_DEMANDS) return false;
    bool forward = match_spaces(f, v, a, x, b, y, axis);
    if (!forward && !match_spaces(f, v, b, y, a, x, axis)) return false;
    if (fuse_reaches(f, from, to) || fuse_reaches(f, to, from)) return false;
    if (forward)
        merge(f, from, to, axis);
    else
        merge(f, to, from, axis);
    return true;
}

void fuse_merge_readers(fusion *f, value_id v) {
    const shape *s = &graph_meta(f->g, v)->shape;
    bool moves = false;
    for (int i = 0; i < s->rank; i++) moves |= s->size[i] != 1;
    if (!moves) return; /* a single element ties nothing together */
    int readers = 0;
    for (fuse_demand *x = f->values[v].demands; x && readers < TRIES; x = x->next_of_value, readers++) {
        int tries = 0;
        for (fuse_demand *y = x->next_of_value; y && !x->dead && tries < TRIES; y = y->next_of_value) {
            if (y->dead) continue;
            tries++;
            try_merge(f, v, x, y);
        }
    }
}

/* ---- order ---- */

/* The last node of a unit. */
static uint32_t last_node(const fusion *f, int unit) {
    const fuse_group *g = &f->groups[unit];
    uint32_t after = g->epilogue < 0 ? 0 : f->groups[g->epilogue].node;
    return g->node > after ? g->node : after;
}

/* Kahn's algorithm; of the groups that can run the one whose last node comes first in the graph. */
status fuse_order(fusion *f) {
    size_t n = (size_t)f->group_count;
    int *waits = mem_calloc(n + 1, sizeof *waits), *ready = mem_calloc(n + 1, sizeof *ready), count = 0;
    f->order = arena_alloc(f->memory, (n + 1) * sizeof *f->order);
    status code = STATUS_OK;
    if (!waits || !ready || !f->order) {
        code = fail_memory(&f->g->c->err, n * sizeof *waits);
        goto done;
    }
    for (int i = 0; i < f->group_count; i++) {
        if (fuse_unit(f, i) != i) continue;
        f->stamp++;
        f->groups[i].visited = f->stamp;
        for (int top = push_after(f, i, 0); top > 0;) waits[f->stack[--top]]++;
    }
    for (int i = 0; i < f->group_count; i++)
        if (fuse_unit(f, i) == i && waits[i] == 0) ready[count++] = i;
    while (count > 0) {
        int best = 0;
        for (int i = 1; i < count; i++)
            if (last_node(f, ready[i]) < last_node(f, ready[best])) best = i;
        int group = ready[best];
        ready[best] = ready[--count];
        if (f->groups[group].kind != FUSE_OUTPUTS) f->order[f->order_count++] = group;
        f->stamp++;
        f->groups[group].visited = f->stamp;
        for (int top = push_after(f, group, 0); top > 0;)
            if (--waits[f->stack[--top]] == 0) ready[count++] = f->stack[top];
    }
done:
    mem_free(waits);
    mem_free(ready);
    return code;
}
