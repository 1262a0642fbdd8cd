/* prelude.h — what emitted kernels have in common beside the scalar functions: their arguments, and the parts of the
 * canonical order of reductions (ops/loops.h) that are the same in each. Read by the system's compiler, by NVRTC, and
 * by the host shim of emitted CUDA. */
#ifndef TD_KERNEL_PRELUDE_H
#define TD_KERNEL_PRELUDE_H

#include "engine/math/types.h"

/* Lanes and block of a reduction; levels of the tree of blocks (enough for 2^40 blocks); rows computed side by side
 * where vectors run along kept axes; elements between two looks at the interrupt flag. */
enum { LANES = 16, BLOCK = 1024, LEVELS = 40, WIDTH = 64, STRETCH = 16384 };

/* What a kernel is called with. */
typedef struct kernel_args {
    void *const *buffer;   /* by access: the address of the element of index 0 */
    const int64_t *number; /* sizes, strides and offsets, as the kernel numbered them */
    char *scratch;         /* row buffers of this thread, or of all when blocks are shared */
    char *state;           /* shared blocks: the row that is being computed */
    char *partial;         /* shared blocks: results of blocks */
    int64_t *fault;        /* by instruction: elements on which it must raise */
    const volatile int *stop;
} kernel_args;

/* What emitted CUDA is launched with: `threads` threads a block, `teams` of which share a row. Rows lie one after the
 * other in a block's threads: 16 lanes, then teams, then rows (vectors along inner axes), or rows, then teams. */
typedef struct cuda_launch {
    kernel_args args;
    int64_t rows;
    int teams;
} cuda_launch;

#if defined(TD_HOST_SHIM)
#include "engine/kernel/host_shim.h"
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define INLINE static __device__ __forceinline__
#define PART static __device__
#define ENTRY extern "C" __global__ void
#define EACH
#define COUNT_FAULTS(counter, n)                                                                             \
    if (n) atomicAdd((unsigned long long *)&(counter), (unsigned long long)(n))

/* The value of the thread `delta` lanes up in the row's 16 threads, all of which are here. */
static __device__ __forceinline__ unsigned td_half_warp(void) {
    return 0xffffu << (threadIdx.x & 16u);
}
#define TD_SHUFFLE(name, type, wide)                                                                         \
    static __device__ __forceinline__ type shuffle_##name(type x, int delta) {                               \
        return (type)__shfl_down_sync(td_half_warp(), (wide)x, (unsigned)delta, LANES);                      \
    }
TD_SHUFFLE(f32, float, float)
TD_SHUFFLE(f64, double, double)
TD_SHUFFLE(i64, int64_t, long long)
TD_SHUFFLE(i32, int32_t, int)
TD_SHUFFLE(i8, int8_t, int)
TD_SHUFFLE(u8, uint8_t, int)
TD_SHUFFLE(bool, uint8_t, int)
#undef TD_SHUFFLE
#else
#define INLINE static inline __attribute__((always_inline))
#define PART static
/* Blocks are called from two places and worth a call; the steps of shared rows are not worth much compiling. */
#define APART static __attribute__((noinline))
#define SELDOM __attribute__((cold))
#define COUNT_FAULTS(counter, n)                                                                             \
    if (n) __atomic_fetch_add(&(counter), (n), __ATOMIC_RELAXED)

/* Iterations are independent: results are in other memory than operands. */
#if defined(__clang__)
#define EACH _Pragma("clang loop vectorize(assume_safety)")
#else
#define EACH _Pragma("GCC ivdep")
#endif

#endif

#define BLOCK_END(begin, length) ((length) - (begin) < BLOCK ? (length) : (begin) + BLOCK)

/* acc[LANES] folds by halves into acc[0]. */
#define FOLD_LANES(combine, acc)                                                                             \
    for (int half_ = LANES / 2; half_ >= 1; half_ /= 2)                                                      \
        for (int l_ = 0; l_ < half_; l_++) acc[l_] = combine(acc[l_], acc[l_ + half_])

/* acc[LANES][width] folds by halves into acc[0]. */
#define FOLD(combine, acc, width)                                                                            \
    for (int half_ = LANES / 2; half_ >= 1; half_ /= 2)                                                      \
        for (int l_ = 0; l_ < half_; l_++)                                                                   \
            for (int c_ = 0; c_ < (width); c_++) acc[l_][c_] = combine(acc[l_][c_], acc[l_ + half_][c_])

/* Block number `count` joins the tree, whose level i holds the combination of 2^i blocks. Spoils value. */
#define TREE_PUSH(combine, tree, count, value, width)                                                        \
    do {                                                                                                     \
        int level_ = 0;                                                                                      \
        for (int64_t n_ = (count); n_ & 1; n_ >>= 1, level_++)                                               \
            for (int c_ = 0; c_ < (width); c_++) value[c_] = combine(tree[level_][c_], value[c_]);           \
        for (int c_ = 0; c_ < (width); c_++) tree[level_][c_] = value[c_];                                   \
    } while (0)

/* The combination of all `count` blocks; `start` when there are none. */
#define TREE_TOTAL(combine, start, tree, count, value, width)                                                \
    do {                                                                                                     \
        int full_ = 0;                                                                                       \
        for (int c_ = 0; c_ < (width); c_++) value[c_] = start();                                            \
        for (int level_ = 0; (count) >> level_; level_++) {                                                  \
            if (!((count) >> level_ & 1)) continue;                                                          \
            for (int c_ = 0; c_ < (width); c_++)                                                             \
                value[c_] = full_ ? combine(tree[level_][c_], value[c_]) : tree[level_][c_];                 \
            full_ = 1;                                                                                       \
        }                                                                                                    \
    } while (0)

#endif
