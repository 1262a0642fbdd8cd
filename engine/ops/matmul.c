/* matmul.c — `x @ y`: shapes, the call of the device's matrix product, and the gradient.
 *
 * NumPy's rules: a vector on the left is a row, on the right a column, and that axis is gone from the result; axes in
 * front of the last two broadcast. When y is one matrix, the leading axes of x are rows of one larger product, which is
 * decided by the shapes alone. */
#include <string.h>

#include "engine/core/copy.h"
#include "engine/device/device.h"
#include "engine/ops/apply.h"
#include "engine/ops/families.h"
#include "engine/ops/movement.h"
#include "engine/ops/rules.h"
#include "engine/ops/support.h"

/* ---- shape ---- */

/* The axis of x that is summed over, and y's. */
static int inner_x(const shape *x) {
    return x->rank - 1;
}
static int inner_y(const shape *y) {
    return y->rank == 1 ? 0 : y->rank - 2;
}

/* The axes in front of the matrix. */
static shape batch_of(const shape *s) {
    shape b = *s;
    b.rank = s->rank > 2 ? s->rank - 2 : 0;
    for (int i = b.rank; i < MAX_RANK; i++) b.size[i] = 0;
    return b;
}

static bool result_shape(dims *d, const shape *x, const shape *y, shape *out, error *e) {
    shape bx = batch_of(x), by = batch_of(y);
    if (!dim_same(d, x->size[inner_x(x)], y->size[inner_y(y)])) return false;
    /* batches meet axis by axis; the guard against columns is about element-wise mistakes */
    *out = (shape){.rank = bx.rank > by.rank ? bx.rank : by.rank};
    for (int i = 0; i < out->rank; i++) {
        int ix = bx.rank - out->rank + i, iy = by.rank - out->rank + i;
        dim a = ix < 0 ? 1 : bx.size[ix], b = iy < 0 ? 1 : by.size[iy];
        if (a != 1 && b != 1 && !dim_same(d, a, b)) {
            if (e)
                fail(e, STATUS_SHAPE, 104, "`@`: leading sizes do not broadcast, %lld and %lld",
                     (long long)dim_hint(d, a), (long long)dim_hint(d, b));
            return false;
        }
        out->size[i] = a == 1 ? b : a;
    }
    if (x->rank > 1) out->size[out->rank++] = x->size[x->rank - 2];
    if (y->rank > 1) out->size[out->rank++] = y->size[y->rank - 1];
    return true;
}

/* How an operand with its last two axes swapped is written. */
static void add_turned(int rank, const char *name, text *out) {
    if (rank == 2) {
        text_printf(out, "%s.T", name);
        return;
    }
    text_printf(out, "%s.transpose(", name);
    for (int i = 0; i < rank; i++)
        text_printf(out, "%s%d", i ? ", " : "", i < rank - 2 ? i : 2 * rank - 3 - i);
    text_char(out, ')');
}

/* Adds the hint that transposing y or x would do, where it would. */
static void hint_transposed(op_call *call) {
    context *c = call->c;
    const shape *x = &call->in[0]->meta.shape, *y = &call->in[1]->meta.shape;
    for (int side = 0; side < 2; side++) {
        const shape *turned = side == 0 ? y : x;
        if (turned->rank < 2 || !shape_known(x) || !shape_known(y)) continue;
        shape t = *turned;
        t.size[t.rank - 1] = turned->size[t.rank - 2];
        t.size[t.rank - 2] = turned->size[t.rank - 1];
        meta m = {.dtype = call->in[0]->meta.dtype};
        if (!result_shape(c->dims, side == 0 ? x : &t, side == 0 ? &t : y, &m.shape, NULL)) continue;
        char buffer[120];
        text hint = {0};
        text_add(&hint, side == 0 ? "left @ " : "");
        add_turned(turned->rank, side == 0 ? "right" : "left", &hint);
        text_add(&hint, side == 0 ? "" : " @ right");
        fail_hint(&c->err, "%s gives %s", text_str(&hint), meta_text(c->dims, &m, buffer, sizeof buffer));
        text_free(&hint);
        return;
    }
}

static status refuse(op_call *call) {
    context *c = call->c;
    const meta *x = &call->in[0]->meta, *y = &call->in[1]->meta;
    if (!c->err.code) {
        text a = {0}, b = {0};
        dim_print(c->dims, x->shape.size[inner_x(&x->shape)], &a);
        dim_print(c->dims, y->shape.size[inner_y(&y->shape)], &b);
        fail(&c->err, STATUS_SHAPE, 101, "`@` needs equal inner sizes");
        support_operands(call);
        fail_operand(&c->err, "%s (left axis %d) is not %s (right axis %d)", text_str(&a), inner_x(&x->shape),
                     text_str(&b), inner_y(&y->shape));
        text_free(&a);
        text_free(&b);
    } else {
        support_operands(call);
    }
    hint_transposed(call);
    return c->err.code;
}

