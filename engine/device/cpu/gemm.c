/* gemm.c — the one driver of matrix products.
 *
 * C is cut into panels by a function of (m, n, k) alone, and each panel is one task and one call of single-threaded
 * OpenBLAS: whichever worker computes it, the bits are the same. Transposed operands are passed as they are, with
 * BLAS's transposition flags; operands whose strides BLAS can't say are copied first, halves are converted to f32
 * first (the products accumulate in f32 and round once, panel by panel), and so are the operands of panels that are so
 * small that BLAS would sum them in an order that depends on the flags. Integers have own loops. */
#include "engine/device/cpu/gemm.h"

#include <limits.h>
#include <string.h>

#include "engine/core/copy.h"
#include "engine/device/cpu/blas.h"
#include "engine/ops/loops.h"

enum {
    PANEL_ROWS =
        1024, /* the library packs both operands for every call: tall panels cost 5 % against one whole */
    PANEL_COLS = 256, /* product, 512 x 256 ones 11 % (1024 cubed, f32) */
    MIN_ROWS = 64,
    MIN_COLS = 128,
    PANELS = 8,                  /* so many may run at once */
    PANEL_PRODUCTS = 1 << 23,    /* a panel is not cut further below this */
    TASK_PRODUCTS = 1 << 18,     /* small matrices of a batch share a task */
    PARALLEL_PRODUCTS = 1 << 20, /* below, waking workers costs more than it gains */
    SLICE_PRODUCTS = 1 << 29,    /* between two looks at the interrupt flag: 20 ms or so of BLAS, */
    OWN_SLICE_PRODUCTS = 1 << 25 /* and of own loops */
};

/* One side of the product as BLAS takes it. */
typedef struct side {
    const char *data;
    int64_t row, col;     /* element strides */
    const int64_t *batch; /* offsets; NULL: one matrix for all */
    tensor *held;         /* the copy, when there is one */
    int64_t copy_step;    /* elements between the copies of successive matrices */
    bool copied;
} side;

typedef struct product {
    context *c;
    const gemm *g;
    dtype t; /* that is computed in */
    gemm_grid grid;
    side a, b;
    int64_t panels, tasks, panels_in_task; /* panels: of all matrices */
    const blas *blas;                      /* NULL: own loops */
    char *scratch;                         /* per lane, a panel of C before it is rounded to halves */
    int64_t scratch_step;                  /* bytes */
    tensor *scratch_held;
} product;

static int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

static int64_t round_up(int64_t a, int64_t unit) {
    return ceil_div(a, unit) * unit;
}

gemm_grid gemm_panels(int64_t m, int64_t n, int64_t k) {
    int64_t rows = ceil_div(m, ceil_div(m, PANEL_ROWS)), cols = ceil_div(n, ceil_div(n, PANEL_COLS));
    /* products as doubles: sizes of stride-0 views may exceed any integer */
    while (ceil_div(m, rows) * ceil_div(n, cols) < PANELS &&
           (double)rows * (double)cols * (double)k >= 2.0 * PANEL_PRODUCTS) {
        if (rows >= 2 * cols && rows >= 2 * MIN_ROWS)
            rows = ceil_div(rows, 2);
        else if (cols >= 2 * MIN_COLS)
            cols = ceil_div(cols, 2);
        else if (rows >= 2 * MIN_ROWS)
            rows = ceil_div(rows, 2);
        else
            break;
    }
    if (rows < m) rows = round_up(rows, 16); /* whole registers of the kernels */
    if (cols < n) cols = round_up(cols, 64);
    return (gemm_grid){
        .rows = rows, .cols = cols, .row_panels = ceil_div(m, rows), .col_panels = ceil_div(n, cols)};
}

/* ---- operands ---- */

/* Can BLAS read a rows x cols matrix with these strides, `along` the adjacent axis? */
static bool leading(int64_t rows, int64_t cols, int64_t row, int64_t col) {
    return (col == 1 || cols == 1) && (rows == 1 || (row >= cols && row <= INT_MAX)) && cols <= INT_MAX;
}

