/* create.c — tensors from nothing or next to nothing: full, arange, extent, one_hot. */
#include <string.h>

#include "engine/core/copy.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/index.h"
#include "engine/ops/loops.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

static status wanted_dtype(context *c, const op_info *op, int64_t t) {
    if (t >= 0 && t < DT_COUNT) return STATUS_OK;
    return fail(&c->err, STATUS_DTYPE, 108, "%s needs a dtype", op->name);
}

/* ---- full ---- */

status full_shape(op_call *call) {
    context *c = call->c;
    const full_attrs *a = call->attrs;
    shape s;
    if (wanted_dtype(c, call->op, a->dtype)) return c->err.code;
    if (!support_shape(&a->shape, &s))
        return fail(&c->err, STATUS_SHAPE, 116, "sizes are 0 or more, and there are at most %d axes",
                    MAX_RANK);
    if (call->in[0]->meta.shape.rank != 0) {
        fail(&c->err, STATUS_SHAPE, 116, "full wants one value");
        support_operands(call);
        return fail_hint(&c->err, "expand(x, shape) repeats a tensor");
    }
    support_result(call, &s, (dtype)a->dtype);
    return STATUS_OK;
}

status full_eval(op_call *call, tensor **out) {
    const tensor *x = call->in[0];
    tensor *result = op_output(call, 0, out);
    if (!result) return call->c->err.code;
    _Alignas(8) char value[8];
    loops()->cast[x->meta.dtype][result->meta.dtype](tensor_data(x), value, 1);
    int64_t still[MAX_RANK] = {0};
    return copy_strided(call->c, &result->meta.shape, dtype_size(result->meta.dtype), tensor_data(result),
                        result->stride, value, still);
}

/* The value's share is the sum of g. */
void full_gradient(gradient_call *k) {
    const meta *x = &k->in[0]->meta;
    if (!k->need[0]) return;
    tensor *sum = rule1(k, OP_sum, k->g[0]);
    k->gin[0] = rule_attrs(k, OP_cast, &sum, 1, &(cast_attrs){.dtype = x->dtype, .weak = x->weak});
}

op_cost full_cost(const op_call *call) {
    return support_cost(call, 0);
}

/* ---- arange ---- */

status arange_shape(op_call *call) {
    const arange_attrs *a = call->attrs;
    if (wanted_dtype(call->c, call->op, a->dtype)) return call->c->err.code;
    if (dim_known(a->count) && a->count < 0)
        return fail(&call->c->err, STATUS_VALUE, 312, "arange of %lld elements", (long long)a->count);
    support_result(call, &(shape){.rank = 1, .size = {a->count}}, (dtype)a->dtype);
    return STATUS_OK;
}

typedef struct arange_walk {
    const arange_attrs *a;
    char *out;
    int64_t n;
} arange_walk;

enum { CREATE_SHARE = 16 * TILE };

static void arange_task(void *user, int64_t task, int lane) {
    (void)lane;
    const arange_walk *w = user;
    dtype t = (dtype)w->a->dtype;
    double tile[TILE];
    int64_t end = (task + 1) * CREATE_SHARE < w->n ? (task + 1) * CREATE_SHARE : w->n;
    for (int64_t i = task * CREATE_SHARE; i < end; i += TILE) {
        int64_t n = end - i < TILE ? end - i : TILE;
        for (int64_t j = 0; j < n; j++) tile[j] = w->a->start + (double)(i + j) * w->a->step;
        loops()->cast[DT_F64][t](tile, w->out + i * (int64_t)dtype_size(t), n);
    }
}

status arange_eval(op_call *call, tensor **out) {
    context *c = call->c;
    tensor *result = op_output(call, 0, out);
    if (!result) return c->err.code;
    arange_walk w = {.a = call->attrs, .out = tensor_data(result), .n = tensor_count(result)};
    pool_run(c->workers, (w.n + CREATE_SHARE - 1) / CREATE_SHARE, arange_task, &w, &c->interrupt);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}

op_cost arange_cost(const op_call *call) {
    return support_cost(call, 2 * support_elements(call->c, &call->out[0]));
}

/* ---- extent ---- */

status extent_shape(op_call *call) {
    support_result(call, &(shape){0}, DT_I64);
    call->out[0].weak = true;
    return STATUS_OK;
}

status extent_eval(op_call *call, tensor **out) {
    tensor *result = op_output(call, 0, out);
    if (!result) return call->c->err.code;
    *(int64_t *)tensor_data(result) = ((const extent_attrs *)call->attrs)->size;
    return STATUS_OK;
}

op_cost extent_cost(const op_call *call) {
    (void)call;
    return (op_cost){0};
}

/* ---- one_hot ---- */

status one_hot_shape(op_call *call) {
    context *c = call->c;
    const one_hot_attrs *a = call->attrs;
    const meta *x = &call->in[0]->meta;
    if (wanted_dtype(c, call->op, a->dtype) || index_dtype(call, 0)) return c->err.code;
    if (dim_known(a->classes) && a->classes < 0)
        return fail(&c->err, STATUS_VALUE, 312, "one_hot of %lld classes", (long long)a->classes);
    if (x->shape.rank == MAX_RANK)
        return fail(&c->err, STATUS_SHAPE, 116, "one_hot adds an axis to the %d that a tensor can have",
                    MAX_RANK);
    shape s = x->shape;
    s.size[s.rank++] = a->classes;
    support_result(call, &s, (dtype)a->dtype);
    return STATUS_OK;
}

typedef struct one_hot_rows {
    const int64_t *at;
    int64_t n, classes, share; /* rows, elements of a row, rows of a task */
    char *out;
    size_t size;
    _Alignas(8) char one[8];
} one_hot_rows;

static void one_hot_task(void *user, int64_t task, int lane) {
    (void)lane;
    const one_hot_rows *w = user;
    int64_t begin = task * w->share, end = begin + w->share < w->n ? begin + w->share : w->n;
    memset(w->out + (size_t)(begin * w->classes) * w->size, 0,
           (size_t)((end - begin) * w->classes) * w->size);
    for (int64_t i = begin; i < end; i++)
        memcpy(w->out + (size_t)(i * w->classes + w->at[i]) * w->size, w->one, w->size);
}

status one_hot_eval(op_call *call, tensor **out) {
    context *c = call->c;
    int64_t classes = call->out[0].shape.size[call->out[0].shape.rank - 1];
    tensor *index = index_checked(call, 0, classes, false);
    tensor *result = index ? op_output(call, 0, out) : NULL;
    if (result && classes > 0) {
        dtype t = result->meta.dtype;
        one_hot_rows w = {.at = tensor_data(index),
                          .n = tensor_count(index),
                          .classes = classes,
                          .share = classes < CREATE_SHARE ? CREATE_SHARE / classes : 1,
                          .out = tensor_data(result),
                          .size = dtype_size(t)};
        loops()->cast[DT_BOOL][t](&(uint8_t){1}, w.one, 1);
        pool_run(c->workers, (w.n + w.share - 1) / w.share, one_hot_task, &w, &c->interrupt);
        context_interrupted(c);
    }
    tensor_release(index);
    return c->err.code;
}

op_cost one_hot_cost(const op_call *call) {
    return support_cost(call, 0);
}