status matmul_shape(op_call *call) {
    context *c = call->c;
    const meta *x = &call->in[0]->meta, *y = &call->in[1]->meta;
    if (x->shape.rank == 0 || y->shape.rank == 0) {
        fail(&c->err, STATUS_SHAPE, 101, "`@` wants vectors or matrices");
        support_operands(call);
        return fail_hint(&c->err, "x * y multiplies by a scalar");
    }
    shape s;
    if (!result_shape(c->dims, &x->shape, &y->shape, &s, &c->err)) return refuse(call);
    if (s.rank > MAX_RANK)
        return fail(&c->err, STATUS_SHAPE, 104, "`@`: the result would have more than %d axes", MAX_RANK);
    support_result(call, &s, x->dtype);
    return STATUS_OK;
}

op_cost matmul_cost(const op_call *call) {
    const shape *x = &call->in[0]->meta.shape;
    double k = dim_estimate(call->c->dims, x->size[inner_x(x)]);
    return support_cost(call, 2 * k * support_elements(call->c, &call->out[0]));
}

/* ---- evaluation ---- */

/* Element offsets of the matrices of an operand for each of the broadcast batch, counted like an odometer. */
static void batch_offsets(const tensor *x, const shape *batch, int64_t count, int64_t *offset) {
    int own = x->meta.shape.rank > 2 ? x->meta.shape.rank - 2 : 0, added = batch->rank - own;
    int64_t at[MAX_RANK] = {0}, now = 0;
    for (int64_t i = 0; i < count; i++) {
        offset[i] = now;
        for (int a = batch->rank - 1; a >= 0; a--) {
            int64_t step = a < added || x->meta.shape.size[a - added] == 1 ? 0 : x->stride[a - added];
            now += step;
            if (++at[a] < batch->size[a]) break;
            now -= step * at[a];
            at[a] = 0;
        }
    }
}

/* The two strides of the matrix in an operand; a vector is a row on the left, a column on the right. */
static void matrix_strides(const tensor *x, bool left, int64_t *row, int64_t *col) {
    int rank = x->meta.shape.rank;
    if (rank == 1) {
        *row = left ? x->meta.shape.size[0] : x->stride[0];
        *col = left ? x->stride[0] : 1;
        return;
    }
    *row = x->stride[rank - 2];
    *col = x->stride[rank - 1];
}

static status run_product(op_call *call, gemm *g, const shape *batch, const tensor *x, const tensor *y) {
    context *c = call->c;
    g->batch = 1;
    for (int i = 0; i < batch->rank; i++) g->batch *= batch->size[i];
    if (batch->rank == 0) return c->device->matmul(c, g);
    tensor *table = tensor_new(c, DT_I64, &(shape){.rank = 2, .size = {3, g->batch}});
    if (!table) return c->err.code;
    int64_t *offset = tensor_data(table);
    batch_offsets(x, batch, g->batch, offset);
    batch_offsets(y, batch, g->batch, offset + g->batch);
    for (int64_t i = 0; i < g->batch; i++) offset[2 * g->batch + i] = i * g->m * g->n;
    g->a_batch = offset;
    g->b_batch = offset + g->batch;
    g->c_batch = offset + 2 * g->batch;
    status code = c->device->matmul(c, g);
    tensor_release(table);
    return code;
}

/* x with all axes but the last as one, as a view where strides allow it. */
static tensor *as_rows(tensor *x) {
    const shape *s = &x->meta.shape;
    shape flat = {.rank = 2, .size = {1, s->size[s->rank - 1]}};
    for (int i = 0; i < s->rank - 1; i++) flat.size[0] *= s->size[i];
    int64_t stride[MAX_RANK];
    if (movement_restride(x, &flat, stride)) return tensor_view(x, &flat, stride, x->offset);
    tensor *copy = tensor_new(x->c, x->meta.dtype, &flat);
    if (!copy || !copy_tensor(x, tensor_data(copy))) return copy;
    tensor_release(copy);
    return NULL;
}

