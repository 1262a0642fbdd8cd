/* eval_ops.c — operators: which row computes each. */
#include <stdio.h>
#include <string.h>

#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"

static const op_id rows[AST_OP_COUNT] = {
    [AST_ADD] = OP_add,       [AST_SUB] = OP_sub,         [AST_MUL] = OP_mul,
    [AST_DIV] = OP_div,       [AST_MOD] = OP_mod,         [AST_FLOORDIV] = OP_floordiv,
    [AST_MATMUL] = OP_matmul, [AST_EQ] = OP_eq,           [AST_BITAND] = OP_bits_and,
    [AST_NE] = OP_ne,         [AST_LT] = OP_lt,           [AST_BITOR] = OP_bits_or,
    [AST_LE] = OP_le,         [AST_GT] = OP_gt,           [AST_GE] = OP_ge,
    [AST_NEG] = OP_neg,       [AST_INVERT] = OP_bits_not,
};

status run_op(session *s, op_id id, tensor *const *in, int nin, const void *attrs, span where, value *out) {
    if (!s->in_prelude) s->c->here = where;
    tensor *t;
    status st = op_apply(s->c, id, in, nin, attrs, &t);
    if (st) return error_at(s, where, st);
    *out = value_tensor(t);
    return STATUS_OK;
}

/* ---- two operands ---- */

static status bad_operands(session *s, ast_op op, value x, value y) {
    char a[120], b[120];
    error *e = &s->c->err;
    status st = fail(e, STATUS_TYPE, E_WRONG_KIND, "`%s` can't combine %s and %s", ast_op_text(op),
                     value_describe(x, a, sizeof a), value_describe(y, b, sizeof b));
    if (value_callable(x) || value_callable(y)) fail_hint(e, "call the function first: f(x)");
    if (x.kind == VALUE_NONE || y.kind == VALUE_NONE)
        fail_hint(e, "None is what a block without a value gives");
    if (x.kind == VALUE_STRING || y.kind == VALUE_STRING)
        fail_hint(e, "strings join with strings; print(\"x is\", x) shows both");
    if (x.kind == VALUE_TUPLE || y.kind == VALUE_TUPLE) fail_hint(e, "brackets make a tensor: [a, b]");
    return st;
}

static status apply_other(session *s, ast_op op, value x, value y, value *out) {
    if (op == AST_EQ || op == AST_NE) {
        bool equal;
        status st = values_equal(s, x, y, &equal);
        return st ? st : value_from_bool(s, equal == (op == AST_EQ), out);
    }
    if (op == AST_ADD && x.kind == y.kind && (x.kind == VALUE_STRING || x.kind == VALUE_TUPLE))
        return value_join(&s->c->err, x, y, out);
    return bad_operands(s, op, x, y);
}

status apply_binary(session *s, ast_op op, value x, value y, span where, const ast_node *left,
                    const ast_node *right, value *out) {
    status st;
    if (x.kind == VALUE_TENSOR && y.kind == VALUE_TENSOR) {
        st = run_op(s, rows[op], (tensor *[]){x.tensor, y.tensor}, 2, NULL, where, out);
        if (st) name_operands(s, x, y, left, right);
        return st;
    }
    return error_at(s, where, apply_other(s, op, x, y, out));
}

status eval_chain(session *s, const ast_node *n, value *out) {
    value acc = {0};
    status st = eval_expr(s, n->child[0], &acc);
    for (uint32_t i = 1; i < n->count && !st; i++) {
        value next = {0}, made = {0};
        st = eval_expr(s, n->child[i], &next);
        if (!st)
            st = apply_binary(s, (ast_op)n->ops[i - 1], acc, next, ast_chain_span(n, i + 1),
                              i == 1 ? n->child[0] : NULL, n->child[i], &made);
        value_release(next);
        value_release(acc);
        acc = made;
    }
    if (st)
        value_release(acc);
    else
        *out = acc;
    return st;
}

/* a < b <= c is (a < b) and (b <= c), element by element. */
status eval_compare(session *s, const ast_node *n, value *out) {
    value left = {0}, all = {0};
    status st = eval_expr(s, n->child[0], &left);
    for (uint32_t i = 1; i < n->count && !st; i++) {
        value right = {0}, one = {0}, both = {0};
        st = eval_expr(s, n->child[i], &right);
        if (!st)
            st = apply_binary(s, (ast_op)n->ops[i - 1], left, right,
                              n->count == 2 ? n->where : ast_chain_span(n, i + 1), n->child[i - 1],
                              n->child[i], &one);
        value_release(left);
        left = right;
        if (!st && all.kind != VALUE_ABSENT) {
            st = run_op(s, OP_bits_and, (tensor *[]){all.tensor, one.tensor}, 2, NULL, n->where, &both);
            value_release(all);
            value_release(one);
            all = both;
        } else if (!st) {
            all = one;
        }
    }
    value_release(left);
    if (st)
        value_release(all);
    else
        *out = all;
    return st;
}

/* ---- one operand, powers, casts, logic ---- */

