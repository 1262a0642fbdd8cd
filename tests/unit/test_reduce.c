/* test_reduce.c — reductions against plain sums in f64 and i64, in every dtype; and the promise that no bit depends on
 * layout or threads.
 *
 * ctest: labels=threads */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <math.h>

#include "engine/ops/loops.h"

static const dtype dtypes[] = {DT_BOOL, DT_U8, DT_I8, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64};

static tensor *reduce(context *c, op_id op, tensor *x, unsigned axes, bool keep) {
    int_list list = {.count = 0};
    for (int i = 0; i < x->meta.shape.rank; i++)
        if (axes >> i & 1) list.v[list.count++] = i % 2 ? i - x->meta.shape.rank : i;
    return op_reduce(c, op, x, &list, keep);
}

/* What row `op` makes of one more element. */
static double step(op_id op, double acc, double x) {
    switch (op) {
    case OP_max:
        return x > acc ? x : acc;
    case OP_min:
        return x < acc ? x : acc;
    case OP_any:
        return acc != 0 || x != 0;
    case OP_all:
        return acc != 0 && x != 0;
    default:
        return acc + x;
    }
}

/* The reduction of x in f64, elements in any order. */
static void check_against_plain(op_id op, tensor *x, unsigned axes, tensor *got) {
    int64_t outputs = tensor_count(got), n = tensor_count(x), count = outputs ? n / outputs : 0;
    const shape *s = &x->meta.shape;
    double *acc = mem_calloc((size_t)outputs + 1, sizeof *acc),
           *size = mem_calloc((size_t)outputs + 1, sizeof *size);
    for (int64_t i = 0; i < outputs; i++)
        acc[i] = op == OP_max ? -INFINITY : op == OP_min ? INFINITY : op == OP_all;
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, out = 0, scale = 1;
        for (int a = s->rank - 1; a >= 0; a--) {
            if (!(axes >> a & 1)) {
                out += rest % s->size[a] * scale;
                scale *= s->size[a];
            }
            rest /= s->size[a];
        }
        double v = tensor_get_real(x, i);
        acc[out] = step(op, acc[out], v);
        size[out] += fabs(v);
    }
    dtype t = got->meta.dtype;
    double unit = t == DT_F16    ? 0x1p-10
                  : t == DT_BF16 ? 0x1p-7
                  : t == DT_F32  ? 0x1p-22
                  : t == DT_F64  ? 0x1p-48
                                 : 0;
    if (op != OP_sum && op != OP_mean) unit = 0;
    for (int64_t i = 0; i < outputs; i++) {
        double want = op == OP_mean ? acc[i] / (double)count : acc[i],
               scale = op == OP_mean ? (double)count : 1;
        double is = tensor_get_real(got, i), allowed = size[i] / scale * unit;
        if (t == DT_F16 && fabs(want) > 65504) want = copysign(INFINITY, want);
        if (!(is == want || fabs(is - want) <= allowed))
            fail_msg("%s of %s: %g, not %g (output %lld)", op_table[op].name, dtype_name(x->meta.dtype), is,
                     want, (long long)i);
    }
    mem_free(acc);
    mem_free(size);
}

static void check_all_layouts(context *const c[3], op_id op, tensor *x, unsigned axes, tensor *want) {
    for (int lanes = 0; lanes < 3; lanes++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
            tensor *here =
                tensors_ok(c[lanes], tensor_from(c[lanes], x->meta.dtype, &x->meta.shape, tensor_data(x)));
            tensor *view = tensors_layout(here, layout);
            tensor *got = tensors_ok(c[lanes], reduce(c[lanes], op, view, axes, false));
            if (!tensors_same(got, want))
                fail_msg("%s of %s, axes %x: layout %d with %d lanes differs", op_table[op].name,
                         dtype_name(x->meta.dtype), axes, layout, lanes + 1);
            tensor_release(got);
            tensor_release(view);
            tensor_release(here);
        }
}

static void open_three(context *c[3]) {
    for (int i = 0; i < 3; i++) assert_non_null(c[i] = context_new(i + 1));
}
static void close_three(context *c[3]) {
    for (int i = 0; i < 3; i++) context_free(c[i]);
}

