/* parser.h — from a source text to its syntax tree, and the line editor's question whether a text is
 * complete. */
#ifndef TD_LANG_PARSER_H
#define TD_LANG_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "repl/lang/ast.h"
#include "repl/lang/source.h"

/* Parses a whole source (which must be in the table). On success *out is a new tree with one reference.
 * Errors: STATUS_SYNTAX, numbers 1-99 of errors.def, with the span at fault; STATUS_LIMIT for text nested
 * deeper than AST_MAX_DEPTH; STATUS_MEMORY. */
status parse_program(const source_table *sources, uint32_t source, error *e, ast **out);

/* The same for the bytes [begin, end) of a source, such as the argument of a command. Spans stay those of the
 * source. */
status parse_program_part(const source_table *sources, uint32_t source, uint32_t begin, uint32_t end,
                          error *e, ast **out);

typedef enum parse_state {
    PARSE_COMPLETE,   /* the text can be run (or is empty) */
    PARSE_INCOMPLETE, /* more lines can complete it: an open bracket, block or string, an operator or comma at
                         the end */
    PARSE_WRONG       /* no more text can mend it: run it for the error */
} parse_state;

parse_state parse_complete(const char *content, size_t length);

#endif
