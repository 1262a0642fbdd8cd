/* builtins_create.c — tensors from sizes and numbers. Sizes come one by one or as one tuple, and may be symbols
 * while freezing. */
#include <math.h>
#include <string.h>

#include "engine/ops/random.h"
#include "repl/lang/builtins.h"
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"

static status result(session *s, tensor *t, value *out) {
    *out = value_tensor(t);
    return t ? STATUS_OK : s->c->err.code;
}

static status read_dtype(session *s, const char *function, value v, dtype fallback, dtype *out) {
    *out = fallback;
    return v.kind == VALUE_ABSENT ? STATUS_OK : arg_dtype(s, function, "dtype", v, out);
}

static status read_sizes(session *s, const char *function, value v, shape *out) {
    int_list list;
    status st = arg_ints(s, function, "sizes", v, &list);
    if (st) return st;
    *out = (shape){.rank = (int)list.count};
    for (int i = 0; i < out->rank; i++) {
        if (dim_known(list.v[i]) && list.v[i] < 0)
            return fail(&s->c->err, STATUS_VALUE, E_NUMBER_DOMAIN, "%s: a size can't be %lld", function,
                        (long long)list.v[i]);
        out->size[i] = list.v[i];
    }
    return STATUS_OK;
}

static status filled(session *s, const char *function, tensor *with, value sizes, value dtype_arg,
                     dtype fallback, value *out) {
    shape to;
    dtype d;
    status st = read_sizes(s, function, sizes, &to);
    if (!st) st = read_dtype(s, function, dtype_arg, fallback, &d);
    if (st) return st;
    full_attrs a = {.shape = {.count = to.rank}, .dtype = d};
    memcpy(a.shape.v, to.size, sizeof a.shape.v);
    return result(s, op_call1(s->c, OP_full, with, &a), out);
}

static status constant(session *s, const char *function, int64_t number, const value *args, value *out) {
    tensor *with = tensor_weak_int(s->c, number);
    status st = with ? filled(s, function, with, args[0], args[1], DT_F32, out) : s->c->err.code;
    tensor_release(with);
    return st;
}

static status run_zeros(session *s, const value *args, value *out) {
    return constant(s, "zeros", 0, args, out);
}

static status run_ones(session *s, const value *args, value *out) {
    return constant(s, "ones", 1, args, out);
}

static status run_full(session *s, const value *args, value *out) {
    if (!value_is_scalar(args[1])) {
        wrong_kind(s, "full", "value", "a number", args[1]);
        return fail_hint(&s->c->err, "full((2, 3), 9): sizes first");
    }
    tensor *with = args[1].tensor;
    dtype alone = with->meta.weak && with->meta.dtype == DT_F64 ? DT_F32 : with->meta.dtype;
    return filled(s, "full", with, args[0], args[2], alone, out);
}

/* ---- arange, linspace, eye ---- */

static bool is_integer(value v) {
    return v.kind == VALUE_TENSOR && dtype_is_integer(v.tensor->meta.dtype);
}

static status make_arange(session *s, double start, double step, dim count, dtype d, value *out) {
    arange_attrs a = {.start = start, .step = step, .count = count, .dtype = d};
    return result(s, op_call0(s->c, OP_arange, &a), out);
}

static status zero_step(session *s) {
    return fail(&s->c->err, STATUS_VALUE, E_NUMBER_DOMAIN, "arange: a step of 0 never arrives");
}

static status arange_of_reals(session *s, const value *args, dtype d, value *out) {
    double start = 0, stop, step = 1;
    bool one = args[1].kind == VALUE_ABSENT;
    status st = arg_real(s, "arange", "stop", args[!one], &stop);
    if (!st && !one) st = arg_real(s, "arange", "start", args[0], &start);
    if (!st && args[2].kind != VALUE_ABSENT) st = arg_real(s, "arange", "step", args[2], &step);
    if (st) return st;
    if (step == 0) return zero_step(s);
    double count = ceil((stop - start) / step);
    if (!(count > 0)) count = 0;
    if (!isfinite(start) || !isfinite(step) || count > 1e15)
        return fail(&s->c->err, STATUS_VALUE, E_NUMBER_DOMAIN,
                    "arange: from %g to %g in steps of %g is too many", start, stop, step);
    return make_arange(s, start, step, (dim)count, d, out);
}