status matmul_eval(op_call *call, tensor **out) {
    context *c = call->c;
    tensor *x = call->in[0], *y = call->in[1];
    tensor *result = op_output(call, 0, out);
    if (!result) return c->err.code;
    int rx = x->meta.shape.rank, ry = y->meta.shape.rank;
    shape batch = {.rank = (rx > ry ? rx : ry) > 2 ? (rx > ry ? rx : ry) - 2 : 0};
    memcpy(batch.size, call->out[0].shape.size, (size_t)batch.rank * sizeof batch.size[0]);
    tensor *rows = NULL;
    if (rx > 2 && ry <= 2) { /* one matrix or vector on the right: a single product */
        rows = as_rows(x);
        if (!rows) return c->err.code;
        x = rows;
        rx = 2;
        batch.rank = 0;
    }
    gemm g = {.dtype = x->meta.dtype,
              .m = rx == 1 ? 1 : x->meta.shape.size[rx - 2],
              .n = ry == 1 ? 1 : y->meta.shape.size[ry - 1],
              .k = x->meta.shape.size[rx - 1],
              .a = tensor_data(x),
              .b = tensor_data(y),
              .c = tensor_data(result),
              .epilogue = call->epilogue};
    g.c_row = g.n;
    matrix_strides(x, true, &g.a_row, &g.a_col);
    matrix_strides(y, false, &g.b_row, &g.b_col);
    status code = run_product(call, &g, &batch, x, y);
    tensor_release(rows);
    return code;
}

/* ---- gradient ---- */

static tensor *reshaped(gradient_call *k, tensor *x, const shape *s) {
    return rule_attrs(k, OP_reshape, &x, 1, &(shape_attrs){.shape = support_list(s)});
}

/* x with its last two axes exchanged. */
static tensor *turned(gradient_call *k, tensor *x) {
    if (!x) return NULL;
    int rank = x->meta.shape.rank;
    transpose_attrs a = {.axes = {.count = rank}};
    for (int i = 0; i < rank; i++) a.axes.v[i] = i;
    a.axes.v[rank - 1] = rank - 2;
    a.axes.v[rank - 2] = rank - 1;
    return rule_attrs(k, OP_transpose, &x, 1, &a);
}

/* A vector as a matrix of one row or column; g with the axis put back that a vector lost. */
static tensor *with_axis(gradient_call *k, tensor *x, int at) {
    if (!x) return NULL;
    shape s = {.rank = x->meta.shape.rank + 1};
    for (int i = 0, n = 0; i < s.rank; i++) s.size[i] = i == at ? 1 : x->meta.shape.size[n++];
    return reshaped(k, x, &s);
}

/* The axes of x in front of the last as one. */
static tensor *flattened(gradient_call *k, tensor *x) {
    if (!x) return NULL;
    const shape *s = &x->meta.shape;
    shape flat = {.rank = 2, .size = {1, s->size[s->rank - 1]}};
    for (int i = 0; i < s->rank - 1; i++) flat.size[0] = dim_mul(k->c->dims, flat.size[0], s->size[i]);
    return reshaped(k, x, &flat);
}

/* Without the axis of size 1 at `at`. */
static tensor *without_axis(gradient_call *k, tensor *x, int at) {
    if (!x) return NULL;
    shape s = {.rank = x->meta.shape.rank - 1};
    for (int i = 0; i < s.rank; i++) s.size[i] = x->meta.shape.size[i < at ? i : i + 1];
    return reshaped(k, x, &s);
}

/* For matrices: gx = g @ y^T, gy = x^T @ g; vectors are made matrices and back. Sums over broadcast batches follow in
 * the walk, except for a single matrix y, whose gradient is one product over all rows. */
void matmul_gradient(gradient_call *k) {
    tensor *x = k->in[0], *y = k->in[1], *g = k->g[0];
    bool row = x->meta.shape.rank == 1, column = y->meta.shape.rank == 1;
    if (column) {
        y = with_axis(k, y, 1);
        g = with_axis(k, g, g->meta.shape.rank);
    }
    if (row) {
        x = with_axis(k, x, 0);
        if (g) g = with_axis(k, g, g->meta.shape.rank - 1);
    }
    if (!x || !y || !g) return;
    if (k->need[0]) {
        tensor *gx = rule2(k, OP_matmul, g, turned(k, y));
        k->gin[0] = row ? without_axis(k, gx, gx ? gx->meta.shape.rank - 2 : 0) : gx;
    }
    if (k->need[1]) {
        if (y->meta.shape.rank == 2 && x->meta.shape.rank > 2) {
            x = flattened(k, x);
            g = flattened(k, g);
        }
        tensor *gy = rule2(k, OP_matmul, turned(k, x), g);
        k->gin[1] = column ? without_axis(k, gy, gy ? gy->meta.shape.rank - 1 : 0) : gy;
    }
}
