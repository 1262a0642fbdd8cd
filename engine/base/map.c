/* map.c — linear probing, deletion by shifting back. */
#include "engine/base/map.h"

#include <string.h>

#include "engine/base/memory.h"

uint64_t hash_u64(uint64_t x) { /* the finaliser of SplitMix64 */
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t hash_bytes(const void *data, size_t length, uint64_t seed) {
    const unsigned char *p = data;
    uint64_t h = seed ^ (0x9e3779b97f4a7c15u * (length + 1));
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = hash_u64(h ^ word);
    }
    uint64_t tail = 0;
    memcpy(&tail, p, length);
    return hash_u64(h ^ tail);
}

static size_t slot_of(const map *m, uint64_t key) {
    size_t mask = m->capacity - 1, i = (size_t)hash_u64(key) & mask;
    while (m->keys[i] != 0 && m->keys[i] != key) i = (i + 1) & mask;
    return i;
}

static bool grow(map *m) {
    map bigger = {.capacity = m->capacity ? m->capacity * 2 : 16};
    bigger.keys = mem_calloc(bigger.capacity, sizeof *bigger.keys);
    bigger.values = mem_alloc(bigger.capacity * sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        map_free(&bigger);
        return false;
    }
    for (size_t i = 0; i < m->capacity; i++) {
        if (m->keys[i] == 0) continue;
        size_t j = slot_of(&bigger, m->keys[i]);
        bigger.keys[j] = m->keys[i];
        bigger.values[j] = m->values[i];
    }
    bigger.count = m->count;
    map_free(m);
    *m = bigger;
    return true;
}

bool map_put(map *m, uint64_t key, uintptr_t value) {
    if (2 * (m->count + 1) > m->capacity && !grow(m)) return false;
    size_t i = slot_of(m, key);
    if (m->keys[i] == 0) m->count++;
    m->keys[i] = key;
    m->values[i] = value;
    return true;
}

bool map_get(const map *m, uint64_t key, uintptr_t *value) {
    if (m->count == 0) return false;
    size_t i = slot_of(m, key);
    if (m->keys[i] == 0) return false;
    if (value) *value = m->values[i];
    return true;
}

bool map_has(const map *m, uint64_t key) {
    return map_get(m, key, NULL);
}

bool map_remove(map *m, uint64_t key) {
    if (m->count == 0) return false;
    size_t mask = m->capacity - 1, hole = slot_of(m, key);
    if (m->keys[hole] == 0) return false;
    for (size_t i = (hole + 1) & mask; m->keys[i] != 0; i = (i + 1) & mask) {
        size_t home = (size_t)hash_u64(m->keys[i]) & mask;
        if (((i - home) & mask) < ((i - hole) & mask)) continue; /* it may not move before its home */
        m->keys[hole] = m->keys[i];
        m->values[hole] = m->values[i];
        hole = i;
    }
    m->keys[hole] = 0;
    m->count--;
    return true;
}

void map_clear(map *m) {
    if (m->keys) memset(m->keys, 0, m->capacity * sizeof *m->keys);
    m->count = 0;
}

void map_free(map *m) {
    mem_free(m->keys);
    mem_free(m->values);
    *m = (map){0};
}
