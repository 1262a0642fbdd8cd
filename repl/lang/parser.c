/* parser.c — entry points; making nodes; reporting errors. The grammar is in parse_stmt.c, parse_expr.c and
 * parse_primary.c. */
#include "repl/lang/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "repl/lang/ast_impl.h"
#include "repl/lang/parse_impl.h"

/* --- tokens --- */

bool token_is(const parser *p, const token *t, const char *word) {
    size_t length = strlen(word);
    return t->kind == TOKEN_NAME && t->end - t->begin == length &&
           memcmp(p->content + t->begin, word, length) == 0;
}

bool skip_newlines(parser *p) {
    bool any = false;
    for (; peek_kind(p) == TOKEN_NEWLINE; any = true) next(p);
    return any;
}

/* --- nodes --- */

bool push_op(parser *p, uint8_t op, ast_node *node) {
    if (p->top == p->capacity) {
        size_t capacity = p->capacity ? (size_t)p->capacity * 2 : 64, bytes;
        if (capacity > UINT32_MAX || !mem_mul(capacity, sizeof *p->stack, &bytes)) bytes = SIZE_MAX;
        pending *stack = bytes == SIZE_MAX ? NULL : mem_realloc(p->stack, bytes);
        if (!stack) return fail_memory(p->e, bytes), false;
        p->stack = stack;
        p->capacity = (uint32_t)capacity;
    }
    p->stack[p->top++] = (pending){node, op};
    return true;
}

bool push(parser *p, ast_node *node) {
    return push_op(p, AST_NO_OP, node);
}

static bool too_deep(parser *p, span where) {
    fail(p->e, STATUS_LIMIT, E_TOO_DEEP, "this is nested too deeply: the limit is %d levels", AST_MAX_DEPTH);
    p->e->where = where;
    fail_hint(p->e, "give parts of it names, in statements of their own");
    return false;
}

bool deeper(parser *p, span where) {
    return p->depth++ < AST_MAX_DEPTH || too_deep(p, where);
}

ast_node *node_new(parser *p, ast_kind kind, span where, uint32_t mark) {
    uint32_t count = p->top - mark;
    ast_node *node = arena_alloc(p->memory, sizeof *node);
    ast_node **child = count ? arena_alloc(p->memory, count * sizeof *child) : NULL;
    uint8_t *ops = kind == AST_CHAIN || kind == AST_COMPARE ? arena_alloc(p->memory, count) : NULL;
    if (!node || (count && !child) || ((kind == AST_CHAIN || kind == AST_COMPARE) && !ops)) {
        fail_memory(p->e, sizeof *node + count * sizeof *child);
        return NULL;
    }
    uint32_t height = 0;
    for (uint32_t i = 0; i < count; i++) {
        child[i] = p->stack[mark + i].node;
        if (ops && i > 0) ops[i - 1] = p->stack[mark + i].op;
        if (child[i] && child[i]->height > height) height = child[i]->height;
    }
    p->top = mark;
    *node = (ast_node){
        .kind = (uint8_t)kind, .count = count, .child = child, .ops = ops, .where = where, .sign = where};
    node->height = height + 1;
    return node->height <= AST_MAX_DEPTH || too_deep(p, where) ? node : NULL;
}

ast_node *node_leaf(parser *p, ast_kind kind, span where) {
    return node_new(p, kind, where, p->top);
}

ast_node *node_with(parser *p, ast_kind kind, span where, ast_node *a, ast_node *b) {
    uint32_t mark = p->top;
    if (!push(p, a) || (b && !push(p, b))) return NULL;
    return node_new(p, kind, where, mark);
}

bool node_set_text(parser *p, ast_node *node, const char *bytes, uint32_t length) {
    node->text = arena_text(p->memory, bytes, length);
    if (!node->text) return fail_memory(p->e, length), false;
    node->length = length;
    node->hash = hash_bytes(bytes, length, 0);
    if (node->hash == 0) node->hash = 1;
    return true;
}

bool node_set_token(parser *p, ast_node *node, const token *t) {
    node->sign = token_span(p, t);
    return node_set_text(p, node, p->content + t->begin, t->end - t->begin);
}

/* --- errors --- */

