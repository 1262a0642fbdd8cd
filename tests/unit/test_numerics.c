/* test_numerics.c — the numeric policy line by line where it is about the engine as a whole: reductions of many elements,
 * gradients at corners, long tapes, and the same bits from every vector target. */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <math.h>
#include <string.h>

#include "engine/ops/loops.h"

static context *c;

static int setup(void **state) {
    (void)state;
    c = context_new(2);
    return c ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    context_free(c);
    return mem_live() == 0 ? 0 : -1;
}

static tensor *ok(tensor *x) {
    return tensors_ok(c, x);
}

static tensor *vector(dtype t, int n, const float *data) {
    shape s = {.rank = 1, .size = {n}};
    tensor *x = ok(tensor_from(c, DT_F32, &s, data)), *y = ok(op_cast(c, x, t, false));
    tensor_release(x);
    return y;
}

/* op(x) over everything, as a number. */
static double reduced(op_id op, tensor *x) {
    tensor *r = ok(op_reduce(c, op, x, NULL, false));
    double value = tensor_get_real(r, 0);
    tensor_release(r);
    return value;
}

/* One value, seen n times without memory of its own. */
static tensor *repeated(double value, dtype t, int64_t n) {
    tensor *one = ok(op_full(c, value, &(shape){0}, t));
    tensor *many = ok(op_expand(c, one, &(shape){.rank = 1, .size = {n}}));
    tensor_release(one);
    return many;
}

static void long_sums_are_accurate(void **state) {
    (void)state;
    tensor *x = repeated((double)0.1f, DT_F32, 100000000);
    double exact = 1e8 * (double)0.1f;
    assert_true(fabs(reduced(OP_sum, x) - exact) <= 1e-6 * exact);
    assert_true(fabs(reduced(OP_mean, x) - (double)0.1f) <= 1e-6 * 0.1);
    tensor_release(x);
    tensor *ones = repeated(1, DT_F16, 100000); /* more than f16 can count to */
    assert_true(reduced(OP_mean, ones) == 1);
    tensor_release(ones);
    tensor *bytes = repeated(200, DT_U8, 1000); /* summed in i64 */
    assert_true(reduced(OP_sum, bytes) == 200000);
    tensor_release(bytes);
}

static void nothing_reduces_to_neutral_values(void **state) {
    (void)state;
    tensor *none = vector(DT_F32, 0, NULL);
    assert_true(reduced(OP_sum, none) == 0);
    assert_true(isnan(reduced(OP_mean, none)));
    assert_true(reduced(OP_all, none) == 1);
    assert_true(reduced(OP_any, none) == 0);
    tensors_refused(c, op_reduce(c, OP_max, none, NULL, false), 311);
    tensors_refused(c, op_reduce(c, OP_min, none, NULL, false), 311);
    tensors_refused(c, op_call1(c, OP_argmax, none, &(argmax_attrs){0}), 311);
    tensor_release(none);
}

static void nan_reaches_the_result(void **state) {
    (void)state;
    tensor *x = vector(DT_F32, 4, (float[]){1, NAN, 3, NAN});
    assert_true(isnan(reduced(OP_max, x)) && isnan(reduced(OP_min, x)) && isnan(reduced(OP_sum, x)));
    tensor *at = ok(op_call1(c, OP_argmax, x, &(argmax_attrs){0}));
    assert_int_equal(tensor_get_int(at, 0), 1); /* the first NaN */
    tensor_release(at);
    tensor *ties = vector(DT_F32, 4, (float[]){1, 3, 3, 2});
    at = ok(op_call1(c, OP_argmax, ties, &(argmax_attrs){0}));
    assert_int_equal(tensor_get_int(at, 0), 1); /* the first of equals */
    tensor *zeros = vector(DT_F32, 2, (float[]){-0.0f, 0.0f});
    assert_false(signbit(reduced(OP_max, zeros)));
    assert_true(signbit(reduced(OP_min, zeros)));
    for (int i = 0; i < 4; i++) tensor_release(((tensor *[]){x, at, ties, zeros})[i]);
}