static size_t copy_bytes(int64_t rows, int64_t cols, dtype t) {
    return (size_t)rows * (size_t)cols * dtype_size(t);
}

/* One matrix, row-major in the computing dtype; `raw` holds a matrix of halves, or is NULL. */
static void copy_matrix(const product *p, const side *s, int64_t rows, int64_t cols, const char *from,
                        char *to, char *raw) {
    shape box = {.rank = 2, .size = {rows, cols}};
    int64_t packed[2] = {cols, 1}, strides[2] = {s->row, s->col};
    dtype t = p->g->dtype;
    if (!raw) {
        copy_strided(p->c, &box, dtype_size(t), to, packed, from, strides);
        return;
    }
    copy_strided(p->c, &box, dtype_size(t), raw, packed, from, strides);
    loops()->cast[t][p->t](raw, to, rows * cols);
}

static bool same_offsets(const int64_t *offsets, int64_t n) {
    for (int64_t i = 1; offsets && i < n; i++)
        if (offsets[i] != offsets[0]) return false;
    return true;
}

/* Makes s what BLAS can read: rows x cols, not transposed when `plain`. */
static status prepare_side(product *p, side *s, int64_t rows, int64_t cols, bool plain) {
    const gemm *g = p->g;
    bool direct = p->t == g->dtype &&
                  (leading(rows, cols, s->row, s->col) || (!plain && leading(cols, rows, s->col, s->row)));
    if (direct) return STATUS_OK;
    bool one = same_offsets(s->batch, g->batch);
    int64_t matrices = one ? 1 : g->batch, size = (int64_t)dtype_size(g->dtype);
    s->held = tensor_new(p->c, p->t, &(shape){.rank = 3, .size = {matrices, rows, cols}});
    bool halves = p->t != g->dtype;
    tensor *raw =
        s->held && halves ? tensor_new(p->c, g->dtype, &(shape){.rank = 2, .size = {rows, cols}}) : NULL;
    if (!s->held || (halves && !raw)) return p->c->err.code;
    char *to = tensor_data(s->held);
    for (int64_t i = 0; i < matrices && !p->c->err.code; i++) {
        const char *from = s->data + (s->batch ? s->batch[i] : 0) * size;
        copy_matrix(p, s, rows, cols, from, to + (size_t)i * copy_bytes(rows, cols, p->t),
                    raw ? tensor_data(raw) : NULL);
        context_interrupted(p->c);
    }
    tensor_release(raw);
    *s = (side){.data = to, .row = cols, .col = 1, .held = s->held, .copied = true};
    if (!one) s->copy_step = rows * cols;
    return p->c->err.code;
}

/* Matrix number `index` of a side, from its element (i, j) on. */
static const char *matrix_at(const product *p, const side *s, int64_t index, int64_t i, int64_t j) {
    int64_t at = s->copied ? index * s->copy_step : s->batch ? s->batch[index] : 0;
    return s->data + (at + i * s->row + j * s->col) * (int64_t)dtype_size(p->t);
}

/* ---- panels ---- */

typedef struct blas_side {
    const void *data;
    int trans, ld;
} blas_side;

static blas_side blas_view(const side *s, const char *data, int64_t all_rows, int64_t all_cols) {
    if (leading(all_rows, all_cols, s->row, s->col))
        return (blas_side){data, BLAS_NO_TRANS, (int)(all_rows == 1 ? all_cols : s->row)};
    return (blas_side){data, BLAS_TRANS, (int)(all_cols == 1 ? all_rows : s->col)};
}

