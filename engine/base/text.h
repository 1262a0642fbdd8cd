/* text.h — a growing string. A failed append sets `failed` and later appends do nothing, so that a writer
 * checks once at its end. */
#ifndef TD_BASE_TEXT_H
#define TD_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text {
    char *data; /* NUL-terminated once anything was appended; owned */
    size_t length, capacity;
    bool failed; /* an allocation failed; the text is cut */
} text;

void text_add(text *t, const char *s);
void text_add_bytes(text *t, const char *s, size_t length);
void text_char(text *t, char c);
void text_printf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(text *t); /* empties it, keeping the memory */
void text_free(text *t);

/* The contents, never NULL. */
const char *text_str(const text *t);

#endif
