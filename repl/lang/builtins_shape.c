/* builtins_shape.c — the same elements under other shapes. */
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/builtins.h"
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"

static status result(session *s, tensor *t, value *out) {
    *out = value_tensor(t);
    return t ? STATUS_OK : s->c->err.code;
}

/* The size that -1 stands for. */
static status infer_size(session *s, tensor *x, int_list *sizes, int at) {
    dims *t = s->c->dims;
    dim count = shape_count(t, &x->meta.shape), others = 1;
    for (int i = 0; i < sizes->count; i++)
        if (i != at) others = dim_mul(t, others, sizes->v[i]);
    bool fits = !(dim_known(others) && others <= 0);
    if (fits) {
        sizes->v[at] = dim_div(t, count, others);
        fits = !dim_known(count) || !dim_known(others) || count % others == 0;
    }
    if (fits) return STATUS_OK;
    char buffer[120];
    text wanted = {0};
    for (int i = 0; i < sizes->count; i++) {
        text_add(&wanted, i ? ", " : "");
        if (i == at)
            text_add(&wanted, "-1");
        else
            dim_print(t, sizes->v[i], &wanted);
    }
    fail(&s->c->err, STATUS_SHAPE, E_RESHAPE, "reshape: no size fits -1 in (%s) for %s", text_str(&wanted),
         meta_text(t, &x->meta, buffer, sizeof buffer));
    text_free(&wanted);
    return s->c->err.code;
}

static status run_reshape(session *s, const value *args, value *out) {
    tensor *x;
    int_list sizes;
    status st = arg_tensor(s, "reshape", "x", args[0], &x);
    if (!st) st = arg_ints(s, "reshape", "shape", args[1], &sizes);
    if (st) return st;
    int at = -1;
    for (int i = 0; i < sizes.count; i++) {
        if (!dim_known(sizes.v[i]) || sizes.v[i] >= 0) continue;
        if (sizes.v[i] != -1 || at >= 0)
            return fail(&s->c->err, STATUS_SHAPE, E_RESHAPE,
                        "reshape: only one size may be negative, and it must be -1");
        at = i;
    }
    if (at >= 0) st = infer_size(s, x, &sizes, at);
    if (st) return st;
    shape_attrs a = {.shape = sizes};
    return result(s, op_call1(s->c, OP_reshape, x, &a), out);
}

static status run_flatten(session *s, const value *args, value *out) {
    tensor *x;
    status st = arg_tensor(s, "flatten", "x", args[0], &x);
    if (st) return st;
    shape_attrs a = {.shape = {.count = 1, .v = {shape_count(s->c->dims, &x->meta.shape)}}};
    return result(s, op_call1(s->c, OP_reshape, x, &a), out);
}

static status run_transpose(session *s, const value *args, value *out) {
    tensor *x;
    transpose_attrs a = {0};
    status st = arg_tensor(s, "transpose", "x", args[0], &x);
    if (!st && args[1].tuple->count) st = arg_ints(s, "transpose", "axes", args[1], &a.axes);
    if (st) return st;
    int rank = x->meta.shape.rank;
    if (args[1].tuple->count == 0) {
        a.axes.count = rank;
        for (int i = 0; i < rank; i++) a.axes.v[i] = rank - 1 - i;
    }
    for (int i = 0; i < a.axes.count; i++) {
        int axis;
        st = shape_axis(s->c->dims, &x->meta.shape, a.axes.v[i], &axis, &s->c->err);
        if (st) return st;
        a.axes.v[i] = axis;
    }
    return result(s, op_call1(s->c, OP_transpose, x, &a), out);
}

static bool has(const int_list *list, int64_t n) {
    for (int i = 0; i < list->count; i++)
        if (list->v[i] == n) return true;
    return false;
}

static status run_squeeze(session *s, const value *args, value *out) {
    tensor *x;
    int_list axes = {.count = -1};
    bool given = args[1].kind != VALUE_ABSENT && args[1].kind != VALUE_NONE;
    status st = arg_tensor(s, "squeeze", "x", args[0], &x);
    if (!st && given) st = arg_ints(s, "squeeze", "axis", args[1], &axes);
    for (int i = 0; i < axes.count && !st; i++) {
        int axis;
        st = shape_axis(s->c->dims, &x->meta.shape, axes.v[i], &axis, &s->c->err);
        axes.v[i] = axis;
        if (!st && x->meta.shape.size[axis] != 1)
            st = fail(&s->c->err, STATUS_SHAPE, E_RESHAPE, "squeeze: axis %d does not have size 1", axis);
    }
    if (st) return st;
    shape to = {0};
    for (int i = 0; i < x->meta.shape.rank; i++) {
        bool drop = given ? has(&axes, i) : x->meta.shape.size[i] == 1;
        if (!drop) to.size[to.rank++] = x->meta.shape.size[i];
    }
    return result(s, op_reshape(s->c, x, &to), out);
}

