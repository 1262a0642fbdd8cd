/* cuda_grid.c — see cuda_grid.h. */
#include "engine/kernel/cuda_grid.h"

#include "engine/base/memory.h"
#include "engine/kernel/prelude.h"

static size_t take(size_t *used, size_t bytes) {
    size_t at = *used;
    *used += (bytes + 63) & ~(size_t)63;
    return at;
}

/* Rows that a block computes at once. */
static int choose_teams(const kernel_launch *l, cuda_grid *g) {
    const kernel *k = l->k;
    if (k->phase_count == 0) {
        g->teams = 1;
        return g->threads;
    }
    int lanes = k->along_inner ? LANES : 1, most = k->along_inner ? g->threads / LANES : g->threads / 32;
    for (g->teams = 1; g->teams < most && g->teams < l->blocks; g->teams *= 2) continue;
    return g->threads / (lanes * g->teams);
}

status cuda_grid_make(const kernel_launch *l, const kernel_source *source, const int64_t *values,
                      int most_blocks, int most_threads, cuda_grid *g) {
    const kernel *k = l->k;
    *g = (cuda_grid){.threads = most_threads};
    int64_t together = choose_teams(l, g), blocks = (l->rows + together - 1) / together;
    g->blocks = blocks < most_blocks ? (int)blocks : most_blocks;
    g->numbers =
        mem_calloc((size_t)(source->number_count + k->slot_count + k->count) + 1, sizeof *g->numbers);
    if (!g->numbers) return fail_memory(&l->g->c->err, (size_t)k->count * sizeof *g->numbers);
    size_t places = (size_t)(g->blocks * together);
    int n = 0;
    for (int i = 0; i < source->number_count; i++) g->numbers[n++] = dim_value(source->numbers[i], values);
    for (int slot = 0; slot < k->slot_count; slot++)
        for (int i = 0; i < k->count; i++)
            if (k->code[i].slot == slot) {
                size_t size = dtype_size(ctype_dtype(dtype_compute(k->code[i].dtype)));
                g->numbers[n++] = (int64_t)take(&g->scratch_bytes, places * (size_t)l->length * size);
            }
    for (int i = 0; i < k->count; i++)
        if (k->code[i].code == K_REDUCE)
            g->numbers[n++] = (int64_t)take(
                &g->partial_bytes, places * (size_t)l->blocks * dtype_size(ctype_dtype(k->code[i].compute)));
    return STATUS_OK;
}
