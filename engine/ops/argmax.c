/* argmax.c — the index of the first largest element, or of the first NaN. Elements are read in order and compared
 * in their compute type, so every layout gives the same answer. */
#include <string.h>

#include "engine/ops/attrs.h"
#include "engine/ops/families.h"
#include "engine/ops/loops.h"
#include "engine/ops/support.h"

status argmax_shape(op_call *call) {
    context *c = call->c;
    const argmax_attrs *a = call->attrs;
    const meta *x = &call->in[0]->meta;
    int axis;
    if (shape_axis(c->dims, &x->shape, a->axis, &axis, &c->err)) return c->err.code;
    if (dim_same(c->dims, x->shape.size[axis], 0)) {
        fail(&c->err, STATUS_VALUE, 311, "argmax of no elements: axis %d has size 0", axis);
        return support_operands(call);
    }
    shape s = {0};
    for (int i = 0; i < x->shape.rank; i++) {
        if (i != axis)
            s.size[s.rank++] = x->shape.size[i];
        else if (a->keep)
            s.size[s.rank++] = 1;
    }
    support_result(call, &s, DT_I64);
    return STATUS_OK;
}

op_cost argmax_cost(const op_call *call) {
    return support_cost(call, support_elements(call->c, &call->in[0]->meta));
}

/* The best so far, as bytes of the compute type, and where it is; `final` once a NaN is found. */
typedef struct best {
    _Alignas(8) char value[8];
    int64_t at;
    bool final;
} best;

#define SCAN(T, nan)                                                                                         \
    {                                                                                                        \
        const T *v = x;                                                                                      \
        T top;                                                                                               \
        memcpy(&top, b->value, sizeof top);                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            if (b->at >= 0 && !(v[i] > top) && !(nan)) continue;                                             \
            top = v[i];                                                                                      \
            b->at = first + i;                                                                               \
            if (!(nan)) continue;                                                                            \
            b->final = true;                                                                                 \
            break;                                                                                           \
        }                                                                                                    \
        memcpy(b->value, &top, sizeof top);                                                                  \
        return;                                                                                              \
    }

static void scan(best *b, ctype t, const void *x, int64_t first, int64_t n) {
    switch (t) {
    case CT_F32:
        SCAN(float, v[i] != v[i])
    case CT_F64:
        SCAN(double, v[i] != v[i])
    case CT_I64:
        SCAN(int64_t, false)
    case CT_I32:
        SCAN(int32_t, false)
    case CT_I8:
        SCAN(int8_t, false)
    default:
        SCAN(uint8_t, false)
    }
}

typedef struct argmax_walk {
    const tensor *x;
    int axis;
    int64_t *out;
    int64_t outputs, share;
} argmax_walk;

#define PICK(T)                                                                                              \
    for (int64_t i = 0; i < n; i++) ((T *)(void *)to)[i] = ((const T *)(const void *)from)[i * stride];

static void pick(char *to, const char *from, int64_t n, int64_t stride, size_t bytes) {
    switch (bytes) {
    case 1:
        PICK(uint8_t)
        return;
    case 2:
        PICK(uint16_t)
        return;
    case 4:
        PICK(uint32_t)
        return;
    default:
        PICK(uint64_t)
    }
}

/* The element offset of output o's first element. */
static int64_t first_element(const argmax_walk *w, int64_t o) {
    const meta *m = &w->x->meta;
    int64_t at = 0;
    for (int i = m->shape.rank - 1; i >= 0; i--) {
        if (i == w->axis) continue;
        at += o % m->shape.size[i] * w->x->stride[i];
        o /= m->shape.size[i];
    }
    return at;
}

static void argmax_task(void *user, int64_t task, int lane) {
    (void)lane;
    const argmax_walk *w = user;
    dtype t = w->x->meta.dtype;
    ctype compute = dtype_compute(t);
    size_t bytes = dtype_size(t);
    int64_t n = w->x->meta.shape.size[w->axis], stride = w->x->stride[w->axis];
    _Alignas(64) char raw[TILE * 8], tile[TILE * 8];
    int64_t end = (task + 1) * w->share < w->outputs ? (task + 1) * w->share : w->outputs;
    for (int64_t o = task * w->share; o < end; o++) {
        best b = {.at = -1};
        const char *from = (const char *)tensor_data(w->x) + first_element(w, o) * (int64_t)bytes;
        for (int64_t i = 0; i < n && !b.final; i += TILE) {
            int64_t part = n - i < TILE ? n - i : TILE;
            const char *elements = from + i * stride * (int64_t)bytes;
            if (stride != 1) {
                pick(raw, elements, part, stride, bytes);
                elements = raw;
            }
            if (dtype_is_half(t)) {
                loops()->cast[t][DT_F32](elements, tile, part);
                elements = tile;
            }
            scan(&b, compute, elements, i, part);
        }
        w->out[o] = b.at;
    }
}

status argmax_eval(op_call *call, tensor **out) {
    context *c = call->c;
    const argmax_attrs *a = call->attrs;
    argmax_walk w = {.x = call->in[0]};
    if (shape_axis(c->dims, &w.x->meta.shape, a->axis, &w.axis, &c->err)) return c->err.code;
    tensor *result = op_output(call, 0, out);
    if (!result) return c->err.code;
    w.out = tensor_data(result);
    w.outputs = tensor_count(result);
    int64_t n = w.x->meta.shape.size[w.axis];
    w.share = n >= 16384 ? 1 : 16384 / n;
    pool_run(c->workers, (w.outputs + w.share - 1) / w.share, argmax_task, &w, &c->interrupt);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}
