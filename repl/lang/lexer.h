/* lexer.h — text to tokens. The lexer decides what needs only brackets and neighbours to decide: which
 * newlines end statements, which `{` opens a record, which bracket closes which, where a command line starts.
 * So the parser sees a plain array in which it can look ahead at no cost.
 *
 * Text that is no token (`"` without its end, `&&`, a typographic quote) ends the array with a TOKEN_FAULT,
 * whose error is kept in the list: the parser reports it when it gets there, unless something before it was
 * wrong already. */
#ifndef TD_LANG_LEXER_H
#define TD_LANG_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

typedef enum token_kind {
    TOKEN_END, /* empty, at the end of the text */
    TOKEN_FAULT,
    TOKEN_NEWLINE, /* one that ends a statement; runs of them are one token */
    TOKEN_COMMAND, /* `:name ..` or `?name ..` to the end of its line */
    TOKEN_INT,
    TOKEN_REAL,
    TOKEN_STRING,
    TOKEN_NAME,
    TOKEN_DTYPE,
    /* words */
    TOKEN_DEF,
    TOKEN_FOR,
    TOKEN_WHILE,
    TOKEN_BREAK,
    TOKEN_CONTINUE,
    TOKEN_RETURN,
    TOKEN_IF,
    TOKEN_ELSE,
    TOKEN_IN,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_AS,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NONE,
    /* signs */
    TOKEN_LPAREN,
    TOKEN_RPAREN,
    TOKEN_LBRACKET,
    TOKEN_RBRACKET,
    TOKEN_LBRACE,
    TOKEN_RBRACE,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
    TOKEN_COLON,
    TOKEN_QUESTION,
    TOKEN_DOT,
    TOKEN_DOTS,  /* .. */
    TOKEN_DOTS3, /* ... */
    TOKEN_ARROW, /* -> */
    TOKEN_ASSIGN,
    TOKEN_ADD_ASSIGN,
    TOKEN_SUB_ASSIGN,
    TOKEN_MUL_ASSIGN,
    TOKEN_DIV_ASSIGN,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TILDE,
    TOKEN_STAR,
    TOKEN_POWER,
    TOKEN_SLASH,
    TOKEN_SLASH2,
    TOKEN_PERCENT,
    TOKEN_AT,
    TOKEN_AND_SIGN, /* & */
    TOKEN_OR_SIGN,  /* | */
    TOKEN_PIPE,     /* |> */
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_LT,
    TOKEN_LE,
    TOKEN_GT,
    TOKEN_GE,
    TOKEN_KIND_COUNT
} token_kind;

typedef struct token {
    uint8_t kind;        /* token_kind */
    bool record;         /* a `{` that opens a record */
    bool spaced;         /* a blank, comment or newline stands before it */
    uint32_t begin, end; /* bytes of the source */
    uint32_t partner;    /* of a bracket: the index of the other one; 0 when there is none */
    uint32_t length;     /* TOKEN_STRING: bytes of `string` */
    union {
        uint64_t integer; /* TOKEN_INT: 0 .. 2^63 (the parser refuses 2^63 where no minus stands before it) */
        double real;      /* TOKEN_REAL */
        const char *string; /* TOKEN_STRING: decoded, in the arena */
    };
} token;

typedef struct token_list {
    token *items; /* the last one is TOKEN_END */
    uint32_t count, capacity;
    uint32_t *open; /* indices of the brackets that nothing closes, outermost first */
    uint32_t open_count, open_capacity;
    error fault;     /* of the TOKEN_FAULT, if there is one */
    bool fault_open; /* more text could mend it: the end came within a string */
} token_list;

/* Tokens of the bytes [begin, end) of `content`; spans carry `source`. Decoded strings live in `memory`. The
 * list must be zeroed before and freed after, also on failure. Fails only with STATUS_MEMORY. */
status lex(token_list *list, const char *content, uint32_t begin, uint32_t end, uint32_t source,
           arena *memory, error *e);
void token_list_free(token_list *list);

/* How a kind is called in a message: "`+`", "a name", "the end of the line". */
const char *token_kind_text(token_kind kind);

#endif
