/* diagram_far.c — references instead of long arrows. See diagram.h.
 *
 * Graphviz makes an arrow over n ranks out of n pieces and places each, so a weight that is used by a thousand
 * nodes makes half a million pieces. A rank is estimated as the length of the longest path to a node; a
 * backward node stands about where its forward node does. */
#include "viz/diagram_impl.h"

#include <string.h>

enum { FAR_USERS = 8, FAR_RANKS = 10 }; /* more users than that, and farther away than that */

typedef struct far_finder {
    diagram *d;
    uint32_t *rank;  /* of each box; grows with the boxes */
    uint32_t *users; /* of each box */
    uint32_t capacity;
    map made; /* (box, part) -> its reference */
} far_finder;

static void find_ranks(far_finder *f) {
    const diagram *d = f->d;
    const graph *g = d->of;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const node *n = &g->nodes[i];
        uint32_t box = d->box_of[i];
        if (box == NO_BOX) continue;
        for (int k = 0; k < n->nin; k++) {
            uint32_t from = d->box_of[g->values[n->in[k]].node];
            if (from != NO_BOX && from != box && f->rank[from] + 1 > f->rank[box])
                f->rank[box] = f->rank[from] + 1;
        }
    }
    /* Backward boxes beside their pairs; those without one keep company with the box before them. */
    uint32_t beside = 0;
    for (uint32_t b = 0; b < d->box_count; b++) {
        if (d->boxes[b].pair != NO_BOX) f->rank[d->boxes[b].pair] = f->rank[b] | 1u << 31;
    }
    for (uint32_t b = 0; b < d->box_count; b++) {
        if (d->boxes[b].part != PART_BACKWARD || !d->boxes[b].count) continue;
        if (f->rank[b] >> 31)
            beside = f->rank[b] & ~(1u << 31);
        else if (!d->fold)
            f->rank[b] = beside;
        f->rank[b] &= ~(1u << 31);
    }
}

/* A new reference to `box` in `part`, or NO_BOX when there is no room (which there always is). */
static uint32_t add_reference(far_finder *f, uint32_t box, uint32_t user) {
    diagram *d = f->d;
    if (d->box_count >= f->capacity) return NO_BOX;
    const diagram_box *of = &d->boxes[box];
    uint32_t origin = of->reference != NO_BOX ? of->reference : box;
    d->boxes[d->box_count] = (diagram_box){.first = of->first,
                                           .output = -1,
                                           .reference = origin,
                                           .kernel = -1,
                                           .pair = NO_BOX,
                                           .part = d->boxes[user].part};
    f->rank[d->box_count] = f->rank[user] ? f->rank[user] - 1 : 0;
    return d->box_count++;
}

/* Inputs (weights, mostly) have a reference in every other part that uses them. */
static bool cut_between_parts(far_finder *f, diagram_arrow *a) {
    const diagram *d = f->d;
    const diagram_box *from = &d->boxes[a->from], *to = &d->boxes[a->to];
    if (!d->backward || !from->count || d->of->nodes[from->first].kind == NODE_OP || from->part == to->part)
        return true;
    if (to->output >= 0) return true;
    uint64_t key = ((uint64_t)a->from << 2 | (uint64_t)to->part) + 1;
    uintptr_t made;
    if (!map_get(&f->made, key, &made)) {
        made = add_reference(f, a->from, a->to);
        if (made == NO_BOX || !map_put(&f->made, key, made)) return false;
    }
    f->users[a->from]--;
    f->users[made]++;
    a->from = (uint32_t)made;
    return true;
}

static bool cut_by_distance(far_finder *f, diagram_arrow *a) {
    uint32_t from = f->rank[a->from], to = f->rank[a->to], apart = from < to ? to - from : from - to;
    if (f->users[a->from] <= FAR_USERS || apart <= FAR_RANKS) return true;
    uint32_t made = add_reference(f, a->from, a->to);
    if (made == NO_BOX) return false;
    a->from = made;
    return true;
}

static bool reserve(far_finder *f) {
    diagram *d = f->d;
    size_t boxes = (size_t)d->box_count + 2 * (size_t)d->arrow_count + 1;
    if (boxes >= UINT32_MAX) return false;
    diagram_box *more = mem_realloc(d->boxes, boxes * sizeof *more);
    if (!more) return false;
    d->boxes = more;
    f->capacity = (uint32_t)boxes;
    f->rank = mem_calloc(boxes, sizeof *f->rank);
    f->users = mem_calloc(boxes, sizeof *f->users);
    return f->rank && f->users;
}

bool diagram_cut_far(diagram *d) {
    far_finder f = {.d = d};
    bool fine = reserve(&f);
    if (fine) find_ranks(&f);
    for (uint32_t i = 0; fine && i < d->arrow_count; i++) f.users[d->arrows[i].from]++;
    for (uint32_t i = 0; fine && i < d->arrow_count; i++) fine = cut_between_parts(&f, &d->arrows[i]);
    for (uint32_t i = 0; fine && i < d->arrow_count; i++) fine = cut_by_distance(&f, &d->arrows[i]);
    mem_free(f.rank);
    mem_free(f.users);
    map_free(&f.made);
    return fine;
}