static status run_unsqueeze(session *s, const value *args, value *out) {
    tensor *x;
    int64_t axis;
    status st = arg_tensor(s, "unsqueeze", "x", args[0], &x);
    if (!st) st = arg_int(s, "unsqueeze", "axis", args[1], &axis);
    if (st) return st;
    int rank = x->meta.shape.rank;
    if (axis < -rank - 1 || axis > rank || rank == MAX_RANK)
        return fail(&s->c->err, STATUS_INDEX, 301, "unsqueeze: axis %lld is out of range for %d axes",
                    (long long)axis, rank);
    if (axis < 0) axis += rank + 1;
    shape to = {0};
    for (int i = 0; i <= rank; i++)
        to.size[to.rank++] = i == axis ? 1 : x->meta.shape.size[i < axis ? i : i - 1];
    return result(s, op_reshape(s->c, x, &to), out);
}

/* A new axis 0 through stack_values, then moved to its place. */
static status run_stack(session *s, const value *args, value *out) {
    int64_t axis = 0;
    status st = args[1].kind == VALUE_ABSENT ? STATUS_OK : arg_int(s, "stack", "axis", args[1], &axis);
    if (st) return st;
    bool rows = args[0].kind == VALUE_TENSOR &&
                args[0].tensor->meta.shape.rank > 0; /* stacked along axis 0 already */
    if (!rows && args[0].kind != VALUE_TUPLE)
        return wrong_kind(s, "stack", "tensors", "a tuple of tensors, or one tensor", args[0]);
    value first = rows ? value_retain(args[0]) : (value){0};
    if (!rows) st = stack_values(s, "stack", args[0].tuple->item, args[0].tuple->count, s->c->here, &first);
    if (st) return st;
    int rank = first.tensor->meta.shape.rank, at;
    transpose_attrs a = {.axes = {.count = rank}};
    st = shape_axis(s->c->dims, &first.tensor->meta.shape, axis, &at, &s->c->err);
    if (!st && at == 0) {
        *out = first;
        return st;
    }
    for (int i = 0; i < rank; i++) a.axes.v[i] = i == at ? 0 : i < at ? i + 1 : i;
    if (!st) st = result(s, op_call1(s->c, OP_transpose, first.tensor, &a), out);
    value_release(first);
    return st;
}

/* x.to(cpu), x.to(f32) */
static status run_to(session *s, const value *args, value *out) {
    tensor *x;
    status st = arg_tensor(s, "to", "x", args[0], &x);
    if (st) return st;
    if (args[1].kind == VALUE_TYPE && !args[1].type)
        return result(s, op_cast(s->c, x, args[1].dtype, false), out);
    if (args[1].kind == VALUE_STRING && strcmp(args[1].string->text, "cpu") == 0) {
        *out = value_retain(args[0]);
        return STATUS_OK;
    }
    wrong_kind(s, "to", "device", "the device cpu, or a dtype", args[1]);
    return fail_hint(&s->c->err, "this version computes on the CPU only");
}

const builtin builtins_shape[] = {
    {"reshape", "x, *shape", run_reshape,
     "the same elements in row-major order under another shape; -1 is inferred"},
    {"flatten", "x", run_flatten, "the elements in row-major order as one axis"},
    {"transpose", "x, *axes", run_transpose, "axes in another order; without axes: reversed"},
    {"permute", "x, *axes", run_transpose, "axes in another order, like transpose"},
    {"squeeze", "x, axis=None", run_squeeze, "without axes of size 1"},
    {"unsqueeze", "x, axis", run_unsqueeze, "with a new axis of size 1"},
    {"stack", "tensors, axis=0", run_stack, "tensors of one shape along a new axis"},
    {"to", "x, device", run_to, "the tensor on a device, or in another dtype"},
    {NULL, NULL, NULL, NULL},
};
