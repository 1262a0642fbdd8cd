/* source.c — see source.h. Line starts are found when a source is added and searched by halving. How an error
 * looks is in source_render.c. */
#include "repl/lang/source.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/unicode.h"

typedef struct source {
    char *name; /* or NULL */
    char *text;
    size_t length;
    uint32_t *lines; /* byte offsets of line starts; lines[0] is 0 */
    size_t line_count;
    uint32_t lines_before; /* typed at the prompt before this text was */
} source;

struct source_table {
    source *items; /* source number n is items[n - 1] */
    size_t count, capacity;
    uint32_t typed; /* lines */
};

source_table *source_table_new(void) {
    return mem_calloc(1, sizeof(source_table));
}

static void free_source(source *s) {
    mem_free(s->name);
    mem_free(s->text);
    mem_free(s->lines);
}

void source_table_free(source_table *table) {
    if (!table) return;
    for (size_t i = 0; i < table->count; i++) free_source(&table->items[i]);
    mem_free(table->items);
    mem_free(table);
}

static bool find_lines(source *s) {
    size_t count = 1, bytes;
    for (size_t i = 0; i < s->length; i++) count += s->text[i] == '\n';
    if (!mem_mul(count, sizeof *s->lines, &bytes) || !(s->lines = mem_alloc(bytes))) return false;
    s->lines[s->line_count++] = 0;
    for (size_t i = 0; i < s->length; i++)
        if (s->text[i] == '\n') s->lines[s->line_count++] = (uint32_t)(i + 1);
    return true;
}

static bool reserve(source_table *table) {
    if (table->count < table->capacity) return true;
    size_t capacity = table->capacity ? table->capacity * 2 : 16, bytes;
    if (!mem_mul(capacity, sizeof(source), &bytes)) return false;
    source *items = mem_realloc(table->items, bytes);
    if (!items) return false;
    table->items = items;
    table->capacity = capacity;
    return true;
}

uint32_t source_add(source_table *table, const char *name, const char *content, size_t length) {
    if (length >= UINT32_MAX || table->count >= UINT32_MAX - 1 || !reserve(table)) return 0;
    source s = {.length = length};
    if (name && !(s.name = mem_copy_text(name, strlen(name)))) return 0;
    s.text = mem_copy_text(content, length);
    if (!s.text || !find_lines(&s)) {
        free_source(&s);
        return 0;
    }
    if (!name) {
        bool ended = length > 0 && content[length - 1] == '\n'; /* then the last line is empty */
        s.lines_before = table->typed;
        table->typed += (uint32_t)s.line_count - ended;
    }
    table->items[table->count++] = s;
    return (uint32_t)table->count;
}

static const source *find(const source_table *table, uint32_t number) {
    return table && number >= 1 && number <= table->count ? &table->items[number - 1] : NULL;
}

const char *source_text(const source_table *table, uint32_t number, size_t *length) {
    const source *s = find(table, number);
    if (length) *length = s ? s->length : 0;
    return s ? s->text : NULL;
}

const char *source_name(const source_table *table, uint32_t number) {
    const source *s = find(table, number);
    return s ? s->name : NULL;
}

const char *source_title(const source_table *table, uint32_t number) {
    const char *name = source_name(table, number);
    return name ? name : "prompt";
}

uint32_t source_lines_typed(const source_table *table) {
    return table->typed;
}

source_place source_locate(const source_table *table, uint32_t number, uint32_t offset) {
    const source *s = find(table, number);
    if (!s) return (source_place){0, 0};
    if (offset > s->length) offset = (uint32_t)s->length;
    size_t low = 0, high = s->line_count; /* lines[low] <= offset < lines[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    uint32_t column = 1;
    for (size_t i = s->lines[low]; i < offset; column++) {
        uint32_t code;
        size_t bytes = utf8_decode(s->text + i, s->length - i, &code);
        i += bytes ? bytes : 1;
        if (i > offset) break;
    }
    return (source_place){s->lines_before + (uint32_t)low + 1, column};
}
