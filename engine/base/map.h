/* map.h — an open-addressing hash map from 64-bit keys to pointer-sized values. Strings are keyed through
 * hash_bytes by owners who compare the text themselves. */
#ifndef TD_BASE_MAP_H
#define TD_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct map {
    uint64_t *keys; /* 0 marks a free slot; the key 0 itself is not allowed */
    uintptr_t *values;
    size_t count, capacity; /* capacity: 0 or a power of two */
} map;

/* A zeroed map is empty and ready. Keys must not be 0. */
bool map_put(map *m, uint64_t key, uintptr_t value); /* false when out of memory; replaces an old value */
bool map_get(const map *m, uint64_t key, uintptr_t *value);
bool map_has(const map *m, uint64_t key);
bool map_remove(map *m, uint64_t key);
void map_clear(map *m); /* keeps the memory */
void map_free(map *m);

/* A 64-bit mix of a number, and of `length` bytes. */
uint64_t hash_u64(uint64_t x);
uint64_t hash_bytes(const void *data, size_t length, uint64_t seed);

#endif
