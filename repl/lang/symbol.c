/* symbol.c — see symbol.h. */
#include "repl/lang/symbol.h"

#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/eval_errors.h"

void symbol_table_free(symbol_table *t) {
    for (uint32_t i = 0; i < t->count; i++) mem_free(t->items[i]);
    mem_free(t->items);
    map_free(&t->by_hash);
    *t = (symbol_table){0};
}

uint64_t symbol_hash(const char *text, size_t length) {
    uint64_t hash = hash_bytes(text, length, 0);
    return hash ? hash : 1;
}

const symbol *symbol_find(const symbol_table *t, uint64_t hash) {
    uintptr_t found;
    return map_get(&t->by_hash, hash, &found) ? (const symbol *)found : NULL;
}

static bool make_room(symbol_table *t) {
    if (t->count < t->capacity) return true;
    uint32_t capacity = t->capacity ? 2 * t->capacity : 256;
    symbol **items = mem_realloc(t->items, capacity * sizeof *items);
    if (!items) return false;
    t->items = items;
    t->capacity = capacity;
    return true;
}

const symbol *symbol_intern(symbol_table *t, const char *text, size_t length, error *e) {
    uint64_t hash = symbol_hash(text, length);
    const symbol *known = symbol_find(t, hash);
    if (known) {
        if (known->length == length && memcmp(known->text, text, length) == 0) return known;
        fail(e, STATUS_UNSUPPORTED, E_NAMES_CLASH, "the names %s and %.*s can't be told apart: rename one",
             known->text, (int)(length < 100 ? length : 100), text);
        return NULL;
    }
    size_t bytes = sizeof(symbol) + length + 1;
    symbol *made = length < UINT32_MAX - 64 ? mem_alloc(bytes) : NULL;
    if (!made || !make_room(t) || !map_put(&t->by_hash, hash, (uintptr_t)made)) {
        mem_free(made);
        fail_memory(e, bytes);
        return NULL;
    }
    made->hash = hash;
    made->index = t->count;
    made->length = (uint32_t)length;
    memcpy(made->text, text, length);
    made->text[length] = '\0';
    t->items[t->count++] = made;
    return made;
}
