/* apply.c — see apply.h. The steps of a call: promote, compose what a row says is a composition, check the shape,
 * execute, record. */
#include "engine/ops/apply.h"

#include <string.h>

/* Common rows with one strong dtype everywhere skip the general promotion. */
static bool already_met(const op_info *op, tensor *const *in, int nin) {
    if (op->class == CLASS_NONE) return true;
    dtype t = in[nin - 1]->meta.dtype;
    for (int i = op->kind == KIND_TERNARY; i < nin; i++)
        if (in[i]->meta.weak || in[i]->meta.dtype != t) return false;
    if (op->kind == KIND_TERNARY && in[0]->meta.dtype != DT_BOOL) return false;
    switch (op->class) {
    case CLASS_ALL:
        return true;
    case CLASS_NUMERIC:
        return t != DT_BOOL;
    case CLASS_FLOAT:
    case CLASS_QUOTIENT:
        return dtype_is_float(t);
    case CLASS_TRUTH:
        return t == DT_BOOL;
    default:
        return !dtype_is_float(t);
    }
}

static status run_call(op_call *call, tensor **out) {
    context *c = call->c;
    call->nout = call->op->nout;
    if (call->op->shape(call)) return c->err.code;
    if (c->executor->run(call, out)) return c->err.code;
    if (c->tapes && c->record(call, out)) {
        for (int i = 0; i < call->nout; i++) {
            tensor_release(out[i]);
            out[i] = NULL;
        }
        return c->err.code;
    }
    return STATUS_OK;
}

/* x converted to (t, weak), or x itself retained. `met` is the dtype in which the operands meet: a traced weak integer
 * has to fit that when the graph runs. */
static tensor *converted(context *c, tensor *x, dtype met, dtype t, bool weak) {
    if (x->meta.dtype == t && x->meta.weak == weak) return tensor_retain(x);
    if (weak || !op_fits_later(x, met)) return op_cast(c, x, t, weak);
    tensor *fitting = op_call1(c, OP_fit, x, &(dtype_attrs){.dtype = met});
    tensor *r = fitting ? converted(c, fitting, met, t, weak) : NULL;
    tensor_release(fitting);
    return r;
}

/* Integer against float compares exactly: order(i64, f64) is -1, 0, 1, or 2 for NaN, and every comparison is one of
 * those numbers. */
static status compare_mixed(context *c, op_id id, tensor *const *in, tensor **out) {
    bool swap = dtype_is_float(in[0]->meta.dtype);
    static const op_id mirrored[OP_COUNT] = {
        [OP_eq] = OP_eq, [OP_ne] = OP_ne, [OP_lt] = OP_gt, [OP_gt] = OP_lt, [OP_le] = OP_ge, [OP_ge] = OP_le};
    if (swap) id = mirrored[id];
    tensor *x = op_cast(c, in[swap], DT_I64, false), *y = x ? op_cast(c, in[!swap], DT_F64, false) : NULL;
    tensor *order = y ? op_call2(c, OP_order, x, y, NULL) : NULL;
    /* lt: order == -1; gt: == 1; eq: == 0; ne: != 0; le: order <= 0 (2 is more); ge: 0 <= order and not NaN */
    int64_t against = id == OP_lt ? -1 : id == OP_gt ? 1 : 0;
    op_id with = id == OP_lt || id == OP_gt ? OP_eq : id == OP_ge ? OP_eq : id;
    tensor *number = order ? tensor_weak_int(c, against) : NULL;
    tensor *first = number ? op_call2(c, with, order, number, NULL) : NULL;
    if (first && id == OP_ge) {
        tensor *one = tensor_weak_int(c, 1);
        tensor *more = one ? op_call2(c, OP_eq, order, one, NULL) : NULL;
        tensor *either = more ? op_call2(c, OP_bits_or, first, more, NULL) : NULL;
        tensor_release(one);
        tensor_release(more);
        tensor_release(first);
        first = either;
    }
    tensor_release(x);
    tensor_release(y);
    tensor_release(order);
    tensor_release(number);
    out[0] = first;
    return first ? STATUS_OK : c->err.code;
}

