/* parse_primary.c — what operators join: literals, names, brackets, records, blocks, `if`, regions, types;
 * and the calls, indices and fields behind them. */
#include <string.h>

#include "repl/lang/parse_impl.h"

/* --- calls, indices, fields --- */

/* [ NAME "=" ] expr */
static ast_node *parse_argument(parser *p, bool keywords_before) {
    const token *name = peek(p);
    bool keyword = name->kind == TOKEN_NAME && peek_at(p, 1)->kind == TOKEN_ASSIGN;
    if (keyword) next(p), next(p);
    ast_node *value = parse_expression(p);
    if (!value) return NULL;
    if (keyword) {
        ast_node *node = node_with(p, AST_KEYWORD, span_from(token_span(p, name), value->where), value, NULL);
        return node && node_set_token(p, node, name) ? node : NULL;
    }
    if (peek_kind(p) == TOKEN_ASSIGN) return unexpected(p, WANT_NEXT, "`,` or `)` after an argument");
    if (!keywords_before) return value;
    mistake(p, E_POSITIONAL_LATE, value->where, "an argument without a name after one with a name");
    fail_hint(p->e, "put it before the named ones, or name it too");
    return NULL;
}

static ast_node *parse_call(parser *p, ast_node *callee) {
    uint32_t opener = p->at, mark = p->top, first_keyword = UINT32_MAX;
    next(p);
    if (!push(p, callee)) return NULL;
    while (peek_kind(p) != TOKEN_RPAREN) {
        ast_node *argument = parse_argument(p, first_keyword != UINT32_MAX);
        if (!argument || !push(p, argument)) return NULL;
        if (argument->kind == AST_KEYWORD && first_keyword == UINT32_MAX) first_keyword = p->top - 1;
        if (peek_kind(p) != TOKEN_COMMA) break;
        next(p);
    }
    if (!expect_closer(p, opener, "`,` or `)` after an argument")) return NULL;
    if (first_keyword != UINT32_MAX &&
        !check_unique(p, p->stack + first_keyword, p->top - first_keyword, "argument"))
        return NULL;
    return node_new(p, AST_CALL, (span){p->source, callee->where.begin, previous(p)->end}, mark);
}

static bool slice_part_follows(const parser *p) {
    token_kind kind = peek_kind(p);
    return kind != TOKEN_COLON && kind != TOKEN_COMMA && kind != TOKEN_RBRACKET;
}

/* The rest of a slice whose begin (or NULL) was read; a `:` stands next. */
static ast_node *parse_slice(parser *p, ast_node *begin) {
    uint32_t mark = p->top;
    span first = begin ? begin->where : token_span(p, peek(p));
    if (!push(p, begin)) return NULL;
    for (int part = 0; part < 2; part++) { /* end, step */
        ast_node *node = NULL;
        if (peek_kind(p) == TOKEN_COLON) {
            next(p);
            if (slice_part_follows(p) && !(node = parse_expression(p))) return NULL;
        }
        if (!push(p, node)) return NULL;
    }
    return node_new(p, AST_SLICE, (span){p->source, first.begin, previous(p)->end}, mark);
}

static ast_node *parse_index_item(parser *p) {
    const token *t = peek(p);
    if (t->kind == TOKEN_DOTS3) return next(p), node_leaf(p, AST_ELLIPSIS, token_span(p, t));
    if (t->kind == TOKEN_COLON) return parse_slice(p, NULL);
    ast_node *node = parse_expression(p);
    return node && peek_kind(p) == TOKEN_COLON ? parse_slice(p, node) : node;
}

static ast_node *parse_index(parser *p, ast_node *base) {
    uint32_t opener = p->at, mark = p->top;
    bool ellipsis = false;
    next(p);
    if (!push(p, base)) return NULL;
    if (peek_kind(p) == TOKEN_RBRACKET) {
        mistake(p, E_INDEX_ITEMS, (span){p->source, previous(p)->begin, peek(p)->end}, "an index is missing");
        fail_hint(p->e, "write [i], [:, j] or [...] for the whole");
        return NULL;
    }
    while (peek_kind(p) != TOKEN_RBRACKET) {
        ast_node *item = parse_index_item(p);
        if (!item || !push(p, item)) return NULL;
        if (item->kind == AST_ELLIPSIS && ellipsis) {
            mistake(p, E_INDEX_ITEMS, item->where, "an index has at most one `...`");
            fail_hint(p->e, "write : for each axis that is taken whole");
            return NULL;
        }
        ellipsis = ellipsis || item->kind == AST_ELLIPSIS;
        if (peek_kind(p) != TOKEN_COMMA) break;
        next(p);
    }
    if (!expect_closer(p, opener, "`,` or `]` after an index")) return NULL;
    return node_new(p, AST_INDEX, (span){p->source, base->where.begin, previous(p)->end}, mark);
}

