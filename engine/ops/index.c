/* index.c — take, take_add, gather, scatter_add, compress: elements picked by index tensors, and the sums that undo it.
 *
 * Index tensors are first read into i64 and checked, so that the loops that move elements need no test. Adding runs in
 * the order of the index, each worker owning its own elements of the result, so repeated indices always add up to the
 * same bits; halves add in f32 and round once. */
#include "engine/ops/index.h"

#include <string.h>

#include "engine/core/copy.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/loops.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

/* ---- index tensors ---- */

status index_dtype(op_call *call, int i) {
    context *c = call->c;
    dtype t = call->in[i]->meta.dtype;
    if (dtype_is_integer(t)) return STATUS_OK;
    fail(&c->err, STATUS_INDEX, 305, "%s by %s: an index is an integer", call->op->name, dtype_name(t));
    if (t == DT_BOOL) return fail_hint(&c->err, "x[mask] keeps the elements where a bool tensor holds");
    return fail_hint(&c->err, "use // for a whole quotient, or cast: i as i64");
}

static status out_of_range(op_call *call, const tensor *index, int64_t at, int64_t value, int64_t size,
                           bool wrap) {
    context *c = call->c;
    const shape *s = &index->meta.shape;
    int64_t position[MAX_RANK];
    for (int i = s->rank - 1; i >= 0; i--) {
        position[i] = at % s->size[i];
        at /= s->size[i];
    }
    text p = {0};
    for (int i = 0; i < s->rank; i++) text_printf(&p, i ? ", %lld" : "%lld", (long long)position[i]);
    if (s->rank)
        fail(&c->err, STATUS_INDEX, 306, "index %lld at [%s] is out of range for size %lld", (long long)value,
             text_str(&p), (long long)size);
    else
        fail(&c->err, STATUS_INDEX, 306, "index %lld is out of range for size %lld", (long long)value,
             (long long)size);
    text_free(&p);
    if (size == 0) return fail_hint(&c->err, "there is nothing to pick from");
    if (!wrap) return fail_hint(&c->err, "indices go from 0 to %lld", (long long)size - 1);
    return fail_hint(&c->err, "indices go from 0 to %lld, or -%lld to -1 from the end", (long long)size - 1,
                     (long long)size);
}

tensor *index_checked(op_call *call, int i, int64_t size, bool wrap) {
    context *c = call->c;
    tensor *given = call->in[i], *packed = tensor_to_contiguous(given);
    tensor *index = packed ? tensor_new(c, DT_I64, &given->meta.shape) : NULL;
    if (index) {
        int64_t n = tensor_count(index), *at = tensor_data(index);
        loops()->cast[given->meta.dtype][DT_I64](tensor_data(packed), at, n);
        for (int64_t j = 0; j < n; j++) {
            int64_t value = at[j];
            if (wrap && value < 0) at[j] += size;
            if (at[j] >= 0 && at[j] < size) continue;
            out_of_range(call, index, j, value, size, wrap);
            tensor_release(index);
            index = NULL;
            break;
        }
    }
    tensor_release(packed);
    return index;
}

static status axis_of(op_call *call, int *axis) {
    const axis_attrs *a = call->attrs;
    const shape *x = &call->in[0]->meta.shape;
    if (x->rank == 0) {
        fail(&call->c->err, STATUS_INDEX, 301, "%s from a scalar, which has no axes", call->op->name);
        return call->c->err.code;
    }
    return shape_axis(call->c->dims, x, a->axis, axis, &call->c->err);
}

static status same_dtype(op_call *call, int i) {
    dtype x = call->in[0]->meta.dtype, v = call->in[i]->meta.dtype;
    if (x == v) return STATUS_OK;
    fail(&call->c->err, STATUS_DTYPE, 107, "%s of %s elements to %s ones", call->op->name, dtype_name(v),
         dtype_name(x));
    return fail_hint(&call->c->err, "cast one side first");
}

static status misfit(op_call *call, const char *what) {
    fail(&call->c->err, STATUS_SHAPE, 117, "%s: %s", call->op->name, what);
    return support_operands(call);
}

/* ---- shapes ---- */

