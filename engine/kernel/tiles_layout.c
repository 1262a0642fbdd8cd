/* tiles_layout.c — the tile interpreter's scratch memory. Registers of a list are shared by values whose lives do not
 * overlap, so that a long chain stays in the first-level cache; a result takes an operand's register only where
 * elements have the same size, because the loops write while they read. */
#include <string.h>

#include "engine/base/memory.h"
#include "engine/kernel/tiles.h"

typedef struct layout_job {
    kernel_launch *l;
    tile_layout *t;
    arena *memory;
    size_t used; /* bytes of the lane's scratch */
    bool failed;
} layout_job;

static void *get(layout_job *j, size_t count, size_t bytes) {
    void *p = arena_alloc(j->memory, (count + 1) * bytes);
    if (!p) j->failed = true;
    return p;
}

static size_t take(size_t *used, size_t bytes) {
    size_t at = *used;
    *used += (bytes + 63) & ~(size_t)63;
    return at;
}

static size_t reg_bytes(const kernel_instr *i) {
    return dtype_size(ctype_dtype(dtype_compute(i->dtype)));
}

/* ---- registers of one list ---- */

enum { ELEMENT_SIZES = 3 };

/* Elements of registers have 1, 4 or 8 bytes. */
static int size_number(size_t bytes) {
    return bytes == 1 ? 0 : bytes == 4 ? 1 : 2;
}

/* A linear scan of a list: a register is free again behind the last place that reads its value. */
typedef struct scan {
    layout_job *j;
    tile_list *list;
    int *last;     /* by instruction: the last place in the list that reads it, or -1 */
    size_t *where; /* by instruction: the register that the scan gave it, or NOWHERE */
    struct {
        size_t *at;
        int count;
    } free[ELEMENT_SIZES]; /* stacks */
} scan;

#define NOWHERE SIZE_MAX

static void find_direct_stores(layout_job *j, tile_list *list) {
    const kernel *k = j->l->k;
    for (int n = 0; n < list->count; n++) {
        const kernel_instr *s = &k->code[list->code[n]];
        list->direct[n] = -1;
        if (s->code != K_STORE || dtype_is_half(s->dtype)) continue;
        const kernel_instr *from = &k->code[s->in[0]];
        if ((from->code != K_MAP && from->code != K_CAST) || from->slot >= 0) continue;
        for (int m = n - 1; m >= 0; m--) {
            if (list->code[m] != s->in[0]) continue;
            if (list->direct[m] < 0) list->direct[m] = list->code[n];
            break;
        }
    }
}

static bool scan_open(scan *c, layout_job *j, tile_list *list) {
    const kernel *k = j->l->k;
    *c = (scan){.j = j, .list = list};
    c->last = get(j, (size_t)k->count, sizeof *c->last);
    c->where = get(j, (size_t)k->count, sizeof *c->where);
    for (int i = 0; i < ELEMENT_SIZES; i++)
        c->free[i].at = get(j, (size_t)list->count, sizeof *c->free[i].at);
    if (j->failed) return false;
    for (int i = 0; i < k->count; i++) {
        c->last[i] = -1;
        c->where[i] = NOWHERE;
    }
    for (int n = 0; n < list->count; n++) {
        const kernel_instr *i = &k->code[list->code[n]];
        for (int a = 0; a < i->nin; a++) c->last[i->in[a]] = n;
    }
    return true;
}

static void take_register(scan *c, int instr) {
    size_t bytes = reg_bytes(&c->j->l->k->code[instr]);
    int size = size_number(bytes);
    c->where[instr] = c->free[size].count ? c->free[size].at[--c->free[size].count]
                                          : take(&c->j->used, (size_t)c->j->t->vector * bytes);
}

static void give_back(scan *c, int instr) {
    int size = size_number(reg_bytes(&c->j->l->k->code[instr]));
    c->free[size].at[c->free[size].count++] = c->where[instr];
}

/* The registers of operands that place n is the last to read, each once. */
static void give_back_operands(scan *c, int n) {
    const kernel_instr *i = &c->j->l->k->code[c->list->code[n]];
    for (int a = 0; a < i->nin; a++) {
        int in = i->in[a];
        bool again = (a > 0 && i->in[0] == in) || (a > 1 && i->in[1] == in);
        if (c->last[in] == n && !again && c->where[in] != NOWHERE) give_back(c, in);
    }
}

static void assign_by_scan(layout_job *j, tile_list *list) {
    scan c;
    if (!scan_open(&c, j, list)) return;
    for (int n = 0; n < list->count; n++) {
        int instr = list->code[n];
        const kernel_instr *i = &j->l->k->code[instr];
        bool in_place = i->code == K_MAP; /* its loop reads an element before it writes over it */
        if (i->level == LEVEL_UNIFORM) list->at[n] = j->t->keep[instr];
        if (i->level == LEVEL_UNIFORM || i->code == K_STORE || i->code == K_REDUCE) {
            give_back_operands(&c, n);
            continue;
        }
        if (in_place) give_back_operands(&c, n);
        take_register(&c, instr);
        list->at[n] = c.where[instr];
        if (!in_place) give_back_operands(&c, n);
        if (c.last[instr] < 0) give_back(&c, instr); /* nobody reads it: it is there for its faults */
    }
}

