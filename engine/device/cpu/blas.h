/* blas.h — OpenBLAS, loaded when the first matrix product needs it.
 *
 * It is loaded at run time, not linked, because its choice of kernels must be made before it starts: releases do
 * not know processors that are newer than they are and fall back to kernels of 2005 (0.3.21 does so on a Xeon of
 * 2024, at a fifth of the speed). So OPENBLAS_CORETYPE is set from the instruction sets that the processor has,
 * unless the user has set it. Without the library the driver uses its own kernels. */
#ifndef TD_DEVICE_CPU_BLAS_H
#define TD_DEVICE_CPU_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* cblas_sgemm and cblas_dgemm with 32-bit sizes. */
typedef void (*blas_sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*blas_dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                           const double *a, int lda, const double *b, int ldb, double beta, double *c,
                           int ldc);

enum { BLAS_ROW_MAJOR = 101, BLAS_NO_TRANS = 111, BLAS_TRANS = 112 };

typedef struct blas {
    blas_sgemm sgemm; /* NULL when there is no library */
    blas_dgemm dgemm;
    const char *core; /* the name of its kernels: "SkylakeX"; "" without a library */
    /* Products of up to BLAS_SMALL multiplications go to kernels whose order of summation depends on the
     * transposition flags; without them the bits are the same for every layout. */
    bool small_kernels;
} blas;

#define BLAS_SMALL 1000000

/* The library, single-threaded; loads it the first time (any thread may call). NULL while there is no room for it in
 * memory: own kernels would give other bits. */
const blas *blas_library(void);

/* The library maps a buffer for every call that runs at once and keeps it, and when there is no memory for one it tries
 * for ever. So all calls are between these two, which have it map the buffers before. False: there is no room for
 * `count` calls more (any thread may call). */
bool blas_begin(int count);
void blas_end(int count);

/* Of address space: the library with those that it needs (40 MiB and some to spare), and a buffer of its builds for
 * x86-64 and arm64. */
#define BLAS_LIBRARY_BYTES ((size_t)64 << 20)
#define BLAS_BUFFER_BYTES ((size_t)128 << 20)

#endif
