/* alloc.c — see alloc.h. A free block's first word links to the next free block of its class. */
#include "engine/core/alloc.h"

#include <sys/mman.h>

#include "engine/base/memory.h"

enum {
    SMALLEST_LOG2 = 6,
    PER_OCTAVE = 4,
    OCTAVES = 42,
    CLASSES = OCTAVES * PER_OCTAVE,
    HUGE_BYTES = 2 << 20
};

struct allocator {
    void *free[CLASSES];
    size_t used, cached, peak, limit;
};

/* The smallest class that holds `bytes`, and its size: (4 + k) / 4 * 2^n for k = 0..3. */
static int class_of(size_t bytes, size_t *size) {
    if (bytes < (size_t)1 << SMALLEST_LOG2) bytes = (size_t)1 << SMALLEST_LOG2;
    int log = 63 - __builtin_clzll(bytes);
    size_t base = (size_t)1 << log, step = base / PER_OCTAVE;
    size_t k = (bytes - base + step - 1) / step; /* 0..4; 4 is the next octave's 0 */
    *size = base + k * step;
    return (log - SMALLEST_LOG2) * PER_OCTAVE + (int)k;
}

allocator *allocator_new(void) {
    return mem_calloc(1, sizeof(allocator));
}

void allocator_trim(allocator *a) {
    for (int i = 0; i < CLASSES; i++) {
        for (void *b = a->free[i]; b;) {
            void *next = *(void **)b;
            mem_free(b);
            b = next;
        }
        a->free[i] = NULL;
    }
    a->cached = 0;
}

void allocator_free(allocator *a) {
    if (!a) return;
    allocator_trim(a);
    mem_free(a);
}

static void *fresh(size_t size) {
    void *b = mem_alloc_aligned(size >= HUGE_BYTES ? HUGE_BYTES : 64, size);
    if (b && size >= HUGE_BYTES)
        madvise(b, size, MADV_HUGEPAGE); /* advice only: its failure costs speed alone */
    return b;
}

void *allocator_get(allocator *a, size_t bytes, size_t *granted) {
    if (bytes > (size_t)1 << 46) return NULL;
    size_t size;
    int class = class_of(bytes, &size);
    void *b = a->free[class];
    if (a->limit && a->used + size > a->limit) return NULL;
    if (b) {
        a->free[class] = *(void **)b;
        a->cached -= size;
    } else {
        if (a->limit && a->used + a->cached + size > a->limit) allocator_trim(a);
        b = fresh(size);
        if (!b && a->cached) {
            allocator_trim(a);
            b = fresh(size);
        }
        if (!b) return NULL;
    }
    a->used += size;
    if (a->used > a->peak) a->peak = a->used;
    *granted = size;
    return b;
}

status allocator_failed(const allocator *a, size_t bytes, error *e) {
    if (!a->limit || (bytes <= a->limit && a->used + bytes <= a->limit)) return fail_memory(e, bytes);
    fail(e, STATUS_MEMORY, 901,
         "out of memory: %zu bytes more than the %zu in use would pass the limit of %zu", bytes, a->used,
         a->limit);
    return fail_hint(e, "free what is bound to large names, or start with a larger --memory");
}

void allocator_put(allocator *a, void *block, size_t granted) {
    size_t size;
    int class = class_of(granted, &size);
    *(void **)block = a->free[class];
    a->free[class] = block;
    a->used -= granted;
    a->cached += granted;
}

size_t allocator_used(const allocator *a) {
    return a->used;
}

size_t allocator_cached(const allocator *a) {
    return a->cached;
}

size_t allocator_peak(const allocator *a) {
    return a->peak;
}

size_t allocator_limit(const allocator *a) {
    return a->limit;
}

void allocator_set_limit(allocator *a, size_t bytes) {
    a->limit = bytes;
}
