/* reduce_walk.c — the kernel of reductions: elements of any layout, met in the canonical order of ops/loops.h.
 *
 * The unit of work is a strip of outputs and one block of up to 1024 elements of each. Two kernels do a unit, with
 * the same bits: by rows, one output after the other, its elements running through the 16 lanes; by columns, where
 * neighbouring outputs are neighbours in memory (or where an output has few elements), a whole strip of outputs
 * at a time. Units write block results into a table [blocks][outputs] (the result itself when there is one block);
 * afterwards the blocks of each output combine as a tree. The split depends on shapes alone, and so no bit
 * depends on layout or threads. */
#include "engine/ops/reduce.h"

#include <string.h>

enum {
    STRIP_BYTES = 1024,    /* accumulators of a strip of columns, one lane */
    ROWS_ELEMENTS = 16384, /* a strip of rows takes about so many elements */
    TASK_ELEMENTS = 32768, /* a task, too */
    PARALLEL_ELEMENTS = 65536,
    FEW = 32, /* elements of an output, up to which columns are better even when rows are adjacent */
    COLUMNS_MIN = 8,
    STORE = 1024 /* outputs finished at a time */
};

typedef struct walk {
    const reduction *r;
    int kept, reduced; /* axes, merged */
    reduce_axis k[MAX_RANK], x[MAX_RANK];
    int64_t outputs, count, blocks;
    bool columns;
    int64_t strip, strips, strips_in_run; /* outputs in a strip; strips; in one run of the last kept axis */
    int64_t units, units_in_task;
    size_t acc_bytes, element_bytes;
    cast_fn load; /* NULL: elements are accumulators as they are */
    char *partial;
} walk;

/* Buffers of one task. */
typedef struct buffers {
    _Alignas(64) char acc[REDUCE_LANES * STRIP_BYTES];
    _Alignas(64) char raw[TILE * sizeof(double)];
    _Alignas(64) char tile[TILE * sizeof(double)];
} buffers;

static int merge(int n, const reduce_axis *in, reduce_axis *out, int64_t *count) {
    int kept = 0;
    *count = 1;
    for (int i = 0; i < n; i++) {
        *count *= in[i].n;
        if (in[i].n == 1) continue;
        if (kept && out[kept - 1].stride == in[i].stride * in[i].n)
            out[kept - 1] = (reduce_axis){out[kept - 1].n * in[i].n, in[i].stride};
        else
            out[kept++] = in[i];
    }
    if (kept == 0) out[kept++] = (reduce_axis){1, 1};
    return kept;
}

static int64_t offset_of(const reduce_axis *axis, int n, int64_t index) {
    int64_t at = 0;
    for (int i = n - 1; i > 0; i--) {
        at += index % axis[i].n * axis[i].stride;
        index /= axis[i].n;
    }
    return at + index * axis[0].stride;
}

#define GATHER(T)                                                                                            \
    {                                                                                                        \
        T *restrict o = to;                                                                                  \
        const T *x = from;                                                                                   \
        for (int64_t i = 0; i < n; i++) o[i] = x[i * stride];                                                \
    }
static void gather_run(void *to, const void *from, int64_t n, int64_t stride, size_t bytes) {
    if (stride == 1)
        memcpy(to, from, (size_t)n * bytes);
    else if (bytes == 1)
        GATHER(uint8_t)
    else if (bytes == 2)
        GATHER(uint16_t)
    else if (bytes == 4)
        GATHER(uint32_t)
    else
        GATHER(uint64_t)
}

/* n <= TILE elements `stride` apart as accumulators: in place, or through the buffers. */
static const void *load_run(const walk *w, buffers *b, const char *from, int64_t n, int64_t stride) {
    if (stride != 1) {
        gather_run(b->raw, from, n, stride, w->element_bytes);
        from = b->raw;
    }
    if (!w->load) return from;
    w->load(from, b->tile, n);
    return b->tile;
}

/* n <= TILE elements of an output's, from element i on; `base` is the output's first. */
static const void *load_row(const walk *w, buffers *b, const char *base, int64_t i, int64_t n) {
    int64_t bytes = (int64_t)w->element_bytes;
    const reduce_axis *last = &w->x[w->reduced - 1];
    if (w->reduced == 1) return load_run(w, b, base + i * last->stride * bytes, n, last->stride);
    for (int64_t done = 0; done < n;) {
        int64_t room = last->n - (i + done) % last->n;
        int64_t run = n - done < room ? n - done : room;
        const char *from = base + offset_of(w->x, w->reduced, i + done) * bytes;
        gather_run(b->raw + done * bytes, from, run, last->stride, w->element_bytes);
        done += run;
    }
    return load_run(w, b, b->raw, n, 1);
}