status eval_unary(session *s, const ast_node *n, value *out) {
    value x = {0};
    char buffer[120];
    status st = eval_expr(s, n->child[0], &x);
    if (st) return st;
    if (x.kind != VALUE_TENSOR) {
        st = fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "`%s` wants a tensor, not %s",
                  ast_op_text((ast_op)n->op), value_describe(x, buffer, sizeof buffer));
    } else if (n->op == AST_POS) {
        *out = value_retain(x);
    } else {
        st = run_op(s, rows[n->op], &x.tensor, 1, NULL, n->where, out);
        if (st) name_operands(s, x, (value){0}, n->child[0], NULL);
    }
    value_release(x);
    return error_at(s, n->where, st);
}

status eval_power(session *s, const ast_node *n, value *out) {
    value x = {0}, y = {0};
    status st = eval_expr(s, n->child[0], &x);
    if (!st) st = eval_expr(s, n->child[1], &y);
    if (!st && (x.kind != VALUE_TENSOR || y.kind != VALUE_TENSOR)) {
        char a[120], b[120];
        st = fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "`**` can't combine %s and %s",
                  value_describe(x, a, sizeof a), value_describe(y, b, sizeof b));
        error_at(s, n->where, st);
    } else if (!st) {
        st = run_op(s, OP_pow, (tensor *[]){x.tensor, y.tensor}, 2, NULL, n->where, out);
        if (st) name_operands(s, x, y, n->child[0], n->child[1]);
    }
    value_release(x);
    value_release(y);
    return st;
}

status eval_cast(session *s, const ast_node *n, value *out) {
    value x = {0};
    char buffer[120];
    dtype t = DT_F32;
    status st = eval_expr(s, n->child[0], &x);
    if (st) return st;
    dtype_parse(n->text, n->length, &t);
    cast_attrs a = {.dtype = t};
    if (x.kind == VALUE_TENSOR)
        st = run_op(s, OP_cast, &x.tensor, 1, &a, n->where, out);
    else
        st = fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "`as` casts tensors, not %s",
                  value_describe(x, buffer, sizeof buffer));
    value_release(x);
    return error_at(s, n->where, st);
}

status eval_logic(session *s, const ast_node *n, value *out) {
    bool holds = false;
    status st = STATUS_OK;
    if (n->kind == AST_NOT) {
        st = condition(s, n->child[0], &holds);
        return st ? st : value_from_bool(s, !holds, out);
    }
    bool stop = n->kind == AST_OR;
    for (uint32_t i = 0; i < n->count; i++) {
        st = condition(s, n->child[i], &holds);
        if (st) return st;
        if (holds == stop) break;
    }
    return value_from_bool(s, holds, out);
}

/* ---- equality of any two values ---- */

static status tensors_equal(session *s, tensor *x, tensor *y, bool *out) {
    value each = {0}, all = {0};
    *out = false;
    if (!shape_same(s->c->dims, &x->meta.shape, &y->meta.shape)) return STATUS_OK;
    status st = run_op(s, OP_eq, (tensor *[]){x, y}, 2, NULL, s->c->here, &each);
    if (st) return st;
    reduce_attrs a = {.axes = {.count = -1}};
    st = run_op(s, OP_all, &each.tensor, 1, &a, s->c->here, &all);
    if (!st) st = scalar_bool(s, all, "a comparison", out);
    value_release(each);
    value_release(all);
    return st;
}

static status records_equal(session *s, value x, value y, bool *out) {
    *out = x.record->count == y.record->count;
    for (size_t i = 0; i < x.record->count && *out; i++) {
        const value *other = value_field(y, x.record->entry[i].key);
        if (!other) {
            *out = false;
            break;
        }
        status st = values_equal(s, x.record->entry[i].value, *other, out);
        if (st) return st;
    }
    return STATUS_OK;
}

status values_equal(session *s, value x, value y, bool *out) {
    *out = false;
    if (x.kind != y.kind) return STATUS_OK;
    switch (x.kind) {
    case VALUE_TENSOR:
        return tensors_equal(s, x.tensor, y.tensor, out);
    case VALUE_STRING:
        *out =
            x.string->length == y.string->length && !memcmp(x.string->text, y.string->text, x.string->length);
        return STATUS_OK;
    case VALUE_TUPLE:
        *out = x.tuple->count == y.tuple->count;
        for (size_t i = 0; i < x.tuple->count && *out; i++) {
            status st = values_equal(s, x.tuple->item[i], y.tuple->item[i], out);
            if (st) return st;
        }
        return STATUS_OK;
    case VALUE_RECORD:
        return records_equal(s, x, y, out);
    case VALUE_RANGE:
        *out = x.range->begin == y.range->begin && x.range->end == y.range->end;
        return STATUS_OK;
    case VALUE_NONE:
        *out = true;
        return STATUS_OK;
    case VALUE_TYPE:
        *out = x.dtype == y.dtype && x.type == y.type;
        return STATUS_OK;
    case VALUE_BUILTIN:
        *out = x.builtin == y.builtin;
        return STATUS_OK;
    case VALUE_OP:
        *out = x.op == y.op;
        return STATUS_OK;
    default:
        *out = x.object == y.object;
        return STATUS_OK;
    }
}
