/* schedule.c — when each instruction of a kernel runs: levels, phases, what is kept in row buffers, and which way
 * vectors run. See kernel.h. */
#include <string.h>

#include "engine/base/memory.h"
#include "engine/kernel/index_map.h"
#include "engine/kernel/kernel.h"

/* A value that costs this many flops to compute again is kept for later phases instead. */
enum { KEEP_COST = 8 };

/* ---- axes ---- */

static dim *strides(kernel_access *a, bool inner) {
    return inner ? a->inner : a->kept;
}

/* Do all accesses walk axes i and i + 1 as one? */
static bool can_collapse(const graph *g, kernel *k, bool inner, const dim *size, int i) {
    for (int j = 0; j < k->access_count; j++) {
        const dim *s = strides(&k->accesses[j], inner);
        if (s[i] != dim_mul(g->dims, size[i + 1], s[i + 1])) return false;
    }
    return true;
}

static void collapse(const graph *g, kernel *k, bool inner) {
    dim *size = inner ? k->inner : k->kept;
    int *rank = inner ? &k->inner_rank : &k->kept_rank;
    for (int i = *rank - 2; i >= 0; i--) {
        if (!can_collapse(g, k, inner, size, i)) continue;
        size[i] = dim_mul(g->dims, size[i], size[i + 1]);
        int tail = *rank - i - 2;
        memmove(&size[i + 1], &size[i + 2], (size_t)tail * sizeof *size);
        for (int j = 0; j < k->access_count; j++) {
            dim *s = strides(&k->accesses[j], inner);
            memmove(&s[i], &s[i + 1], (size_t)(tail + 1) * sizeof *s);
            s[*rank - 1] = 0;
        }
        size[--*rank] = 0;
    }
}

static bool moves(const dim *stride, int rank) {
    for (int i = 0; i < rank; i++)
        if (stride[i] != 0) return true;
    return false;
}

/* Rows known to be short (the classes of a classifier) are computed side by side. */
static bool short_rows(const kernel *k) {
    enum { SHORT = 32 };
    int64_t length = 1;
    for (int i = 0; i < k->inner_rank; i++) {
        if (!dim_known(k->inner[i]) || k->inner[i] >= SHORT) return false;
        length *= k->inner[i];
    }
    return length < SHORT && k->kept_rank > 0;
}

bool kernel_turns(const kernel *k, uint32_t id, arena *memory, kernel *turned) {
    bool known = true;
    for (int i = 0; i < k->inner_rank; i++) known = known && dim_known(k->inner[i]);
    if (!k->along_inner || known || k->kept_rank == 0) return false;
    text name = {0};
    text_printf(&name, "%s_short", k->name);
    *turned = *k;
    turned->along_inner = false;
    turned->id = id;
    turned->name = name.failed ? NULL : arena_text(memory, text_str(&name), name.length);
    text_free(&name);
    return turned->name != NULL;
}

/* Vectors run where more accesses of elements have neighbours. */
static bool inner_is_contiguous(const kernel *k) {
    int inner = 0, kept = 0;
    if (k->inner_rank == 0 || short_rows(k)) return false;
    for (int i = 0; i < k->access_count; i++) {
        const kernel_access *a = &k->accesses[i];
        if (!moves(a->inner, k->inner_rank)) continue;
        inner += a->inner[k->inner_rank - 1] == 1;
        kept += k->kept_rank > 0 && a->kept[k->kept_rank - 1] == 1;
    }
    return inner >= kept;
}

/* ---- levels and phases ---- */

static kernel_level access_level(const kernel *k, const kernel_access *a) {
    if (moves(a->inner, k->inner_rank)) return LEVEL_ELEMENT;
    return moves(a->kept, k->kept_rank) ? LEVEL_ROW : LEVEL_UNIFORM;
}

/* The phase before (row level) or in (element level) which a value is there. */
static int ready(const kernel_instr *i) {
    return i->code == K_REDUCE ? i->phase + 1 : i->phase;
}

static void set_level_and_phase(kernel *k) {
    k->phase_count = 0;
    for (int n = 0; n < k->count; n++) {
        kernel_instr *i = &k->code[n];
        i->level = i->code == K_STORE ? LEVEL_ROW : LEVEL_UNIFORM;
        i->phase = 0;
        if (i->access >= 0) {
            kernel_level l = access_level(k, &k->accesses[i->access]);
            if (l > i->level) i->level = l;
        }
        for (int j = 0; j < i->nin; j++) {
            const kernel_instr *in = &k->code[i->in[j]];
            if (in->level > i->level) i->level = in->level;
            if (ready(in) > i->phase) i->phase = ready(in);
        }
        int end = i->phase + 1;
        bool element = i->level == LEVEL_ELEMENT || i->code == K_REDUCE;
        if (i->code == K_REDUCE) i->level = LEVEL_ROW;
        if (element && end > k->phase_count) k->phase_count = end;
    }
}

