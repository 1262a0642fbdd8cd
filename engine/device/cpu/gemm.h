/* gemm.h — the parts of the CPU's matrix product. gemm.c is the driver; it hands products with a vector to gemv.c,
 * float panels to OpenBLAS (blas.c) and everything else to gemm_own.c. */
#ifndef TD_DEVICE_CPU_GEMM_H
#define TD_DEVICE_CPU_GEMM_H

#include "engine/device/device.h"

/* The whole product g, as device.h says. */
status gemm_run(context *c, const gemm *g);

/* How C is cut into panels: all but the last of rows x cols. A function of (m, n, k) and of nothing else. */
typedef struct gemm_grid {
    int64_t rows, cols; /* of a panel */
    int64_t row_panels, col_panels;
} gemm_grid;
gemm_grid gemm_panels(int64_t m, int64_t n, int64_t k);

/* Runs g's epilogue, if there is one, on rows [row, row + rows) and columns [col, col + cols) of matrix `index`. */
void gemm_finish(const gemm *g, int64_t index, int64_t row, int64_t rows, int64_t col, int64_t cols,
                 int lane);

/* m or n is 1 and the dtype is a float: out[j] = sum over i of v[i] * w[i][j] in the canonical order of sums
 * (ops/loops.h), so that `x @ y` of vectors has the bits of sum(x * y). */
status gemv_run(context *c, const gemm *g);

/* A panel of C = A @ B by own loops, for integers (wrapping) and for floats where there is no BLAS; all row-major with
 * the given row strides. `add`: onto what C holds. t is not a half. */
void gemm_own(dtype t, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, const void *b,
              int64_t b_row, void *c, int64_t c_row, bool add);

#endif
