/* eval_field.c — `x.name`: own fields, properties of a kind of value, and functions called as methods. */
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/gradient.h"

static status transposed(session *s, const ast_node *n, tensor *t, value *out) {
    int rank = t->meta.shape.rank;
    if (rank > 2) {
        char buffer[120];
        fail(&s->c->err, STATUS_SHAPE, E_WHICH_AXES, ".T of %s: which axes?",
             meta_text(s->c->dims, &t->meta, buffer, sizeof buffer));
        fail_hint(&s->c->err, "transpose(x, axes) takes the axes in their new order");
        return error_at(s, n->where, s->c->err.code);
    }
    if (rank < 2) {
        *out = value_tensor(tensor_retain(t));
        return STATUS_OK;
    }
    transpose_attrs a = {.axes = {.count = 2, .v = {1, 0}}};
    return run_op(s, OP_transpose, &t, 1, &a, n->where, out);
}

status shape_value(session *s, tensor *t, value *out) {
    value sizes[MAX_RANK] = {0};
    int rank = t->meta.shape.rank;
    status st = STATUS_OK;
    for (int i = 0; i < rank && !st; i++) st = value_from_dim(s, t->meta.shape.size[i], &sizes[i]);
    if (!st) st = value_new_tuple(&s->c->err, sizes, (size_t)rank, out);
    for (int i = 0; i < rank; i++) value_release(sizes[i]);
    return st;
}

/* A weak scalar alone is an i64 or an f32. */
dtype dtype_alone(const tensor *t) {
    return t->meta.weak && t->meta.dtype == DT_F64 ? DT_F32 : t->meta.dtype;
}

static status tensor_property(session *s, tensor *t, const ast_node *n, value *out) {
    if (n->hash == s->known.T->hash) return transposed(s, n, t, out);
    if (n->hash == s->known.shape->hash) return shape_value(s, t, out);
    if (n->hash == s->known.dtype->hash) {
        *out = value_dtype(dtype_alone(t));
        return STATUS_OK;
    }
    if (n->hash == s->known.device->hash) return value_new_string(&s->c->err, "cpu", 3, out);
    return STATUS_OK;
}

/* The value's own field or property; *out stays absent when it has none of that name. */
static status own_field(session *s, value v, const ast_node *n, value *out) {
    if (v.kind == VALUE_RECORD) {
        const value *field = value_field(v, symbol_find(&s->symbols, n->hash));
        if (field) *out = value_retain(*field);
        return STATUS_OK;
    }
    return v.kind == VALUE_TENSOR ? tensor_property(s, v.tensor, n, out) : STATUS_OK;
}

status eval_field(session *s, const ast_node *n, value *out) {
    value v = {0}, field = {0};
    status st = eval_expr(s, n->child[0], &v);
    if (st) return st;
    st = own_field(s, v, n, &field);
    if (!st && field.kind == VALUE_ABSENT) st = unknown_field(s, v, n, false);
    value_release(v);
    if (!st) *out = field;
    return st;
}

status method_of(session *s, value v, const ast_node *n, value *f, bool *with_self) {
    *with_self = false;
    if (v.kind == VALUE_RECORD) {
        status st = own_field(s, v, n, f);
        if (st || f->kind != VALUE_ABSENT) return st;
    }
    if (v.kind == VALUE_TAPE && n->hash == s->known.grad->hash) {
        *f = tape_method(s);
        *with_self = true;
        return STATUS_OK;
    }
    const value *found = lookup(s, n->hash);
    if (s->c->err.code) return s->c->err.code;
    if (!found || !value_callable(*found)) {
        value property = {0};
        status st = own_field(s, v, n, &property);
        if (!st && property.kind != VALUE_ABSENT) {
            st = fail(&s->c->err, STATUS_TYPE, E_NOT_CALLABLE, ".%s is not a function", n->text);
            fail_hint(&s->c->err, "leave the parentheses out: .%s", n->text);
            error_at(s, n->where, st);
        }
        value_release(property);
        return st ? st : unknown_field(s, v, n, true);
    }
    *f = value_retain(*found);
    *with_self = true;
    return STATUS_OK;
}
