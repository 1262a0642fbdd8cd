/* device.h — what a place that runs kernels can do. One CPU implementation (device/cpu); a GPU is a plug-in
 * with the same functions. Ops and the runtime reach hardware only through this table. */
#ifndef TD_DEVICE_DEVICE_H
#define TD_DEVICE_DEVICE_H

#include "engine/core/tensor.h"

/* What runs on each finished block of C, while it is in cache and by the lane that computed it: `runs` runs of `length`
 * neighbouring elements, `step` apart, the first element being number `first` of all of C, counted row-major. Blocks
 * depend on the sizes and dtype of the product alone. */
typedef struct gemm_epilogue {
    void (*run)(void *user, int64_t first, int64_t runs, int64_t length, int64_t step, int lane);
    void *user;
} gemm_epilogue;

/* C = A @ B for `batch` matrices. A is m x k, B is k x n, C is m x n row-major. Strides are in elements and
 * may be any (a transposed view is a pair of swapped strides). dtype is the dtype of A, B and C; halves
 * accumulate in f32 and round once, integers wrap. k = 0 gives zeros. */
typedef struct gemm {
    dtype dtype;
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, c_row; /* element strides; C's columns are adjacent */
    int64_t batch;
    const int64_t *a_batch, *b_batch,
        *c_batch;                  /* element offsets of each matrix, `batch` long; NULL: one matrix */
    const gemm_epilogue *epilogue; /* NULL: none */
} gemm;

typedef struct device {
    const char *name; /* "cpu" */
    status (*matmul)(context *c, const gemm *g);
} device;

extern const device device_cpu; /* device/cpu/cpu.c */

#endif
