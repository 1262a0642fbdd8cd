/* launch.c — see launch.h. */
#include "engine/kernel/launch.h"

#include "engine/kernel/index_map.h"
#include "engine/ops/loops.h"

enum {
    TASK_WORK = 100 * 1000, /* flops that are worth waking another lane for: some 50 microseconds */
    TASKS_A_LANE = 8,
    SHORT_ROW = 32,
    NARROW = 16,
};

static access_shape shape_of(const int64_t *size, const int64_t *stride, int rank) {
    bool still = true, dense = true;
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        if (size[i] != 1) {
            still = still && stride[i] == 0;
            dense = dense && stride[i] == step;
        }
        step *= size[i];
    }
    if (still) return ACCESS_STILL;
    if (dense) return ACCESS_DENSE;
    return stride[rank - 1] == 1 ? ACCESS_RUNS : ACCESS_APART;
}

static void bind_accesses(kernel_launch *l, const int64_t *values) {
    const kernel *k = l->k;
    for (int i = 0; i < k->access_count; i++) {
        const kernel_access *a = &k->accesses[i];
        launch_access *b = &l->accesses[i];
        b->offset = dim_value(a->offset, values);
        for (int j = 0; j < k->kept_rank; j++) b->kept[j] = dim_value(a->kept[j], values);
        for (int j = 0; j < k->inner_rank; j++) b->inner[j] = dim_value(a->inner[j], values);
        b->bytes = dtype_size(a->dtype);
        b->shape = l->along_inner ? shape_of(l->inner, b->inner, k->inner_rank)
                                  : shape_of(l->kept, b->kept, k->kept_rank);
    }
}

/* Short rows are computed many at a time, a few long columns one at a time, whatever is contiguous. */
static bool choose_direction(const kernel_launch *l) {
    if (l->k->inner_rank == 0) return false;
    if (l->k->along_inner) return !(l->length < SHORT_ROW && l->rows >= SHORT_ROW);
    return l->rows < NARROW && l->length >= NARROW;
}

double launch_work(const kernel_launch *l) {
    double work = 0;
    for (int i = 0; i < l->k->count; i++) {
        const kernel_instr *n = &l->k->code[i];
        double once = n->code == K_MAP ? op_table[n->op].flops_per_element : 1;
        bool element = n->level == LEVEL_ELEMENT || n->code == K_REDUCE;
        work += once * (element && l->length > 0 ? (double)l->length : 1);
    }
    return work;
}

static int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

launch_split launch_choose_split(const kernel_launch *l, bool along_inner, int64_t width, int lanes) {
    launch_split s = {.width = along_inner ? 1 : width};
    int phases = l->k->phase_count;
    int64_t most = lanes > 1 ? (int64_t)lanes * TASKS_A_LANE : 1;
    double total = launch_work(l) * (double)l->rows;
    int64_t tasks = total / TASK_WORK < (double)most ? (int64_t)(total / TASK_WORK) : most;
    if (tasks < 1) tasks = 1;
    if (!along_inner && phases > 0 && tasks > 1 &&
        l->rows < tasks * width) { /* narrower, for all to have some */
        s.width = ceil_div(ceil_div(l->rows, tasks), NARROW) * NARROW;
        if (s.width > width) s.width = width;
    }
    int64_t vectors = ceil_div(l->rows, s.width), blocks = phases > 0 ? l->blocks : 0;
    if (vectors < 2 * lanes && tasks > vectors && blocks > 1) {
        s.by_blocks = true;
        s.blocks_per_task = ceil_div(blocks, tasks < blocks ? tasks : blocks);
        s.tasks = ceil_div(blocks, s.blocks_per_task);
        s.rows_per_task = l->rows;
        return s;
    }
    if (tasks > vectors) tasks = vectors;
    s.rows_per_task = ceil_div(vectors, tasks < 1 ? 1 : tasks) * s.width;
    s.tasks = s.rows_per_task > 0 ? ceil_div(l->rows, s.rows_per_task) : 0;
    return s;
}

/* An extreme of nothing is an error, as it is eagerly. */
static status check_empty(const kernel_launch *l) {
    if (l->length > 0 || l->k->phase_count == 0) return STATUS_OK;
    for (int i = 0; i < l->k->count; i++) {
        const kernel_instr *n = &l->k->code[i];
        if (n->code != K_REDUCE || (n->op != OP_max && n->op != OP_min)) continue;
        error *e = &l->g->c->err;
        fail(e, STATUS_VALUE, 311, "%s of no elements", op_table[n->op].name);
        e->where = l->g->nodes[n->node].where;
        return e->code;
    }
    return STATUS_OK;
}

status launch_prepare(const graph *g, const kernel *k, const kernel_source *source,
                      const kernel_source *turned, const int64_t *values, int lanes, arena *memory,
                      kernel_launch *l) {
    *l = (kernel_launch){.g = g, .k = k, .rows = 1, .length = 1};
    for (int i = 0; i < k->kept_rank; i++) l->rows *= l->kept[i] = dim_value(k->kept[i], values);
    for (int i = 0; i < k->inner_rank; i++) l->length *= l->inner[i] = dim_value(k->inner[i], values);
    l->blocks = ceil_div(l->length, REDUCE_BLOCK);
    l->accesses = arena_alloc(memory, (size_t)(k->access_count + 1) * sizeof *l->accesses);
    l->sizes = arena_alloc(memory, (size_t)(k->count + 1) * sizeof *l->sizes);
    bool faults = false;
    for (int i = 0; i < k->count; i++) faults |= k->code[i].faults;
    if (faults) l->faults = arena_alloc(memory, (size_t)(k->count + 1) * sizeof *l->faults);
    if (!l->accesses || !l->sizes || (faults && !l->faults))
        return fail_memory(&g->c->err, (size_t)k->access_count * sizeof *l->accesses);
    for (int i = 0; i < k->count; i++)
        if (k->code[i].code == K_SIZE) l->sizes[i] = dim_value(k->code[i].size, values);
    if (check_empty(l)) return g->c->err.code;
    l->along_inner = choose_direction(l);
    l->turned = turned && k->along_inner && !l->along_inner;
    l->code_inner = k->along_inner && !l->turned;
    bind_accesses(l, values);
    int64_t width = k->phase_count == 0 ? MAP_WIDTH : COLUMN_WIDTH;
    l->split = launch_choose_split(l, l->along_inner, width, lanes);
    if (source && launch_prepare_code(l, l->turned ? turned : source, values, lanes, memory))
        return g->c->err.code;
    return tiles_prepare(l, memory);
}

size_t launch_scratch(const kernel_launch *l, int lanes) {
    size_t tiles = l->shared_bytes + (size_t)lanes * l->lane_bytes;
    size_t code = l->code_shared + (size_t)lanes * l->code_lane;
    return tiles > code ? tiles : code;
}

status launch_check_faults(context *c, kernel_launch *l) {
    if (!l->faults) return STATUS_OK;
    for (int i = 0; i < l->k->count; i++) {
        int64_t n = atomic_exchange_explicit(&l->faults[i], 0, memory_order_relaxed);
        if (n == 0 || c->err.code) continue;
        const op_fault *f = &op_fault_info[l->k->code[i].op];
        fail(&c->err, STATUS_VALUE, f->number, "%s (%lld element%s)", f->message, (long long)n,
             n == 1 ? "" : "s");
        fail_hint(&c->err, "%s", f->hint);
        c->err.where = l->g->nodes[l->k->code[i].node].where;
    }
    return c->err.code;
}
