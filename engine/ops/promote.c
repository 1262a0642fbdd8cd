/* promote.c — the dtype in which operands meet: language.md, "Numbers". */
#include <stdio.h>
#include <string.h>

#include "engine/ops/apply.h"

static bool has_strong(tensor *const *in, int nin) {
    for (int i = 0; i < nin; i++)
        if (!in[i]->meta.weak) return true;
    return false;
}

void op_describe_operands(context *c, tensor *const *in, int nin) {
    for (int i = 0; i < nin && i < 4; i++) {
        char buffer[120];
        fail_operand(&c->err, "operand %d: %s", i + 1,
                     meta_text(c->dims, &in[i]->meta, buffer, sizeof buffer));
    }
}

static status refuse_halves(context *c, const op_info *op, tensor *const *in, int nin) {
    fail(&c->err, STATUS_DTYPE, 105, "%s of f16 with bf16: neither holds the other's values", op->name);
    op_describe_operands(c, in, nin);
    return fail_hint(&c->err, "cast one side, for example `x as f32`");
}

status op_refuse_unfit(context *c, int64_t value, dtype t) {
    static const int64_t low[] = {[DT_U8] = 0, [DT_I8] = -128, [DT_I32] = INT32_MIN, [DT_I64] = INT64_MIN};
    static const int64_t high[] = {[DT_U8] = 255, [DT_I8] = 127, [DT_I32] = INT32_MAX, [DT_I64] = INT64_MAX};
    if (value >= low[t] && value <= high[t]) return STATUS_OK;
    fail(&c->err, STATUS_DTYPE, 106, "%lld does not fit %s", (long long)value, dtype_name(t));
    return fail_hint(&c->err, "cast the tensor to a wider dtype first, for example `x as i64`");
}

/* A weak integer must fit the integer dtype that it meets (when its value is known). */
status op_check_fits(context *c, const tensor *weak, dtype t) {
    if (!weak->meta.weak || weak->meta.dtype != DT_I64 || !dtype_is_integer(t) || !tensor_concrete(weak))
        return STATUS_OK;
    return op_refuse_unfit(c, tensor_get_int(weak, 0), t);
}

bool op_fits_later(const tensor *weak, dtype t) {
    return weak->meta.weak && weak->meta.dtype == DT_I64 && dtype_is_integer(t) && t != DT_I64 &&
           !tensor_concrete(weak);
}

static status promote_strong(context *c, const op_info *op, tensor *const *in, int nin, dtype *out) {
    bool first = true;
    for (int i = 0; i < nin; i++) {
        if (in[i]->meta.weak) continue;
        dtype t = in[i]->meta.dtype;
        if (!first && !dtype_promote(*out, t, &t)) return refuse_halves(c, op, in, nin);
        *out = t;
        first = false;
    }
    for (int i = 0; i < nin; i++)
        if (in[i]->meta.weak) *out = dtype_meet_weak(*out, in[i]->meta.dtype == DT_F64);
    for (int i = 0; i < nin; i++)
        if (op_check_fits(c, in[i], *out)) return c->err.code;
    return STATUS_OK;
}

/* What a row's class makes of the common dtype. */
static status apply_class(context *c, const op_info *op, tensor *const *in, int nin, dtype *t, bool weak) {
    switch (op->class) {
    case CLASS_NUMERIC:
        if (*t == DT_BOOL) *t = DT_I64;
        return STATUS_OK;
    case CLASS_FLOAT:
    case CLASS_QUOTIENT:
        if (!dtype_is_float(*t)) *t = weak ? DT_F64 : DT_F32;
        return STATUS_OK;
    case CLASS_TRUTH:
        *t = DT_BOOL;
        return STATUS_OK;
    case CLASS_INTEGRAL:
        if (!dtype_is_float(*t)) return STATUS_OK;
        fail(&c->err, STATUS_DTYPE, 107, "%.*s is for integers and bools", (int)strcspn(op->doc, ":"),
             op->doc);
        op_describe_operands(c, in, nin);
        return fail_hint(&c->err, "compare first (x > 0), or cast: x as i64");
    default:
        return STATUS_OK;
    }
}

status op_promote(context *c, const op_info *op, tensor *const *in, int nin, dtype *out, dtype *met,
                  bool *weak) {
    *weak = !has_strong(in, nin);
    if (*weak) {
        *out = DT_I64;
        for (int i = 0; i < nin; i++)
            if (in[i]->meta.dtype == DT_F64) *out = DT_F64;
    } else if (promote_strong(c, op, in, nin, out))
        return c->err.code;
    *met = *out;
    return apply_class(c, op, in, nin, out, *weak);
}
