/* memory.c — see memory.h. */
#include "engine/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t live, count;
static _Atomic int64_t fail_at; /* the value of `count` that fails; 0: none */

/* Counts one allocation; true when it is the one that must fail. */
static bool must_fail(void) {
    int64_t number = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1;
    return number == atomic_load_explicit(&fail_at, memory_order_relaxed);
}

static void *counted(void *block) {
    if (block) atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return block;
}

void *mem_alloc(size_t bytes) {
    return must_fail() ? NULL : counted(malloc(bytes ? bytes : 1));
}

void *mem_calloc(size_t n, size_t bytes) {
    return must_fail() ? NULL : counted(calloc(n ? n : 1, bytes ? bytes : 1));
}

void *mem_realloc(void *block, size_t bytes) {
    if (!block) return mem_alloc(bytes);
    return must_fail() ? NULL : realloc(block, bytes ? bytes : 1);
}

void mem_free(void *block) {
    if (!block) return;
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(block);
}

void *mem_alloc_aligned(size_t align, size_t bytes) {
    size_t rounded;
    if (must_fail() || !mem_add(bytes ? bytes : 1, align - 1, &rounded)) return NULL;
    return counted(aligned_alloc(align, rounded & ~(align - 1)));
}

char *mem_copy_text(const char *text, size_t length) {
    char *copy = mem_alloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

bool mem_mul(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

bool mem_add(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

int64_t mem_live(void) {
    return atomic_load_explicit(&live, memory_order_relaxed);
}

int64_t mem_count(void) {
    return atomic_load_explicit(&count, memory_order_relaxed);
}

void mem_fail_after(int64_t after) {
    atomic_store_explicit(&fail_at, after > 0 ? mem_count() + after : 0, memory_order_relaxed);
}
