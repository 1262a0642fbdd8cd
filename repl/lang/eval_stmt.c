/* eval_stmt.c — statements: blocks, loops, jumps, definitions. */
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/gradient.h"

status eval_block(session *s, const ast_node *n, value *out) {
    value last = value_none();
    for (uint32_t i = 0; i < n->count; i++) {
        value_drop(&last);
        status st = eval_statement(s, n->child[i], &last);
        if (st) {
            value_release(last);
            return st;
        }
    }
    *out = last;
    return STATUS_OK;
}

/* Runs a loop's body once. *done becomes true when the loop must end. */
static status loop_body(session *s, const ast_node *body, bool *done) {
    value v = {0};
    status st = eval_block(s, body, &v);
    value_release(v);
    if (st == STATUS_LEAVE && s->leave != LEAVE_RETURN) {
        *done = s->leave == LEAVE_BREAK;
        s->leave = LEAVE_NOTHING;
        st = STATUS_OK;
    }
    if (!st && context_interrupted(s->c)) st = s->c->err.code;
    return st;
}

static status eval_while(session *s, const ast_node *n) {
    bool done = false;
    for (;;) {
        bool go;
        status st = condition(s, n->child[0], &go);
        if (st || !go) return st;
        st = loop_body(s, n->child[1], &done);
        if (st || done) return st;
    }
}

/* How often a `for` over v runs, and its i-th value. */
static status iterations(session *s, value v, int64_t *count) {
    char buffer[120];
    switch (v.kind) {
    case VALUE_RANGE:
        *count = v.range->end > v.range->begin ? v.range->end - v.range->begin : 0;
        return STATUS_OK;
    case VALUE_TUPLE:
        *count = (int64_t)v.tuple->count;
        return STATUS_OK;
    case VALUE_TENSOR:
        if (v.tensor->meta.shape.rank > 0) {
            dim size = v.tensor->meta.shape.size[0];
            if (dim_pin(s->c->dims, size, count)) return STATUS_OK;
            return fail(&s->c->err, STATUS_FREEZE, E_FREEZE_SHAPE,
                        "a loop over an axis needs its size while freezing");
        }
        break;
    default:
        break;
    }
    fail(&s->c->err, STATUS_TYPE, E_NOT_ITERABLE, "`for` can't go over %s",
         value_describe(v, buffer, sizeof buffer));
    return fail_hint(&s->c->err, v.kind == VALUE_RECORD ? "map(f, r) applies f to each field of a record"
                                                        : "a range 0..n, a tuple, or a tensor's first axis");
}

static status iteration(session *s, value v, int64_t i, value *out) {
    switch (v.kind) {
    case VALUE_RANGE:
        return value_from_dim(s, v.range->begin + i, out);
    case VALUE_TUPLE:
        *out = value_retain(v.tuple->item[i]);
        return STATUS_OK;
    default:
        return tensor_row(s, v.tensor, i, out);
    }
}

static status for_each(session *s, const ast_node *n, value over) {
    int64_t count;
    status st = iterations(s, over, &count);
    if (st) return error_at(s, n->child[1]->where, st);
    bool done = false;
    for (int64_t i = 0; i < count && !st && !done; i++) {
        value item = {0};
        st = error_at(s, n->child[1]->where, iteration(s, over, i, &item));
        if (st) break;
        st = unpack(s, n->child[0], item);
        value_release(item);
        if (!st) st = loop_body(s, n->child[2], &done);
    }
    return st;
}

static status eval_for(session *s, const ast_node *n) {
    value over = {0};
    status st = eval_expr(s, n->child[1], &over);
    if (st) return st;
    st = for_each(s, n, over);
    value_release(over);
    return st;
}

static status eval_return(session *s, const ast_node *n) {
    value v = value_none();
    if (n->count) {
        status st = eval_expr(s, n->child[0], &v);
        if (st) return st;
    }
    value_drop(&s->returned);
    s->returned = v;
    s->leave = LEAVE_RETURN;
    return STATUS_LEAVE;
}

static status eval_def(session *s, const ast_node *n) {
    value f = {0};
    status st = make_function(s, n, &f);
    if (st) return st;
    const symbol *name = symbol_find(&s->symbols, n->hash);
    if (!s->in_prelude) s->c->here = n->sign;
    st = error_at(s, n->sign, frame_set(s, name, f));
    value_release(f);
    return st;
}

static status eval_assign(session *s, const ast_node *n) {
    value v = {0};
    const ast_node *target = n->child[0];
    s->assigned_call = target->kind == AST_NAME ? n->child[1] : NULL;
    s->assigned_name = target->kind == AST_NAME ? symbol_find(&s->symbols, target->hash) : NULL;
    status st = eval_expr(s, n->child[1], &v);
    s->assigned_call = NULL;
    if (st) return st;
    st = error_at(s, n->where, unpack(s, n->child[0], v));
    value_release(v);
    return st;
}

status eval_statement(session *s, const ast_node *n, value *out) {
    *out = value_none();
    switch ((ast_kind)n->kind) {
    case AST_DEF:
        return eval_def(s, n);
    case AST_FOR:
        return eval_for(s, n);
    case AST_WHILE:
        return eval_while(s, n);
    case AST_BREAK:
        s->leave = LEAVE_BREAK;
        return STATUS_LEAVE;
    case AST_CONTINUE:
        s->leave = LEAVE_CONTINUE;
        return STATUS_LEAVE;
    case AST_RETURN:
        return eval_return(s, n);
    case AST_ASSIGN:
        return eval_assign(s, n);
    case AST_UPDATE:
        return eval_update(s, n);
    default:
        return eval_expr(s, n, out);
    }
}