static int64_t steps(int64_t start, int64_t stop, int64_t step) {
    if (step > 0 ? start >= stop : start <= stop) return 0;
    uint64_t width = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t count = (distance - 1) / width + 1;
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static status arange_of_integers(session *s, const value *args, dtype d, value *out) {
    dim stop;
    int64_t start = 0, step = 1, end;
    bool one = args[1].kind == VALUE_ABSENT;
    status st = scalar_dim(s, args[!one], "arange's stop", &stop);
    if (!st && !one) st = arg_int(s, "arange", "start", args[0], &start);
    if (!st && args[2].kind != VALUE_ABSENT) st = arg_int(s, "arange", "step", args[2], &step);
    if (st) return st;
    if (step == 0) return zero_step(s);
    if (!dim_known(stop) && start == 0 && step == 1) return make_arange(s, 0, 1, stop, d, out);
    st = dim_known(stop) ? STATUS_OK : arg_int(s, "arange", "stop", args[!one], &end);
    if (dim_known(stop)) end = stop;
    return st ? st : make_arange(s, (double)start, (double)step, steps(start, end, step), d, out);
}

static status run_arange(session *s, const value *args, value *out) {
    bool whole = true;
    dtype d;
    for (int i = 0; i < 3; i++) whole = whole && (args[i].kind == VALUE_ABSENT || is_integer(args[i]));
    status st = read_dtype(s, "arange", args[3], whole ? DT_I64 : DT_F32, &d);
    if (st) return st;
    return whole ? arange_of_integers(s, args, d, out) : arange_of_reals(s, args, d, out);
}

static status run_linspace(session *s, const value *args, value *out) {
    double start, stop;
    int64_t count = 50;
    dtype d;
    status st = arg_real(s, "linspace", "start", args[0], &start);
    if (!st) st = arg_real(s, "linspace", "stop", args[1], &stop);
    if (!st && args[2].kind != VALUE_ABSENT) st = arg_int(s, "linspace", "count", args[2], &count);
    if (!st) st = read_dtype(s, "linspace", args[3], DT_F32, &d);
    if (st) return st;
    if (count < 0)
        return fail(&s->c->err, STATUS_VALUE, E_NUMBER_DOMAIN, "linspace: a count can't be %lld",
                    (long long)count);
    return make_arange(s, start, count > 1 ? (stop - start) / (double)(count - 1) : 0, count, d, out);
}

/* rows == columns, in dtype d. */
static status run_eye(session *s, const value *args, value *out) {
    dim n, m;
    dtype d;
    status st = scalar_dim(s, args[0], "eye's n", &n);
    m = n;
    if (!st && args[1].kind != VALUE_ABSENT && args[1].kind != VALUE_NONE)
        st = scalar_dim(s, args[1], "eye's m", &m);
    if (!st) st = read_dtype(s, "eye", args[2], DT_F32, &d);
    if (!st && ((dim_known(n) && n < 0) || (dim_known(m) && m < 0)))
        st = fail(&s->c->err, STATUS_VALUE, E_NUMBER_DOMAIN, "eye: a size can't be negative");
    if (st) return st;
    value rows = {0}, columns = {0}, row = {0};
    st = make_arange(s, 0, 1, n, DT_I64, &rows);
    if (!st) st = make_arange(s, 0, 1, m, DT_I64, &columns);
    shape line = {.rank = 2, .size = {1, m}}, column = {.rank = 2, .size = {n, 1}};
    tensor *r = st ? NULL : op_reshape(s->c, rows.tensor, &column);
    tensor *c = r ? op_reshape(s->c, columns.tensor, &line) : NULL;
    tensor *equal = c ? op_call2(s->c, OP_eq, r, c, NULL) : NULL;
    tensor *t = equal ? op_cast(s->c, equal, d, false) : NULL;
    value_release(rows);
    value_release(columns);
    value_release(row);
    tensor_release(r);
    tensor_release(c);
    tensor_release(equal);
    return result(s, t, out);
}

/* ---- random ---- */

static status draw(session *s, const char *function, op_id op, const value *args, value *out) {
    shape to;
    dtype d;
    int64_t key;
    tensor *stream = NULL;
    status st = read_sizes(s, function, args[0], &to);
    if (!st) st = read_dtype(s, function, args[1], DT_F32, &d);
    if (!st && !dtype_is_float(d)) {
        st = fail(&s->c->err, STATUS_DTYPE, 108, "%s draws floats, not %s", function, dtype_name(d));
        fail_hint(&s->c->err, "cast the draw: (10 * rand(3)) as i64 gives digits");
    }
    if (!st && args[2].kind != VALUE_ABSENT && args[2].kind != VALUE_NONE) {
        st = arg_int(s, function, "key", args[2], &key);
        if (!st && !(stream = tensor_scalar_i64(s->c, key))) st = s->c->err.code;
    }
    if (!st) st = result(s, random_draw(s->c, op, &to, d, stream), out);
    tensor_release(stream);
    return st;
}

static status run_rand(session *s, const value *args, value *out) {
    return draw(s, "rand", OP_rand, args, out);
}

static status run_randn(session *s, const value *args, value *out) {
    return draw(s, "randn", OP_randn, args, out);
}

const builtin builtins_create[] = {
    {"zeros", "*shape, dtype=f32", run_zeros, "a tensor of zeros"},
    {"ones", "*shape, dtype=f32", run_ones, "a tensor of ones"},
    {"full", "shape, value, dtype=None", run_full, "a tensor of one value"},
    {"eye", "n, m=None, dtype=f32", run_eye, "ones on the diagonal, zeros elsewhere"},
    {"arange", "start, stop=None, step=1, dtype=None", run_arange,
     "start, start + step, .. before stop; of one argument: from 0"},
    {"linspace", "start, stop, count=50, dtype=f32", run_linspace,
     "evenly spaced numbers, both ends included"},
    {"rand", "*shape, dtype=f32, key=None", run_rand, "uniform in [0, 1); key= draws apart from the stream"},
    {"randn", "*shape, dtype=f32, key=None", run_randn, "standard normal; key= draws apart from the stream"},
    {NULL, NULL, NULL, NULL},
};
