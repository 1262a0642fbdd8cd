/* code_run.c — compiled kernels over rows, blocks and lanes: the counterpart of tiles_run.c. The kernels themselves know
 * phases and blocks; here is what each thread is given. */
#include "engine/kernel/launch.h"
#include "engine/kernel/prelude.h"

static size_t take(size_t *used, size_t bytes) {
    size_t at = *used;
    *used += (bytes + 63) & ~(size_t)63;
    return at;
}

/* Room for the struct of a row, with vectors of row values where vectors run along kept axes. */
static size_t state_bound(const kernel_launch *l, int numbers) {
    const kernel *k = l->k;
    size_t n = (size_t)k->count, scalars = (size_t)k->access_count + 3 * n + (size_t)numbers + 16;
    return 8 * scalars + (l->code_inner ? 0 : n * WIDTH * 8);
}

status launch_prepare_code(kernel_launch *l, const kernel_source *source, const int64_t *values, int lanes,
                           arena *memory) {
    const kernel *k = l->k;
    size_t numbers = (size_t)(source->number_count + k->slot_count + k->count) + 1;
    l->numbers = arena_alloc(memory, numbers * sizeof *l->numbers);
    l->pointers = arena_alloc(memory, (size_t)(k->access_count + 1) * sizeof *l->pointers);
    if (!l->numbers || !l->pointers) return fail_memory(&l->g->c->err, numbers * sizeof *l->numbers);
    l->code_split = launch_choose_split(l, l->code_inner, k->phase_count == 0 ? STRETCH : WIDTH, lanes);
    bool shared = l->code_split.by_blocks;
    int n = 0;
    for (int i = 0; i < source->number_count; i++) l->numbers[n++] = dim_value(source->numbers[i], values);
    size_t width = l->code_inner ? 1 : WIDTH, slots = 0;
    for (int slot = 0; slot < k->slot_count; slot++)
        for (int i = 0; i < k->count; i++)
            if (k->code[i].slot == slot) {
                size_t size = dtype_size(ctype_dtype(dtype_compute(k->code[i].dtype)));
                l->numbers[n++] = (int64_t)take(&slots, (size_t)l->length * width * size);
            }
    if (!shared) {
        l->code_lane = slots;
        return STATUS_OK;
    }
    l->code_shared = slots;
    l->code_state = take(&l->code_shared, state_bound(l, source->number_count));
    size_t partial = 0;
    for (int i = 0; i < k->count; i++)
        if (k->code[i].code == K_REDUCE)
            l->numbers[n++] = (int64_t)take(&partial, (size_t)l->blocks * width *
                                                          dtype_size(ctype_dtype(k->code[i].compute)));
    l->code_partial = take(&l->code_shared, partial);
    return STATUS_OK;
}

typedef struct code_job {
    kernel_launch *l;
    kernel_code code;
    kernel_args args;
    char *scratch;
    int step;
    int64_t row;
} code_job;

static void run_rows(void *user, int64_t task, int lane) {
    code_job *j = user;
    const launch_split *s = &j->l->code_split;
    kernel_args args = j->args;
    args.scratch = j->scratch + (size_t)lane * j->l->code_lane;
    int64_t begin = task * s->rows_per_task, end = begin + s->rows_per_task;
    j->code.run(&args, begin, end < j->l->rows ? end : j->l->rows);
}

static void run_blocks(void *user, int64_t task, int lane) {
    (void)lane;
    code_job *j = user;
    const launch_split *s = &j->l->code_split;
    int64_t first = task * s->blocks_per_task, last = first + s->blocks_per_task;
    j->code.step(&j->args, j->step, j->row, first, last < j->l->blocks ? last : j->l->blocks);
}

/* As many rows as the kernel computes together from `row` on: it stops at the end of the last axis. */
static int64_t together(const kernel_launch *l, int64_t row) {
    if (l->code_inner) return 1;
    int64_t n = l->rows - row < WIDTH ? l->rows - row : WIDTH, rank = l->k->kept_rank;
    if (rank > 1 && n > l->kept[rank - 1] - row % l->kept[rank - 1])
        n = l->kept[rank - 1] - row % l->kept[rank - 1];
    return n;
}

static void run_shared(context *c, code_job *j) {
    kernel_launch *l = j->l;
    j->args.scratch = j->scratch;
    j->args.state = j->scratch + l->code_state;
    j->args.partial = j->scratch + l->code_partial;
    for (j->row = 0; j->row < l->rows && !c->interrupt; j->row += together(l, j->row)) {
        j->code.step(&j->args, 0, j->row, 0, l->rows);
        for (int p = 0; p < l->k->phase_count; p++) {
            j->step = 1 + 2 * p;
            pool_run(c->workers, l->code_split.tasks, run_blocks, j, &c->interrupt);
            if (c->interrupt) return;
            j->code.step(&j->args, 2 + 2 * p, j->row, 0, l->rows);
        }
    }
}

void launch_point(kernel_launch *l, void *const *buffers) {
    const kernel *k = l->k;
    for (int i = 0; i < k->access_count; i++) {
        value_id v = k->accesses[i].value;
        if (v != NO_VALUE)
            l->pointers[i] = (char *)buffers[v] + l->accesses[i].offset * (int64_t)l->accesses[i].bytes;
    }
}

static kernel_args args_of(context *c, const kernel_launch *l) {
    return (kernel_args){.buffer = l->pointers,
                         .number = l->numbers,
                         .fault = (int64_t *)(uintptr_t)l->faults,
                         .stop = (const volatile int *)(uintptr_t)&c->interrupt};
}

void launch_part_code(context *c, const kernel_launch *l, kernel_code code, const launch_part *part) {
    kernel_args args =
        args_of(c, l); /* without reductions there is nothing to keep between rows: no scratch */
    for (int64_t i = 0, at = part->first; i < part->runs; i++, at += part->step)
        code.run(&args, at, at + part->length);
}

status launch_run_code(context *c, kernel_launch *l, kernel_code code, void *const *buffers, char *scratch) {
    launch_point(l, buffers);
    code_job j = {.l = l, .code = code, .scratch = scratch, .args = args_of(c, l)};
    if (l->code_split.by_blocks)
        run_shared(c, &j);
    else if (l->code_split.tasks == 1)
        run_rows(&j, 0, 0);
    else
        pool_run(c->workers, l->code_split.tasks, run_rows, &j, &c->interrupt);
    if (context_interrupted(c)) return c->err.code;
    return launch_check_faults(c, l);
}
