/* ast.h — the syntax tree: what the parser makes of a text, and the complete contract with whoever walks it.
 *
 * One node type serves every construct: a kind, a span, an array of children and, for some kinds, a text or a
 * number. The comment above each kind says what its children are. Three rules make walking simple and safe:
 *
 * - Depth is bounded. No path from the root is longer than AST_MAX_DEPTH nodes, so a walker may recurse. Long
 *   flat sources stay flat: `1 + 1 + 1 ...` is one AST_CHAIN with n operands, `a |> f |> g` one AST_PIPE,
 *   `else if` chains one AST_IF, statements one AST_BLOCK. Deeper sources are refused with STATUS_LIMIT.
 * - Only children documented as "or NULL" can be NULL.
 * - Nodes are never shared and never change after parsing.
 *
 * Parentheses leave no node: they set AST_PARENS on what they hold and widen its span to include themselves.
 *
 * A tree owns its nodes and texts through an arena and is reference counted, because a function value keeps
 * its body after the statement that made it is gone. Spans point into the source table, which outlives all
 * trees. */
#ifndef TD_LANG_AST_H
#define TD_LANG_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/text.h"

enum { AST_MAX_DEPTH = 1000 };

typedef enum ast_kind {
    /* ---- whole texts and statements ---- */

    /* The root of every tree; appears nowhere else. children: statements and AST_COMMANDs, in order. */
    AST_PROGRAM,
    /* `{ .. }`. children: statements; none for `{}`. Its value is that of its last statement when that is an
     * expression, else None. Opens no scope. */
    AST_BLOCK,
    /* `:name args` at the start of a line at depth 0; only in an AST_PROGRAM. text: from the `:` on (or the
     * `?`, as in `?name`) to the end of the line, without blanks there. */
    AST_COMMAND,
    /* `def name(params) = expr` or `.. { }`. text: the name. children: the AST_PARAMs (0 or more), then the
     * body (an expression or an AST_BLOCK) as the last child: the same layout as AST_LAMBDA. */
    AST_DEF,
    /* `for target in expr { }`. children: target (see AST_ASSIGN), iterated expression, AST_BLOCK */
    AST_FOR,
    /* `while expr { }`. children: condition, AST_BLOCK */
    AST_WHILE,
    /* These two stand only within a loop of the same function. */
    AST_BREAK,
    AST_CONTINUE,
    /* Only within a function. children: the value, or none; `return a, b` has an AST_TUPLE */
    AST_RETURN,
    /* `target = value`. children: target, value. A target is an AST_NAME; an AST_FIELD or AST_INDEX chain
     * whose innermost base is an AST_NAME (never a call); or an AST_TUPLE of targets, which unpacks (`x, = t`
     * has a tuple of one). A value written `a, b` is an AST_TUPLE. */
    AST_ASSIGN,
    /* `target += value`. op: AST_ADD, AST_SUB, AST_MUL or AST_DIV. children: target (no tuple), value */
    AST_UPDATE,

    /* ---- functions ---- */

    /* `x -> body`, `(x, y: f32[n], b=0) -> body`. children: the AST_PARAMs (0 or more), then the body.
     * text: NULL */
    AST_LAMBDA,
    /* text: the name (unique among its siblings). children, always 2: AST_TYPE or NULL; default expression or
     * NULL. Parameters with a default follow those without. */
    AST_PARAM,

    /* ---- operators, loosest first ---- */

    /* children: 2 or more operands; short circuit from the left */
    AST_OR,
    AST_AND,
    /* child: the operand */
    AST_NOT,
    /* `a < b <= c`. children: n >= 2 operands, each evaluated once, from the left. ops: n - 1 operators
     * (AST_EQ .. AST_GE); ops[i] stands between children i and i + 1 */
    AST_COMPARE,
    /* `x |> f |> g(1)`. children: the value, then 1 or more stages, applied from the left. A stage that is an
     * AST_CALL without AST_PARENS gets the value as its first argument; any other stage is called with it. */
    AST_PIPE,
    /* `a..b`. children: begin, end */
    AST_RANGE,
    /* Binary operators of one precedence level, from the left: `a + b - c`. children: n >= 2 operands. ops:
     * n - 1 operators (AST_ADD .. AST_BITOR); ops[i] combines the result so far with child i + 1. The levels:
     * BITOR; BITAND; ADD SUB; MUL DIV FLOORDIV MOD MATMUL. ast_chain_span: the span of a partial result. */
    AST_CHAIN,
    /* `x as f32`. child: x. text: the dtype's name, always one of the nine */
    AST_CAST,
    /* op: AST_NEG, AST_POS or AST_INVERT. child: the operand */
    AST_UNARY,
    /* `x ** y`. children: base, exponent */
    AST_POWER,

    /* ---- behind a value ---- */

    /* `f(a, k=b)`. children: the callee, positional arguments, then AST_KEYWORDs */
    AST_CALL,
    /* `k=b` in an AST_CALL. text: the name (unique within its call). child: the value */
    AST_KEYWORD,
    /* `a[i, 1:, ..., None]`. children: the base, then 1 or more items: expressions (AST_NONE for a new axis),
     * AST_SLICEs, AST_ELLIPSIS (at most one) */
    AST_INDEX,
    /* `begin:end:step` in an AST_INDEX. children, always 3: each an expression or NULL */
    AST_SLICE,
    /* `...` in an AST_INDEX */
    AST_ELLIPSIS,
    /* `x.name`. child: x. text: the name. As the callee of an AST_CALL it is a method call. */
    AST_FIELD,

    /* ---- values ---- */

    /* integer: the value; a minus sign directly before the digits is in it already */
    AST_INT,
    /* real: the value */
    AST_REAL,
    /* text, length: the decoded bytes (UTF-8; may contain NUL) */
    AST_STRING,
    /* integer: 1 for `true`, 0 for `false` */
    AST_BOOL,
    /* `None` */
    AST_NONE,
    /* text: the name */
    AST_NAME,
    /* `f32`, `f32[batch, 64]`. text: the dtype's name, always one of the nine. children: AST_DIMs. Without
     * AST_HAS_DIMS nothing is said about the shape; with it and no children the rank is 0. */
    AST_TYPE,
    /* In an AST_TYPE. op: AST_DIM_INT (integer: the size, >= 0), AST_DIM_NAME (text), AST_DIM_ANY (`?`) or
     * AST_DIM_REST (`...`, at most one in a type) */
    AST_DIM,
    /* `(a, b)`, `(a,)`, `()`, or without parentheses. children: the elements */
    AST_TUPLE,
    /* `[a, b]`, `[]`. children: the elements */
    AST_TENSOR,
    /* `{k: v}`, `{}`. children: AST_ENTRYs */
    AST_RECORD,
    /* In an AST_RECORD. text, length: the key (unique; a string key may contain anything). child: the value
     * */
    AST_ENTRY,
    /* children: condition, AST_BLOCK, condition, AST_BLOCK, ..; when their count is odd, the last one is the
     * block of the final `else` */
    AST_IF,
    /* `tape { }`. child: AST_BLOCK */
    AST_TAPE,
    /* `on expr { }`. children: device expression, AST_BLOCK */
    AST_ON,
    /* `precision(bf16) { }`. text: the dtype's name. child: AST_BLOCK */
    AST_PRECISION,
    AST_KIND_COUNT
} ast_kind;