/* Is this comparison between an integer (or bool) and a float tensor, so that promotion would round? Weak scalars
 * take part with the dtype they carry. */
static bool compares_mixed(const op_info *op, tensor *const *in) {
    if (op->kind != KIND_COMPARE) return false;
    bool fx = dtype_is_float(in[0]->meta.dtype), fy = dtype_is_float(in[1]->meta.dtype);
    if (fx == fy) return false;
    const tensor *integer = in[fx];
    if (integer->meta.weak) return false; /* a literal rounds once to the dtype that it meets */
    return true;
}

/* Integers through f64, rounded once to f32: `/` and mean. */
static bool quotient_of_integers(const op_info *op, tensor *const *in, int nin) {
    if (op->class != CLASS_QUOTIENT) return false;
    bool weak = true;
    for (int i = 0; i < nin; i++) {
        if (dtype_is_float(in[i]->meta.dtype)) return false;
        weak = weak && in[i]->meta.weak;
    }
    return !weak;
}

/* Runs the row in dtype t. */
static status run_converted(op_call *call, tensor *const *in, dtype met, dtype t, bool weak, tensor **out) {
    context *c = call->c;
    tensor *same[MAX_INPUTS] = {0};
    int ready = 0;
    for (; ready < call->nin; ready++) {
        bool condition = call->op->kind == KIND_TERNARY && ready == 0;
        same[ready] = condition ? converted(c, in[ready], DT_BOOL, DT_BOOL, false)
                                : converted(c, in[ready], met, t, weak);
        if (!same[ready]) break;
    }
    status code = c->err.code;
    if (ready == call->nin) {
        call->in = same;
        code = run_call(call, out);
    }
    for (int i = 0; i < ready; i++) tensor_release(same[i]);
    return code;
}

static status run_promoted(op_call *call, tensor *const *in, tensor **out) {
    context *c = call->c;
    const op_info *op = call->op;
    int first = op->kind == KIND_TERNARY;
    dtype t, met = DT_F64;
    bool weak;
    if (compares_mixed(op, in)) return compare_mixed(c, op->id, in, out);
    if (quotient_of_integers(op, in, call->nin)) {
        tensor *exact = NULL;
        if (run_converted(call, in, met, DT_F64, false, &exact)) return c->err.code;
        out[0] = op_cast(c, exact, DT_F32, false);
        tensor_release(exact);
        return out[0] ? STATUS_OK : c->err.code;
    }
    if (op_promote(c, op, in + first, call->nin - first, &t, &met, &weak)) return c->err.code;
    if (weak && first && in[0]->meta.shape.rank > 0) { /* where([true, false], 1, 2) is a tensor */
        weak = false;
        if (t == DT_F64) t = DT_F32;
    }
    return run_converted(call, in, met, t, weak, out);
}

/* x ** 2 with a literal 2 is x * x: the same decision before every tier. */
static bool is_square(const op_info *op, tensor *const *in) {
    return op->id == OP_pow && in[1]->meta.weak && tensor_concrete(in[1]) && tensor_get_real(in[1], 0) == 2 &&
           !in[0]->meta.weak && (dtype_is_float(in[0]->meta.dtype) || in[1]->meta.dtype == DT_I64);
}

/* Weakness ends where a scalar becomes a tensor with axes: i64 stays, a real becomes f32. */
static bool grows_axes(const op_info *op, tensor *const *in, const void *attrs) {
    return (op->id == OP_expand || op->id == OP_reshape) && in[0]->meta.weak &&
           ((const shape_attrs *)attrs)->shape.count > 0;
}

static status apply_materialised(context *c, op_id id, tensor *x, const void *attrs, tensor **out) {
    tensor *strong = op_cast(c, x, x->meta.dtype == DT_F64 ? DT_F32 : DT_I64, false);
    if (!strong) return c->err.code;
    status code = op_apply(c, id, &strong, 1, attrs, out);
    tensor_release(strong);
    return code;
}

