/* copy.c — see copy.h.
 *
 * A box is first reduced to as few axes as its strides allow, ordered so that writing is sequential. The two
 * innermost axes are then one of three kernels: runs that are adjacent on both sides (memcpy), a transposition
 * (read along one axis, written along the other: small square blocks keep both in cache), or a plain strided
 * loop. The axes outside are counted by an odometer. */
#include "engine/core/copy.h"

#include <string.h>

enum { BLOCK = 16, PARALLEL_BYTES = 1 << 20, TASK_BYTES = PARALLEL_BYTES / 4 };

typedef struct axis {
    int64_t n, to, from;
} axis;

typedef struct box {
    int rank; /* at least 2 once prepared */
    axis axis[MAX_RANK + 2];
    size_t size;
    char *to;
    const char *from;
    int64_t outer; /* product of all axes but the last two */
    int64_t share; /* of the parallel axis that one task takes */
} box;

static int64_t magnitude(int64_t x) {
    return x < 0 ? -x : x;
}

/* Outer axes first: by the step on the side that is written. */
static void sort_axes(box *b) {
    for (int i = 1; i < b->rank; i++)
        for (int j = i; j > 0 && magnitude(b->axis[j - 1].to) < magnitude(b->axis[j].to); j--) {
            axis swap = b->axis[j];
            b->axis[j] = b->axis[j - 1];
            b->axis[j - 1] = swap;
        }
}

/* Joins neighbours that are one run on both sides. */
static void merge_axes(box *b) {
    int kept = 0;
    for (int i = 0; i < b->rank; i++) {
        axis a = b->axis[i];
        axis *outer = kept ? &b->axis[kept - 1] : NULL;
        if (outer && outer->to == a.to * a.n && outer->from == a.from * a.n)
            *outer = (axis){.n = outer->n * a.n, .to = a.to, .from = a.from};
        else
            b->axis[kept++] = a;
    }
    b->rank = kept;
}

/* Brings an axis that is read sequentially next to the last one, for the transposing kernel. */
static void find_transposition(box *b) {
    if (b->axis[b->rank - 1].from == 1) return;
    for (int i = b->rank - 2; i >= 0; i--) {
        if (b->axis[i].from != 1) continue;
        axis a = b->axis[i];
        memmove(&b->axis[i], &b->axis[i + 1], (size_t)(b->rank - 2 - i) * sizeof a);
        b->axis[b->rank - 2] = a;
        return;
    }
}

#define STRIDED(T)                                                                                           \
    static void strided_##T(T *restrict to, const T *restrict from, axis row, axis col) {                    \
        for (int64_t i = 0; i < row.n; i++)                                                                  \
            for (int64_t j = 0; j < col.n; j++)                                                              \
                to[i * row.to + j * col.to] = from[i * row.from + j * col.from];                             \
    }                                                                                                        \
    static void fill_##T(T *restrict to, const T *restrict from, axis row, axis col) {                       \
        for (int64_t i = 0; i < row.n; i++) {                                                                \
            T value = from[i * row.from];                                                                    \
            for (int64_t j = 0; j < col.n; j++) to[i * row.to + j] = value;                                  \
        }                                                                                                    \
    }                                                                                                        \
    static void transpose_##T(T *restrict to, const T *restrict from, axis row, axis col) {                  \
        for (int64_t i0 = 0; i0 < row.n; i0 += BLOCK)                                                        \
            for (int64_t j0 = 0; j0 < col.n; j0 += BLOCK) {                                                  \
                axis r = row, c = col;                                                                       \
                r.n = row.n - i0 < BLOCK ? row.n - i0 : BLOCK;                                               \
                c.n = col.n - j0 < BLOCK ? col.n - j0 : BLOCK;                                               \
                strided_##T(to + i0 * row.to + j0 * col.to, from + i0 * row.from + j0 * col.from, r, c);     \
            }                                                                                                \
    }                                                                                                        \
    static void plane_##T(void *to, const void *from, axis row, axis col) {                                  \
        if (col.to == 1 && col.from == 0)                                                                    \
            fill_##T(to, from, row, col);                                                                    \
        else if (row.from == 1 && col.from != 1)                                                             \
            transpose_##T(to, from, row, col);                                                               \
        else                                                                                                 \
            strided_##T(to, from, row, col);                                                                 \
    }

typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

/* to[i][j] = from[j][i] for 4 x 4 elements of 4 bytes. */
static inline void transpose_four(uint32_t *to, int64_t to_step, const uint32_t *from, int64_t from_step) {
    four a = *(const four *)from, b = *(const four *)(from + from_step),
         c = *(const four *)(from + 2 * from_step), d = *(const four *)(from + 3 * from_step);
    four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(four *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(four *)(to + to_step) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(four *)(to + 2 * to_step) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
    *(four *)(to + 3 * to_step) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

STRIDED(uint8_t)
STRIDED(uint16_t)
STRIDED(uint32_t)
STRIDED(uint64_t)

/* As transpose_uint32_t, by registers of four; col.to and row.from are 1. */
static void transpose_fours(uint32_t *to, const uint32_t *from, axis row, axis col) {
    int64_t rows = row.n / 4 * 4, cols = col.n / 4 * 4;
    for (int64_t i0 = 0; i0 < rows; i0 += BLOCK)
        for (int64_t j = 0; j < cols; j += 4)
            for (int64_t i = i0; i < i0 + BLOCK && i < rows; i += 4)
                transpose_four(to + i * row.to + j, row.to, from + j * col.from + i, col.from);
    axis rest_row = row, rest_col = col;
    rest_row.n = row.n - rows;
    rest_col.n = col.n - cols;
    strided_uint32_t(to + rows * row.to, from + rows, rest_row, col);
    row.n = rows;
    strided_uint32_t(to + cols, from + cols * col.from, row, rest_col);
}

static void copy_plane(size_t size, char *to, const char *from, axis row, axis col) {
    if (col.to == 1 && col.from == 1) {
        int64_t step = (int64_t)size;
        for (int64_t i = 0; i < row.n; i++)
            memcpy(to + i * row.to * step, from + i * row.from * step, (size_t)col.n * size);
        return;
    }
    switch (size) {
    case 1:
        plane_uint8_t(to, from, row, col);
        return;
    case 2:
        plane_uint16_t(to, from, row, col);
        return;
    case 4:
        if (col.to == 1 && row.from == 1 && col.from != 1 && row.n >= 4)
            transpose_fours((uint32_t *)(void *)to, (const uint32_t *)(const void *)from, row, col);
        else
            plane_uint32_t(to, from, row, col);
        return;
    default:
        plane_uint64_t(to, from, row, col);
    }
}

/* The planes [begin, end) of the axes outside. */
static void copy_planes(const box *b, int64_t begin, int64_t end) {
    axis row = b->axis[b->rank - 2], col = b->axis[b->rank - 1];
    for (int64_t i = begin; i < end; i++) {
        int64_t rest = i, to = 0, from = 0;
        for (int a = b->rank - 3; a >= 0; a--) {
            int64_t at = rest % b->axis[a].n;
            rest /= b->axis[a].n;
            to += at * b->axis[a].to;
            from += at * b->axis[a].from;
        }
        copy_plane(b->size, b->to + to * (int64_t)b->size, b->from + from * (int64_t)b->size, row, col);
    }
}

static void planes_task(void *user, int64_t task, int lane) {
    (void)lane;
    const box *b = user;
    int64_t begin = task * b->share, end = begin + b->share;
    copy_planes(b, begin, end < b->outer ? end : b->outer);
}

/* A single plane is split along its rows. */
static void rows_task(void *user, int64_t task, int lane) {
    (void)lane;
    const box *b = user;
    axis row = b->axis[b->rank - 2], col = b->axis[b->rank - 1];
    int64_t begin = task * b->share, size = (int64_t)b->size;
    row.n = row.n - begin < b->share ? row.n - begin : b->share;
    copy_plane(b->size, b->to + begin * row.to * size, b->from + begin * row.from * size, row, col);
}

static void run_box(context *c, box *b, int64_t count) {
    int64_t bytes = count * (int64_t)b->size, tasks = bytes / TASK_BYTES;
    if (bytes < PARALLEL_BYTES || !c) {
        copy_planes(b, 0, b->outer);
        return;
    }
    bool rows = b->outer < tasks;
    int64_t n = rows ? b->axis[b->rank - 2].n : b->outer;
    if (rows) tasks = (tasks + b->outer - 1) / b->outer;
    b->share = (n + tasks - 1) / tasks;
    if (rows) b->share = (b->share + BLOCK - 1) / BLOCK * BLOCK;
    tasks = (n + b->share - 1) / b->share;
    if (!rows) {
        pool_run(c->workers, tasks, planes_task, b, &c->interrupt);
        return;
    }
    for (int64_t i = 0, outer = b->outer; i < outer; i++) { /* few planes, one after the other */
        box one = *b;
        int64_t rest = i;
        for (int a = b->rank - 3; a >= 0; a--) {
            int64_t at = rest % b->axis[a].n * (int64_t)b->size;
            rest /= b->axis[a].n;
            one.to += at * b->axis[a].to;
            one.from += at * b->axis[a].from;
        }
        pool_run(c->workers, tasks, rows_task, &one, &c->interrupt);
    }
}

/* One long run becomes rows for the workers; what is left over is copied at once. */
static void split_run(box *b, int64_t *count) {
    int64_t run = PARALLEL_BYTES / 16 / (int64_t)b->size, whole = *count / run * run, step = b->axis[0].from;
    copy_plane(b->size, b->to + whole * (int64_t)b->size, b->from + whole * step * (int64_t)b->size,
               (axis){.n = 1}, (axis){.n = *count - whole, .to = 1, .from = step});
    *count = whole;
    b->axis[0] = (axis){.n = whole / run, .to = run, .from = run * step};
    b->axis[b->rank++] = (axis){.n = run, .to = 1, .from = step};
}

status copy_strided(context *c, const shape *s, size_t size, void *to, const int64_t *to_stride,
                    const void *from, const int64_t *from_stride) {
    box b = {.size = size, .to = to, .from = from, .outer = 1};
    int64_t count = 1;
    for (int i = 0; i < s->rank; i++) {
        count *= s->size[i];
        if (s->size[i] != 1)
            b.axis[b.rank++] = (axis){.n = s->size[i], .to = to_stride[i], .from = from_stride[i]};
    }
    if (count == 0) return STATUS_OK;
    sort_axes(&b);
    merge_axes(&b);
    if (b.rank == 1 && b.axis[0].to == 1 && count * (int64_t)size >= PARALLEL_BYTES) split_run(&b, &count);
    if (b.rank) find_transposition(&b);
    while (b.rank < 2) { /* unit axes in front */
        memmove(&b.axis[1], &b.axis[0], (size_t)b.rank * sizeof b.axis[0]);
        b.axis[0] = (axis){.n = 1};
        if (b.rank++ == 0) b.axis[0] = (axis){.n = 1, .to = 1, .from = 1};
    }
    for (int i = 0; i < b.rank - 2; i++) b.outer *= b.axis[i].n;
    run_box(c, &b, count);
    return c && context_interrupted(c) ? c->err.code : STATUS_OK;
}

status copy_tensor(const tensor *t, void *to) {
    int64_t stride[MAX_RANK];
    shape_strides(&t->meta.shape, stride);
    return copy_strided(t->c, &t->meta.shape, dtype_size(t->meta.dtype), to, stride, tensor_data(t),
                        t->stride);
}

status copy_zeros(context *c, void *to, size_t bytes) {
    return copy_strided(c, &(shape){.rank = 1, .size = {(int64_t)bytes}}, 1, to, &(int64_t){1}, "",
                        &(int64_t){0});
}

tensor *tensor_to_contiguous(tensor *t) {
    if (tensor_contiguous(t)) return tensor_retain(t);
    tensor *copy = tensor_new(t->c, t->meta.dtype, &t->meta.shape);
    if (!copy) return NULL;
    copy->meta.weak = t->meta.weak;
    if (!copy_tensor(t, tensor_data(copy))) return copy;
    tensor_release(copy);
    return NULL;
}
