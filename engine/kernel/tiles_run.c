/* tiles_run.c — the tile interpreter over rows, phases, blocks and lanes.
 *
 * A task takes whole vectors of rows through all phases, or, when a launch is split, blocks of one phase of the
 * current vector of rows; then one lane combines the blocks and runs the row code between phases. Block results go
 * into a binary-counter tree: level i holds the combination of 2^i blocks. */
#include <string.h>

#include "engine/kernel/tiles.h"

static bool stopped(const tile_lane *t) {
    return atomic_load_explicit(&t->l->g->c->interrupt, memory_order_relaxed) != 0;
}

static tile_lane lane_open(kernel_launch *l, void *const *buffers, char *scratch, int lane) {
    tile_lane t = {
        .l = l, .k = l->k, .layout = l->layout, .loops = loops(), .buffers = buffers, .shared = scratch};
    t.scratch = scratch + l->shared_bytes + (size_t)lane * l->lane_bytes;
    t.regs = (tile_reg *)(void *)(t.scratch + l->layout->regs);
    t.base = (int64_t *)(void *)(t.scratch + l->layout->bases);
    memset(t.regs, 0, (size_t)l->k->count * sizeof *t.regs);
    return t;
}

/* Points the lane at rows [row, row + width). */
static void set_rows(tile_lane *t, int64_t row, int64_t width) {
    const kernel_launch *l = t->l;
    t->row = row;
    t->width = width;
    int64_t at[MAX_RANK] = {0};
    tiles_index(row, l->kept, t->k->kept_rank, at);
    for (int i = 0; i < t->k->access_count; i++) {
        t->base[i] = l->accesses[i].offset;
        for (int j = 0; l->along_inner && j < t->k->kept_rank; j++)
            t->base[i] += at[j] * l->accesses[i].kept[j];
    }
    memset(t->index, 0, sizeof t->index);
    memset(t->other, 0, sizeof t->other);
    if (!l->along_inner) memcpy(t->index, at, sizeof at);
}

static void run_rows(tile_lane *t, int phase) {
    t->phase = phase;
    if (t->l->along_inner) memset(t->index, 0, sizeof t->index);
    memset(t->other, 0, sizeof t->other);
    tiles_execute(t, &t->layout->rows[phase], t->width);
}

/* ---- reductions ---- */

static void push(tile_lane *t, const tile_reduce *r, int64_t count, const void *block) {
    size_t bytes = (size_t)t->width * r->bytes;
    char *tree = t->scratch + r->tree, *value = t->scratch + r->acc;
    if (block != value) memcpy(value, block, bytes);
    int level = 0;
    for (; count & 1; count >>= 1, level++) {
        char *older = tree + (size_t)level * bytes;
        r->fns->columns(older, value, t->width);
        memcpy(value, older, bytes);
    }
    memcpy(tree + (size_t)level * bytes, value, bytes);
}

/* The result of reduction r from its tree of `count` blocks, into its register. */
static void finish(tile_lane *t, const tile_reduce *r, int64_t count) {
    const kernel_instr *i = &t->k->code[r->instr];
    size_t bytes = (size_t)t->width * r->bytes;
    char *tree = t->scratch + r->tree, *result = t->scratch + t->layout->keep[r->instr];
    const char *value = NULL;
    if (count == 0) r->fns->start(result, t->width);
    for (int level = 0; count >> level; level++) {
        if (!(count >> level & 1)) continue;
        char *older = tree + (size_t)level * bytes;
        if (value) r->fns->columns(older, value, t->width);
        value = older;
    }
    if (value) memcpy(result, value, bytes);
    r->fns->finish(result, t->width, t->l->length);
    if (i->dtype == DT_F16) t->loops->round_f16((float *)(void *)result, t->width);
    if (i->dtype == DT_BF16) t->loops->round_bf16((float *)(void *)result, t->width);
    t->regs[r->instr] = (tile_reg){result, !t->l->along_inner};
}

static void fold(tile_lane *t, const tile_reduce *r) {
    char *acc = t->scratch + r->acc;
    for (int64_t half = REDUCE_LANES / 2; half >= 1; half /= 2)
        r->fns->columns(acc, acc + (size_t)(half * t->width) * r->bytes, half * t->width);
}

