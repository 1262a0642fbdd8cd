/* random.c — rand and randn, and the stream they draw from; see random.h. Elements depend on seed, counter and their
 * row-major number alone. */
#include "engine/ops/random.h"

#include "engine/math/philox.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/loops.h"
#include "engine/ops/support.h"

enum { BLOCKS = 256, SHARE = 16 }; /* blocks generated at a time; such groups in a task */

/* ---- shape rules ---- */

static status drawn_shape(op_call *call) {
    context *c = call->c;
    const full_attrs *a = call->attrs;
    shape s;
    for (int i = 0; i < 2; i++) {
        const meta *m = &call->in[i]->meta;
        if (m->dtype == DT_I64 && m->shape.rank == 0) continue;
        fail(&c->err, STATUS_TYPE, 206, "%s: seed and counter are i64 scalars", call->op->name);
        return support_operands(call);
    }
    if (a->dtype < 0 || a->dtype >= DT_COUNT || !dtype_is_float((dtype)a->dtype)) {
        fail(&c->err, STATUS_DTYPE, 108, "%s draws floats", call->op->name);
        return fail_hint(&c->err, "cast the draw: (10 * rand(3)) as i64 gives digits");
    }
    if (!support_shape(&a->shape, &s))
        return fail(&c->err, STATUS_SHAPE, 116, "sizes are 0 or more, and there are at most %d axes",
                    MAX_RANK);
    support_result(call, &s, (dtype)a->dtype);
    return STATUS_OK;
}

status rand_shape(op_call *call) {
    return drawn_shape(call);
}

status randn_shape(op_call *call) {
    return drawn_shape(call);
}

op_cost rand_cost(const op_call *call) {
    return support_cost(call, 15 * support_elements(call->c, &call->out[0]));
}

op_cost randn_cost(const op_call *call) {
    return support_cost(call, 50 * support_elements(call->c, &call->out[0]));
}

/* ---- kernels ---- */

typedef uint32_t words[BLOCKS][4];

/* Each of these turns n blocks into elements, per_block(...) times n. */
static void uniform_f32(words w, int n, void *out, uint32_t mask) {
    float *o = out;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) o[4 * i + j] = vm_uniform_f32(w[i][j] & mask);
}

static void uniform_f64(words w, int n, void *out) {
    double *o = out;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2; j++) o[2 * i + j] = vm_uniform_f64(w[i][2 * j], w[i][2 * j + 1]);
}

static void normal_f32(words w, int n, void *out) {
    float *o = out;
    for (int i = 0; i < n; i++) vm_normal_pair_f32(w[i], &o[2 * i], &o[2 * i + 1]);
}

static void normal_f64(words w, int n, void *out) {
    double *o = out;
    for (int i = 0; i < n; i++) vm_normal_pair_f64(w[i], &o[2 * i], &o[2 * i + 1]);
}

static int64_t per_block(op_id op, dtype t) {
    return op == OP_randn || t == DT_F64 ? 2 : 4;
}

typedef struct drawing {
    op_id op;
    dtype t;
    uint64_t seed, counter;
    char *out;
    int64_t n; /* elements */
} drawing;

/* n blocks from number `first` of the draw on, as elements of the computing type. */
static void generate(const drawing *d, int64_t first, int n, void *out) {
    words w;
    for (int i = 0; i < n; i++) vm_philox_block(d->counter + (uint64_t)(first + i), 0, d->seed, w[i]);
    if (d->op == OP_randn && d->t == DT_F64)
        normal_f64(w, n, out);
    else if (d->op == OP_randn)
        normal_f32(w, n, out);
    else if (d->t == DT_F64)
        uniform_f64(w, n, out);
    else
        uniform_f32(w, n, out, d->t == DT_F16 ? 0xffe00000U : d->t == DT_BF16 ? 0xff000000U : ~0U);
}

static void draw_task(void *user, int64_t task, int lane) {
    (void)lane;
    const drawing *d = user;
    int64_t per = per_block(d->op, d->t), group = BLOCKS * per, begin = task * SHARE * group;
    int64_t end = begin + SHARE * group < d->n ? begin + SHARE * group : d->n;
    dtype computed = d->t == DT_F64 ? DT_F64 : DT_F32;
    _Alignas(64) char tile[BLOCKS * 4 * sizeof(float)]; /* as many bytes as 2 doubles each */
    for (int64_t i = begin; i < end; i += group) {
        int64_t n = end - i < group ? end - i : group;
        generate(d, i / per, (int)((n + per - 1) / per), tile);
        loops()->cast[computed][d->t](tile, d->out + i * (int64_t)dtype_size(d->t), n);
    }
}

static status draw(op_call *call, tensor **out) {
    context *c = call->c;
    tensor *result = op_output(call, 0, out);
    if (!result) return c->err.code;
    drawing d = {.op = call->op->id,
                 .t = result->meta.dtype,
                 .seed = (uint64_t)tensor_get_int(call->in[0], 0),
                 .counter = (uint64_t)tensor_get_int(call->in[1], 0),
                 .out = tensor_data(result),
                 .n = tensor_count(result)};
    int64_t share = SHARE * BLOCKS * per_block(d.op, d.t);
    pool_run(c->workers, (d.n + share - 1) / share, draw_task, &d, &c->interrupt);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}

status rand_eval(op_call *call, tensor **out) {
    return draw(call, out);
}

status randn_eval(op_call *call, tensor **out) {
    return draw(call, out);
}

/* ---- the stream ---- */

dim random_advance(context *c, op_id op, const shape *s, dtype t) {
    int64_t per = per_block(op, t);
    return dim_div(c->dims, dim_add(c->dims, shape_count(c->dims, s), per - 1), per);
}

status random_seed(context *c, int64_t seed) {
    tensor *s = tensor_scalar_i64(c, seed), *counter = s ? tensor_scalar_i64(c, 0) : NULL;
    if (!counter) {
        tensor_release(s);
        return c->err.code;
    }
    tensor_release(c->seed);
    tensor_release(c->counter);
    c->seed = s;
    c->counter = counter;
    return STATUS_OK;
}

static tensor *drawn(context *c, op_id op, tensor *seed, tensor *counter, const shape *s, dtype t) {
    return op_call2(c, op, seed, counter, &(full_attrs){.shape = support_list(s), .dtype = t});
}

tensor *random_draw(context *c, op_id op, const shape *s, dtype t, tensor *key) {
    if (key) {
        tensor *counter = tensor_scalar_i64(c, RANDOM_KEYED);
        tensor *out = counter ? drawn(c, op, key, counter, s, t) : NULL;
        tensor_release(counter);
        return out;
    }
    tensor *out = drawn(c, op, c->seed, c->counter, s, t);
    extent_attrs blocks = {.size = out ? random_advance(c, op, s, t) : 0};
    tensor *by = out ? op_call0(c, OP_extent, &blocks) : NULL;
    tensor *next = by ? op_call2(c, OP_add, c->counter, by, NULL) : NULL;
    tensor_release(by);
    if (!next) {
        tensor_release(out);
        return NULL;
    }
    tensor_release(c->counter);
    c->counter = next;
    return out;
}