/* A word: after a `.` and as a record's key those of the language are names too. */
static bool is_word(const token *t) {
    return t->kind == TOKEN_NAME || t->kind == TOKEN_DTYPE || (t->kind >= TOKEN_DEF && t->kind <= TOKEN_NONE);
}

static ast_node *parse_field(parser *p, ast_node *base) {
    next(p);
    const token *name = peek(p);
    if (!is_word(name)) return unexpected(p, WANT_NAME, "a name after `.`");
    next(p);
    ast_node *node = node_with(p, AST_FIELD, span_from(base->where, token_span(p, name)), base, NULL);
    return node && node_set_token(p, node, name) ? node : NULL;
}

static ast_node *parse_primary(parser *p);

ast_node *parse_postfix(parser *p) {
    ast_node *node = parse_primary(p);
    while (node) {
        switch (peek_kind(p)) {
        case TOKEN_LPAREN:
            node = parse_call(p, node);
            break;
        case TOKEN_LBRACKET:
            node = parse_index(p, node);
            break;
        case TOKEN_DOT:
            node = parse_field(p, node);
            break;
        default:
            return node;
        }
    }
    return NULL;
}

/* --- types --- */

static ast_node *parse_dim(parser *p) {
    const token *t = peek(p);
    uint8_t op = t->kind == TOKEN_INT        ? AST_DIM_INT
                 : t->kind == TOKEN_NAME     ? AST_DIM_NAME
                 : t->kind == TOKEN_QUESTION ? AST_DIM_ANY
                 : t->kind == TOKEN_DOTS3    ? AST_DIM_REST
                                             : AST_NO_OP;
    if (!op || (op == AST_DIM_INT && t->integer > INT64_MAX)) {
        if (t->kind == TOKEN_FAULT || t->kind == TOKEN_END) return unexpected(p, WANT_TOKEN, "a size");
        mistake(p, E_TYPE_DIMS, token_span(p, t), "this is not a size in a type");
        fail_hint(p->e, "sizes are numbers, names, ? for any, ... for any number of axes: f32[batch, ?, 64]");
        return NULL;
    }
    next(p);
    ast_node *node = node_leaf(p, AST_DIM, token_span(p, t));
    if (!node) return NULL;
    node->op = op;
    if (op == AST_DIM_INT) node->integer = (int64_t)t->integer;
    return op != AST_DIM_NAME || node_set_token(p, node, t) ? node : NULL;
}

static bool parse_dims(parser *p) {
    uint32_t opener = p->at;
    bool rest = false;
    next(p);
    while (peek_kind(p) != TOKEN_RBRACKET) {
        ast_node *dim = parse_dim(p);
        if (!dim || !push(p, dim)) return false;
        if (dim->op == AST_DIM_REST && rest) {
            mistake(p, E_TYPE_DIMS, dim->where, "a type has at most one `...`");
            fail_hint(p->e, "write ? for each axis of any size");
            return false;
        }
        rest = rest || dim->op == AST_DIM_REST;
        if (peek_kind(p) != TOKEN_COMMA) break;
        next(p);
        if (peek_kind(p) == TOKEN_RBRACKET) return unexpected(p, WANT_TOKEN, "a size after `,`"), false;
    }
    return expect_closer(p, opener, "`,` or `]` after a size");
}

ast_node *parse_type(parser *p) {
    const token *t = peek(p);
    if (t->kind != TOKEN_DTYPE) return explain_dtype(p, t);
    next(p);
    uint32_t mark = p->top;
    bool dims = peek_kind(p) == TOKEN_LBRACKET;
    if (dims && !parse_dims(p)) return NULL;
    ast_node *node = node_new(p, AST_TYPE, (span){p->source, t->begin, previous(p)->end}, mark);
    if (!node || !node_set_token(p, node, t)) return NULL;
    if (dims) node->flags |= AST_HAS_DIMS;
    return node;
}

