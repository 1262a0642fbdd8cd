/* test_matmul.c — matrix products against plain loops in f64 and wrapping integers, for every dtype, shape rule and
 * layout; the same bits for every layout and number of threads; and the errors.
 *
 * ctest: labels=threads timeout=600 */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <math.h>
#include <string.h>

#include "engine/device/cpu/gemm.h"
#include "engine/ops/loops.h"

static const dtype dtypes[] = {DT_U8, DT_I8, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static double unit_of(dtype t) {
    return t == DT_F16 ? 0x1p-10 : t == DT_BF16 ? 0x1p-7 : t == DT_F32 ? 0x1p-21 : 0x1p-48;
}

/* The integer v as a number of type t holds it. */
static int64_t wrapped(dtype t, uint64_t v) {
    switch (t) {
    case DT_U8:
        return (uint8_t)v;
    case DT_I8:
        return (int8_t)(uint8_t)v;
    case DT_I32:
        return (int32_t)(uint32_t)v;
    default:
        return (int64_t)v;
    }
}

/* Checks element `at` of got: the product of k elements of x from x0 in steps of sx with k of y. */
static void check_element(tensor *x, int64_t x0, int64_t sx, tensor *y, int64_t y0, int64_t sy, int64_t k,
                          tensor *got, int64_t at) {
    dtype t = got->meta.dtype;
    double sum = 0, size = 0;
    uint64_t whole = 0;
    for (int64_t i = 0; i < k; i++) {
        double a = tensor_get_real(x, x0 + i * sx), b = tensor_get_real(y, y0 + i * sy);
        sum += a * b;
        size += fabs(a * b);
        whole += (uint64_t)(int64_t)a * (uint64_t)(int64_t)b;
    }
    double is = tensor_get_real(got, at);
    if (!dtype_is_float(t)) {
        assert_int_equal(tensor_get_int(got, at), wrapped(t, whole));
        return;
    }
    /* one rounding to the dtype, plus f32's or f64's sums */
    double allowed = fabs(sum) * unit_of(t) + size * (t == DT_F64 ? 0x1p-48 : 0x1p-19);
    if (t == DT_F16 && fabs(sum) > 65500) return;
    if (!(fabs(is - sum) <= allowed)) fail_msg("%s: %g, not %g", dtype_name(t), is, sum);
}

static tensor *product(tensor *x, tensor *y) {
    return tensors_ok(x->c, op_call2(x->c, OP_matmul, x, y, NULL));
}

/* x [m, k] and y [k, n] in every layout and thread count. */
static void check_matrices(context *const c[3], dtype t, int64_t m, int64_t n, int64_t k) {
    tensor *x = tensors_fill(c[0], t, 2, (int64_t[]){m, k}, (uint64_t)(m + 7 * k));
    tensor *y = tensors_fill(c[0], t, 2, (int64_t[]){k, n}, (uint64_t)(n + 5 * k));
    tensor *want = product(x, y);
    int64_t all = m * n, step = all > 200 ? all / 200 : 1;
    for (int64_t at = 0; at < all; at += step) check_element(x, at / n * k, 1, y, at % n, n, k, want, at);
    if (all) check_element(x, (m - 1) * k, 1, y, n - 1, n, k, want, all - 1);
    for (int lanes = 0; lanes < 3; lanes++)
        for (int a = 0; a < LAYOUT_COUNT; a++)
            for (int b = 0; b < LAYOUT_COUNT; b++) {
                if (a != b && (lanes < 2 || m * n * k > 20000)) continue; /* the rest is no news */
                tensor *p = tensors_ok(c[lanes], tensor_from(c[lanes], t, &x->meta.shape, tensor_data(x)));
                tensor *q = tensors_ok(c[lanes], tensor_from(c[lanes], t, &y->meta.shape, tensor_data(y)));
                tensor *u = tensors_layout(p, a), *v = tensors_layout(q, b), *got = product(u, v);
                if (!tensors_same(want, got))
                    fail_msg("%s [%lld, %lld] @ [%lld, %lld]: layouts %d %d with %d lanes differ",
                             dtype_name(t), (long long)m, (long long)k, (long long)k, (long long)n, a, b,
                             lanes + 1);
                tensor_release(got);
                tensor_release(u);
                tensor_release(v);
                tensor_release(p);
                tensor_release(q);
            }
    tensor_release(want);
    tensor_release(x);
    tensor_release(y);
}

static void test_matrices(void **state) {
    (void)state;
    context *c[3];
    for (int i = 0; i < 3; i++) assert_non_null(c[i] = context_new(i + 1));
    static const int64_t sizes[][3] = {/* m n k */
                                       {1, 1, 1},     {2, 3, 4},     {5, 3, 7},    {4, 2, 0},
                                       {0, 3, 2},     {1, 9, 17},    {33, 1, 50},  {1, 1, 5000},
                                       {17, 16, 15},  {3, 300, 2},   {64, 10, 64}, {31, 65, 33},
                                       {100, 1, 129}, {1, 400, 300}, {65, 129, 40}};
    for (size_t d = 0; d < DTYPES; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            check_matrices(c, dtypes[d], sizes[s][0], sizes[s][1], sizes[s][2]);
    for (int i = 0; i < 3; i++) context_free(c[i]);
}

/* Several panels, with small ones at the edges. */
static void test_panels(void **state) {
    (void)state;
    context *c[3];
    for (int i = 0; i < 3; i++) assert_non_null(c[i] = context_new(i + 1));
    static const int64_t sizes[][3] = {{300, 520, 40}, {1030, 270, 9}, {600, 8, 120}, {260, 5, 5000}};
    static const dtype some[] = {DT_F32, DT_F64, DT_BF16};
    for (size_t d = 0; d < 3; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            check_matrices(c, some[d], sizes[s][0], sizes[s][1], sizes[s][2]);
    for (int i = 0; i < 3; i++) context_free(c[i]);
}

/* Shapes of vectors and batches: every element against the definition. */
static void test_batches(void **state) {
    (void)state;
    context *c = context_new(2);
    static const struct {
        int rx, ry, r;
        int64_t x[4], y[4], out[4];
    } cases[] = {
        {1, 1, 0, {4}, {4}, {0}},
        {1, 2, 1, {4}, {4, 6}, {6}},
        {2, 1, 1, {3, 4}, {4}, {3}},
        {3, 1, 2, {2, 3, 4}, {4}, {2, 3}},
        {1, 3, 2, {4}, {2, 4, 5}, {2, 5}},
        {3, 2, 3, {2, 4, 3}, {3, 5}, {2, 4, 5}},
        {2, 3, 3, {4, 3}, {2, 3, 5}, {2, 4, 5}},
        {3, 3, 3, {2, 4, 3}, {2, 3, 5}, {2, 4, 5}},
        {4, 3, 4, {3, 1, 2, 4}, {5, 4, 2}, {3, 5, 2, 2}},
        {4, 4, 4, {2, 3, 1, 6}, {1, 3, 6, 4}, {2, 3, 1, 4}},
        {3, 3, 3, {0, 2, 3}, {1, 3, 2}, {0, 2, 2}},
    };
    for (size_t d = 0; d < DTYPES; d++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                tensor *x = tensors_fill(c, dtypes[d], cases[i].rx, cases[i].x, 3),
                       *u = tensors_layout(x, layout);
                tensor *y = tensors_fill(c, dtypes[d], cases[i].ry, cases[i].y, 4),
                       *v = tensors_layout(y, layout);
                tensor *got = product(u, v);
                const shape *s = &got->meta.shape;
                assert_int_equal(s->rank, cases[i].r);
                for (int a = 0; a < s->rank; a++) assert_int_equal(s->size[a], cases[i].out[a]);
                int64_t k = cases[i].x[cases[i].rx - 1],
                        n = cases[i].ry == 1 ? 1 : cases[i].y[cases[i].ry - 1];
                int64_t m = cases[i].rx == 1 ? 1 : cases[i].x[cases[i].rx - 2];
                for (int64_t at = 0; at < tensor_count(got); at++) {
                    int64_t col = at % n, row = at / n % m, batch = at / n / m, bx = 0, by = 0, step_x = 1,
                            step_y = 1;
                    int axes = cases[i].r - (cases[i].rx > 1) - (cases[i].ry > 1);
                    for (int a = axes - 1; a >= 0; a--) {
                        int ax = cases[i].rx - 2 - axes + a, ay = cases[i].ry - 2 - axes + a;
                        int64_t digit = batch % s->size[a];
                        batch /= s->size[a];
                        if (ax >= 0) {
                            bx += (cases[i].x[ax] == 1 ? 0 : digit) * step_x;
                            step_x *= cases[i].x[ax];
                        }
                        if (ay >= 0) {
                            by += (cases[i].y[ay] == 1 ? 0 : digit) * step_y;
                            step_y *= cases[i].y[ay];
                        }
                    }
                    check_element(x, (bx * m + row) * k, 1, y, by * k * n + col, n, k, got, at);
                }
                tensor_release(got);
                tensor_release(u);
                tensor_release(v);
                tensor_release(x);
                tensor_release(y);
            }
    context_free(c);
}

/* A dot product is the canonical sum of the products. */
static void test_dot_is_sum(void **state) {
    (void)state;
    context *c = context_new(2);
    for (int64_t n = 1; n < 100000; n = n * 5 + 3) {
        tensor *x = tensors_fill(c, DT_F32, 1, &n, 1), *y = tensors_fill(c, DT_F32, 1, &n, 2);
        tensor *dot = product(x, y), *xy = tensors_ok(c, op_call2(c, OP_mul, x, y, NULL));
        tensor *sum = tensors_ok(c, op_reduce(c, OP_sum, xy, NULL, false));
        assert_true(tensors_same(dot, sum));
        tensor_release(sum);
        tensor_release(xy);
        tensor_release(dot);
        tensor_release(x);
        tensor_release(y);
    }
    context_free(c);
}

static void test_errors(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){64, 784}, 1);
    tensor *w = tensors_fill(c, DT_F32, 2, (int64_t[]){10, 784}, 1);
    assert_null(op_call2(c, OP_matmul, x, w, NULL));
    assert_int_equal(c->err.number, 101);
    assert_string_equal(c->err.message, "`@` needs equal inner sizes");
    assert_string_equal(c->err.hint, "left @ right.T gives f32[64, 10]");
    assert_non_null(strstr(c->err.operands, "784 (left axis 1) is not 10 (right axis 0)"));
    error_clear(&c->err);
    tensor *scalar = tensors_fill(c, DT_F32, 0, NULL, 1),
           *deep = tensors_fill(c, DT_F32, 3, (int64_t[]){3, 784, 2}, 1);
    tensor *deeper = tensors_fill(c, DT_F32, 3, (int64_t[]){2, 5, 784}, 1);
    tensors_refused(c, op_call2(c, OP_matmul, x, scalar, NULL), 101);
    tensors_refused(c, op_call2(c, OP_matmul, deeper, deep, NULL), 104);
    tensor_release(deeper);
    tensor_release(deep);
    tensor_release(scalar);
    tensor_release(x);
    tensor_release(w);
    context_free(c);
}

/* Epilogues see every element of C once, in panels that tile it. */
typedef struct seen {
    uint8_t count[40000];
} seen;

static void mark(void *user, int64_t first, int64_t runs, int64_t length, int64_t step, int lane) {
    seen *s = user;
    (void)lane;
    for (int64_t i = 0; i < runs; i++)
        for (int64_t j = 0; j < length; j++) s->count[first + i * step + j]++;
}

static void test_epilogue(void **state) {
    (void)state;
    context *c = context_new(3);
    static const int64_t sizes[][4] = {
        /* batch m n k */ {1, 200, 190, 100}, {3, 1, 70, 9000}, {2, 90, 1, 5}, {5, 40, 60, 0}};
    seen *s = mem_alloc(sizeof *s);
    for (size_t i = 0; i < 4; i++) {
        int64_t batch = sizes[i][0], m = sizes[i][1], n = sizes[i][2], k = sizes[i][3], offset[3][8];
        *s = (seen){0};
        tensor *a = tensors_fill(c, DT_F32, 3, (int64_t[]){batch, m, k}, 1);
        tensor *b = tensors_fill(c, DT_F32, 3, (int64_t[]){batch, k, n}, 2);
        tensor *out = tensors_fill(c, DT_F32, 3, (int64_t[]){batch, m, n}, 3);
        for (int64_t j = 0; j < batch; j++) {
            offset[0][j] = j * m * k;
            offset[1][j] = j * k * n;
            offset[2][j] = j * m * n;
        }
        gemm g = {.dtype = DT_F32,
                  .m = m,
                  .n = n,
                  .k = k,
                  .a = tensor_data(a),
                  .b = tensor_data(b),
                  .c = tensor_data(out),
                  .a_row = k,
                  .a_col = 1,
                  .b_row = n,
                  .b_col = 1,
                  .c_row = n,
                  .batch = batch,
                  .a_batch = offset[0],
                  .b_batch = offset[1],
                  .c_batch = offset[2],
                  .epilogue = &(gemm_epilogue){mark, s}};
        assert_int_equal(c->device->matmul(c, &g), STATUS_OK);
        for (int64_t j = 0; j < batch * m * n; j++) assert_int_equal(s->count[j], 1);
        if (k == 0)
            for (int64_t j = 0; j < batch * m * n; j++) assert_true(tensor_get_real(out, j) == 0);
        tensor_release(a);
        tensor_release(b);
        tensor_release(out);
    }
    mem_free(s);
    context_free(c);
}

/* The own loops, which take the place of a missing BLAS. */
static void test_own_loops(void **state) {
    (void)state;
    context *c = context_new(1);
    int64_t m = 37, n = 300, k = 150;
    for (size_t d = 0; d < DTYPES; d++) {
        if (dtype_is_half(dtypes[d])) continue;
        tensor *x = tensors_fill(c, dtypes[d], 2, (int64_t[]){m, k}, 1);
        tensor *y = tensors_fill(c, dtypes[d], 2, (int64_t[]){k, n}, 2);
        tensor *out = tensors_fill(c, dtypes[d], 2, (int64_t[]){m, n}, 3);
        gemm_own(dtypes[d], m, n, k, tensor_data(x), k, tensor_data(y), n, tensor_data(out), n, false);
        for (int64_t at = 0; at < m * n; at++) check_element(x, at / n * k, 1, y, at % n, n, k, out, at);
        tensor_release(x);
        tensor_release(y);
        tensor_release(out);
    }
    context_free(c);
}

/* So deep that a panel is computed in slices of k, each added to the ones before. */
static void test_deep(void **state) {
    (void)state;
    static const struct {
        dtype t;
        int64_t m, n, k;
    } cases[] = {{DT_F32, 64, 128, 135000}, {DT_F64, 33, 130, 251001}, {DT_I32, 40, 40, 70001}};
    context *c = context_new(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t m = cases[i].m, n = cases[i].n, k = cases[i].k;
        tensor *x = tensors_fill(c, cases[i].t, 2, (int64_t[]){m, k}, 1);
        tensor *y = tensors_fill(c, cases[i].t, 2, (int64_t[]){k, n}, 2);
        tensor *out = product(x, y);
        for (int64_t at = 0; at < m * n; at += 1009)
            check_element(x, at / n * k, 1, y, at % n, n, k, out, at);
        tensor_release(x);
        tensor_release(y);
        tensor_release(out);
    }
    context_free(c);
}

static void test_gradients(void **state) {
    (void)state;
    context *c = context_new(1);
    static const struct {
        int rx, ry;
        int64_t x[4], y[4];
    } cases[] = {
        {1, 1, {4}, {4}},
        {1, 2, {3}, {3, 2}},
        {2, 1, {2, 3}, {3}},
        {2, 2, {2, 3}, {3, 4}},
        {3, 1, {2, 2, 3}, {3}},
        {1, 3, {3}, {2, 3, 2}},
        {3, 2, {2, 2, 3}, {3, 2}},
        {2, 3, {2, 3}, {2, 3, 2}},
        {3, 3, {2, 2, 3}, {1, 3, 2}},
        {4, 3, {2, 1, 1, 2}, {3, 2, 2}},
        {2, 2, {2, 0}, {0, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tensor *x = tensors_fill(c, DT_F64, cases[i].rx, cases[i].x, 3);
        tensor *y = tensors_fill(c, DT_F64, cases[i].ry, cases[i].y, 4);
        tensors_check_gradient(c, OP_matmul, (tensor *[]){x, y}, 2, NULL);
        tensor_release(x);
        tensor_release(y);
    }
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices),   cmocka_unit_test(test_panels), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_dot_is_sum), cmocka_unit_test(test_errors), cmocka_unit_test(test_epilogue),
        cmocka_unit_test(test_own_loops),  cmocka_unit_test(test_deep),   cmocka_unit_test(test_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
