/* ast_print.c — a tree as S-expressions, for tests and for looking at what the parser made. Recursive: trees
 * are at most AST_MAX_DEPTH deep.
 *
 *     (assign (name y) (chain (name x) @ (name w) + (name b)))
 *
 * Strings and keys are quoted, a missing child is `_`, PARENS and SILENT show as `'p` and `'s` after the
 * kind. */
#include <inttypes.h>

#include "repl/lang/ast.h"

static void print_quoted(text *out, const char *bytes, uint32_t length) {
    text_char(out, '"');
    for (uint32_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            text_printf(out, "\\x%02x", c);
        else
            text_char(out, (char)c);
    }
    text_char(out, '"');
}

/* What a kind carries besides its children. */
static void print_payload(text *out, const ast_node *node) {
    switch (node->kind) {
    case AST_INT:
    case AST_BOOL:
        text_printf(out, " %" PRId64, node->integer);
        break;
    case AST_REAL:
        text_printf(out, " %.17g", node->real);
        break;
    case AST_UNARY:
    case AST_UPDATE:
        text_printf(out, " %s", ast_op_text((ast_op)node->op));
        break;
    case AST_DIM:
        if (node->op == AST_DIM_INT)
            text_printf(out, " %" PRId64, node->integer);
        else if (node->op != AST_DIM_NAME)
            text_printf(out, " %s", ast_op_text((ast_op)node->op));
        break;
    default:
        break;
    }
    if (!node->text) return;
    text_char(out, ' ');
    if (node->kind == AST_STRING || node->kind == AST_ENTRY || node->kind == AST_COMMAND)
        print_quoted(out, node->text, node->length);
    else
        text_add_bytes(out, node->text, node->length);
}

void ast_print(text *out, const ast_node *node) {
    if (!node) {
        text_char(out, '_');
        return;
    }
    text_printf(out, "(%s", ast_kind_name((ast_kind)node->kind));
    if (node->flags & AST_PARENS) text_add(out, "'p");
    if (node->flags & AST_SILENT) text_add(out, "'s");
    print_payload(out, node);
    if (node->flags & AST_HAS_DIMS) text_add(out, " []");
    for (uint32_t i = 0; i < node->count; i++) {
        text_char(out, ' ');
        if (node->ops && i > 0) text_printf(out, "%s ", ast_op_text((ast_op)node->ops[i - 1]));
        ast_print(out, node->child[i]);
    }
    text_char(out, ')');
}
