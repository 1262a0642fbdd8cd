/* parse_impl.h — what the parser's files share: parser.c (entry points, nodes), parse_stmt.c (statements,
 * blocks, definitions), parse_expr.c (operators), parse_primary.c (what operators join), parse_mistakes.c
 * (errors that know what was meant).
 *
 * It is a recursive descent over the token array; binary operators climb a table of levels. Functions return
 * NULL after an error, which is in p->e. Lists of children gather on one stack in the parser and move to the
 * arena when their node is made: `uint32_t mark = p->top; push(p, a) && push(p, b); return node_new(p, KIND,
 * where, mark)`. */
#ifndef TD_LANG_PARSE_IMPL_H
#define TD_LANG_PARSE_IMPL_H

#include "engine/base/arena.h"
#include "repl/lang/ast.h"
#include "repl/lang/lexer.h"
#include "repl/lang/syntax_errors.h"

typedef struct pending {
    ast_node *node; /* may be NULL */
    uint8_t op;     /* ast_op: the operator before it */
} pending;

typedef struct parser {
    const char *content;
    uint32_t source;
    token_list tokens;
    uint32_t at;   /* index of the next token */
    arena *memory; /* of the tree */
    error *e;
    pending *stack; /* children of unfinished nodes */
    uint32_t top, capacity;
    uint32_t depth;     /* of nested constructs, bounded by AST_MAX_DEPTH */
    uint32_t loops;     /* around, within the innermost function */
    uint32_t functions; /* around */
    bool ran_out;       /* the error is that the text ends */
} parser;

/* Operator levels, loosest first. */
enum {
    LEVEL_OR = 1,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_BITOR,
    LEVEL_BITAND,
    LEVEL_RANGE,
    LEVEL_SUM,
    LEVEL_TERM,
    LEVEL_CAST,
    LEVEL_UNARY
};

/* --- tokens --- */
static inline const token *peek(const parser *p) {
    return &p->tokens.items[p->at];
}
static inline const token *peek_at(const parser *p, uint32_t ahead) {
    return p->tokens.count - p->at > ahead ? &p->tokens.items[p->at + ahead]
                                           : &p->tokens.items[p->tokens.count - 1];
}
static inline token_kind peek_kind(const parser *p) {
    return (token_kind)peek(p)->kind;
}
static inline const token *next(parser *p) {
    const token *t = peek(p);
    if (t->kind != TOKEN_END) p->at++;
    return t;
}
static inline const token *previous(const parser *p) {
    return p->at > 0 ? &p->tokens.items[p->at - 1] : NULL;
}
static inline span token_span(const parser *p, const token *t) {
    return (span){p->source, t->begin, t->end};
}
static inline span span_from(span first, span last) {
    return (span){first.source, first.begin, last.end};
}
bool token_is(const parser *p, const token *t, const char *word); /* a name spelled so */
bool skip_newlines(parser *p);                                    /* returns whether there was one */

/* --- nodes (parser.c) --- */
bool push(parser *p, ast_node *node); /* false when out of memory */
bool push_op(parser *p, uint8_t op, ast_node *node);
/* A node whose children are the stack's from `mark` on, which leave it. NULL when out of memory or nested too
 * deep. */
ast_node *node_new(parser *p, ast_kind kind, span where, uint32_t mark);
ast_node *node_leaf(parser *p, ast_kind kind, span where);
ast_node *node_with(parser *p, ast_kind kind, span where, ast_node *a,
                    ast_node *b); /* one child when b is NULL */
bool node_set_text(parser *p, ast_node *node, const char *bytes, uint32_t length);
bool node_set_token(parser *p, ast_node *node,
                    const token *t); /* the token's spelling as text, its span as sign */
bool deeper(parser *p,
            span where); /* enters a nested construct; false beyond the limit. Pair with p->depth-- */

/* --- errors (parser.c) --- */
/* Sets the error and returns NULL, for `return mistake(..)`. */
ast_node *mistake(parser *p, int number, span where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What would have to stand where something else stands. */
typedef enum want {
    WANT_VALUE,
    WANT_NAME,
    WANT_BLOCK,
    WANT_NEXT, /* in brackets: a comma or the closer */
    WANT_END,  /* of a statement */
    WANT_TOKEN /* something else */
} want;

/* The token that stands next can't stand there; `what` says what can. Prefers to say the lexer's fault, an
 * unclosed bracket and what was probably meant. */
ast_node *unexpected(parser *p, want wanted, const char *what);
bool expect(parser *p, token_kind kind, const char *what);
/* The closer of the bracket at index `opener` of the tokens. */
bool expect_closer(parser *p, uint32_t opener, const char *what);
/* Where to point for `t`: itself, or behind the token before when it is the end of a line or of the text. */
span error_span(const parser *p, const token *t);
/* `count` children of `node` from `first` on must have different texts. */
bool check_unique(parser *p, const pending *nodes, uint32_t count, const char *what);

/* --- grammar --- */
bool parse_statements(parser *p, token_kind closer); /* pushes them; stops at the closer */
ast_node *parse_block(parser *p, const char *header);
ast_node *parse_expression(parser *p);
ast_node *parse_tuple_or_expression(parser *p); /* `exprs`: a bare tuple is allowed */
ast_node *parse_level(parser *p, int level);
ast_node *parse_postfix(parser *p);
ast_node *parse_type(parser *p);
/* The body of a function whose parameters are on the stack since `mark`; makes the node. */
ast_node *parse_function(parser *p, ast_kind kind, span first, uint32_t mark, bool block);
/* The parameters up to the `)` of the `(` at index `opener`, which was passed already; pushes them. */
bool parse_parameters(parser *p, uint32_t opener);

/* --- mistakes with a known meaning (parse_mistakes.c) --- */
/* Sets the error and returns true when what was meant can be told from the token that stands next. */
bool explain_unexpected(parser *p, want wanted);
/* A word of another language as a value (`True`) or before one (`lambda x`): sets the error and returns true.
 */
bool foreign_word(parser *p, const token *t);
/* No dtype stands where one is wanted. Returns NULL. */
ast_node *explain_dtype(parser *p, const token *t);
/* A `[`, `(`, `.` or `**` stands behind the cast. Returns NULL. */
ast_node *explain_after_cast(parser *p, const ast_node *cast);
/* `&` or `|` beside a comparison whose operands are on the stack since `mark`: sets the error and returns
 * true. */
bool bits_beside_comparison(parser *p, uint32_t mark, span where);

#endif