typedef enum ast_op {
    AST_NO_OP = 0,
    AST_ADD, /* + */
    AST_SUB, /* - */
    AST_MUL,
    AST_DIV,      /* / */
    AST_FLOORDIV, /* // */
    AST_MOD,
    AST_MATMUL, /* @ */
    AST_BITAND, /* & */
    AST_BITOR,  /* | */
    AST_EQ,
    AST_NE,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE,
    AST_NEG,
    AST_POS,
    AST_INVERT, /* ~ */
    AST_DIM_INT,
    AST_DIM_NAME,
    AST_DIM_ANY,
    AST_DIM_REST,
    AST_OP_COUNT
} ast_op;

/* Flags. */
enum {
    AST_PARENS = 1,   /* stands in parentheses of its own */
    AST_SILENT = 2,   /* a statement with a `;` right after it: its echo is silenced at top level */
    AST_HAS_DIMS = 4, /* an AST_TYPE with brackets */
};

typedef struct ast_node ast_node;
struct ast_node {
    uint8_t kind; /* ast_kind */
    uint8_t op;   /* ast_op */
    uint16_t flags;
    uint32_t count;   /* of children */
    ast_node **child; /* [count] */
    uint8_t *ops;     /* [count - 1] ast_op, for AST_COMPARE and AST_CHAIN */
    span where;       /* the whole construct, parentheses of its own included */
    /* The part to point at. The operator of AST_UNARY, AST_POWER, AST_RANGE, AST_ASSIGN, AST_UPDATE, AST_NOT;
     * the name in AST_FIELD, AST_KEYWORD, AST_DEF, AST_PARAM, AST_ENTRY; the dtype of AST_CAST and
     * AST_PRECISION; the word of AST_FOR, AST_WHILE, AST_IF, AST_TAPE, AST_ON, AST_RETURN; the `->` of
     * AST_LAMBDA; of other kinds the whole construct, without parentheses around it. */
    span sign;
    const char *text; /* NUL-terminated besides; NULL for kinds without */
    uint32_t length;  /* bytes of text */
    uint32_t height;  /* 1 + the largest height of a child; at most AST_MAX_DEPTH */
    uint64_t hash;    /* hash_bytes(text, length, 0) of a text, never 0: a key for maps */
    union {
        int64_t integer;
        double real;
    };
};

typedef struct ast ast; /* a reference-counted tree */

const ast_node *ast_root(const ast *tree); /* always an AST_PROGRAM */
uint32_t ast_source(const ast *tree);      /* the source that it was parsed from */
ast *ast_retain(ast *tree);                /* returns `tree`; NULL is fine */
void ast_release(ast *tree);               /* frees the tree with the last reference; NULL is fine */

/* The span of the first `operands` operands of an AST_CHAIN, AST_COMPARE, AST_PIPE, AST_AND or AST_OR: what
 * to mark when their combination fails. 1 <= operands <= count. */
span ast_chain_span(const ast_node *node, uint32_t operands);

/* The name of a kind (`chain`) and the spelling of an operator (`+`), for messages and tests. */
const char *ast_kind_name(ast_kind kind);
const char *ast_op_text(ast_op op);

/* Appends `node` (NULL is fine) as an S-expression on one line: `(chain (name x) + (int 1))`. */
void ast_print(text *out, const ast_node *node);

#endif
