/* arena.c — a chain of blocks, each twice as large as the one before up to a bound. */
#include "engine/base/arena.h"

#include <stdint.h>
#include <string.h>

#include "engine/base/memory.h"

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGN = 16 };

typedef struct block {
    struct block *next;
    size_t used, size; /* bytes of data */
    _Alignas(ALIGN) unsigned char data[];
} block;

struct arena {
    block *blocks; /* newest first */
};

arena *arena_new(void) {
    return mem_calloc(1, sizeof(arena));
}

void arena_free(arena *a) {
    if (!a) return;
    for (block *b = a->blocks; b;) {
        block *next = b->next;
        mem_free(b);
        b = next;
    }
    mem_free(a);
}

static block *add_block(arena *a, size_t need) {
    size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK, bytes;
    if (size > LARGEST_BLOCK) size = LARGEST_BLOCK;
    if (size < need) size = need;
    if (!mem_add(size, sizeof(block), &bytes)) return NULL;
    block *b = mem_alloc(bytes);
    if (!b) return NULL;
    *b = (block){.next = a->blocks, .size = size};
    a->blocks = b;
    return b;
}

void *arena_alloc(arena *a, size_t bytes) {
    if (bytes > SIZE_MAX - ALIGN) return NULL;
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    block *b = a->blocks;
    if (!b || b->size - b->used < bytes) b = add_block(a, bytes);
    if (!b) return NULL;
    void *p = b->data + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

char *arena_text(arena *a, const char *text, size_t length) {
    char *copy = arena_alloc(a, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}