/* ---- lists ---- */

typedef struct listing {
    const graph *g;
    kernel *k;
    double *cost;          /* of computing an element value again */
    bool *needed, *listed; /* in this phase; in an earlier one */
    arena *memory;
} listing;

static void find_costs(listing *l) {
    for (int n = 0; n < l->k->count; n++) {
        const kernel_instr *i = &l->k->code[n];
        double c = 1;
        if (i->code == K_MAP) c = op_table[i->op].flops_per_element;
        for (int j = 0; j < i->nin; j++)
            if (l->k->code[i->in[j]].level == LEVEL_ELEMENT) c += l->cost[i->in[j]];
        l->cost[n] = i->level == LEVEL_ELEMENT ? c : 0;
    }
}

/* Is this an instruction for whose effect phase p's element code runs? */
static bool is_root(const kernel_instr *i, int p) {
    if (i->phase != p) return false;
    if (i->code == K_REDUCE) return true;
    return i->level == LEVEL_ELEMENT && (i->code == K_STORE || i->faults);
}

/* Marks what phase p's element code computes or reads back; gives slots. From here on an element value's phase is the
 * one that computes it first (`listed`). */
static void mark_elements(listing *l, int p) {
    kernel *k = l->k;
    memset(l->needed, 0, (size_t)k->count * sizeof *l->needed);
    for (int n = k->count - 1; n >= 0; n--) {
        kernel_instr *i = &k->code[n];
        if (is_root(i, p)) l->needed[n] = true;
        if (!l->needed[n]) continue;
        bool loads = i->code == K_LOAD || i->code == K_INDEX;
        if (!l->listed[n]) i->phase = p;
        if (l->listed[n] && !loads && i->slot < 0 && l->cost[n] >= KEEP_COST) i->slot = k->slot_count++;
        if (l->listed[n] && i->slot >= 0) continue;
        for (int j = 0; j < i->nin; j++)
            if (k->code[i->in[j]].level == LEVEL_ELEMENT) l->needed[i->in[j]] = true;
    }
}

static bool list(listing *l, int **out, int *count) {
    int n = 0;
    for (int i = 0; i < l->k->count; i++) n += l->needed[i];
    *out = arena_alloc(l->memory, (size_t)(n + 1) * sizeof **out);
    if (!*out) return false;
    for (int i = 0; i < l->k->count; i++)
        if (l->needed[i]) (*out)[(*count)++] = i;
    return true;
}

static bool list_phases(listing *l) {
    kernel *k = l->k;
    for (int p = 0; p <= k->phase_count; p++) {
        kernel_phase *phase = &k->phases[p];
        for (int n = 0; n < k->count; n++) {
            const kernel_instr *i = &k->code[n];
            l->needed[n] = i->level != LEVEL_ELEMENT && i->code != K_REDUCE && i->phase == p;
        }
        if (!list(l, &phase->rows, &phase->row_count)) return false;
        if (p == k->phase_count) break;
        mark_elements(l, p);
        if (!list(l, &phase->elements, &phase->element_count)) return false;
        for (int n = 0; n < k->count; n++) l->listed[n] |= l->needed[n];
    }
    return true;
}

status kernel_schedule(const graph *g, kernel *k, arena *memory) {
    collapse(g, k, false);
    collapse(g, k, true);
    set_level_and_phase(k);
    k->along_inner = inner_is_contiguous(k);
    listing l = {.g = g, .k = k, .memory = memory};
    size_t n = (size_t)k->count + 1;
    l.cost = arena_alloc(memory, n * sizeof *l.cost);
    l.needed = arena_alloc(memory, n * sizeof *l.needed);
    l.listed = arena_alloc(memory, n * sizeof *l.listed);
    k->phases = arena_alloc(memory, (size_t)(k->phase_count + 1) * sizeof *k->phases);
    if (!l.cost || !l.needed || !l.listed || !k->phases) return fail_memory(&g->c->err, n * sizeof *l.cost);
    find_costs(&l);
    return list_phases(&l) ? STATUS_OK : fail_memory(&g->c->err, n * sizeof(int));
}