static void test_every_row(void **state) {
    (void)state;
    context *c[3];
    open_three(c);
    int64_t n = 0;
    static const int64_t shapes[][4] = {{3, 5, 7},   {2, 1, 40},  {70, 3, 2},
                                        {1, 300, 9}, {5, 20, 33}, {2, 0, 3}};
    for (op_id op = OP_sum; op <= OP_all; op++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                for (unsigned axes = 0; axes < 8; axes++) {
                    bool empty = shapes[s][1] == 0;
                    if (n++ % CASE_STEP) continue;
                    if (empty && (op == OP_max || op == OP_min || op == OP_mean)) continue;
                    tensor *x = tensors_fill(c[0], dtypes[d], 3, shapes[s], s + 1);
                    tensor *got = tensors_ok(c[0], reduce(c[0], op, x, axes, axes & 1));
                    check_against_plain(op, x, axes, got);
                    tensor_release(got);
                    got = tensors_ok(c[0], reduce(c[0], op, x, axes, false));
                    check_all_layouts(c, op, x, axes, got);
                    tensor_release(got);
                    tensor_release(x);
                }
    close_three(c);
}

/* Enough elements for several blocks, tasks and tree levels. */
static void test_many_elements(void **state) {
    (void)state;
    context *c[3];
    open_three(c);
    static const int64_t shapes[][3] = {{1, 1, 100003}, {3, 13000, 5}, {30000, 9, 1}, {300, 2, 400}};
    int64_t n = 0;
    static const dtype some[] = {DT_F32, DT_F16, DT_I8, DT_F64};
    for (size_t d = 0; d < 4; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (unsigned axes = 1; axes < 8; axes++) {
                if (n++ % CASE_STEP) continue;
                tensor *x = tensors_fill(c[0], some[d], 3, shapes[s], 7);
                tensor *got = tensors_ok(c[0], reduce(c[0], OP_sum, x, axes, false));
                check_against_plain(OP_sum, x, axes, got);
                check_all_layouts(c, OP_sum, x, axes, got);
                tensor_release(got);
                tensor_release(x);
            }
    close_three(c);
}

/* The canonical order, written as loops.h states it. */
static float canonical_sum(const float *x, int64_t n) {
    float stack[64];
    int64_t sizes[64];
    int top = 0;
    for (int64_t begin = 0; begin < n; begin += REDUCE_BLOCK) {
        float lane[REDUCE_LANES] = {0};
        for (int64_t i = begin; i < n && i < begin + REDUCE_BLOCK; i++)
            lane[(i - begin) % REDUCE_LANES] += x[i];
        for (int half = REDUCE_LANES / 2; half; half /= 2)
            for (int j = 0; j < half; j++) lane[j] += lane[j + half];
        stack[top] = lane[0];
        sizes[top++] = 1;
        while (top > 1 && sizes[top - 1] == sizes[top - 2]) {
            stack[top - 2] += stack[top - 1];
            sizes[top - 2] *= 2;
            top--;
        }
    }
    while (top > 1) {
        stack[top - 2] += stack[top - 1];
        top--;
    }
    return top ? stack[0] : 0;
}

static void test_canonical_order(void **state) {
    (void)state;
    context *c = context_new(2);
    for (int64_t n = 0; n < 60000; n = n * 3 + 1) {
        tensor *x = tensors_fill(c, DT_F32, 1, &n, (uint64_t)n + 5);
        tensor *got = tensors_ok(c, op_reduce(c, OP_sum, x, NULL, false));
        float want = canonical_sum(tensor_data(x), n), is = *(float *)tensor_data(got);
        assert_memory_equal(&is, &want, sizeof is);
        tensor_release(got);
        tensor_release(x);
    }
    context_free(c);
}

static void test_special_values(void **state) {
    (void)state;
    context *c = context_new(1);
    shape none = {.rank = 1, .size = {0}}, three = {.rank = 1, .size = {3}};
    tensor *empty = tensors_ok(c, tensor_new(c, DT_F32, &none));
    tensor *x = tensors_ok(c, op_reduce(c, OP_sum, empty, NULL, false));
    assert_true(tensor_get_real(x, 0) == 0);
    tensor_release(x);
    x = tensors_ok(c, op_reduce(c, OP_mean, empty, NULL, false));
    assert_true(isnan(tensor_get_real(x, 0)));
    tensor_release(x);
    x = tensors_ok(c, op_reduce(c, OP_all, empty, NULL, false));
    assert_int_equal(tensor_get_int(x, 0), 1);
    tensor_release(x);
    tensors_refused(c, op_reduce(c, OP_max, empty, NULL, false), 311);
    tensors_refused(c, op_call1(c, OP_argmax, empty, &(argmax_attrs){.axis = 0}), 311);
    tensors_refused(c, op_reduce(c, OP_sum, empty, &(int_list){.count = 1, .v = {1}}, false), 301);
    tensors_refused(c, op_reduce(c, OP_sum, empty, &(int_list){.count = 2, .v = {0, -1}}, false), 310);
    tensor_release(empty);
    tensor *with_nan = tensors_ok(c, tensor_from(c, DT_F32, &three, (float[]){1, NAN, 3}));
    x = tensors_ok(c, op_reduce(c, OP_max, with_nan, NULL, false));
    assert_true(isnan(tensor_get_real(x, 0)));
    tensor_release(x);
    x = tensors_ok(c, op_call1(c, OP_argmax, with_nan, &(argmax_attrs){.axis = -1}));
    assert_int_equal(tensor_get_int(x, 0), 1);
    tensor_release(x);
    tensor_release(with_nan);
    /* an f16 mean of 10^5 ones is 1 */
    int64_t n = 100000;
    tensor *ones = tensors_ok(c, op_full(c, 1, &(shape){.rank = 1, .size = {n}}, DT_F16));
    x = tensors_ok(c, op_reduce(c, OP_mean, ones, NULL, false));
    assert_true(tensor_get_real(x, 0) == 1);
    tensor_release(x);
    tensor_release(ones);
    context_free(c);
}

static void test_argmax(void **state) {
    (void)state;
    context *c = context_new(2);
    for (size_t d = 1; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int axis = 0; axis < 3; axis++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                tensor *x = tensors_fill(c, dtypes[d], 3, (int64_t[]){6, 9, 1500}, 3),
                       *v = tensors_layout(x, layout);
                tensor *got = tensors_ok(
                    c, op_call1(c, OP_argmax, v, &(argmax_attrs){.axis = axis, .keep = axis == 1}));
                int64_t inner = axis == 2 ? 1 : axis == 1 ? 1500 : 9 * 1500, n = x->meta.shape.size[axis];
                for (int64_t o = 0; o < tensor_count(got); o++) {
                    int64_t first = o / inner * inner * n + o % inner, best = 0;
                    for (int64_t i = 1; i < n; i++)
                        if (tensor_get_real(x, first + i * inner) > tensor_get_real(x, first + best * inner))
                            best = i;
                    assert_int_equal(tensor_get_int(got, o), best);
                }
                tensor_release(got);
                tensor_release(v);
                tensor_release(x);
            }
    context_free(c);
}

static void test_gradients(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x = tensors_fill(c, DT_F64, 3, (int64_t[]){2, 3, 4}, 1);
    static const op_id rows[] = {OP_sum, OP_mean, OP_max, OP_min};
    static const reduce_attrs over[] = {
        {{-1, {0}}, 0}, {{1, {1}}, 0}, {{2, {0, -1}}, 1}, {{0, {0}}, 0}, {{1, {0}}, 1}};
    for (size_t r = 0; r < 4; r++)
        for (size_t a = 0; a < sizeof over / sizeof *over; a++)
            tensors_check_gradient(c, rows[r], &x, 1, &over[a]);
    tensor_release(x);
    context_free(c);
}

/* The gradient of `op` over all of a vector of dtype t. */
static void check_vector_gradient(context *c, op_id op, dtype t, const float *x, const double *want,
                                  int64_t n) {
    tensor *given = tensors_ok(c, tensor_from(c, DT_F32, &(shape){.rank = 1, .size = {n}}, x));
    tensor *v = tensors_ok(c, op_cast(c, given, t, false)), *g;
    tape *p = tape_new(c);
    tape_watch(p, v);
    tape_push(c, p);
    tensor *y = tensors_ok(c, op_reduce(c, op, v, NULL, false));
    tape_pop(c, p);
    if (tape_gradient(p, y, NULL, &v, 1, &g)) g = NULL;
    tensors_ok(c, g);
    assert_int_equal(g->meta.dtype, t);
    for (int64_t i = 0; i < n; i++) assert_true(tensor_get_real(g, i) == want[i]);
    tape_free(p);
    tensor_release(g);
    tensor_release(y);
    tensor_release(v);
    tensor_release(given);
}

static void test_ties_and_halves(void **state) {
    (void)state;
    context *c = context_new(1);
    for (int i = 0; i < 2; i++) {
        dtype t = i ? DT_F16 : DT_F32;
        check_vector_gradient(c, OP_max, t, (float[]){3, 1, 3, 2}, (double[]){0.5, 0, 0.5, 0}, 4);
        check_vector_gradient(c, OP_min, t, (float[]){0.0F, -0.0F, 1}, (double[]){0.5, 0.5, 0}, 3);
        check_vector_gradient(c, OP_max, t, (float[]){3, NAN, 3}, (double[]){0, 1, 0}, 3);
        check_vector_gradient(c, OP_mean, t, (float[]){3, 1, 3, 2}, (double[]){0.25, 0.25, 0.25, 0.25}, 4);
    }
    enum { N = 100000 }; /* more than f16 can count */
    float *x = mem_calloc(N, sizeof *x);
    double *want = mem_calloc(N, sizeof *want);
    for (int i = 0; i < N; i++) want[i] = 168 * 0x1p-24; /* 1e-5 rounded to f16 */
    check_vector_gradient(c, OP_mean, DT_F16, x, want, N);
    check_vector_gradient(c, OP_max, DT_F16, x, want, N);
    mem_free(x);
    mem_free(want);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),       cmocka_unit_test(test_many_elements),
        cmocka_unit_test(test_canonical_order), cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_argmax),          cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_ties_and_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