/* The products of k in [begin, end) of a panel; from the second slice on, they are added. */
static void multiply_slice(const product *p, const char *a, const char *b, void *c, int64_t c_row,
                           int64_t rows, int64_t cols, int64_t begin, int64_t end) {
    const gemm *g = p->g;
    int64_t size = (int64_t)dtype_size(p->t);
    a += begin * p->a.col * size;
    b += begin * p->b.row * size;
    if (!p->blas) {
        gemm_own(p->t, rows, cols, end - begin, a, p->a.row, b, p->b.row, c, c_row, begin > 0);
        return;
    }
    blas_side x = blas_view(&p->a, a, g->m, g->k), y = blas_view(&p->b, b, g->k, g->n);
    int m = (int)rows, n = (int)cols, k = (int)(end - begin), ldc = (int)c_row;
    double beta = begin > 0 ? 1 : 0;
    if (p->t == DT_F32)
        p->blas->sgemm(BLAS_ROW_MAJOR, x.trans, y.trans, m, n, k, 1.0F, x.data, x.ld, y.data, y.ld,
                       (float)beta, c, ldc);
    else
        p->blas->dgemm(BLAS_ROW_MAJOR, x.trans, y.trans, m, n, k, 1.0, x.data, x.ld, y.data, y.ld, beta, c,
                       ldc);
}

/* A panel, in slices of k that depend on sizes alone, so that an interrupt need not wait for all of a deep one. */
static void multiply(const product *p, const char *a, const char *b, void *c, int64_t c_row, int64_t rows,
                     int64_t cols) {
    int64_t k = p->g->k, most = p->blas ? SLICE_PRODUCTS : OWN_SLICE_PRODUCTS;
    double slices = (double)rows * (double)cols * (double)k / (double)most;
    int64_t depth = slices < 2 ? k : ceil_div(k, (int64_t)slices);
    for (int64_t begin = 0; begin < k; begin += depth) {
        int64_t end = begin + depth < k ? begin + depth : k;
        multiply_slice(p, a, b, c, c_row, rows, cols, begin, end);
        if (atomic_load_explicit(&p->c->interrupt, memory_order_relaxed)) return;
    }
}

void gemm_finish(const gemm *g, int64_t index, int64_t row, int64_t rows, int64_t col, int64_t cols,
                 int lane) {
    if (!g->epilogue) return;
    int64_t first = (index * g->m + row) * g->n + col;
    if (cols == g->n) { /* whole rows lie one after the other */
        cols *= rows;
        rows = 1;
    }
    g->epilogue->run(g->epilogue->user, first, rows, cols, g->n, lane);
}

static void panel(const product *p, int64_t number, int lane) {
    const gemm *g = p->g;
    int64_t in_matrix = p->grid.row_panels * p->grid.col_panels;
    int64_t index = number / in_matrix, at = number % in_matrix;
    int64_t row = at / p->grid.col_panels * p->grid.rows, col = at % p->grid.col_panels * p->grid.cols;
    int64_t rows = g->m - row < p->grid.rows ? g->m - row : p->grid.rows;
    int64_t cols = g->n - col < p->grid.cols ? g->n - col : p->grid.cols;
    const char *a = matrix_at(p, &p->a, index, row, 0), *b = matrix_at(p, &p->b, index, 0, col);
    int64_t size = (int64_t)dtype_size(g->dtype);
    char *c = (char *)g->c + ((g->c_batch ? g->c_batch[index] : 0) + row * g->c_row + col) * size;
    if (g->k == 0) {
        for (int64_t i = 0; i < rows; i++) memset(c + i * g->c_row * size, 0, (size_t)(cols * size));
    } else if (p->scratch) {
        char *wide = p->scratch + lane * p->scratch_step;
        multiply(p, a, b, wide, cols, rows, cols);
        cast_fn narrow = loops()->cast[p->t][g->dtype];
        for (int64_t i = 0; i < rows; i++)
            narrow(wide + i * cols * (int64_t)dtype_size(p->t), c + i * g->c_row * size, cols);
    } else {
        multiply(p, a, b, c, g->c_row, rows, cols);
    }
    gemm_finish(g, index, row, rows, col, cols, lane);
}

static void panels_task(void *user, int64_t task, int lane) {
    const product *p = user;
    int64_t end = (task + 1) * p->panels_in_task;
    for (int64_t i = task * p->panels_in_task; i < end && i < p->panels; i++) panel(p, i, lane);
}

/* ---- the product ---- */

/* Is some panel so small that its bits would depend on the transposition flags? */
static bool has_small_panels(const product *p) {
    const gemm *g = p->g;
    if (!p->blas || !p->blas->small_kernels) return !p->blas;
    int64_t rows = g->m - (p->grid.row_panels - 1) * p->grid.rows;
    int64_t cols = g->n - (p->grid.col_panels - 1) * p->grid.cols;
    return (double)rows * (double)cols * (double)g->k <= BLAS_SMALL;
}

