/* ast.c — the life of a tree, and its names. */
#include "repl/lang/ast.h"

#include <assert.h>
#include <stdatomic.h>

#include "engine/base/memory.h"
#include "repl/lang/ast_impl.h"

struct ast {
    arena *memory;
    const ast_node *root;
    uint32_t source;
    _Atomic uint32_t references;
};

ast *ast_new(arena *memory, uint32_t source) {
    ast *tree = mem_calloc(1, sizeof *tree);
    if (!tree) return NULL;
    tree->memory = memory;
    tree->source = source;
    atomic_init(&tree->references, 1);
    return tree;
}

void ast_set_root(ast *tree, const ast_node *root) {
    tree->root = root;
}

const ast_node *ast_root(const ast *tree) {
    return tree->root;
}

uint32_t ast_source(const ast *tree) {
    return tree->source;
}

ast *ast_retain(ast *tree) {
    if (tree) atomic_fetch_add_explicit(&tree->references, 1, memory_order_relaxed);
    return tree;
}

void ast_release(ast *tree) {
    if (!tree || atomic_fetch_sub_explicit(&tree->references, 1, memory_order_acq_rel) != 1) return;
    arena_free(tree->memory);
    mem_free(tree);
}

span ast_chain_span(const ast_node *node, uint32_t operands) {
    assert(operands >= 1 && operands <= node->count);
    span first = node->child[0]->where, last = node->child[operands - 1]->where;
    return (span){first.source, first.begin, last.end};
}

const char *ast_kind_name(ast_kind kind) {
    static const char *const names[AST_KIND_COUNT] = {
        [AST_PROGRAM] = "program",
        [AST_BLOCK] = "block",
        [AST_COMMAND] = "command",
        [AST_DEF] = "def",
        [AST_FOR] = "for",
        [AST_WHILE] = "while",
        [AST_BREAK] = "break",
        [AST_CONTINUE] = "continue",
        [AST_RETURN] = "return",
        [AST_ASSIGN] = "assign",
        [AST_UPDATE] = "update",
        [AST_LAMBDA] = "lambda",
        [AST_PARAM] = "param",
        [AST_OR] = "or",
        [AST_AND] = "and",
        [AST_NOT] = "not",
        [AST_COMPARE] = "compare",
        [AST_PIPE] = "pipe",
        [AST_RANGE] = "range",
        [AST_CHAIN] = "chain",
        [AST_CAST] = "cast",
        [AST_UNARY] = "unary",
        [AST_POWER] = "power",
        [AST_CALL] = "call",
        [AST_KEYWORD] = "keyword",
        [AST_INDEX] = "index",
        [AST_SLICE] = "slice",
        [AST_ELLIPSIS] = "ellipsis",
        [AST_FIELD] = "field",
        [AST_INT] = "int",
        [AST_REAL] = "real",
        [AST_STRING] = "string",
        [AST_BOOL] = "bool",
        [AST_NONE] = "none",
        [AST_NAME] = "name",
        [AST_TYPE] = "type",
        [AST_DIM] = "dim",
        [AST_TUPLE] = "tuple",
        [AST_TENSOR] = "tensor",
        [AST_RECORD] = "record",
        [AST_ENTRY] = "entry",
        [AST_IF] = "if",
        [AST_TAPE] = "tape",
        [AST_ON] = "on",
        [AST_PRECISION] = "precision",
    };
    return (unsigned)kind < AST_KIND_COUNT && names[kind] ? names[kind] : "unknown";
}

const char *ast_op_text(ast_op op) {
    static const char *const texts[AST_OP_COUNT] = {
        [AST_NO_OP] = "",        [AST_ADD] = "+",       [AST_SUB] = "-",        [AST_MUL] = "*",
        [AST_DIV] = "/",         [AST_FLOORDIV] = "//", [AST_MOD] = "%",        [AST_MATMUL] = "@",
        [AST_BITAND] = "&",      [AST_BITOR] = "|",     [AST_EQ] = "==",        [AST_NE] = "!=",
        [AST_LT] = "<",          [AST_LE] = "<=",       [AST_GT] = ">",         [AST_GE] = ">=",
        [AST_NEG] = "-",         [AST_POS] = "+",       [AST_INVERT] = "~",     [AST_DIM_INT] = "int",
        [AST_DIM_NAME] = "name", [AST_DIM_ANY] = "?",   [AST_DIM_REST] = "...",
    };
    return (unsigned)op < AST_OP_COUNT ? texts[op] : "";
}