void reduction_fold(const reduce_fns *fns, size_t acc_bytes, void *lanes, int64_t width, int64_t used) {
    int64_t half = REDUCE_LANES / 2;
    while (half > 0 && half >= used) half /= 2; /* lanes from `half` on are neutral */
    for (; half > 0; half /= 2)
        fns->columns(lanes, (char *)lanes + half * width * (int64_t)acc_bytes, half * width);
}

void reduction_tree(const reduce_fns *fns, size_t acc_bytes, void *partial, int64_t blocks, int64_t row,
                    int64_t width) {
    char *p = partial;
    int64_t step = row * (int64_t)acc_bytes;
    for (int64_t size = 1; size < blocks; size *= 2)
        for (int64_t b = 0; b + 2 * size <= blocks; b += 2 * size)
            fns->columns(p + b * step, p + (b + size) * step, width);
    /* what is left: one root per bit of `blocks`, the largest first; from the smallest up */
    int64_t end = blocks, newer = -1;
    for (int64_t size = 1; size <= blocks; size *= 2) {
        if (!(blocks & size)) continue;
        end -= size;
        if (newer >= 0) fns->columns(p + end * step, p + newer * step, width);
        newer = end;
    }
}

static void unit_rows(const walk *w, buffers *b, int64_t first, int64_t last, int64_t block) {
    const reduce_fns *f = w->r->fns;
    int64_t begin = block * REDUCE_BLOCK;
    int64_t n = w->count - begin < REDUCE_BLOCK ? w->count - begin : REDUCE_BLOCK;
    bool direct = w->reduced == 1 && w->x[0].stride == 1 && !w->load;
    int64_t tile = direct ? REDUCE_BLOCK : TILE;
    for (int64_t o = first; o < last; o++) {
        const char *base = (const char *)w->r->x + offset_of(w->k, w->kept, o) * (int64_t)w->element_bytes;
        f->start(b->acc, REDUCE_LANES);
        for (int64_t i = 0; i < n; i += tile) {
            int64_t part = n - i < tile ? n - i : tile;
            f->lanes(b->acc, load_row(w, b, base, begin + i, part), part);
        }
        reduction_fold(f, w->acc_bytes, b->acc, 1, n);
        memcpy(w->partial + (size_t)(block * w->outputs + o) * w->acc_bytes, b->acc, w->acc_bytes);
    }
}

static void unit_columns(const walk *w, buffers *b, int64_t first, int64_t width, int64_t block) {
    const reduce_fns *f = w->r->fns;
    int64_t begin = block * REDUCE_BLOCK, bytes = (int64_t)w->element_bytes;
    int64_t n = w->count - begin < REDUCE_BLOCK ? w->count - begin : REDUCE_BLOCK;
    int64_t lanes = n < REDUCE_LANES ? n : REDUCE_LANES, lane_bytes = width * (int64_t)w->acc_bytes;
    const char *base = (const char *)w->r->x + offset_of(w->k, w->kept, first) * bytes;
    int64_t stride = w->k[w->kept - 1].stride;
    int64_t filled = 1; /* the fold reads a power of two of lanes */
    while (filled < lanes) filled *= 2;
    f->start(b->acc, filled * width);
    for (int64_t i = 0; i < n; i++) {
        const char *from = base + offset_of(w->x, w->reduced, begin + i) * bytes;
        f->columns(b->acc + i % REDUCE_LANES * lane_bytes, load_run(w, b, from, width, stride), width);
    }
    reduction_fold(f, w->acc_bytes, b->acc, width, n);
    memcpy(w->partial + (size_t)(block * w->outputs + first) * w->acc_bytes, b->acc, (size_t)lane_bytes);
}

