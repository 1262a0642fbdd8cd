/* source.h — every text that was ever parsed, so that a span still finds its line when an error, a timeline
 * event or a diagram points at it much later. Sources are numbered from 1 in the order of their coming and
 * are never removed. */
#ifndef TD_LANG_SOURCE_H
#define TD_LANG_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/text.h"

typedef struct source_table source_table;

source_table *source_table_new(void); /* NULL when out of memory */
void source_table_free(source_table *table);

/* Copies `length` bytes of text. `name` is what messages call it (a file's name, `-e`), or NULL for a line of
 * the prompt, which needs no name. Returns the source's number, or 0 when memory ran out or the text has 4
 * GiB or more. */
uint32_t source_add(source_table *table, const char *name, const char *content, size_t length);

/* The text of a source (NUL-terminated besides) and its length; NULL for a number that is not in the table.
 */
const char *source_text(const source_table *table, uint32_t number, size_t *length);
const char *source_name(const source_table *table, uint32_t number); /* NULL: none */

/* Line and column of a byte, both from 1; columns count characters. What was typed at the prompt (sources without a name)
 * is numbered as one text, line after line. Zeros for an unknown source. */
typedef struct source_place {
    uint32_t line, column;
} source_place;
source_place source_locate(const source_table *table, uint32_t number, uint32_t offset);
/* How many lines were typed at the prompt so far. */
uint32_t source_lines_typed(const source_table *table);

/* The text of a span on one line, cut to fit. */
void source_brief(const source_table *table, span where, char *out, size_t size);
/* What a text is called when a place in it is told: its name, or "prompt". */
const char *source_title(const source_table *table, uint32_t number);

/* Appends the error as people see it: number, class and message; the source line with the span marked; what
 * the operands were; which functions ran, and where they were called; the hint. Ends with a newline. The source line
 * and the hint fit into `window` columns (0: there is no window). */
void source_render_error(text *out, const source_table *table, const error *e, int window);

#endif