/* x's shape with the axis replaced by the index's shape. */
static status taken_shape(op_call *call, int *axis, shape *out) {
    const shape *x = &call->in[0]->meta.shape, *index = &call->in[1]->meta.shape;
    if (index_dtype(call, 1) || axis_of(call, axis)) return call->c->err.code;
    *out = (shape){.rank = x->rank - 1 + index->rank};
    if (out->rank > MAX_RANK) return misfit(call, "the result would have more than 8 axes");
    int n = 0;
    for (int i = 0; i < *axis; i++) out->size[n++] = x->size[i];
    for (int i = 0; i < index->rank; i++) out->size[n++] = index->size[i];
    for (int i = *axis + 1; i < x->rank; i++) out->size[n++] = x->size[i];
    return STATUS_OK;
}

status take_shape(op_call *call) {
    int axis;
    shape s;
    if (taken_shape(call, &axis, &s)) return call->c->err.code;
    support_result(call, &s, call->in[0]->meta.dtype);
    return STATUS_OK;
}

status take_add_shape(op_call *call) {
    int axis;
    shape s;
    if (taken_shape(call, &axis, &s) || same_dtype(call, 2)) return call->c->err.code;
    if (!shape_same(call->c->dims, &s, &call->in[2]->meta.shape))
        return misfit(call, "the elements to add must have the shape that take would give");
    support_result(call, &call->in[0]->meta.shape, call->in[0]->meta.dtype);
    return STATUS_OK;
}

static status gather_fits(op_call *call, int *axis) {
    const shape *x = &call->in[0]->meta.shape, *index = &call->in[1]->meta.shape;
    if (index_dtype(call, 1) || axis_of(call, axis)) return call->c->err.code;
    bool fits = index->rank == x->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = i == *axis || dim_same(call->c->dims, x->size[i], index->size[i]);
    return fits ? STATUS_OK
                : misfit(call, "the index must have the operand's shape, but for the axis picked from");
}

status gather_shape(op_call *call) {
    int axis;
    if (gather_fits(call, &axis)) return call->c->err.code;
    support_result(call, &call->in[1]->meta.shape, call->in[0]->meta.dtype);
    return STATUS_OK;
}

status scatter_add_shape(op_call *call) {
    int axis;
    if (gather_fits(call, &axis) || same_dtype(call, 2)) return call->c->err.code;
    if (!shape_same(call->c->dims, &call->in[1]->meta.shape, &call->in[2]->meta.shape))
        return misfit(call, "the elements to add must have the index's shape");
    support_result(call, &call->in[0]->meta.shape, call->in[0]->meta.dtype);
    return STATUS_OK;
}

/* ---- kernels ---- */

/* A tensor seen as [outer][axis][inner], row-major. */
typedef struct view3 {
    int64_t outer, axis, inner;
} view3;

static view3 around(const shape *s, int axis) {
    view3 v = {1, s->size[axis], 1};
    for (int i = 0; i < axis; i++) v.outer *= s->size[i];
    for (int i = axis + 1; i < s->rank; i++) v.inner *= s->size[i];
    return v;
}

typedef struct picking {
    view3 v;           /* of the tensor that is picked from or added to */
    int64_t n;         /* picks for each outer element */
    const int64_t *at; /* [n] for take; [outer][n][inner] for gather */
    const char *from;  /* what is picked from, or added */
    char *to;
    size_t bytes;
    dtype t;       /* that adds */
    bool each;     /* gather and scatter_add: an index of its own for each element */
    int64_t share; /* outer elements (or inner ones when split) of a task */
    int64_t inner_share;
    int64_t inner_tasks;
} picking;

enum { MOVE_ELEMENTS = 32768 };

#define MOVE_EACH(T)                                                                                         \
    for (int64_t j = j0; j < j1; j++)                                                                        \
        ((T *)(void *)to)[j] = ((const T *)(const void *)x)[at[j] * p->v.inner + j];

static void gather_row(const picking *p, char *to, const char *x, const int64_t *at, int64_t j0, int64_t j1) {
    switch (p->bytes) {
    case 1:
        MOVE_EACH(uint8_t)
        return;
    case 2:
        MOVE_EACH(uint16_t)
        return;
    case 4:
        MOVE_EACH(uint32_t)
        return;
    default:
        MOVE_EACH(uint64_t)
    }
}