static void walk_task(void *user, int64_t task, int lane) {
    (void)lane;
    const walk *w = user;
    buffers b;
    int64_t end = (task + 1) * w->units_in_task;
    for (int64_t u = task * w->units_in_task; u < end && u < w->units; u++) {
        int64_t strip = u / w->blocks, block = u % w->blocks;
        if (!w->columns) {
            int64_t first = strip * w->strip, last = first + w->strip;
            unit_rows(w, &b, first, last < w->outputs ? last : w->outputs, block);
            continue;
        }
        int64_t run = w->k[w->kept - 1].n, at = strip % w->strips_in_run * w->strip;
        int64_t width = run - at < w->strip ? run - at : w->strip;
        unit_columns(w, &b, strip / w->strips_in_run * run + at, width, block);
    }
}

/* Combines the blocks of up to STORE outputs, finishes them and stores them in the result's dtype. */
static void store_task(void *user, int64_t task, int lane) {
    (void)lane;
    const walk *w = user;
    const reduction *r = w->r;
    int64_t first = task * STORE, n = w->outputs - first < STORE ? w->outputs - first : STORE;
    char *acc = w->partial + (size_t)first * w->acc_bytes;
    char *out = (char *)r->out + (size_t)first * dtype_size(r->to);
    if (w->blocks == 0) r->fns->start(acc, n);
    if (w->blocks > 1) reduction_tree(r->fns, w->acc_bytes, acc, w->blocks, w->outputs, n);
    r->fns->finish(acc, n, w->count);
    if (acc != out) loops()->cast[ctype_dtype(r->acc)][r->to](acc, out, n);
}

static void plan(walk *w) {
    const reduce_axis *k = &w->k[w->kept - 1], *x = &w->x[w->reduced - 1];
    int64_t near = k->stride < 0 ? -k->stride : k->stride, far = x->stride < 0 ? -x->stride : x->stride;
    w->columns = k->n >= COLUMNS_MIN && (w->count <= FEW || (x->stride != 1 && near <= far));
    int64_t block = w->count < REDUCE_BLOCK ? w->count : REDUCE_BLOCK;
    if (w->columns) {
        w->strip = (int64_t)(STRIP_BYTES / w->acc_bytes);
        if (w->strip > k->n) w->strip = k->n;
        w->strips_in_run = (k->n + w->strip - 1) / w->strip;
        w->strips = w->outputs / k->n * w->strips_in_run;
    } else {
        w->strip = ROWS_ELEMENTS / (block > 0 ? block : 1);
        if (w->strip < 1) w->strip = 1;
        w->strips = (w->outputs + w->strip - 1) / w->strip;
    }
    w->units = w->strips * w->blocks;
    int64_t work = w->strip * block;
    w->units_in_task = work >= TASK_ELEMENTS ? 1 : TASK_ELEMENTS / (work > 0 ? work : 1);
}

/* All tasks here, or shared by the workers when there is enough to do. */
static void run_tasks(context *c, const walk *w, int64_t tasks, pool_task task) {
    if (tasks > 1 && w->count * w->outputs >= PARALLEL_ELEMENTS) {
        pool_run(c->workers, tasks, task, (void *)w, &c->interrupt);
        return;
    }
    for (int64_t i = 0; i < tasks; i++) task((void *)w, i, 0);
}

status reduction_run(context *c, const reduction *r) {
    walk w = {.r = r, .acc_bytes = dtype_size(ctype_dtype(r->acc)), .element_bytes = dtype_size(r->from)};
    w.kept = merge(r->kept, r->kept_axis, w.k, &w.outputs);
    w.reduced = merge(r->reduced, r->reduced_axis, w.x, &w.count);
    if (w.outputs == 0) return STATUS_OK;
    w.blocks = (w.count + REDUCE_BLOCK - 1) / REDUCE_BLOCK;
    w.load = r->from == ctype_dtype(r->acc) ? NULL : loops()->cast[r->from][ctype_dtype(r->acc)];
    plan(&w);
    tensor *table = NULL;
    w.partial = r->out;
    if (w.blocks > 1 || r->to != ctype_dtype(r->acc)) {
        table = tensor_new(c, ctype_dtype(r->acc),
                           &(shape){.rank = 2, .size = {w.blocks > 0 ? w.blocks : 1, w.outputs}});
        if (!table) return c->err.code;
        w.partial = tensor_data(table);
    }
    run_tasks(c, &w, (w.units + w.units_in_task - 1) / w.units_in_task, walk_task);
    run_tasks(c, &w, (w.outputs + STORE - 1) / STORE, store_task);
    tensor_release(table);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}
