/* parse_stmt.c — statements, blocks, assignment targets, functions and their parameters. */
#include "repl/lang/parse_impl.h"

/* --- assignment --- */

static ast_node *not_assignable(parser *p, const ast_node *node) {
    mistake(p, E_NOT_ASSIGNABLE, node->where, "a value can't be assigned to this");
    switch (node->kind) {
    case AST_TENSOR:
        fail_hint(p->e, "to unpack, write the names without brackets: a, b = ...");
        break;
    case AST_CALL:
        fail_hint(p->e, "to define a function, write def f(x) = ...; to compare, write ==");
        break;
    case AST_TYPE:
        fail_hint(p->e, "%s is a dtype; choose another name", node->text);
        break;
    case AST_BOOL:
    case AST_NONE:
        fail_hint(p->e, "`true`, `false` and `None` are values; choose another name");
        break;
    case AST_TUPLE:
        fail_hint(p->e, "an empty tuple has nothing to assign to");
        break;
    default:
        fail_hint(p->e, "names, x.field and x[index] can be assigned; to compare, write ==");
        break;
    }
    return NULL;
}

/* Whether `node`, parsed as an expression, is a target. Sets the error when not. */
static bool check_target(parser *p, const ast_node *node, bool tuples) {
    if (node->kind == AST_TUPLE && node->count > 0 && tuples) {
        for (uint32_t i = 0; i < node->count; i++)
            if (!check_target(p, node->child[i], true)) return false;
        return true;
    }
    const ast_node *base = node;
    while (base->kind == AST_FIELD || base->kind == AST_INDEX) base = base->child[0];
    if (base->kind == AST_NAME) return true;
    if (node->kind == AST_TUPLE && !tuples) {
        mistake(p, E_NOT_ASSIGNABLE, node->where, "only one target can be updated at a time");
        fail_hint(p->e, "write a statement for each");
    } else {
        not_assignable(p, base->kind == AST_CALL ? base : node);
    }
    return false;
}

static ast_node *parse_assign(parser *p, ast_node *target) {
    const token *sign = next(p);
    if (!check_target(p, target, true)) return NULL;
    ast_node *value = parse_tuple_or_expression(p);
    if (!value) return NULL;
    if (peek_kind(p) == TOKEN_ASSIGN) {
        mistake(p, E_ASSIGN_INSIDE, token_span(p, peek(p)), "an assignment is a statement and has no value");
        fail_hint(p->e, "write one assignment after the other: a = 1; b = a");
        return NULL;
    }
    ast_node *node = node_with(p, AST_ASSIGN, span_from(target->where, value->where), target, value);
    if (node) node->sign = token_span(p, sign);
    return node;
}

static uint8_t update_op(token_kind kind) {
    switch (kind) {
    case TOKEN_ADD_ASSIGN:
        return AST_ADD;
    case TOKEN_SUB_ASSIGN:
        return AST_SUB;
    case TOKEN_MUL_ASSIGN:
        return AST_MUL;
    case TOKEN_DIV_ASSIGN:
        return AST_DIV;
    default:
        return AST_NO_OP;
    }
}

static ast_node *parse_update(parser *p, ast_node *target) {
    const token *sign = next(p);
    if (!check_target(p, target, false)) return NULL;
    ast_node *value = parse_expression(p);
    if (!value) return NULL;
    ast_node *node = node_with(p, AST_UPDATE, span_from(target->where, value->where), target, value);
    if (!node) return NULL;
    node->op = update_op((token_kind)sign->kind);
    node->sign = token_span(p, sign);
    return node;
}

static ast_node *parse_simple(parser *p) {
    ast_node *node = parse_tuple_or_expression(p);
    if (!node) return NULL;
    if (peek_kind(p) == TOKEN_ASSIGN) return parse_assign(p, node);
    return update_op(peek_kind(p)) ? parse_update(p, node) : node;
}

/* --- control --- */

static ast_node *parse_jump(parser *p, ast_kind kind) {
    const token *t = next(p);
    if (p->loops > 0) return node_leaf(p, kind, token_span(p, t));
    mistake(p, E_OUTSIDE_LOOP, token_span(p, t), "%s stands only within a loop",
            token_kind_text((token_kind)t->kind));
    fail_hint(p->e,
              p->functions ? "to leave a function, write return" : "it ends or continues a `for` or `while`");
    return NULL;
}