#define ADD_EACH(T, U)                                                                                       \
    for (int64_t j = j0; j < j1; j++) {                                                                      \
        T *o = (T *)(void *)x + at[j] * p->v.inner + j;                                                      \
        *o = (T)((U)*o + (U)((const T *)(const void *)v)[j]);                                                \
    }

static void scatter_row(const picking *p, char *x, const char *v, const int64_t *at, int64_t j0, int64_t j1) {
    switch (p->t) {
    case DT_F32:
        ADD_EACH(float, float)
        return;
    case DT_F64:
        ADD_EACH(double, double)
        return;
    case DT_I64:
        ADD_EACH(int64_t, uint64_t)
        return;
    case DT_I32:
        ADD_EACH(int32_t, uint32_t)
        return;
    case DT_BOOL:
        for (int64_t j = j0; j < j1; j++) x[at[j] * p->v.inner + j] |= v[j];
        return;
    default:
        ADD_EACH(uint8_t, uint32_t)
    }
}

/* row += v, both n elements of type p->t. */
static void add_row(const picking *p, char *row, const char *v, int64_t n) {
    if (p->t == DT_BOOL) {
        for (int64_t i = 0; i < n; i++) row[i] |= v[i];
        return;
    }
    loops()->elementwise[OP_add][dtype_compute(p->t)]((const void *[]){row, v}, (int[]){1, 1}, row, n);
}

/* Task -> outer elements [*o0, *o1) and inner ones [*j0, *j1). */
static void task_box(const picking *p, int64_t task, int64_t *o0, int64_t *o1, int64_t *j0, int64_t *j1) {
    *o0 = task / p->inner_tasks * p->share;
    *o1 = *o0 + p->share < p->v.outer ? *o0 + p->share : p->v.outer;
    *j0 = task % p->inner_tasks * p->inner_share;
    *j1 = *j0 + p->inner_share < p->v.inner ? *j0 + p->inner_share : p->v.inner;
}

static void pick_task(void *user, int64_t task, int lane) {
    (void)lane;
    const picking *p = user;
    int64_t o0, o1, j0, j1, inner = p->v.inner, size = (int64_t)p->bytes;
    task_box(p, task, &o0, &o1, &j0, &j1);
    for (int64_t o = o0; o < o1; o++)
        for (int64_t i = 0; i < p->n; i++) {
            char *to = p->to + (o * p->n + i) * inner * size;
            const char *x = p->from + o * p->v.axis * inner * size;
            if (p->each)
                gather_row(p, to, x, p->at + (o * p->n + i) * inner, j0, j1);
            else
                memcpy(to + j0 * size, x + (p->at[i] * inner + j0) * size, (size_t)((j1 - j0) * size));
        }
}

static void add_task(void *user, int64_t task, int lane) {
    (void)lane;
    const picking *p = user;
    int64_t o0, o1, j0, j1, inner = p->v.inner, size = (int64_t)p->bytes;
    task_box(p, task, &o0, &o1, &j0, &j1);
    for (int64_t o = o0; o < o1; o++)
        for (int64_t i = 0; i < p->n; i++) {
            const char *v = p->from + (o * p->n + i) * inner * size;
            char *x = p->to + o * p->v.axis * inner * size;
            if (p->each)
                scatter_row(p, x, v, p->at + (o * p->n + i) * inner, j0, j1);
            else
                add_row(p, x + (p->at[i] * inner + j0) * size, v + j0 * size, j1 - j0);
        }
}

static status run_picking(context *c, picking *p, pool_task task) {
    int64_t row = p->n * p->v.inner;
    if (row == 0 || p->v.outer == 0) return STATUS_OK;
    p->share = row >= MOVE_ELEMENTS ? 1 : MOVE_ELEMENTS / row;
    p->inner_share = p->v.inner;
    p->inner_tasks = 1;
    if (p->v.outer == 1 && row > MOVE_ELEMENTS && p->v.inner >= 128) { /* split what lies inside instead */
        p->inner_share = (MOVE_ELEMENTS / p->n + 63) / 64 * 64;
        if (p->inner_share < 64) p->inner_share = 64;
        p->inner_tasks = (p->v.inner + p->inner_share - 1) / p->inner_share;
    }
    int64_t tasks = (p->v.outer + p->share - 1) / p->share * p->inner_tasks;
    pool_run(c->workers, tasks, task, p, &c->interrupt);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}

