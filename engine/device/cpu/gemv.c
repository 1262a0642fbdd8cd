/* gemv.c — matrix times vector, limited by memory, in one order for every layout.
 *
 * Both kernels make products a tile at a time and add them as reductions do: where the matrix is adjacent along k, one
 * output after the other; where it is adjacent along the outputs, a strip of outputs at a time with 16 lanes of
 * accumulators. Blocks of 1024 combine as a binary counter, kept as a stack with one level per bit. */
#include "engine/device/cpu/gemm.h"

#include <string.h>

#include "engine/core/copy.h"
#include "engine/ops/reduce.h"

enum {
    STRIP_BYTES = 1024,
    LEVELS = 44,
    TASK_PRODUCTS = 32768,
    PARALLEL_PRODUCTS = 131072,
    LONG_PRODUCTS = 1 << 20,
    COLUMNS_MIN = 8
};

typedef struct vector_product {
    const gemm *g;
    dtype t;   /* of the matrix and of C */
    ctype acc; /* f32 or f64 */
    size_t acc_bytes, bytes;
    int64_t k, count; /* inner size; outputs of one matrix */
    int64_t w_k, w_j; /* strides of the matrix */
    int64_t out_step;
    bool left;           /* the vector is A */
    const char *vectors; /* [batch or 1][k] accumulators */
    int64_t vector_step; /* 0: one vector for all */
    bool columns;
    int64_t strip, strips, strips_in_task;
    loop_fn mul;
    const reduce_fns *sum;
    cast_fn load, store; /* NULL: none needed */
} vector_product;

typedef struct buffers {
    _Alignas(64) char acc[REDUCE_LANES * STRIP_BYTES];
    _Alignas(64) char stack[LEVELS * STRIP_BYTES];
    _Alignas(64) char raw[TILE * sizeof(double)];
    _Alignas(64) char tile[TILE * sizeof(double)];
} buffers;

/* n <= TILE elements of the matrix, `stride` apart, as accumulators. */
static const void *load_run(const vector_product *p, buffers *b, const char *from, int64_t n,
                            int64_t stride) {
    if (stride != 1) {
        shape s = {.rank = 1, .size = {n}};
        copy_strided(NULL, &s, p->bytes, b->raw, &(int64_t){1}, from, &stride);
        from = b->raw;
    }
    if (!p->load) return from;
    p->load(from, b->tile, n);
    return b->tile;
}

/* Adds block number `block`'s result (the first row of acc) to the stack. */
static void push(const vector_product *p, buffers *b, int64_t block, int64_t width) {
    int level = 0;
    size_t bytes = (size_t)width * p->acc_bytes;
    for (; block >> level & 1; level++) { /* the older half is on the stack */
        char *older = b->stack + level * STRIP_BYTES;
        p->sum->columns(older, b->acc, width);
        memcpy(b->acc, older, bytes);
    }
    memcpy(b->stack + level * STRIP_BYTES, b->acc, bytes);
}

/* The sum of everything on the stack into acc. */
static void collect(const vector_product *p, buffers *b, int64_t blocks, int64_t width) {
    size_t bytes = (size_t)width * p->acc_bytes;
    p->sum->start(b->acc, width);
    bool first = true;
    for (int level = 0; blocks >> level; level++) {
        if (!(blocks >> level & 1)) continue;
        char *older = b->stack + level * STRIP_BYTES;
        if (!first) p->sum->columns(older, b->acc, width);
        memcpy(b->acc, older, bytes);
        first = false;
    }
}

static void store_outputs(const vector_product *p, buffers *b, int64_t index, int64_t first, int64_t width,
                          int lane) {
    const gemm *g = p->g;
    size_t out_bytes = dtype_size(p->t);
    const char *from = b->acc;
    if (p->store) {
        p->store(b->acc, b->raw, width);
        from = b->raw;
    }
    char *out =
        (char *)g->c + ((g->c_batch ? g->c_batch[index] : 0) + first * p->out_step) * (int64_t)out_bytes;
    shape s = {.rank = 1, .size = {width}};
    copy_strided(NULL, &s, out_bytes, out, &p->out_step, from, &(int64_t){1});
    if (p->left)
        gemm_finish(g, index, 0, 1, first, width, lane);
    else
        gemm_finish(g, index, first, width, 0, 1, lane);
}

