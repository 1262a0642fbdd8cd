/* parse_expr.c — expressions: tuples, lambdas, and the operators by level. A run of operators of one level
 * becomes one node with many operands, however long it is. */
#include "repl/lang/parse_impl.h"

/* --- tuples and lambdas --- */

/* Whether an expression can begin with this token, so that a comma before it was not the last. */
static bool expression_follows(const parser *p) {
    switch (peek_kind(p)) {
    case TOKEN_END:
    case TOKEN_NEWLINE:
    case TOKEN_SEMICOLON:
    case TOKEN_RPAREN:
    case TOKEN_RBRACKET:
    case TOKEN_RBRACE:
    case TOKEN_ASSIGN:
    case TOKEN_IN:
        return false;
    default:
        return true;
    }
}

ast_node *parse_tuple_or_expression(parser *p) {
    uint32_t mark = p->top;
    ast_node *first = parse_expression(p);
    if (!first || peek_kind(p) != TOKEN_COMMA) return first;
    if (!push(p, first)) return NULL;
    while (peek_kind(p) == TOKEN_COMMA) {
        next(p);
        if (!expression_follows(p)) break;
        ast_node *item = parse_expression(p);
        if (!item || !push(p, item)) return NULL;
    }
    return node_new(p, AST_TUPLE, (span){p->source, first->where.begin, previous(p)->end}, mark);
}

/* Whether `NAME ->` or `( .. ) ->` stands next. */
static bool lambda_follows(const parser *p) {
    const token *t = peek(p);
    if (t->kind == TOKEN_NAME || t->kind == TOKEN_DTYPE) return peek_at(p, 1)->kind == TOKEN_ARROW;
    return t->kind == TOKEN_LPAREN && t->partner > 0 && p->tokens.items[t->partner + 1].kind == TOKEN_ARROW;
}

/* The one parameter of `x -> ..`. */
static bool push_parameter(parser *p, const token *name) {
    uint32_t mark = p->top;
    for (int i = 0; i < 2; i++) /* neither type nor default */
        if (!push(p, NULL)) return false;
    ast_node *node = node_new(p, AST_PARAM, token_span(p, name), mark);
    return node && node_set_token(p, node, name) && push(p, node);
}

static ast_node *parse_lambda(parser *p) {
    uint32_t opener = p->at, mark = p->top;
    const token *t = peek(p);
    span first = token_span(p, t);
    if (t->kind == TOKEN_DTYPE) return unexpected(p, WANT_NAME, "a parameter's name before `->`");
    next(p);
    if (t->kind == TOKEN_LPAREN ? !parse_parameters(p, opener) : !push_parameter(p, t)) return NULL;
    span sign = token_span(p, peek(p));
    if (!expect(p, TOKEN_ARROW, "`->`")) return NULL;
    ast_node *node = parse_function(p, AST_LAMBDA, first, mark, false);
    if (node) node->sign = sign;
    return node;
}

ast_node *parse_expression(parser *p) {
    if (!deeper(p, token_span(p, peek(p)))) return NULL;
    ast_node *node = lambda_follows(p) ? parse_lambda(p) : parse_level(p, LEVEL_OR);
    p->depth--;
    return node;
}

/* --- binary operators --- */

typedef struct binary {
    uint8_t level, op; /* op: AST_NO_OP where the kind says it all */
} binary;

static const binary binaries[TOKEN_KIND_COUNT] = {
    [TOKEN_OR] = {LEVEL_OR, AST_NO_OP},
    [TOKEN_AND] = {LEVEL_AND, AST_NO_OP},
    [TOKEN_EQ] = {LEVEL_COMPARE, AST_EQ},
    [TOKEN_NE] = {LEVEL_COMPARE, AST_NE},
    [TOKEN_LT] = {LEVEL_COMPARE, AST_LT},
    [TOKEN_LE] = {LEVEL_COMPARE, AST_LE},
    [TOKEN_GT] = {LEVEL_COMPARE, AST_GT},
    [TOKEN_GE] = {LEVEL_COMPARE, AST_GE},
    [TOKEN_PIPE] = {LEVEL_COMPARE, AST_NO_OP},
    [TOKEN_OR_SIGN] = {LEVEL_BITOR, AST_BITOR},
    [TOKEN_AND_SIGN] = {LEVEL_BITAND, AST_BITAND},
    [TOKEN_DOTS] = {LEVEL_RANGE, AST_NO_OP},
    [TOKEN_PLUS] = {LEVEL_SUM, AST_ADD},
    [TOKEN_MINUS] = {LEVEL_SUM, AST_SUB},
    [TOKEN_STAR] = {LEVEL_TERM, AST_MUL},
    [TOKEN_SLASH] = {LEVEL_TERM, AST_DIV},
    [TOKEN_SLASH2] = {LEVEL_TERM, AST_FLOORDIV},
    [TOKEN_PERCENT] = {LEVEL_TERM, AST_MOD},
    [TOKEN_AT] = {LEVEL_TERM, AST_MATMUL},
    [TOKEN_AS] = {LEVEL_CAST, AST_NO_OP},
};

static binary next_binary(const parser *p) {
    return binaries[peek_kind(p)];
}

static bool is_pipe(const parser *p) {
    return peek_kind(p) == TOKEN_PIPE;
}

/* Operands of one level after `left`, into one node of `kind`. */
static ast_node *parse_run(parser *p, ast_node *left, int level, ast_kind kind) {
    uint32_t mark = p->top;
    span last = left->where;
    if (!push(p, left)) return NULL;
    while (next_binary(p).level == level && !is_pipe(p)) {
        uint8_t op = next_binary(p).op;
        next(p);
        ast_node *right = parse_level(p, level + 1);
        if (!right || !push_op(p, op, right)) return NULL;
        last = right->where;
    }
    span where = span_from(left->where, last);
    if (kind == AST_COMPARE && bits_beside_comparison(p, mark, where)) return NULL;
    return node_new(p, kind, where, mark);
}