/* take and gather. */
static status pick(op_call *call, tensor **out, bool each) {
    context *c = call->c;
    int axis;
    if (axis_of(call, &axis)) return c->err.code;
    picking p = {.v = around(&call->in[0]->meta.shape, axis), .each = each, .t = call->in[0]->meta.dtype};
    tensor *index = index_checked(call, 1, p.v.axis, true);
    tensor *x = index ? tensor_to_contiguous(call->in[0]) : NULL;
    tensor *result = x ? op_output(call, 0, out) : NULL;
    if (result) {
        p.n = each ? call->in[1]->meta.shape.size[axis] : tensor_count(index);
        p.at = tensor_data(index);
        p.from = tensor_data(x);
        p.to = tensor_data(result);
        p.bytes = dtype_size(p.t);
        run_picking(c, &p, pick_task);
    }
    tensor_release(x);
    tensor_release(index);
    return c->err.code;
}

/* x as accumulators in *wide: the result itself, or an f32 copy where the elements are halves. */
static tensor *accumulators(op_call *call, tensor *result) {
    copy_tensor(call->in[0], tensor_data(result));
    if (!dtype_is_half(result->meta.dtype)) return tensor_retain(result);
    tensor *wide = tensor_new(call->c, DT_F32, &result->meta.shape);
    if (wide)
        loops()->cast[result->meta.dtype][DT_F32](tensor_data(result), tensor_data(wide), tensor_count(wide));
    return wide;
}

/* What is added, row-major in the accumulators' type. */
static tensor *addends(op_call *call, dtype t) {
    tensor *v = tensor_to_contiguous(call->in[2]);
    if (!v || v->meta.dtype == t) return v;
    tensor *wide = tensor_new(call->c, t, &v->meta.shape);
    if (wide) loops()->cast[v->meta.dtype][t](tensor_data(v), tensor_data(wide), tensor_count(wide));
    tensor_release(v);
    return wide;
}

/* take_add and scatter_add. */
static status add(op_call *call, tensor **out, bool each) {
    context *c = call->c;
    int axis;
    if (axis_of(call, &axis)) return c->err.code;
    picking p = {.v = around(&call->in[0]->meta.shape, axis), .each = each};
    tensor *index = index_checked(call, 1, p.v.axis, true);
    tensor *result = index ? op_output(call, 0, out) : NULL;
    tensor *x = result ? accumulators(call, result) : NULL;
    tensor *v = x ? addends(call, x->meta.dtype) : NULL;
    if (v) {
        p.t = x->meta.dtype;
        p.n = each ? call->in[1]->meta.shape.size[axis] : tensor_count(index);
        p.at = tensor_data(index);
        p.from = tensor_data(v);
        p.to = tensor_data(x);
        p.bytes = dtype_size(p.t);
        if (!run_picking(c, &p, add_task) && x != result)
            loops()->cast[DT_F32][result->meta.dtype](tensor_data(x), tensor_data(result), tensor_count(x));
    }
    tensor_release(v);
    tensor_release(x);
    tensor_release(index);
    return c->err.code;
}

status take_eval(op_call *call, tensor **out) {
    return pick(call, out, false);
}
status gather_eval(op_call *call, tensor **out) {
    return pick(call, out, true);
}
status take_add_eval(op_call *call, tensor **out) {
    return add(call, out, false);
}
status scatter_add_eval(op_call *call, tensor **out) {
    return add(call, out, true);
}

/* ---- gradients and costs ---- */

/* g added into zeros of x's shape where x was read. */
static void picked_gradient(gradient_call *k, op_id add_op) {
    if (!k->need[0]) return;
    const meta *x = &k->in[0]->meta;
    tensor *zeros = scope_add(k->c, op_full(k->c, 0, &x->shape, x->dtype));
    k->gin[0] = rule_attrs(k, add_op, (tensor *[]){zeros, k->in[1], k->g[0]}, 3, k->attrs);
}

