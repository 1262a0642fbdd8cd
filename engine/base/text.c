/* text.c — see text.h. */
#include "engine/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"

static bool reserve(text *t, size_t more) {
    size_t need;
    if (t->failed || !mem_add(t->length + 1, more, &need)) return !(t->failed = true);
    if (need <= t->capacity) return true;
    size_t capacity = t->capacity ? t->capacity * 2 : 64;
    if (capacity < need) capacity = need;
    char *data = mem_realloc(t->data, capacity);
    if (!data) return !(t->failed = true);
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_add_bytes(text *t, const char *s, size_t length) {
    if (!reserve(t, length)) return;
    memcpy(t->data + t->length, s, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_add(text *t, const char *s) {
    text_add_bytes(t, s, strlen(s));
}

void text_char(text *t, char c) {
    text_add_bytes(t, &c, 1);
}

void text_printf(text *t, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) t->failed = true;
    if (length >= 0 && reserve(t, (size_t)length)) {
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

void text_clear(text *t) {
    t->length = 0;
    t->failed = false;
    if (t->data) t->data[0] = '\0';
}

void text_free(text *t) {
    mem_free(t->data);
    *t = (text){0};
}

const char *text_str(const text *t) {
    return t->data ? t->data : "";
}
