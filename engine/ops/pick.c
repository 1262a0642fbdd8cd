/* pick.c — take, take_add, gather, scatter_add: elements picked by index tensors, and the sums that undo it.
 *
 * Adding runs in the order of the index, each worker owning its own elements of the result, so repeated indices always
 * add up to the same bits; halves add in f32 and round once. */
#include <string.h>

#include "engine/core/copy.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/families.h"
#include "engine/ops/index.h"
#include "engine/ops/loops.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

static status same_dtype(op_call *call, int i) {
    dtype x = call->in[0]->meta.dtype, v = call->in[i]->meta.dtype;
    if (x == v) return STATUS_OK;
    fail(&call->c->err, STATUS_DTYPE, 107, "%s of %s elements to %s ones", call->op->name, dtype_name(v),
         dtype_name(x));
    return fail_hint(&call->c->err, "cast one side first");
}

/* ---- shapes ---- */

/* x's shape with the axis replaced by the index's shape. */
static status taken_shape(op_call *call, int *axis, shape *out) {
    const shape *x = &call->in[0]->meta.shape, *index = &call->in[1]->meta.shape;
    if (index_dtype(call, 1) || index_axis(call, axis)) return call->c->err.code;
    *out = (shape){.rank = x->rank - 1 + index->rank};
    if (out->rank > MAX_RANK) return index_misfit(call, "the result would have more than 8 axes");
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
        return index_misfit(call, "the elements to add must have the shape that take would give");
    support_result(call, &call->in[0]->meta.shape, call->in[0]->meta.dtype);
    return STATUS_OK;
}

static status gather_fits(op_call *call, int *axis) {
    const shape *x = &call->in[0]->meta.shape, *index = &call->in[1]->meta.shape;
    if (index_dtype(call, 1) || index_axis(call, axis)) return call->c->err.code;
    bool fits = index->rank == x->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = i == *axis || dim_same(call->c->dims, x->size[i], index->size[i]);
    return fits ? STATUS_OK
                : index_misfit(call, "the index must have the operand's shape, but for the axis picked from");
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
        return index_misfit(call, "the elements to add must have the index's shape");
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
    dtype t;     /* that adds */
    bool each;   /* gather and scatter_add: an index of its own for each element */
    view3 share; /* of a task: outer elements, picks, inner elements */
    view3 tasks;
    const atomic_int *stop;
} picking;

/* A task's part of it: from b to (not including) e. */
typedef struct part {
    view3 b, e;
} part;

enum { MOVE_ELEMENTS = 32768 };

/* to[j] = x[at[j]][j] for j0 <= j < j1, where x's rows are `step` long; x[at[j]] where `step` is 1. */
#define MOVE_EACH(T)                                                                                         \
    for (int64_t j = j0; j < j1; j++)                                                                        \
        ((T *)(void *)to)[j] = ((const T *)(const void *)x)[at[j] * step + (step == 1 ? 0 : j)];