static void added_gradient(gradient_call *k, op_id pick_op) {
    if (k->need[0]) k->gin[0] = k->g[0];
    if (k->need[2]) k->gin[2] = rule_attrs(k, pick_op, (tensor *[]){k->g[0], k->in[1]}, 2, k->attrs);
}

void take_gradient(gradient_call *k) {
    picked_gradient(k, OP_take_add);
}
void gather_gradient(gradient_call *k) {
    picked_gradient(k, OP_scatter_add);
}
void take_add_gradient(gradient_call *k) {
    added_gradient(k, OP_take);
}
void scatter_add_gradient(gradient_call *k) {
    added_gradient(k, OP_gather);
}

op_cost take_cost(const op_call *call) {
    op_cost cost = support_cost(call, 0); /* of the operand only what is picked is read */
    double all = support_elements(call->c, &call->in[0]->meta),
           some = support_elements(call->c, &call->out[0]);
    cost.bytes += (some - all) * (double)dtype_size(call->in[0]->meta.dtype);
    return cost;
}
op_cost gather_cost(const op_call *call) {
    return take_cost(call);
}
op_cost take_add_cost(const op_call *call) {
    return support_cost(call, support_elements(call->c, &call->in[2]->meta));
}
op_cost scatter_add_cost(const op_call *call) {
    return take_add_cost(call);
}

/* ---- compress ---- */

/* The positions where a concrete bool vector holds, as an i64 vector. */
static tensor *positions(context *c, const tensor *mask) {
    int64_t n = mask->meta.shape.size[0], found = 0;
    const uint8_t *m = tensor_data(mask);
    for (int64_t i = 0; i < n; i++) found += m[i * mask->stride[0]];
    tensor *index = tensor_new(c, DT_I64, &(shape){.rank = 1, .size = {found}});
    if (!index) return NULL;
    int64_t *at = tensor_data(index);
    for (int64_t i = 0; i < n; i++)
        if (m[i * mask->stride[0]]) *at++ = i;
    return index;
}

status compress_shape(op_call *call) {
    context *c = call->c;
    const tensor *mask = call->in[1];
    int axis;
    if (axis_of(call, &axis)) return c->err.code;
    shape s = call->in[0]->meta.shape;
    if (mask->meta.dtype != DT_BOOL || mask->meta.shape.rank != 1 ||
        !dim_same(c->dims, mask->meta.shape.size[0], s.size[axis]))
        return misfit(call, "the mask must be a bool vector as long as the axis");
    if (!tensor_concrete(mask)) {
        fail(&c->err, STATUS_FREEZE, 512, "the shape of the result depends on the values of the mask");
        return fail_hint(&c->err, "where(mask, x, 0) keeps the shape");
    }
    const uint8_t *m = tensor_data(mask);
    int64_t found = 0;
    for (int64_t i = 0; i < mask->meta.shape.size[0]; i++) found += m[i * mask->stride[0]];
    s.size[axis] = found;
    support_result(call, &s, call->in[0]->meta.dtype);
    return STATUS_OK;
}

status compress_eval(op_call *call, tensor **out) {
    context *c = call->c;
    tensor *index = positions(c, call->in[1]);
    if (!index) return c->err.code;
    tensor *in[2] = {call->in[0], index};
    op_call taking = *call;
    taking.in = in;
    pick(&taking, out, false);
    tensor_release(index);
    return c->err.code;
}

void compress_gradient(gradient_call *k) {
    if (!k->need[0]) return;
    const meta *x = &k->in[0]->meta;
    tensor *index = scope_add(k->c, positions(k->c, k->in[1]));
    tensor *zeros = scope_add(k->c, op_full(k->c, 0, &x->shape, x->dtype));
    k->gin[0] = rule_attrs(k, OP_take_add, (tensor *[]){zeros, index, k->g[0]}, 3, k->attrs);
}

op_cost compress_cost(const op_call *call) {
    return support_cost(call, 0);
}
