/* cuda_grid.h — with how many threads an emitted CUDA kernel is launched, and the memory that it needs beside its
 * buffers. The same for a GPU and for the host shim. */
#ifndef TD_KERNEL_CUDA_GRID_H
#define TD_KERNEL_CUDA_GRID_H

#include "engine/kernel/launch.h"

typedef struct cuda_grid {
    int blocks, threads; /* of the grid; of a block */
    int teams;           /* that share a row (prelude.h) */
    size_t scratch_bytes, partial_bytes;
    int64_t *numbers; /* kernel_args.number, owned by the caller (mem_free) */
} cuda_grid;

/* For launch l of a kernel whose CUDA source is given, at the sizes `values`, with at most most_blocks blocks of
 * most_threads (a power of two of at least 16) threads. */
status cuda_grid_make(const kernel_launch *l, const kernel_source *source, const int64_t *values,
                      int most_blocks, int most_threads, cuda_grid *g);

#endif
