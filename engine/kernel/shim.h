/* shim.h — runs emitted CUDA on the host: a fibre per thread of a block, blocks one after the other. */
#ifndef TD_KERNEL_SHIM_H
#define TD_KERNEL_SHIM_H

#include "engine/base/status.h"
#include "engine/kernel/host_shim.h"
#include "engine/kernel/prelude.h"

typedef struct shim shim;

/* A shim for blocks of up to `threads` threads. NULL when out of memory. */
shim *shim_new(int threads);
void shim_free(shim *s);
/* What the emitted library's `td_shim` is to point at. */
shim_thread *shim_thread_of(shim *s);

/* Runs `grid` blocks of `threads` threads. Threads take turns in an order that `seed` picks. Fails when a block can't go
 * on: some threads wait at a barrier that others will never reach, or shuffle without their neighbours. */
status shim_run(shim *s, void (*entry)(cuda_launch), cuda_launch launch, int grid, int threads, unsigned seed,
                error *e);

#endif