status op_apply(context *c, op_id id, tensor *const *in, int nin, const void *attrs, tensor **out) {
    const op_info *op = &op_table[id];
    for (int i = 0; i < op->nout; i++) out[i] = NULL;
    for (int i = 0; i < nin; i++)
        if (!in[i])
            return c->err.code ? c->err.code
                               : fail(&c->err, STATUS_VALUE, 399, "%s of a missing value", op->name);
    if (op->nin < 0 && nin < 1)
        return fail(&c->err, STATUS_TYPE, 205, "%s takes one tensor or more, not none", op->name);
    if (op->nin >= 0 ? nin != op->nin : nin < 1 || nin > MAX_INPUTS)
        return fail(&c->err, STATUS_TYPE, 205, "%s takes %d operands, not %d", op->name, op->nin, nin);
    _Alignas(8) char fallback[MAX_ATTR_BYTES];
    if (!attrs && op->attr_bytes) {
        attrs_defaults(op, fallback);
        attrs = fallback;
    }
    if (grows_axes(op, in, attrs)) return apply_materialised(c, id, in[0], attrs, out);
    if (c->dims) c->dims->here = c->here; /* what is decided about sizes is decided for this place */
    op_call call = {.c = c, .op = op, .in = in, .nin = nin, .attrs = attrs};
    if (already_met(op, in, nin)) return run_call(&call, out);
    if (is_square(op, in)) return op_apply(c, OP_mul, (tensor *[]){in[0], in[0]}, 2, NULL, out);
    return run_promoted(&call, in, out);
}

tensor *op_call0(context *c, op_id id, const void *attrs) {
    tensor *out;
    return op_apply(c, id, NULL, 0, attrs, &out) ? NULL : out;
}

tensor *op_call1(context *c, op_id id, tensor *x, const void *attrs) {
    tensor *out;
    return op_apply(c, id, (tensor *[]){x}, 1, attrs, &out) ? NULL : out;
}

tensor *op_call2(context *c, op_id id, tensor *x, tensor *y, const void *attrs) {
    tensor *out;
    return op_apply(c, id, (tensor *[]){x, y}, 2, attrs, &out) ? NULL : out;
}

tensor *op_call3(context *c, op_id id, tensor *x, tensor *y, tensor *z, const void *attrs) {
    tensor *out;
    return op_apply(c, id, (tensor *[]){x, y, z}, 3, attrs, &out) ? NULL : out;
}

tensor *op_cast(context *c, tensor *x, dtype t, bool weak) {
    return op_call1(c, OP_cast, x, &(cast_attrs){.dtype = t, .weak = weak});
}

static int_list sizes_of(const shape *s) {
    int_list list = {.count = s->rank};
    memcpy(list.v, s->size, sizeof list.v);
    return list;
}

tensor *op_reshape(context *c, tensor *x, const shape *s) {
    return op_call1(c, OP_reshape, x, &(shape_attrs){.shape = sizes_of(s)});
}

tensor *op_expand(context *c, tensor *x, const shape *s) {
    return op_call1(c, OP_expand, x, &(shape_attrs){.shape = sizes_of(s)});
}

tensor *op_transpose(context *c, tensor *x, int rank, const int64_t *axes) {
    transpose_attrs a = {.axes = {.count = rank}};
    memcpy(a.axes.v, axes, (size_t)rank * sizeof *axes);
    return op_call1(c, OP_transpose, x, &a);
}

tensor *op_reduce(context *c, op_id id, tensor *x, const int_list *axes, bool keep) {
    return op_call1(c, id, x, &(reduce_attrs){.axes = axes ? *axes : (int_list){.count = -1}, .keep = keep});
}

tensor *op_full(context *c, double value, const shape *s, dtype t) {
    tensor *scalar = tensor_weak_real(c, value);
    tensor *out =
        scalar ? op_call1(c, OP_full, scalar, &(full_attrs){.shape = sizes_of(s), .dtype = t}) : NULL;
    tensor_release(scalar);
    return out;
}