static void strip_rows(const vector_product *p, buffers *b, const char *w, const char *v, int64_t first,
                       int64_t width, char *results) {
    int64_t bytes = (int64_t)p->bytes;
    for (int64_t j = 0; j < width; j++) {
        const char *row = w + (first + j) * p->w_j * bytes;
        int64_t blocks = 0;
        for (int64_t begin = 0; begin < p->k; begin += REDUCE_BLOCK, blocks++) {
            int64_t end = begin + REDUCE_BLOCK < p->k ? begin + REDUCE_BLOCK : p->k;
            p->sum->start(b->acc, REDUCE_LANES);
            for (int64_t i = begin; i < end; i += TILE) {
                int64_t n = end - i < TILE ? end - i : TILE;
                const void *x = load_run(p, b, row + i * p->w_k * bytes, n, p->w_k);
                p->mul((const void *[]){x, v + i * (int64_t)p->acc_bytes}, (int[]){1, 1}, b->tile, n);
                p->sum->lanes(b->acc, b->tile, n);
            }
            reduction_fold(p->sum, p->acc_bytes, b->acc, 1, end - begin);
            push(p, b, blocks, 1);
        }
        collect(p, b, blocks, 1);
        memcpy(results + j * (int64_t)p->acc_bytes, b->acc, p->acc_bytes);
    }
    memcpy(b->acc, results, (size_t)width * p->acc_bytes);
}

static void strip_columns(const vector_product *p, buffers *b, const char *w, const char *v, int64_t first,
                          int64_t width) {
    int64_t bytes = (int64_t)p->bytes, acc = (int64_t)p->acc_bytes, blocks = 0;
    for (int64_t begin = 0; begin < p->k; begin += REDUCE_BLOCK, blocks++) {
        int64_t end = begin + REDUCE_BLOCK < p->k ? begin + REDUCE_BLOCK : p->k;
        p->sum->start(b->acc, REDUCE_LANES * width);
        for (int64_t i = begin; i < end; i++) {
            const void *x = load_run(p, b, w + (i * p->w_k + first * p->w_j) * bytes, width, p->w_j);
            p->mul((const void *[]){x, v + i * acc}, (int[]){1, 0}, b->tile, width);
            p->sum->columns(b->acc + i % REDUCE_LANES * width * acc, b->tile, width);
        }
        reduction_fold(p->sum, p->acc_bytes, b->acc, width, end - begin);
        push(p, b, blocks, width);
    }
    collect(p, b, blocks, width);
}

static void product_task(void *user, int64_t task, int lane) {
    const vector_product *p = user;
    const gemm *g = p->g;
    buffers b;
    _Alignas(64) char results[STRIP_BYTES];
    int64_t end = (task + 1) * p->strips_in_task, all = g->batch * p->strips;
    for (int64_t s = task * p->strips_in_task; s < end && s < all; s++) {
        int64_t index = s / p->strips, first = s % p->strips * p->strip;
        int64_t width = p->count - first < p->strip ? p->count - first : p->strip;
        const int64_t *offsets = p->left ? g->b_batch : g->a_batch;
        const char *w =
            (const char *)(p->left ? g->b : g->a) + (offsets ? offsets[index] : 0) * (int64_t)p->bytes;
        const char *v = p->vectors + index * p->vector_step * (int64_t)p->acc_bytes;
        if (p->columns)
            strip_columns(p, &b, w, v, first, width);
        else
            strip_rows(p, &b, w, v, first, width, results);
        store_outputs(p, &b, index, first, width, lane);
    }
}