ast_node *mistake(parser *p, int number, span where, const char *format, ...) {
    char message[sizeof p->e->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (p->e->code == STATUS_OK) {
        fail(p->e, STATUS_SYNTAX, number, "%s", message);
        p->e->where = where;
    }
    return NULL;
}

/* The innermost bracket before token `at` that nothing closes, or NULL. */
static const token *open_before(const parser *p, uint32_t at) {
    for (uint32_t i = p->tokens.open_count; i-- > 0;)
        if (p->tokens.open[i] < at) return &p->tokens.items[p->tokens.open[i]];
    return NULL;
}

static ast_node *report_fault(parser *p) {
    if (p->e->code == STATUS_OK) *p->e = p->tokens.fault;
    p->ran_out = p->tokens.fault_open;
    return NULL;
}

static unsigned line_of(const parser *p, uint32_t offset) {
    unsigned line = 1;
    for (uint32_t i = 0; i < offset; i++) line += p->content[i] == '\n';
    return line;
}

/* A bracket that stays open: at the end of the text, or where the list within it goes wrong. */
static ast_node *report_open(parser *p, const token *opener, const token *t) {
    const char *closer = token_kind_text((token_kind)(opener->kind + 1));
    mistake(p, E_UNCLOSED, token_span(p, opener), "this %s is never closed",
            token_kind_text((token_kind)opener->kind));
    if (t->kind != TOKEN_END) fail_operand(p->e, "line %u can't be part of it", line_of(p, t->begin));
    fail_hint(p->e, "close it with %s", closer);
    return NULL;
}

span error_span(const parser *p, const token *t) {
    if ((t->kind != TOKEN_END && t->kind != TOKEN_NEWLINE) || p->at == 0) return token_span(p, t);
    uint32_t behind = previous(p)->end;
    return (span){p->source, behind, behind};
}

ast_node *unexpected(parser *p, want wanted, const char *what) {
    const token *t = peek(p), *opener = open_before(p, p->at);
    if (p->e->code != STATUS_OK) return NULL;
    if (t->kind == TOKEN_FAULT) return report_fault(p);
    p->ran_out = t->kind == TOKEN_END;
    if (t->kind == TOKEN_END && opener) return report_open(p, opener, t);
    if (explain_unexpected(p, wanted)) return NULL;
    bool plain =
        t->kind == TOKEN_NAME || t->kind == TOKEN_INT || t->kind == TOKEN_REAL || t->kind == TOKEN_DTYPE;
    if (plain && t->end - t->begin <= 40)
        return mistake(p, E_UNEXPECTED, token_span(p, t), "expected %s, found `%.*s`", what,
                       (int)(t->end - t->begin), p->content + t->begin);
    return mistake(p, E_UNEXPECTED, error_span(p, t), "expected %s, found %s", what,
                   token_kind_text((token_kind)t->kind));
}

bool expect(parser *p, token_kind kind, const char *what) {
    if (peek_kind(p) != kind) return unexpected(p, WANT_TOKEN, what), false;
    next(p);
    return true;
}

bool expect_closer(parser *p, uint32_t index, const char *what) {
    const token *opener = &p->tokens.items[index], *t = peek(p);
    if (t->kind == opener->kind + 1) return next(p), true;
    bool new_line = line_of(p, opener->begin) != line_of(p, t->begin);
    if (t->kind != TOKEN_FAULT && opener->partner == 0 && new_line) {
        p->ran_out = t->kind == TOKEN_END;
        report_open(p, opener, t);
    } else {
        unexpected(p, WANT_NEXT, what);
    }
    return false;
}

bool check_unique(parser *p, const pending *nodes, uint32_t count, const char *what) {
    map seen = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        const ast_node *node = nodes[i].node;
        uintptr_t other;
        if (map_get(&seen, node->hash, &other)) {
            const ast_node *first = (const ast_node *)other;
            if (first->length != node->length || memcmp(first->text, node->text, node->length) != 0) continue;
            mistake(p, E_DUPLICATE, node->sign, "the %s `%.*s` is there twice", what,
                    (int)(node->length < 60 ? node->length : 60), node->text);
            fail_hint(p->e, "give each %s a name of its own", what);
            good = false;
        } else if (!map_put(&seen, node->hash, (uintptr_t)node)) {
            fail_memory(p->e, 0);
            good = false;
        }
    }
    map_free(&seen);
    return good;
}

/* --- entry points --- */

static ast_node *parse_all(parser *p, uint32_t begin, uint32_t end) {
    if (lex(&p->tokens, p->content, begin, end, p->source, p->memory, p->e)) return NULL;
    if (!parse_statements(p, TOKEN_END)) return NULL;
    return node_new(p, AST_PROGRAM, (span){p->source, begin, end}, 0);
}

/* Parses into *out. `wants_more` (may be NULL): whether more text could mend or continue it. */
static status parse_text(const char *content, uint32_t begin, uint32_t end, uint32_t source, error *e,
                         ast **out, bool *wants_more) {
    *out = NULL;
    arena *memory = arena_new();
    ast *tree = memory ? ast_new(memory, source) : NULL;
    if (!tree) {
        arena_free(memory);
        return fail_memory(e, sizeof(ast_node));
    }
    error own = {0}; /* the caller's may be set already, which must not look like ours */
    parser p = {.content = content, .source = source, .memory = memory, .e = &own};
    ast_node *root = parse_all(&p, begin, end);
    if (wants_more)
        *wants_more =
            root ? p.at > 0 && previous(&p)->kind == TOKEN_COMMA : p.ran_out && own.code == STATUS_SYNTAX;
    token_list_free(&p.tokens);
    mem_free(p.stack);
    if (!root) {
        ast_release(tree);
        if (e->code == STATUS_OK) *e = own;
        return own.code;
    }
    ast_set_root(tree, root);
    *out = tree;
    return STATUS_OK;
}

status parse_program_part(const source_table *sources, uint32_t source, uint32_t begin, uint32_t end,
                          error *e, ast **out) {
    size_t length;
    const char *content = source_text(sources, source, &length);
    *out = NULL;
    if (!content || begin > end || end > length)
        return fail(e, STATUS_VALUE, 0, "there is no source %u with the bytes %u to %u", source, begin, end);
    return parse_text(content, begin, end, source, e, out, NULL);
}

status parse_program(const source_table *sources, uint32_t source, error *e, ast **out) {
    size_t length;
    source_text(sources, source, &length);
    return parse_program_part(sources, source, 0, (uint32_t)length, e, out);
}

parse_state parse_complete(const char *content, size_t length) {
    if (length >= UINT32_MAX - 1) return PARSE_WRONG;
    char *line =
        mem_alloc(length + 1); /* with a newline, which ends every statement that nothing keeps open */
    if (!line) return PARSE_WRONG;
    memcpy(line, content, length);
    line[length] = '\n';
    error e = {0};
    ast *tree = NULL;
    bool wants_more = false;
    status code = parse_text(line, 0, (uint32_t)length + 1, 0, &e, &tree, &wants_more);
    ast_release(tree);
    mem_free(line);
    return wants_more ? PARSE_INCOMPLETE : code == STATUS_OK ? PARSE_COMPLETE : PARSE_WRONG;
}
