/* scalar.c — numbers, truths and sizes out of values, with messages that name what they are for.
 *
 * While freezing, a scalar may be a traced value. Sizes of inputs are known as symbols then; other run-time
 * values have no number, and freeze.c decides what becomes of them. */
#include <math.h>
#include <stdio.h>

#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"

status value_from_dim(session *s, dim d, value *out) {
    tensor *t;
    if (dim_known(d)) {
        t = tensor_weak_int(s->c, d);
    } else {
        extent_attrs a = {.size = d};
        t = op_call0(s->c, OP_extent, &a);
    }
    *out = value_tensor(t);
    return t ? STATUS_OK : s->c->err.code;
}

status value_from_bool(session *s, bool b, value *out) {
    *out = value_tensor(tensor_retain(s->truth[b]));
    return STATUS_OK;
}

status wrong_kind(session *s, const char *function, const char *name, const char *wanted, value got) {
    char buffer[120];
    const char *is = value_describe(got, buffer, sizeof buffer);
    s->blamed = name;
    if (function)
        return fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "%s wants %s for `%s`, not %s", function, wanted,
                    name, is);
    return fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "%s must be %s, not %s", name, wanted, is);
}

static status not_a_scalar(session *s, const char *what, const char *wanted, value v) {
    return wrong_kind(s, NULL, what, wanted, v);
}

static status check_integer(session *s, value v, const char *what) {
    if (!value_is_scalar(v)) return not_a_scalar(s, what, "an integer", v);
    dtype t = v.tensor->meta.dtype;
    if (dtype_is_integer(t)) return STATUS_OK;
    status st = not_a_scalar(s, what, "an integer", v);
    if (dtype_is_float(t)) fail_hint(&s->c->err, "divide with `//`, or write x as i64");
    return st;
}

status scalar_int(session *s, value v, const char *what, int64_t *out) {
    status st = check_integer(s, v, what);
    if (st) return st;
    if (!tensor_concrete(v.tensor)) return freezing_number(s, v.tensor, what, out);
    *out = tensor_get_int(v.tensor, 0);
    return STATUS_OK;
}

status scalar_dim(session *s, value v, const char *what, dim *out) {
    status st = check_integer(s, v, what);
    if (st) return st;
    if (!tensor_concrete(v.tensor) && freezing_dim(s, v.tensor, out)) return STATUS_OK;
    return scalar_int(s, v, what, out);
}

status scalar_real(session *s, value v, const char *what, double *out) {
    if (!value_is_scalar(v)) return not_a_scalar(s, what, "a number", v);
    if (!tensor_concrete(v.tensor)) {
        int64_t n;
        status st = freezing_number(s, v.tensor, what, &n);
        *out = (double)n;
        return st;
    }
    *out = tensor_get_real(v.tensor, 0);
    return STATUS_OK;
}

status scalar_bool(session *s, value v, const char *what, bool *out) {
    if (!value_is_scalar(v) || v.tensor->meta.dtype != DT_BOOL)
        return not_a_scalar(s, what, "true or false", v);
    int64_t n;
    if (!tensor_concrete(v.tensor)) {
        status st = freezing_number(s, v.tensor, what, &n);
        *out = n != 0;
        return st;
    }
    *out = tensor_get_int(v.tensor, 0) != 0;
    return STATUS_OK;
}

static status bad_condition(session *s, value v) {
    char buffer[120];
    error *e = &s->c->err;
    status st = fail(e, STATUS_TYPE, E_CONDITION, "a condition is one bool, not %s",
                     value_describe(v, buffer, sizeof buffer));
    if (v.kind != VALUE_TENSOR) return st;
    if (v.tensor->meta.shape.rank == 0) return fail_hint(e, "compare it: x != 0");
    return fail_hint(e, v.tensor->meta.dtype == DT_BOOL ? "any(x) or all(x) make one bool of it"
                                                        : "any(x != 0) or all(x != 0) make one bool of it");
}

status condition(session *s, const ast_node *n, bool *out) {
    value v = {0};
    status st = eval_expr(s, n, &v);
    if (st) return st;
    if (!value_is_scalar(v) || v.tensor->meta.dtype != DT_BOOL)
        st = bad_condition(s, v);
    else
        st = scalar_bool(s, v, "the condition", out);
    value_release(v);
    return error_at(s, n->where, st);
}