/* --- brackets and braces --- */

static ast_node *parse_parens(parser *p) {
    uint32_t opener = p->at, mark = p->top;
    next(p);
    ast_node *node = NULL;
    if (peek_kind(p) != TOKEN_RPAREN && !(node = parse_tuple_or_expression(p))) return NULL;
    if (!expect_closer(p, opener, "`,` or `)`")) return NULL;
    span where = {p->source, p->tokens.items[opener].begin, previous(p)->end};
    if (!node && !(node = node_new(p, AST_TUPLE, where, mark))) return NULL;
    node->where = where;
    node->flags |= AST_PARENS;
    return node;
}

static ast_node *parse_tensor(parser *p) {
    uint32_t opener = p->at, mark = p->top;
    next(p);
    while (peek_kind(p) != TOKEN_RBRACKET) {
        ast_node *item = parse_expression(p);
        if (!item || !push(p, item)) return NULL;
        if (peek_kind(p) != TOKEN_COMMA) break;
        next(p);
    }
    if (!expect_closer(p, opener, "`,` or `]` after an element")) return NULL;
    return node_new(p, AST_TENSOR, (span){p->source, p->tokens.items[opener].begin, previous(p)->end}, mark);
}

/* ( NAME | STRING ) ":" expr */
static ast_node *parse_entry(parser *p) {
    const token *key = peek(p);
    if (key->kind != TOKEN_STRING && !is_word(key)) return unexpected(p, WANT_NAME, "a field's name");
    next(p);
    if (!expect(p, TOKEN_COLON, "`:` after the field's name")) return NULL;
    ast_node *value = parse_expression(p);
    if (!value) return NULL;
    ast_node *node = node_with(p, AST_ENTRY, span_from(token_span(p, key), value->where), value, NULL);
    if (!node || !node_set_token(p, node, key)) return NULL;
    return key->kind != TOKEN_STRING || node_set_text(p, node, key->string, key->length) ? node : NULL;
}

static ast_node *parse_record(parser *p) {
    uint32_t opener = p->at, mark = p->top;
    next(p);
    skip_newlines(p); /* only in `{}`, which the lexer could not know to be a record */
    while (peek_kind(p) != TOKEN_RBRACE) {
        ast_node *entry = parse_entry(p);
        if (!entry || !push(p, entry)) return NULL;
        if (peek_kind(p) != TOKEN_COMMA) break;
        next(p);
    }
    if (!expect_closer(p, opener, "`,` or `}` after a field")) return NULL;
    if (!check_unique(p, p->stack + mark, p->top - mark, "field")) return NULL;
    return node_new(p, AST_RECORD, (span){p->source, p->tokens.items[opener].begin, previous(p)->end}, mark);
}

static ast_node *parse_brace(parser *p) {
    uint32_t ahead = 1;
    while (peek_at(p, ahead)->kind == TOKEN_NEWLINE) ahead++;
    if (peek(p)->record || peek_at(p, ahead)->kind == TOKEN_RBRACE) return parse_record(p);
    return parse_block(p, "{");
}

/* --- if and regions --- */

static bool push_block(parser *p, const char *header) {
    ast_node *block = parse_block(p, header);
    return block && push(p, block);
}

/* "if" expr block { "else" "if" expr block } [ "else" block ] */
static ast_node *parse_if(parser *p) {
    span sign = token_span(p, peek(p));
    uint32_t mark = p->top;
    bool more;
    do {
        next(p); /* the `if` */
        ast_node *condition = parse_expression(p);
        if (!condition || !push(p, condition) || !push_block(p, "if")) return NULL;
        bool otherwise = peek_kind(p) == TOKEN_ELSE;
        if (otherwise) next(p);
        more = otherwise && peek_kind(p) == TOKEN_IF;
        if (otherwise && !more && !push_block(p, "else")) return NULL;
    } while (more);
    ast_node *node = node_new(p, AST_IF, (span){p->source, sign.begin, previous(p)->end}, mark);
    if (node) node->sign = sign;
    return node;
}

/* A region's node: its word, what came before the block (or NULL), the block. */
static ast_node *finish_region(parser *p, ast_kind kind, span sign, ast_node *head, const char *header) {
    ast_node *block = parse_block(p, header);
    if (!block) return NULL;
    span where = span_from(sign, block->where);
    ast_node *node = head ? node_with(p, kind, where, head, block) : node_with(p, kind, where, block, NULL);
    if (node) node->sign = sign;
    return node;
}