/* Registers of a list: shared by a scan, or those that row values keep. */
static void assign(layout_job *j, tile_list *list, const int *code, int count, bool shared) {
    *list = (tile_list){.code = code, .count = count};
    list->at = get(j, (size_t)count, sizeof *list->at);
    list->direct = get(j, (size_t)count, sizeof *list->direct);
    if (j->failed) return;
    find_direct_stores(j, list);
    if (shared)
        assign_by_scan(j, list);
    else
        for (int n = 0; n < count; n++) list->at[n] = j->t->keep[code[n]];
}

/* ---- the rest ---- */

static void lay_out_kept(layout_job *j) {
    const kernel *k = j->l->k;
    tile_layout *t = j->t;
    bool map = k->phase_count == 0;
    for (int i = 0; i < k->count; i++) {
        const kernel_instr *n = &k->code[i];
        if (n->code == K_STORE || n->level == LEVEL_ELEMENT) continue;
        bool vector = n->level == LEVEL_ROW && !j->l->along_inner;
        if (n->level == LEVEL_ROW && map) continue;
        t->keep[i] = take(&j->used, vector ? (size_t)t->vector * 8 : 8);
    }
}

static void lay_out_reduces(layout_job *j) {
    const kernel *k = j->l->k;
    tile_layout *t = j->t;
    size_t width = j->l->along_inner ? 1 : (size_t)t->vector;
    int count = 0;
    for (t->levels = 1; (int64_t)1 << t->levels <= j->l->blocks; t->levels++) continue;
    for (int p = 0; p < k->phase_count; p++) {
        t->first_reduce[p] = count;
        for (int n = 0; n < k->phases[p].element_count; n++) {
            const kernel_instr *i = &k->code[k->phases[p].elements[n]];
            if (i->code != K_REDUCE) continue;
            tile_reduce *r = &t->reduces[count++];
            r->instr = k->phases[p].elements[n];
            r->fns = &loops()->reduce[i->op][i->compute];
            r->bytes = dtype_size(ctype_dtype(i->compute));
            r->acc = take(&j->used, REDUCE_LANES * width * r->bytes);
            r->tree = take(&j->used, (size_t)t->levels * width * r->bytes);
            if (j->l->split.by_blocks)
                r->partial = take(&j->l->shared_bytes, (size_t)j->l->blocks * width * r->bytes);
        }
    }
    t->first_reduce[k->phase_count] = count;
}

static void lay_out_slots(layout_job *j) {
    const kernel *k = j->l->k;
    int64_t width = j->l->along_inner ? 1 : j->t->vector;
    for (int i = 0; i < k->count; i++) {
        if (k->code[i].slot < 0) continue;
        size_t bytes = (size_t)(j->l->length * width) * reg_bytes(&k->code[i]);
        j->t->slot[k->code[i].slot] = take(j->l->split.by_blocks ? &j->l->shared_bytes : &j->used, bytes);
    }
}

status tiles_prepare(kernel_launch *l, arena *memory) {
    const kernel *k = l->k;
    layout_job j = {.l = l, .memory = memory};
    tile_layout *t = j.t = get(&j, 1, sizeof *j.t);
    size_t n = (size_t)k->count, phases = (size_t)k->phase_count + 1;
    if (!t) return fail_memory(&l->g->c->err, sizeof *t);
    *t = (tile_layout){.vector = l->along_inner ? TILE : l->split.width};
    t->rows = get(&j, phases, sizeof *t->rows);
    t->elements = get(&j, phases, sizeof *t->elements);
    t->reduces = get(&j, n, sizeof *t->reduces);
    t->first_reduce = get(&j, phases, sizeof *t->first_reduce);
    t->keep = get(&j, n, sizeof *t->keep);
    t->slot = get(&j, (size_t)k->slot_count, sizeof *t->slot);
    l->layout = t;
    if (!j.failed) {
        t->regs = take(&j.used, n * sizeof(tile_reg));
        if (l->split.by_blocks) t->snapshot = take(&l->shared_bytes, n * sizeof(tile_reg));
        t->bases = take(&j.used, (size_t)k->access_count * sizeof(int64_t));
        t->spare[0] = take(&j.used, (size_t)t->vector * 8);
        t->spare[1] = take(&j.used, (size_t)t->vector * 8);
        lay_out_kept(&j);
        lay_out_reduces(&j);
        lay_out_slots(&j);
        size_t before = j.used, most = before;
        for (int p = 0; p <= k->phase_count && !j.failed; p++) {
            const kernel_phase *phase = &k->phases[p];
            j.used = before; /* lists run one after the other, in the same registers */
            assign(&j, &t->rows[p], phase->rows, phase->row_count, k->phase_count == 0);
            if (j.used > most) most = j.used;
            j.used = before;
            if (p < k->phase_count && !j.failed)
                assign(&j, &t->elements[p], phase->elements, phase->element_count, true);
            if (j.used > most) most = j.used;
        }
        l->lane_bytes = most;
    }
    return j.failed ? fail_memory(&l->g->c->err, n * sizeof(tile_reg)) : STATUS_OK;
}