static bool statement_ends(const parser *p) {
    token_kind kind = peek_kind(p);
    return kind == TOKEN_NEWLINE || kind == TOKEN_SEMICOLON || kind == TOKEN_RBRACE || kind == TOKEN_END;
}

static ast_node *parse_return(parser *p) {
    span sign = token_span(p, next(p)), where = sign;
    if (p->functions == 0) {
        mistake(p, E_OUTSIDE_FUNCTION, sign, "`return` stands only within a function");
        fail_hint(p->e, "at top level a statement's value is shown by itself");
        return NULL;
    }
    uint32_t mark = p->top;
    if (!statement_ends(p)) {
        ast_node *value = parse_tuple_or_expression(p);
        if (!value || !push(p, value)) return NULL;
        where = span_from(sign, value->where);
    }
    ast_node *node = node_new(p, AST_RETURN, where, mark);
    if (node) node->sign = sign;
    return node;
}

static ast_node *parse_loop_body(parser *p, const char *header) {
    p->loops++;
    ast_node *body = parse_block(p, header);
    p->loops--;
    return body;
}

static ast_node *parse_for(parser *p) {
    span sign = token_span(p, next(p));
    uint32_t mark = p->top;
    ast_node *target = parse_tuple_or_expression(p);
    if (!target || !check_target(p, target, true)) return NULL;
    if (!expect(p, TOKEN_IN, "`in` after the loop's names")) return NULL;
    ast_node *over = parse_expression(p), *body = over ? parse_loop_body(p, "for") : NULL;
    if (!body || !push(p, target) || !push(p, over) || !push(p, body)) return NULL;
    ast_node *node = node_new(p, AST_FOR, span_from(sign, body->where), mark);
    if (node) node->sign = sign;
    return node;
}

static ast_node *parse_while(parser *p) {
    span sign = token_span(p, next(p));
    ast_node *condition = parse_expression(p), *body = condition ? parse_loop_body(p, "while") : NULL;
    ast_node *node = body ? node_with(p, AST_WHILE, span_from(sign, body->where), condition, body) : NULL;
    if (node) node->sign = sign;
    return node;
}

/* --- functions --- */

/* NAME [":" type] ["=" expr], pushed as an AST_PARAM. */
static bool parse_parameter(parser *p, bool defaults_before) {
    const token *name = peek(p);
    if (name->kind != TOKEN_NAME) return unexpected(p, WANT_NAME, "a parameter's name"), false;
    next(p);
    ast_node *type = NULL, *value = NULL;
    if (peek_kind(p) == TOKEN_COLON) {
        next(p);
        if (!(type = parse_type(p))) return false;
    }
    if (peek_kind(p) == TOKEN_ASSIGN) {
        next(p);
        if (!(value = parse_expression(p))) return false;
    } else if (defaults_before) {
        mistake(p, E_DEFAULT_EARLY, token_span(p, name),
                "a parameter without a default after one with a default");
        fail_hint(p->e, "give it a default too, or move it to the front");
        return false;
    }
    uint32_t mark = p->top;
    if (!push(p, type) || !push(p, value)) return false;
    span where = token_span(p, name);
    ast_node *node = node_new(p, AST_PARAM, (span){where.source, where.begin, previous(p)->end}, mark);
    return node && node_set_token(p, node, name) && push(p, node);
}

/* The parameters up to the `)` of the `(` at index `opener`, which was passed already. */
bool parse_parameters(parser *p, uint32_t opener) {
    uint32_t mark = p->top;
    bool defaults = false;
    while (peek_kind(p) != TOKEN_RPAREN) {
        if (!parse_parameter(p, defaults)) return false;
        defaults = p->stack[p->top - 1].node->child[1] != NULL;
        if (peek_kind(p) != TOKEN_COMMA) break;
        next(p);
    }
    return expect_closer(p, opener, "`,` or `)` after a parameter") &&
           check_unique(p, p->stack + mark, p->top - mark, "parameter");
}

/* The body of a function: an expression, or (where `block`) a block. */
static ast_node *parse_body(parser *p, bool block) {
    uint32_t loops = p->loops;
    p->loops = 0;
    p->functions++;
    ast_node *body = block ? parse_block(p, "def") : parse_expression(p);
    p->functions--;
    p->loops = loops;
    return body;
}

/* Pushed on the stack since `mark`: the parameters. What follows: the body. */
ast_node *parse_function(parser *p, ast_kind kind, span first, uint32_t mark, bool block) {
    ast_node *body = parse_body(p, block);
    if (!body || !push(p, body)) return NULL;
    return node_new(p, kind, span_from(first, body->where), mark);
}