/* `tape`, `on` and `precision` are names unless what follows makes a region of them: `tape {`; `on` and
 * something that can't follow a name; `precision(DTYPE) {`. */
static ast_kind region_follows(const parser *p) {
    const token *t = peek(p), *after = peek_at(p, 1);
    if (token_is(p, t, "tape")) return after->kind == TOKEN_LBRACE ? AST_TAPE : AST_KIND_COUNT;
    if (token_is(p, t, "precision")) {
        bool region = after->kind == TOKEN_LPAREN && peek_at(p, 2)->kind == TOKEN_DTYPE &&
                      peek_at(p, 3)->kind == TOKEN_RPAREN && peek_at(p, 4)->kind == TOKEN_LBRACE;
        return region ? AST_PRECISION : AST_KIND_COUNT;
    }
    if (!token_is(p, t, "on")) return AST_KIND_COUNT;
    bool named = after->kind == TOKEN_NAME || after->kind == TOKEN_STRING;
    bool parens = after->kind == TOKEN_LPAREN && after->partner > 0 &&
                  p->tokens.items[after->partner + 1].kind == TOKEN_LBRACE;
    return named || parens ? AST_ON : AST_KIND_COUNT;
}

static ast_node *parse_region(parser *p, ast_kind kind) {
    span sign = token_span(p, next(p));
    if (kind == AST_TAPE) return finish_region(p, kind, sign, NULL, "tape");
    if (kind == AST_ON) {
        ast_node *device = parse_expression(p);
        return device ? finish_region(p, kind, sign, device, "on") : NULL;
    }
    next(p);
    const token *dtype = next(p);
    next(p);
    ast_node *node = finish_region(p, kind, sign, NULL, "precision");
    return node && node_set_token(p, node, dtype) ? node : NULL;
}

/* --- literals and names --- */

static ast_node *parse_number(parser *p) {
    const token *t = next(p);
    ast_node *node = node_leaf(p, t->kind == TOKEN_INT ? AST_INT : AST_REAL, token_span(p, t));
    if (!node) return NULL;
    if (t->kind == TOKEN_REAL) {
        node->real = t->real;
    } else if (t->integer > INT64_MAX) {
        mistake(p, E_INTEGER_RANGE, token_span(p, t), "an integer of this size does not fit i64");
        fail_operand(p->e, "the largest is 9223372036854775807");
        fail_hint(p->e, "write it with a point, as a real number");
        return NULL;
    } else {
        node->integer = (int64_t)t->integer;
    }
    return node;
}

static ast_node *parse_string(parser *p) {
    const token *t = next(p);
    ast_node *node = node_leaf(p, AST_STRING, token_span(p, t));
    return node && node_set_text(p, node, t->string, t->length) ? node : NULL;
}

static ast_node *parse_constant(parser *p) {
    const token *t = next(p);
    ast_node *node = node_leaf(p, t->kind == TOKEN_NONE ? AST_NONE : AST_BOOL, token_span(p, t));
    if (node) node->integer = t->kind == TOKEN_TRUE;
    return node;
}

static ast_node *parse_name(parser *p) {
    const token *t = peek(p);
    ast_kind region = region_follows(p);
    if (region != AST_KIND_COUNT) return parse_region(p, region);
    if (foreign_word(p, t)) return NULL;
    next(p);
    ast_node *node = node_leaf(p, AST_NAME, token_span(p, t));
    return node && node_set_token(p, node, t) ? node : NULL;
}

static ast_node *parse_primary(parser *p) {
    switch (peek_kind(p)) {
    case TOKEN_INT:
    case TOKEN_REAL:
        return parse_number(p);
    case TOKEN_STRING:
        return parse_string(p);
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_NONE:
        return parse_constant(p);
    case TOKEN_NAME:
        return parse_name(p);
    case TOKEN_DTYPE:
        return parse_type(p);
    case TOKEN_LPAREN:
        return parse_parens(p);
    case TOKEN_LBRACKET:
        return parse_tensor(p);
    case TOKEN_LBRACE:
        return parse_brace(p);
    case TOKEN_IF:
        return parse_if(p);
    default:
        return unexpected(p, WANT_VALUE, "a value");
    }
}
