/* eval_expr.c — expressions: which file evaluates what, and the kinds that need only a few lines.
 *
 * The walk recurses over the tree, whose depth is bounded by the parser, and over calls, whose depth
 * check_stack bounds. Frames of these functions are kept small: what needs room has a function of its own. */
#include <stdio.h>
#include <string.h>

#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/gradient.h"

static __attribute__((noinline)) status too_deep(session *s, span where) {
    status st = fail(&s->c->err, STATUS_LIMIT, E_CALL_DEPTH, "functions call each other too deep");
    fail_hint(&s->c->err, "a recursion that never ends? Loops have no such limit");
    return error_at(s, where, st);
}

static inline bool stack_is_full(const session *s) {
    return (uintptr_t)__builtin_frame_address(0) < s->stack;
}

status check_stack(session *s, span where) {
    enum { DEEPEST = 1000 };
    if (s->calls >= DEEPEST || stack_is_full(s)) return too_deep(s, where);
    if (context_interrupted(s->c)) return error_at(s, where, s->c->err.code);
    return STATUS_OK;
}

static status eval_name(session *s, const ast_node *n, value *out) {
    const value *v = lookup(s, n->hash);
    if (v) {
        *out = value_retain(*v);
        return STATUS_OK;
    }
    return s->c->err.code ? error_at(s, n->where, s->c->err.code) : unknown_name(s, n);
}

static status eval_if(session *s, const ast_node *n, value *out) {
    for (uint32_t i = 0; i + 1 < n->count; i += 2) {
        bool holds;
        status st = condition(s, n->child[i], &holds);
        if (st) return st;
        if (holds) return eval_block(s, n->child[i + 1], out);
    }
    if (n->count % 2) return eval_block(s, n->child[n->count - 1], out);
    *out = value_none();
    return STATUS_OK;
}

static status eval_range_end(session *s, const ast_node *n, int64_t *out) {
    value v = {0};
    status st = eval_expr(s, n, &v);
    if (st) return st;
    st = error_at(s, n->where, scalar_int(s, v, "an end of a range", out));
    value_release(v);
    return st;
}

static status eval_range(session *s, const ast_node *n, value *out) {
    int64_t begin, end;
    status st = eval_range_end(s, n->child[0], &begin);
    if (!st) st = eval_range_end(s, n->child[1], &end);
    return st ? st : value_new_range(&s->c->err, begin, end, out);
}

static status eval_on(session *s, const ast_node *n, value *out) {
    value device = {0};
    status st = eval_expr(s, n->child[0], &device);
    if (st) return st;
    bool cpu = device.kind == VALUE_STRING && strcmp(device.string->text, "cpu") == 0;
    if (!cpu) {
        st = fail(&s->c->err, STATUS_UNSUPPORTED, E_UNFINISHED,
                  "`on` knows the device cpu only in this version");
        error_at(s, n->child[0]->where, st);
    }
    value_release(device);
    return st ? st : eval_block(s, n->child[1], out);
}

static status eval_precision(session *s, const ast_node *n) {
    status st = fail(&s->c->err, STATUS_UNSUPPORTED, E_UNFINISHED, "precision regions are not there yet");
    fail_hint(&s->c->err, "cast what should be %s: x as %s", n->text, n->text);
    return error_at(s, n->sign, st);
}

static status eval_leaf(session *s, const ast_node *n, value *out) {
    switch ((ast_kind)n->kind) {
    case AST_RANGE:
        return eval_range(s, n, out);
    case AST_UNARY:
        return eval_unary(s, n, out);
    case AST_POWER:
        return eval_power(s, n, out);
    case AST_CAST:
        return eval_cast(s, n, out);
    case AST_OR:
    case AST_AND:
    case AST_NOT:
        return eval_logic(s, n, out);
    case AST_LAMBDA:
        return make_function(s, n, out);
    case AST_TAPE:
        return eval_tape(s, n, out);
    case AST_ON:
        return eval_on(s, n, out);
    case AST_PRECISION:
        return eval_precision(s, n);
    default:
        return eval_literal(s, n, out);
    }
}

status eval_expr(session *s, const ast_node *n, value *out) {
    if (stack_is_full(s)) return too_deep(s, n->where);
    switch ((ast_kind)n->kind) {
    case AST_NAME:
        return eval_name(s, n, out);
    case AST_CALL:
        return eval_call(s, n, out);
    case AST_CHAIN:
        return eval_chain(s, n, out);
    case AST_COMPARE:
        return eval_compare(s, n, out);
    case AST_INDEX:
        return eval_index(s, n, out);
    case AST_FIELD:
        return eval_field(s, n, out);
    case AST_PIPE:
        return eval_pipe(s, n, out);
    case AST_BLOCK:
        return eval_block(s, n, out);
    case AST_IF:
        return eval_if(s, n, out);
    default:
        return eval_leaf(s, n, out);
    }
}