/* The gradient of sum(f(x)) by x, where f applies a row to x (and y). */
static tensor *gradient(op_id op, tensor *x, tensor *y) {
    tape *t = tape_new(c);
    tensor *dx = NULL;
    assert_int_equal(tape_watch(t, x), STATUS_OK);
    tape_push(c, t);
    tensor *r = ok(y ? op_call2(c, op, x, y, NULL) : op_call1(c, op, x, NULL));
    tensor *total = ok(op_reduce(c, OP_sum, r, NULL, false));
    tape_pop(c, t);
    assert_int_equal(tape_gradient(t, total, NULL, &x, 1, &dx), STATUS_OK);
    tape_free(t);
    tensor_release(r);
    tensor_release(total);
    return dx;
}

static void check_gradient(op_id op, int n, const float *x, const float *y, const float *expected) {
    tensor *a = vector(DT_F32, n, x), *b = y ? vector(DT_F32, n, y) : NULL, *dx = gradient(op, a, b);
    for (int i = 0; i < n; i++) {
        float got = (float)tensor_get_real(dx, i);
        if (got != expected[i] && !(isnan(got) && isnan(expected[i])))
            fail_msg("%s at %g: gradient %g, not %g", op_table[op].name, (double)x[i], (double)got,
                     (double)expected[i]);
    }
    tensor_release(a);
    tensor_release(b);
    tensor_release(dx);
}

static void gradients_at_corners(void **state) {
    (void)state;
    check_gradient(OP_relu, 3, (float[]){-1, 0, 2}, NULL, (float[]){0, 0, 1});
    check_gradient(OP_abs, 3, (float[]){-2, 0, 2}, NULL, (float[]){-1, 0, 1});
    check_gradient(OP_sqrt, 2, (float[]){0, 4}, NULL, (float[]){INFINITY, 0.25f});
    check_gradient(OP_maximum, 4, (float[]){1, 2, 3, -0.0f}, (float[]){2, 2, 2, 0},
                   (float[]){0, 0.5f, 1, 0.5f});
    check_gradient(OP_minimum, 4, (float[]){1, 2, 3, -0.0f}, (float[]){2, 2, 2, 0},
                   (float[]){1, 0.5f, 0, 0.5f});
    check_gradient(OP_pow, 3, (float[]){0, 0, 3}, (float[]){0, 2, 2}, (float[]){0, 0, 6});
}

static void ties_share_the_gradient_of_extremes(void **state) {
    (void)state;
    tensor *x = vector(DT_F32, 4, (float[]){5, 1, 5, 2}), *dx = gradient(OP_max, x, NULL);
    const double half[] = {0.5, 0, 0.5, 0};
    for (int i = 0; i < 4; i++) assert_true(tensor_get_real(dx, i) == half[i]);
    tensor *n = vector(DT_F32, 3, (float[]){1, NAN, 5}), *dn = gradient(OP_max, n, NULL);
    assert_true(tensor_get_real(dn, 0) == 0 && tensor_get_real(dn, 1) == 1 && tensor_get_real(dn, 2) == 0);
    for (int i = 0; i < 4; i++) tensor_release(((tensor *[]){x, dx, n, dn})[i]);
}

static void a_branch_not_taken_contributes_nothing(void **state) {
    (void)state;
    tensor *x = vector(DT_F32, 2, (float[]){0, 4}), *zero = ok(tensor_weak_real(c, 0)), *dx = NULL;
    tape *t = tape_new(c);
    assert_int_equal(tape_watch(t, x), STATUS_OK);
    tape_push(c, t);
    tensor *positive = ok(op_call2(c, OP_gt, x, zero, NULL)), *root = ok(op_call1(c, OP_sqrt, x, NULL));
    tensor *chosen = ok(op_call3(c, OP_where, positive, root, zero, NULL));
    tensor *total = ok(op_reduce(c, OP_sum, chosen, NULL, false));
    tape_pop(c, t);
    assert_int_equal(tape_gradient(t, total, NULL, &x, 1, &dx), STATUS_OK);
    assert_true(tensor_get_real(dx, 0) == 0); /* not 0 * inf */
    assert_true(tensor_get_real(dx, 1) == 0.25);
    tape_free(t);
    for (int i = 0; i < 7; i++) tensor_release(((tensor *[]){x, zero, positive, root, chosen, total, dx})[i]);
}

