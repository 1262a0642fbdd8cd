/* arena.h — memory that dies together: syntax trees, graphs, plans. */
#ifndef TD_BASE_ARENA_H
#define TD_BASE_ARENA_H

#include <stddef.h>

typedef struct arena arena;

/* A new empty arena, or NULL when out of memory. */
arena *arena_new(void);
void arena_free(arena *a); /* frees everything that was allocated from it; NULL is fine */

/* `bytes` zeroed bytes, aligned for any type; NULL when out of memory. Lives as long as the arena. */
void *arena_alloc(arena *a, size_t bytes);

/* A NUL-terminated copy of `length` bytes of text. */
char *arena_text(arena *a, const char *text, size_t length);

#endif
