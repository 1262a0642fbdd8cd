/* parsing.h — texts parsed in tests, and the examples that every part of the grammar is in. */
#ifndef TD_HARNESS_PARSING_H
#define TD_HARNESS_PARSING_H

#include "repl/lang/parser.h"

typedef struct parsed {
    source_table *table;
    ast *tree;
    error e;
    status code;
} parsed;

/* Parses a text, in a table of its own; ends the test when status, error and tree do not agree. */
parsed parse_bytes(const char *content, size_t length);
parsed parse_text(const char *content);
void parse_done(parsed *x);

/* Statements of the language. */
extern const char *const parse_examples[];
extern const size_t parse_example_count;

#endif
