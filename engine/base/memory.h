/* memory.h — the one door to the system's allocator.
 *
 * Every allocation of the program (libraries excepted) goes through these functions, which count what is live
 * and can be told to fail, so that a test can fail each allocation of a session once and look for crashes and
 * leaks. The counters are process-wide and atomic: the one allocator is one of the documented pieces of
 * global state. */
#ifndef TD_BASE_MEMORY_H
#define TD_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc, realloc and free; NULL on failure. Sizes are bytes; a size of 0 is treated as 1. */
void *mem_alloc(size_t bytes);
void *mem_calloc(size_t n, size_t bytes);
void *mem_realloc(void *block, size_t bytes);
void mem_free(void *block);

/* `bytes` aligned to `align` (a power of two); freed with mem_free. */
void *mem_alloc_aligned(size_t align, size_t bytes);

/* A copy of `length` bytes of text, NUL-terminated; the caller frees it. */
char *mem_copy_text(const char *text, size_t length);

/* a * b and a + b into *out; false when the result does not fit. */
bool mem_mul(size_t a, size_t b, size_t *out);
bool mem_add(size_t a, size_t b, size_t *out);

/* Blocks that are allocated and not yet freed. */
int64_t mem_live(void);
/* Allocations so far (a reallocation counts as one). */
int64_t mem_count(void);
/* Lets allocation number mem_count() + `after` fail (1: the next); 0 or less switches failing off. */
void mem_fail_after(int64_t after);

#endif