/* `|> stage` once or more. */
static ast_node *parse_pipe(parser *p, ast_node *left) {
    uint32_t mark = p->top;
    span last = left->where;
    if (!push(p, left)) return NULL;
    while (is_pipe(p)) {
        next(p);
        ast_node *stage = parse_postfix(p);
        if (!stage || !push(p, stage)) return NULL;
        last = stage->where;
    }
    return node_new(p, AST_PIPE, span_from(left->where, last), mark);
}

static ast_node *parse_range(parser *p, ast_node *left) {
    span sign = token_span(p, next(p));
    ast_node *right = parse_level(p, LEVEL_SUM);
    if (!right) return NULL;
    if (peek_kind(p) == TOKEN_DOTS) {
        mistake(p, E_RANGE_TWICE, token_span(p, peek(p)), "a range has one begin and one end");
        fail_hint(p->e, "for steps, write arange(begin, end, step)");
        return NULL;
    }
    ast_node *node = node_with(p, AST_RANGE, span_from(left->where, right->where), left, right);
    if (node) node->sign = sign;
    return node;
}

static ast_node *parse_cast(parser *p, ast_node *left) {
    next(p);
    const token *t = peek(p);
    if (t->kind != TOKEN_DTYPE) return explain_dtype(p, t);
    next(p);
    ast_node *node = node_with(p, AST_CAST, span_from(left->where, token_span(p, t)), left, NULL);
    if (!node || !node_set_token(p, node, t)) return NULL;
    token_kind after = peek_kind(p);
    bool bound =
        after == TOKEN_LBRACKET || after == TOKEN_POWER || after == TOKEN_DOT || after == TOKEN_LPAREN;
    return bound ? explain_after_cast(p, node) : node;
}

/* What joins `left` and what follows, at the level of the next operator. */
static ast_node *parse_operator(parser *p, ast_node *left, int level) {
    switch (level) {
    case LEVEL_OR:
        return parse_run(p, left, level, AST_OR);
    case LEVEL_AND:
        return parse_run(p, left, level, AST_AND);
    case LEVEL_COMPARE:
        return is_pipe(p) ? parse_pipe(p, left) : parse_run(p, left, level, AST_COMPARE);
    case LEVEL_RANGE:
        return parse_range(p, left);
    case LEVEL_CAST:
        return parse_cast(p, left);
    default:
        return parse_run(p, left, level, AST_CHAIN);
    }
}

/* --- prefix operators and powers --- */

static uint8_t unary_op(token_kind kind) {
    return kind == TOKEN_MINUS   ? AST_NEG
           : kind == TOKEN_PLUS  ? AST_POS
           : kind == TOKEN_TILDE ? AST_INVERT
                                 : AST_NO_OP;
}

/* `-` and a literal with nothing binding tighter behind it: the literal itself. */
static ast_node *parse_negative(parser *p) {
    span sign = token_span(p, next(p));
    const token *t = next(p);
    ast_node *node = node_leaf(p, AST_INT, span_from(sign, token_span(p, t)));
    if (node) node->integer = (int64_t)(0 - t->integer);
    return node;
}

static bool folds(const parser *p) {
    if (peek_kind(p) != TOKEN_MINUS || peek_at(p, 1)->kind != TOKEN_INT) return false;
    token_kind after = (token_kind)peek_at(p, 2)->kind;
    return after != TOKEN_POWER && after != TOKEN_LPAREN && after != TOKEN_LBRACKET && after != TOKEN_DOT;
}

static ast_node *parse_unary(parser *p);

static ast_node *parse_power(parser *p) {
    ast_node *base = parse_postfix(p);
    if (!base || peek_kind(p) != TOKEN_POWER) return base;
    span sign = token_span(p, next(p));
    if (!deeper(p, sign)) return NULL;
    ast_node *exponent = parse_unary(p);
    p->depth--;
    if (!exponent) return NULL;
    ast_node *node = node_with(p, AST_POWER, span_from(base->where, exponent->where), base, exponent);
    if (node) node->sign = sign;
    return node;
}

static ast_node *parse_unary(parser *p) {
    uint8_t op = unary_op(peek_kind(p));
    if (!op) return parse_power(p);
    if (folds(p)) return parse_negative(p);
    span sign = token_span(p, next(p));
    if (!deeper(p, sign)) return NULL;
    ast_node *operand = parse_unary(p);
    p->depth--;
    ast_node *node = operand ? node_with(p, AST_UNARY, span_from(sign, operand->where), operand, NULL) : NULL;
    if (node) node->op = op, node->sign = sign;
    return node;
}

static ast_node *parse_not(parser *p, int level) {
    span sign = token_span(p, peek(p));
    if (level > LEVEL_NOT) return unexpected(p, WANT_VALUE, "a value");
    if (!deeper(p, sign)) return NULL;
    next(p);
    ast_node *operand = parse_level(p, LEVEL_NOT);
    p->depth--;
    ast_node *node = operand ? node_with(p, AST_NOT, span_from(sign, operand->where), operand, NULL) : NULL;
    if (node) node->sign = sign;
    return node;
}

ast_node *parse_level(parser *p, int level) {
    ast_node *left = peek_kind(p) == TOKEN_NOT ? parse_not(p, level) : parse_unary(p);
    while (left && next_binary(p).level >= level && next_binary(p).level > 0)
        left = parse_operator(p, left, next_binary(p).level);
    return left;
}
