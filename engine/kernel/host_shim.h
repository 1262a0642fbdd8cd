/* host_shim.h — what emitted CUDA finds in place of CUDA when the system's C compiler reads it: enough to run a kernel
 * on the host, thread for thread, so that its barriers and shuffles mean what they mean on a GPU. shim.c is the other
 * side. Read by emitted code, through prelude.h. */
#ifndef TD_KERNEL_HOST_SHIM_H
#define TD_KERNEL_HOST_SHIM_H

#include "engine/math/types.h"

typedef struct shim_index {
    unsigned x, y, z;
} shim_index;

/* The thread that runs now, and what it can call. */
typedef struct shim_thread {
    shim_index thread, block, block_size, grid_size;
    void (*barrier)(void);
    /* x (of `bytes` bytes) becomes that of the thread `delta` further on in the same 16 threads; unchanged when that
     * leaves the 16. */
    void (*shuffle)(void *x, unsigned bytes, int delta);
} shim_thread;

#if defined(TD_HOST_SHIM)
shim_thread *td_shim; /* set by whoever loaded this */

#define threadIdx (td_shim->thread)
#define blockIdx (td_shim->block)
#define blockDim (td_shim->block_size)
#define gridDim (td_shim->grid_size)
#define __syncthreads() td_shim->barrier()
#define INLINE static inline
#define PART static
#define ENTRY void
#define EACH
#define COUNT_FAULTS(counter, n)                                                                             \
    if (n) (counter) += (n)
#define TD_SHUFFLE(name, type)                                                                               \
    static inline type shuffle_##name(type x, int delta) {                                                   \
        td_shim->shuffle(&x, sizeof x, delta);                                                               \
        return x;                                                                                            \
    }
TD_SHUFFLE(f32, float)
TD_SHUFFLE(f64, double)
TD_SHUFFLE(i64, int64_t)
TD_SHUFFLE(i32, int32_t)
TD_SHUFFLE(i8, int8_t)
TD_SHUFFLE(u8, uint8_t)
TD_SHUFFLE(bool, uint8_t)
#undef TD_SHUFFLE
#endif

#endif