static void gather_row(const picking *p, char *to, const char *x, const int64_t *at, int64_t j0, int64_t j1) {
    int64_t step = p->v.inner;
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

/* x[at[j]][j] += v[j], as above. */
#define ADD_EACH(T, U)                                                                                       \
    for (int64_t j = j0; j < j1; j++) {                                                                      \
        T *o = (T *)(void *)x + at[j] * step + (step == 1 ? 0 : j);                                          \
        *o = (T)((U)*o + (U)((const T *)(const void *)v)[j]);                                                \
    }

static void scatter_row(const picking *p, char *x, const char *v, const int64_t *at, int64_t j0, int64_t j1) {
    int64_t step = p->v.inner;
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
        for (int64_t j = j0; j < j1; j++) x[at[j] * step + (step == 1 ? 0 : j)] |= v[j];
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

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static part part_of(const picking *p, int64_t task) {
    view3 b = {.outer = task / p->tasks.inner / p->tasks.axis * p->share.outer,
               .axis = task / p->tasks.inner % p->tasks.axis * p->share.axis,
               .inner = task % p->tasks.inner * p->share.inner};
    return (part){b,
                  {.outer = lesser(b.outer + p->share.outer, p->v.outer),
                   .axis = lesser(b.axis + p->share.axis, p->n),
                   .inner = lesser(b.inner + p->share.inner, p->v.inner)}};
}

/* The picks [begin, end) of outer element o. Where rows are single elements, all in one loop. */
static void pick_rows(const picking *p, const part *r, int64_t o, int64_t begin, int64_t end) {
    int64_t inner = p->v.inner, size = (int64_t)p->bytes, j0 = r->b.inner, j1 = r->e.inner;
    const char *x = p->from + o * p->v.axis * inner * size;
    char *to = p->to + o * p->n * inner * size;
    if (inner == 1) {
        gather_row(p, to, x, p->at + (p->each ? o * p->n : 0), begin, end);
        return;
    }
    for (int64_t i = begin; i < end; i++)
        if (p->each)
            gather_row(p, to + i * inner * size, x, p->at + (o * p->n + i) * inner, j0, j1);
        else
            memcpy(to + (i * inner + j0) * size, x + (p->at[i] * inner + j0) * size,
                   (size_t)((j1 - j0) * size));
}

static void add_rows(const picking *p, const part *r, int64_t o, int64_t begin, int64_t end) {
    int64_t inner = p->v.inner, size = (int64_t)p->bytes, j0 = r->b.inner, j1 = r->e.inner;
    const char *v = p->from + o * p->n * inner * size;
    char *x = p->to + o * p->v.axis * inner * size;
    if (inner == 1) {
        scatter_row(p, x, v, p->at + (p->each ? o * p->n : 0), begin, end);
        return;
    }
    for (int64_t i = begin; i < end; i++)
        if (p->each)
            scatter_row(p, x, v + i * inner * size, p->at + (o * p->n + i) * inner, j0, j1);
        else
            add_row(p, x + (p->at[i] * inner + j0) * size, v + (i * inner + j0) * size, j1 - j0);
}

/* Some MOVE_ELEMENTS elements between two looks at the interrupt flag. */
static void run_part(const picking *p, int64_t task,
                     void (*rows)(const picking *p, const part *r, int64_t o, int64_t begin, int64_t end)) {
    part r = part_of(p, task);
    int64_t most = MOVE_ELEMENTS / (r.e.inner - r.b.inner) + 1;
    for (int64_t o = r.b.outer; o < r.e.outer; o++)
        for (int64_t i = r.b.axis; i < r.e.axis; i += most) {
            if (atomic_load_explicit(p->stop, memory_order_relaxed)) return;
            rows(p, &r, o, i, lesser(i + most, r.e.axis));
        }
}

static void pick_task(void *user, int64_t task, int lane) {
    (void)lane;
    run_part(user, task, pick_rows);
}

static void add_task(void *user, int64_t task, int lane) {
    (void)lane;
    run_part(user, task, add_rows);
}

/* Cuts the work: outer elements, then inner ones, then picks, which only those that write to places of their own may
 * part with. */
static status run_picking(context *c, picking *p, pool_task task) {
    int64_t row = p->n * p->v.inner;
    if (row == 0 || p->v.outer == 0) return STATUS_OK;
    p->stop = &c->interrupt;
    p->share = (view3){row >= MOVE_ELEMENTS ? 1 : MOVE_ELEMENTS / row, p->n, p->v.inner};
    if (task == pick_task && row > MOVE_ELEMENTS)
        p->share.axis = p->v.inner >= MOVE_ELEMENTS ? 1 : MOVE_ELEMENTS / p->v.inner;
    if (p->share.axis * p->v.inner > MOVE_ELEMENTS && p->v.inner >= 128) {
        int64_t some = (MOVE_ELEMENTS / p->share.axis + 63) / 64 * 64;
        p->share.inner = lesser(some < 64 ? 64 : some, p->v.inner);
    }
    p->tasks = (view3){(p->v.outer + p->share.outer - 1) / p->share.outer,
                       (p->n + p->share.axis - 1) / p->share.axis,
                       (p->v.inner + p->share.inner - 1) / p->share.inner};
    pool_run(c->workers, p->tasks.outer * p->tasks.axis * p->tasks.inner, task, p, &c->interrupt);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}

/* take and gather. */
static status pick(op_call *call, tensor **out, bool each) {
    context *c = call->c;
    int axis;
    if (index_axis(call, &axis)) return c->err.code;
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

/* t as a new row-major tensor of another dtype. */
static tensor *converted(tensor *t, dtype to) {
    tensor *made = tensor_new(t->c, to, &t->meta.shape);
    if (!made || !elementwise_copy(t->c, t, made)) return made;
    tensor_release(made);
    return NULL;
}

/* x as accumulators: the result itself, or an f32 copy where the elements are halves. */
static tensor *accumulators(op_call *call, tensor *result) {
    if (dtype_is_half(result->meta.dtype)) return converted(call->in[0], DT_F32);
    return copy_tensor(call->in[0], tensor_data(result)) ? NULL : tensor_retain(result);
}

/* What is added, row-major in the accumulators' type. */
static tensor *addends(op_call *call, dtype t) {
    return call->in[2]->meta.dtype == t ? tensor_to_contiguous(call->in[2]) : converted(call->in[2], t);
}

/* take_add and scatter_add. */
static status add(op_call *call, tensor **out, bool each) {
    context *c = call->c;
    int axis;
    if (index_axis(call, &axis)) return c->err.code;
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
        if (!run_picking(c, &p, add_task) && x != result) elementwise_copy(c, x, result);
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
