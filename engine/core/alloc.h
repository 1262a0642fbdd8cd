/* alloc.h — the caching allocator of tensor data.
 *
 * Blocks come in size classes (four per power of two) and go back to a free list per class, since fresh pages
 * cost more than most kernels. Blocks of 2 MiB and more are aligned for and marked for huge pages. One
 * allocator per context; single-threaded. */
#ifndef TD_CORE_ALLOC_H
#define TD_CORE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"

typedef struct allocator allocator;

allocator *allocator_new(void);    /* NULL when out of memory */
void allocator_free(allocator *a); /* all blocks must have been put back */

/* A block of at least `bytes` bytes aligned to 64, contents undefined; NULL when memory or the byte limit is
 * used up even after the cache was emptied. *granted gets its size, to be handed back to allocator_put. */
void *allocator_get(allocator *a, size_t bytes, size_t *granted);
/* Sets the error of a call that gave NULL: names the limit when that was why. */
status allocator_failed(const allocator *a, size_t bytes, error *e);
void allocator_put(allocator *a, void *block, size_t granted);

/* Gives cached blocks back to the system. */
void allocator_trim(allocator *a);

/* Bytes in use, cached, the highest use so far, and how many may be in use and cached together (0: any number). */
size_t allocator_used(const allocator *a);
size_t allocator_cached(const allocator *a);
size_t allocator_peak(const allocator *a);
size_t allocator_limit(const allocator *a);
void allocator_set_limit(allocator *a, size_t bytes);

#endif