/* The vectors as adjacent accumulators: in place, or copied into *held. */
static status take_vectors(context *c, vector_product *p, tensor **held) {
    const gemm *g = p->g;
    const char *from = p->left ? g->a : g->b;
    int64_t stride = p->left ? g->a_col : g->b_row;
    const int64_t *offsets = p->left ? g->a_batch : g->b_batch;
    bool same = true;
    for (int64_t i = 1; offsets && i < g->batch; i++) same = same && offsets[i] == offsets[0];
    if (same && !p->load && (stride == 1 || p->k == 1)) {
        p->vectors = from + (offsets ? offsets[0] : 0) * (int64_t)p->bytes;
        return STATUS_OK;
    }
    int64_t vectors = same ? 1 : g->batch;
    *held = tensor_new(c, ctype_dtype(p->acc), &(shape){.rank = 2, .size = {vectors, p->k}});
    tensor *raw = *held && p->load ? tensor_new(c, p->t, &(shape){.rank = 1, .size = {p->k}}) : NULL;
    if (!*held || (p->load && !raw)) return c->err.code;
    shape s = {.rank = 1, .size = {p->k}};
    for (int64_t i = 0; i < vectors; i++) {
        char *to = (char *)tensor_data(*held) + (size_t)(i * p->k) * p->acc_bytes;
        const char *vector = from + (offsets ? offsets[i] : 0) * (int64_t)p->bytes;
        copy_strided(NULL, &s, p->bytes, raw ? tensor_data(raw) : to, &(int64_t){1}, vector, &stride);
        if (raw) p->load(tensor_data(raw), to, p->k);
    }
    tensor_release(raw);
    p->vectors = tensor_data(*held);
    p->vector_step = same ? 0 : p->k;
    return STATUS_OK;
}

status gemv_run(context *c, const gemm *g) {
    bool left = g->m == 1;
    vector_product p = {.g = g,
                        .t = g->dtype,
                        .acc = dtype_compute(g->dtype),
                        .bytes = dtype_size(g->dtype),
                        .k = g->k,
                        .count = left ? g->n : g->m,
                        .w_k = left ? g->b_row : g->a_col,
                        .w_j = left ? g->b_col : g->a_row,
                        .out_step = left ? 1 : g->c_row,
                        .left = left};
    p.acc_bytes = dtype_size(ctype_dtype(p.acc));
    p.mul = loops()->elementwise[OP_mul][p.acc];
    p.sum = &loops()->reduce[OP_sum][p.acc];
    if (dtype_is_half(p.t)) {
        p.load = loops()->cast[p.t][DT_F32];
        p.store = loops()->cast[DT_F32][p.t];
    }
    tensor *held = NULL;
    if (take_vectors(c, &p, &held)) {
        tensor_release(held);
        return c->err.code;
    }
    int64_t near = p.w_j < 0 ? -p.w_j : p.w_j, far = p.w_k < 0 ? -p.w_k : p.w_k;
    p.columns = p.count >= COLUMNS_MIN && near < far;
    p.strip = (int64_t)(STRIP_BYTES / p.acc_bytes); /* whatever the layout: epilogues see strips */
    if (p.strip * p.k > LONG_PRODUCTS) p.strip /= 4;
    if (p.strip > p.count) p.strip = p.count;
    p.strips = (p.count + p.strip - 1) / p.strip;
    int64_t work = p.strip * p.k, all = g->batch * p.strips;
    p.strips_in_task = work >= TASK_PRODUCTS ? 1 : TASK_PRODUCTS / (work > 0 ? work : 1);
    int64_t tasks = (all + p.strips_in_task - 1) / p.strips_in_task;
    if (tasks > 1 && all * work >= PARALLEL_PRODUCTS)
        pool_run(c->workers, tasks, product_task, &p, &c->interrupt);
    else
        for (int64_t i = 0; i < tasks; i++) product_task(&p, i, 0);
    tensor_release(held);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}