/* Element code of the phase over inner indices [begin, end). */
static void run_elements(tile_lane *t, int64_t begin, int64_t end) {
    const kernel_launch *l = t->l;
    const tile_list *list = &t->layout->elements[t->phase];
    int64_t step = l->along_inner ? TILE : 1;
    for (int64_t at = begin; at < end; at += step) {
        t->position = at;
        tiles_index(at, l->inner, t->k->inner_rank, l->along_inner ? t->index : t->other);
        int64_t n = end - at < TILE ? end - at : TILE;
        tiles_execute(t, list, l->along_inner ? n : t->width);
    }
}

/* Are the phase's elements sums (or other folds) of columns of buffers, as they lie there? Then there is nothing to
 * interpret: run_columns passes each row of neighbours on to the accumulators. */
static bool plain_columns(const tile_lane *t, int phase) {
    const kernel *k = t->k;
    const kernel_phase *p = &k->phases[phase];
    if (t->l->along_inner || k->inner_rank != 1) return false;
    for (int n = 0; n < p->element_count; n++) {
        const kernel_instr *i = &k->code[p->elements[n]];
        if (i->code == K_LOAD && i->slot < 0 && !dtype_is_half(i->dtype)) continue;
        if (i->code != K_REDUCE || k->code[i->in[0]].code != K_LOAD) return false;
        if (dtype_compute(i->from) != i->compute || k->code[i->in[0]].level != LEVEL_ELEMENT) return false;
        if (!tiles_neighbours(t, k->code[i->in[0]].access, t->width)) return false;
    }
    return true;
}

static void run_columns(tile_lane *t, int phase, int64_t begin, int64_t end) {
    const tile_layout *y = t->layout;
    for (int n = y->first_reduce[phase]; n < y->first_reduce[phase + 1]; n++) {
        const tile_reduce *r = &y->reduces[n];
        int access = t->k->code[t->k->code[r->instr].in[0]].access;
        const launch_access *a = &t->l->accesses[access];
        int64_t bytes = (int64_t)a->bytes, step = a->inner[0] * bytes, lane = t->width * (int64_t)r->bytes;
        const char *from = t->buffers[t->k->accesses[access].value];
        from += tiles_first(t, access) * bytes;
        for (int64_t at = begin; at < end; at++)
            r->fns->columns(t->scratch + r->acc + at % REDUCE_LANES * lane, from + at * step, t->width);
    }
}

/* Blocks [begin, end) of a phase; results into the trees, or into the shared partials of a split launch. */
static void run_blocks(tile_lane *t, int phase, int64_t begin, int64_t end) {
    const kernel_launch *l = t->l;
    const tile_layout *y = t->layout;
    t->phase = phase;
    bool plain = plain_columns(t, phase);
    for (int64_t b = begin; b < end && !stopped(t); b++) {
        int64_t first = b * REDUCE_BLOCK,
                last = first + REDUCE_BLOCK < l->length ? first + REDUCE_BLOCK : l->length;
        for (int r = y->first_reduce[phase]; r < y->first_reduce[phase + 1]; r++)
            y->reduces[r].fns->start(t->scratch + y->reduces[r].acc, REDUCE_LANES * t->width);
        if (plain)
            run_columns(t, phase, first, last);
        else
            run_elements(t, first, last);
        for (int n = y->first_reduce[phase]; n < y->first_reduce[phase + 1]; n++) {
            const tile_reduce *r = &y->reduces[n];
            size_t bytes = (size_t)t->width * r->bytes;
            fold(t, r);
            if (l->split.by_blocks)
                memcpy(t->shared + r->partial + (size_t)b * bytes, t->scratch + r->acc, bytes);
            else
                push(t, r, b, t->scratch + r->acc);
        }
    }
}

static void finish_phase(tile_lane *t, int phase) {
    const tile_layout *y = t->layout;
    for (int r = y->first_reduce[phase]; r < y->first_reduce[phase + 1]; r++)
        finish(t, &y->reduces[r], t->l->blocks);
}

/* ---- whole rows ---- */

typedef struct tile_job {
    kernel_launch *l;
    void *const *buffers;
    char *scratch;
    tile_lane main; /* split launches: the lane between phases, whose row values the others read */
    int phase;
} tile_job;