static void a_million_operations_on_a_tape(void **state) {
    (void)state;
    enum { LENGTH = 1000000 };
    tensor *x = ok(op_full(c, 1, &(shape){0}, DT_F64)), *step = ok(tensor_weak_real(c, 1e-6)), *dx = NULL;
    tape *t = tape_new(c);
    assert_int_equal(tape_watch(t, x), STATUS_OK);
    tape_push(c, t);
    tensor *y = tensor_retain(x);
    for (int i = 0; i < LENGTH; i++) {
        tensor *next = i % 2 ? op_call2(c, OP_add, y, step, NULL) : op_call1(c, OP_neg, y, NULL);
        tensor_release(y);
        y = ok(next);
    }
    tape_pop(c, t);
    assert_true(tape_length(t) >= LENGTH);
    assert_int_equal(tape_gradient(t, y, NULL, &x, 1, &dx), STATUS_OK);
    assert_true(tensor_get_real(dx, 0) == 1); /* half a million negations */
    tape_free(t);
    for (int i = 0; i < 4; i++) tensor_release(((tensor *[]){x, step, y, dx})[i]);
}

/* Bit patterns of every kind for a compute type. */
static void fill(void *data, ctype t, int n, uint64_t seed) {
    for (int i = 0; i < n; i++) {
        uint64_t bits = hash_u64(seed + (uint64_t)i);
        if (t == CT_F32 && i % 3) {
            float v = (float)((double)(bits % 20001) / 1000 - 10);
            memcpy((char *)data + 4 * i, &v, 4);
        } else if (t == CT_F64 && i % 3) {
            double v = (double)(bits % 20001) / 1000 - 10;
            memcpy((char *)data + 8 * i, &v, 8);
        } else if (t == CT_BOOL)
            ((uint8_t *)data)[i] = bits & 1;
        else
            memcpy((char *)data + (size_t)i * dtype_size(ctype_dtype(t)), &bits, dtype_size(ctype_dtype(t)));
    }
}

static bool same(const void *a, const void *b, ctype t, int n) {
    for (int i = 0; i < n; i++) {
        if (t == CT_F32 && isnan(((const float *)a)[i]) && isnan(((const float *)b)[i])) continue;
        if (t == CT_F64 && isnan(((const double *)a)[i]) && isnan(((const double *)b)[i])) continue;
        size_t bytes = dtype_size(ctype_dtype(t));
        if (memcmp((const char *)a + (size_t)i * bytes, (const char *)b + (size_t)i * bytes, bytes) != 0)
            return false;
    }
    return true;
}

static void every_vector_target_gives_the_same_bits(void **state) {
    (void)state;
    enum { N = 1003 };
    const loop_table *portable = loops_named("portable"), *wide = loops_named("avx2");
    static double in[3][N], out[2][N];
    if (!wide) skip();
    for (int op = 0; op < OP_COUNT; op++) {
        for (int t = 0; t < CT_COUNT; t++) {
            loop_fn one = portable->elementwise[op][t], other = wide->elementwise[op][t];
            assert_true((one == NULL) == (other == NULL));
            if (!one) continue;
            for (int k = 0; k < 3; k++)
                fill(in[k], op_operand_ctype(&op_table[op], (ctype)t, k), N,
                     (uint64_t)op * 64 + (uint64_t)t * 4 + (uint64_t)k);
            const void *operands[] = {in[0], in[1], in[2]};
            for (int mask = 1; mask < 8; mask += 2) {
                const int step[] = {mask & 1, op_table[op].kind == KIND_MIXED || mask >> 1 & 1,
                                    mask >> 2 & 1};
                one(operands, step, out[0], N);
                other(operands, step, out[1], N);
                if (!same(out[0], out[1], op_result_ctype(&op_table[op], (ctype)t), N))
                    fail_msg("%s in %s: the targets differ", op_table[op].name, ctype_name((ctype)t));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums_are_accurate),
        cmocka_unit_test(nothing_reduces_to_neutral_values),
        cmocka_unit_test(nan_reaches_the_result),
        cmocka_unit_test(gradients_at_corners),
        cmocka_unit_test(ties_share_the_gradient_of_extremes),
        cmocka_unit_test(a_branch_not_taken_contributes_nothing),
        cmocka_unit_test(a_million_operations_on_a_tape),
        cmocka_unit_test(every_vector_target_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