static ast_node *parse_def(parser *p) {
    span first = token_span(p, next(p));
    const token *name = peek(p);
    if (name->kind != TOKEN_NAME) return unexpected(p, WANT_NAME, "the function's name after `def`");
    next(p);
    uint32_t mark = p->top, opener = p->at;
    if (!expect(p, TOKEN_LPAREN, "`(` and the parameters") || !parse_parameters(p, opener)) return NULL;
    bool block = peek_kind(p) != TOKEN_ASSIGN;
    if (!block) next(p);
    ast_node *node = parse_function(p, AST_DEF, first, mark, block);
    return node && node_set_token(p, node, name) ? node : NULL;
}

/* --- blocks and programs --- */

static ast_node *parse_command(parser *p) {
    const token *t = next(p);
    ast_node *node = node_leaf(p, AST_COMMAND, token_span(p, t));
    return node && node_set_token(p, node, t) ? node : NULL;
}

/* A statement that holds a block. */
static ast_node *parse_compound(parser *p) {
    if (!deeper(p, token_span(p, peek(p)))) return NULL;
    token_kind kind = peek_kind(p);
    ast_node *node = kind == TOKEN_DEF ? parse_def(p) : kind == TOKEN_FOR ? parse_for(p) : parse_while(p);
    p->depth--;
    return node;
}

static ast_node *parse_statement(parser *p) {
    switch (peek_kind(p)) {
    case TOKEN_DEF:
    case TOKEN_FOR:
    case TOKEN_WHILE:
        return parse_compound(p);
    case TOKEN_BREAK:
        return parse_jump(p, AST_BREAK);
    case TOKEN_CONTINUE:
        return parse_jump(p, AST_CONTINUE);
    case TOKEN_RETURN:
        return parse_return(p);
    case TOKEN_COMMAND:
        return parse_command(p);
    default:
        return parse_simple(p);
    }
}

static bool skip_separators(parser *p) {
    bool any = false;
    for (; peek_kind(p) == TOKEN_NEWLINE || peek_kind(p) == TOKEN_SEMICOLON; any = true) next(p);
    return any;
}

bool parse_statements(parser *p, token_kind closer) {
    skip_separators(p);
    while (peek_kind(p) != closer) {
        ast_node *node = parse_statement(p);
        if (!node || !push(p, node)) return false;
        if (peek_kind(p) == TOKEN_SEMICOLON) node->flags |= AST_SILENT;
        if (!skip_separators(p) && peek_kind(p) != closer) {
            const char *wanted = closer == TOKEN_END ? "a new line or `;` after the statement"
                                                     : "`}`, a new line or `;` after the statement";
            return unexpected(p, WANT_END, wanted), false;
        }
    }
    return true;
}

static void no_block(parser *p, const char *header) {
    const token *t = peek(p);
    if (t->kind == TOKEN_LBRACE) { /* a record, or there would be no mistake */
        mistake(p, E_BLOCK_WANTED, token_span(p, t),
                "after `%s` this opens a block, but what follows reads as a record", header);
        fail_hint(p->e, "for a record as the block's value, write { {..} }; assignments are written with =");
    } else if (t->kind == TOKEN_COLON) {
        mistake(p, E_BLOCK_WANTED, token_span(p, t), "a block stands in braces, without `:`");
        fail_hint(p->e, "write `{` instead, and `}` after the block");
    } else if (t->kind == TOKEN_NEWLINE && peek_at(p, 1)->kind == TOKEN_LBRACE) {
        mistake(p, E_BLOCK_WANTED, token_span(p, peek_at(p, 1)),
                "the `{` of a block stands on the line of its `%s`", header);
        fail_hint(p->e, "move it up, behind the header");
    } else {
        unexpected(p, WANT_BLOCK, "a block in braces: { .. }");
    }
}

ast_node *parse_block(parser *p, const char *header) {
    const token *t = peek(p);
    if (t->kind != TOKEN_LBRACE || t->record) return no_block(p, header), NULL;
    uint32_t opener = p->at, mark = p->top;
    next(p);
    if (!parse_statements(p, TOKEN_RBRACE) || !expect_closer(p, opener, "`}`")) return NULL;
    span where = {p->source, p->tokens.items[opener].begin, previous(p)->end};
    return node_new(p, AST_BLOCK, where, mark);
}
