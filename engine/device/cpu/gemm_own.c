/* gemm_own.c — blocked matrix products in plain C. Integers wrap, through unsigned arithmetic. Every element of C
 * takes its products in order of k, so the blocking shows in no bit. */
#include "engine/device/cpu/gemm.h"

#include <string.h>

enum { K_BLOCK = 128, N_BLOCK = 256 };

/* Rows of C take K_BLOCK rows of B, N_BLOCK wide, which stay in L1 or L2. U: the type that computes. */
#define OWN(T, U)                                                                                            \
    static void own_##T(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row, const T *b,              \
                        int64_t b_row, T *c, int64_t c_row, bool add) {                                      \
        for (int64_t i = 0; !add && i < m; i++) memset(c + i * c_row, 0, (size_t)n * sizeof(T));             \
        for (int64_t j0 = 0; j0 < n; j0 += N_BLOCK)                                                          \
            for (int64_t l0 = 0; l0 < k; l0 += K_BLOCK) {                                                    \
                int64_t width = n - j0 < N_BLOCK ? n - j0 : N_BLOCK,                                         \
                        end = l0 + K_BLOCK < k ? l0 + K_BLOCK : k;                                           \
                for (int64_t i = 0; i < m; i++) {                                                            \
                    T *restrict o = c + i * c_row + j0;                                                      \
                    for (int64_t l = l0; l < end; l++) {                                                     \
                        U x = (U)a[i * a_row + l];                                                           \
                        const T *restrict y = b + l * b_row + j0;                                            \
                        for (int64_t j = 0; j < width; j++) o[j] = (T)((U)o[j] + x * (U)y[j]);               \
                    }                                                                                        \
                }                                                                                            \
            }                                                                                                \
    }
OWN(float, float)
OWN(double, double)
OWN(int64_t, uint64_t)
OWN(int32_t, uint32_t)
OWN(uint8_t, uint32_t)

void gemm_own(dtype t, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, const void *b,
              int64_t b_row, void *c, int64_t c_row, bool add) {
    switch (t) {
    case DT_F32:
        own_float(m, n, k, a, a_row, b, b_row, c, c_row, add);
        return;
    case DT_F64:
        own_double(m, n, k, a, a_row, b, b_row, c, c_row, add);
        return;
    case DT_I64:
        own_int64_t(m, n, k, a, a_row, b, b_row, c, c_row, add);
        return;
    case DT_I32:
        own_int32_t(m, n, k, a, a_row, b, b_row, c, c_row, add);
        return;
    default: /* u8 and i8: the same bits */
        own_uint8_t(m, n, k, a, a_row, b, b_row, c, c_row, add);
    }
}
