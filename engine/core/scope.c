/* scope.c — see scope.h. */
#include "engine/core/scope.h"

#include "engine/base/memory.h"

void scope_open(context *c, scope *s) {
    *s = (scope){.outer = c->scope};
    c->scope = s;
}

void scope_close(context *c, scope *s) {
    for (size_t i = 0; i < s->count; i++) tensor_release(s->items[i]);
    mem_free(s->items);
    c->scope = s->outer;
}

tensor *scope_add(context *c, tensor *t) {
    scope *s = c->scope;
    if (!t) return NULL;
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 16;
        tensor **items = mem_realloc(s->items, capacity * sizeof *items);
        if (!items) {
            fail_memory(&c->err, capacity * sizeof *items);
            tensor_release(t);
            return NULL;
        }
        s->items = items;
        s->capacity = capacity;
    }
    s->items[s->count++] = t;
    return t;
}