/* Rows from `row` that make one vector: never across the end of the last axis when that is long. */
static int64_t vector_of(const kernel_launch *l, int64_t row, int64_t end) {
    enum { LONG_AXIS = 128 };
    int64_t n = end - row < l->split.width ? end - row : l->split.width;
    int64_t last = l->k->kept_rank > 1 ? l->kept[l->k->kept_rank - 1] : 0;
    if (last >= LONG_AXIS && n > last - row % last) n = last - row % last;
    return n;
}

static void run_whole_rows(tile_lane *t, int64_t row, int64_t end) {
    const kernel_launch *l = t->l;
    for (int64_t n; row < end && !stopped(t); row += n) {
        n = l->along_inner ? 1 : vector_of(l, row, end);
        set_rows(t, row, n);
        for (int p = 0; p < l->k->phase_count; p++) {
            run_rows(t, p);
            run_blocks(t, p, 0, l->blocks);
            finish_phase(t, p);
        }
        run_rows(t, l->k->phase_count);
    }
}

static void run_task(void *user, int64_t task, int lane) {
    tile_job *j = user;
    kernel_launch *l = j->l;
    tile_lane t = lane_open(l, j->buffers, j->scratch, lane);
    int64_t row = task * l->split.rows_per_task, end = row + l->split.rows_per_task;
    run_whole_rows(&t, row, end < l->rows ? end : l->rows);
}

void launch_part_tiles(kernel_launch *l, void *const *buffers, char *scratch, const launch_part *part,
                       int lane) {
    tile_lane t = lane_open(l, buffers, scratch, lane);
    for (int64_t i = 0, at = part->first; i < part->runs; i++, at += part->step)
        run_whole_rows(&t, at, at + part->length);
}

/* ---- blocks shared by lanes ---- */

static void run_block_task(void *user, int64_t task, int lane) {
    tile_job *j = user;
    kernel_launch *l = j->l;
    int64_t begin = task * l->split.blocks_per_task, end = begin + l->split.blocks_per_task;
    if (end > l->blocks) end = l->blocks;
    tile_lane t = lane_open(l, j->buffers, j->scratch, lane);
    set_rows(&t, j->main.row, j->main.width);
    memcpy(t.regs, t.shared + l->layout->snapshot, (size_t)l->k->count * sizeof *t.regs);
    run_blocks(&t, j->phase, begin, end);
}

static void combine_partials(tile_lane *t, int phase) {
    const tile_layout *y = t->layout;
    for (int n = y->first_reduce[phase]; n < y->first_reduce[phase + 1]; n++) {
        const tile_reduce *r = &y->reduces[n];
        size_t bytes = (size_t)t->width * r->bytes;
        for (int64_t b = 0; b < t->l->blocks; b++) push(t, r, b, t->shared + r->partial + (size_t)b * bytes);
    }
}

static void run_split(context *c, tile_job *j) {
    kernel_launch *l = j->l;
    tile_lane *t = &j->main;
    *t = lane_open(l, j->buffers, j->scratch, 0);
    for (int64_t row = 0, n; row < l->rows && !stopped(t); row += n) {
        n = l->along_inner ? 1 : vector_of(l, row, l->rows);
        set_rows(t, row, n);
        for (int p = 0; p < l->k->phase_count; p++) {
            run_rows(t, p);
            memcpy(t->shared + l->layout->snapshot, t->regs, (size_t)l->k->count * sizeof *t->regs);
            j->phase = p;
            pool_run(c->workers, l->split.tasks, run_block_task, j, &c->interrupt);
            if (stopped(t)) return;
            memcpy(t->regs, t->shared + l->layout->snapshot, (size_t)l->k->count * sizeof *t->regs);
            combine_partials(t, p);
            finish_phase(t, p);
        }
        run_rows(t, l->k->phase_count);
    }
}

status launch_run_tiles(context *c, kernel_launch *l, void *const *buffers, char *scratch) {
    tile_job j = {.l = l, .buffers = buffers, .scratch = scratch};
    if (l->split.by_blocks)
        run_split(c, &j);
    else if (l->split.tasks == 1)
        run_task(&j, 0, 0);
    else
        pool_run(c->workers, l->split.tasks, run_task, &j, &c->interrupt);
    if (context_interrupted(c)) return c->err.code;
    return launch_check_faults(c, l);
}