static status prepare(product *p) {
    const gemm *g = p->g;
    if (g->k == 0) return STATUS_OK;
    bool plain = has_small_panels(p);
    if (prepare_side(p, &p->a, g->m, g->k, plain) || prepare_side(p, &p->b, g->k, g->n, plain))
        return p->c->err.code;
    if (p->t == g->dtype) return STATUS_OK;
    int64_t elements = round_up(p->grid.rows * p->grid.cols, 16);
    shape s = {.rank = 2, .size = {pool_lanes(p->c->workers), elements}};
    p->scratch_held = tensor_new(p->c, p->t, &s);
    if (!p->scratch_held) return p->c->err.code;
    p->scratch = tensor_data(p->scratch_held);
    p->scratch_step = elements * (int64_t)dtype_size(p->t);
    return STATUS_OK;
}

/* The library; when there is no room for it, cached memory is given back first. NULL: with the error. */
static const blas *library(context *c) {
    const blas *b = blas_library();
    if (b) return b;
    allocator_trim(c->memory);
    if (!(b = blas_library())) fail_memory(&c->err, BLAS_LIBRARY_BYTES);
    return b;
}

/* Makes room for as many calls of BLAS as there are lanes, or else for one; how many, or 0 with the error. */
static int begin_calls(context *c, int lanes) {
    if (blas_begin(lanes)) return lanes;
    allocator_trim(c->memory);
    if (blas_begin(lanes)) return lanes;
    if (blas_begin(1)) return 1; /* slower, with the same bits */
    fail_memory(&c->err, BLAS_BUFFER_BYTES);
    return 0;
}

static status run_panels(product *p) {
    const gemm *g = p->g;
    double work = (double)p->grid.rows * (double)p->grid.cols * (double)g->k;
    p->panels_in_task = work >= TASK_PRODUCTS ? 1 : (int64_t)(TASK_PRODUCTS / (work > 1 ? work : 1));
    p->tasks = ceil_div(p->panels, p->panels_in_task);
    bool parallel = p->tasks > 1 && work * (double)p->panels >= PARALLEL_PRODUCTS;
    int wanted = parallel ? pool_lanes(p->c->workers) : 1,
        lanes = p->blas ? begin_calls(p->c, wanted) : wanted;
    if (!lanes) return p->c->err.code;
    if (parallel && lanes == wanted)
        pool_run(p->c->workers, p->tasks, panels_task, p, &p->c->interrupt);
    else
        for (int64_t i = 0; i < p->tasks && !atomic_load(&p->c->interrupt); i++) panels_task(p, i, 0);
    if (p->blas) blas_end(lanes);
    return context_interrupted(p->c) ? p->c->err.code : STATUS_OK;
}

status gemm_run(context *c, const gemm *g) {
    if (g->m == 0 || g->n == 0 || g->batch == 0) return STATUS_OK;
    if ((g->m == 1 || g->n == 1) && dtype_is_float(g->dtype)) return gemv_run(c, g);
    product p = {.c = c,
                 .g = g,
                 .t = dtype_is_half(g->dtype) ? DT_F32 : g->dtype,
                 .grid = gemm_panels(g->m, g->n, g->k),
                 .a = {.data = g->a, .row = g->a_row, .col = g->a_col, .batch = g->a_batch},
                 .b = {.data = g->b, .row = g->b_row, .col = g->b_col, .batch = g->b_batch}};
    p.panels = g->batch * p.grid.row_panels * p.grid.col_panels;
    bool fits = g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX && g->c_row <= INT_MAX;
    if (dtype_is_float(p.t) && fits && !(p.blas = library(c))) return c->err.code;
    if (p.blas && !p.blas->sgemm) p.blas = NULL;
    status code = prepare(&p);
    if (!code) code = run_panels(&p);
    tensor_release(p.a.held);
    tensor_release(p.b.held);
    tensor_release(p.scratch_held);
    return code;
}
