/* lexer_impl.h — what the lexer's files share: lexer.c (the loop, brackets, newlines), lex_literal.c (numbers
 * and strings) and lex_mistakes.c (characters and operators of other languages). */
#ifndef TD_LANG_LEXER_IMPL_H
#define TD_LANG_LEXER_IMPL_H

#include "repl/lang/lexer.h"

typedef struct lexer {
    const char *content;
    uint32_t at, end; /* the next byte; the end of the text */
    uint32_t source;
    uint32_t line_break; /* the first newline within a string that spans lines, or 0 */
    arena *memory;
    token_list *list;
    error *e; /* out of memory */
} lexer;

/* Ends the tokens with a fault over [begin, end). Always returns list->fault.code; more can be said with
 * fail_hint and fail_operand on list->fault. */
status lex_fault(lexer *x, int number, uint32_t begin, uint32_t end, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Both read the literal at x->at into `t`. They return STATUS_OK also after a fault; x->list->fault tells. */
status lex_number(lexer *x, token *t);
status lex_string(lexer *x, token *t);

/* Faults on what stands at x->at, which begins no token. */
void lex_mistaken_character(lexer *x);
/* When an operator of another language stands at x->at: faults and returns true. */
bool lex_mistaken_operator(lexer *x);

/* The line that a byte is in, from 1. */
uint32_t lex_line(const lexer *x, uint32_t offset);

static inline char lex_peek(const lexer *x, uint32_t ahead) {
    return x->end - x->at > ahead ? x->content[x->at + ahead] : '\0';
}

#endif
