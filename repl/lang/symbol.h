/* symbol.h — names and record keys, each kept once per session, so that they compare as pointers.
 *
 * A symbol lives as long as its table. Tables are keyed by the hash that syntax trees carry, so that going
 * from a name in a tree to its symbol is one probe. Two different texts with one hash are refused when the
 * second one is interned, hence equal hashes mean equal names everywhere else. */
#ifndef TD_LANG_SYMBOL_H
#define TD_LANG_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/map.h"
#include "engine/base/status.h"

typedef struct symbol {
    uint64_t hash;
    uint32_t index; /* dense: 0, 1, 2, ... in the order of interning */
    uint32_t length;
    char text[]; /* NUL-terminated; a record's key may contain anything */
} symbol;

typedef struct symbol_table {
    map by_hash;
    symbol **items; /* [count], owned */
    uint32_t count, capacity;
} symbol_table;

/* A zeroed table is empty and ready. */
void symbol_table_free(symbol_table *t);

/* The hash that trees use: never 0. */
uint64_t symbol_hash(const char *text, size_t length);

/* The symbol of a text, made when it is new; NULL with the error set when memory runs out. */
const symbol *symbol_intern(symbol_table *t, const char *text, size_t length, error *e);
/* The symbol with that hash; NULL when there is none. */
const symbol *symbol_find(const symbol_table *t, uint64_t hash);

#endif
