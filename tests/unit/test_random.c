/* test_random.c — the stream: where each element comes from, how far a draw moves, independence of threads, moments; and
 * arange, full and extent.
 *
 * ctest: labels=threads */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <math.h>
#include <string.h>

#include "engine/math/philox.h"
#include "engine/ops/random.h"

static tensor *draw(context *c, op_id op, dtype t, int64_t n) {
    return tensors_ok(c, random_draw(c, op, &(shape){.rank = 1, .size = {n}}, t, NULL));
}

static void test_elements(void **state) {
    (void)state;
    context *c = context_new(2);
    assert_int_equal(random_seed(c, 42), STATUS_OK);
    int64_t at = 0;
    for (int64_t n = 1; n < 60000; n = n * 7 + 2) {
        tensor *x = draw(c, OP_rand, DT_F32, n);
        uint32_t w[4];
        for (int64_t i = 0; i < n; i++) {
            vm_philox_block((uint64_t)(at + i / 4), 0, 42, w);
            assert_true(((float *)tensor_data(x))[i] == vm_uniform_f32(w[i % 4]));
        }
        at += (n + 3) / 4;
        assert_int_equal(tensor_get_int(c->counter, 0), at);
        tensor_release(x);
        x = draw(c, OP_rand, DT_F64, n);
        for (int64_t i = 0; i < n; i++) {
            vm_philox_block((uint64_t)(at + i / 2), 0, 42, w);
            assert_true(((double *)tensor_data(x))[i] == vm_uniform_f64(w[i % 2 * 2], w[i % 2 * 2 + 1]));
        }
        at += (n + 1) / 2;
        tensor_release(x);
        x = draw(c, OP_randn, DT_F32, n);
        for (int64_t i = 0; i < n; i++) {
            float z[2];
            vm_philox_block((uint64_t)(at + i / 2), 0, 42, w);
            vm_normal_pair_f32(w, &z[0], &z[1]);
            assert_true(((float *)tensor_data(x))[i] == z[i % 2]);
        }
        at += (n + 1) / 2;
        assert_int_equal(tensor_get_int(c->counter, 0), at);
        tensor_release(x);
    }
    context_free(c);
}

static void test_repeats(void **state) {
    (void)state;
    static const dtype floats[] = {DT_F16, DT_BF16, DT_F32, DT_F64};
    for (int i = 0; i < 8; i++) {
        op_id op = i % 2 ? OP_rand : OP_randn;
        context *c[3];
        tensor *x[3];
        for (int lanes = 0; lanes < 3; lanes++) {
            c[lanes] = context_new(lanes + 1);
            random_seed(c[lanes], 7);
            tensor_release(draw(c[lanes], OP_rand, DT_F32, 3));
            x[lanes] = draw(c[lanes], op, floats[i / 2], 50001);
            assert_memory_equal(tensor_data(x[0]), tensor_data(x[lanes]), 50001 * dtype_size(floats[i / 2]));
        }
        tensor *again = draw(c[0], op, floats[i / 2], 50001);
        assert_false(tensors_same(again, x[0]));
        double sum = 0, square = 0, low = 1e9, high = -1e9;
        for (int64_t j = 0; j < 50001; j++) {
            double v = tensor_get_real(x[0], j);
            sum += v;
            square += v * v;
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        double mean = sum / 50001, var = square / 50001 - mean * mean;
        if (op == OP_rand) {
            assert_true(low >= 0 && high < 1 && low < 0.01 && high > 0.99);
            assert_true(fabs(mean - 0.5) < 0.01 && fabs(var - 1.0 / 12) < 0.002);
        } else {
            assert_true(low < -3.5 && high > 3.5 && fabs(mean) < 0.02 && fabs(var - 1) < 0.03);
        }
        tensor_release(again);
        for (int lanes = 0; lanes < 3; lanes++) {
            tensor_release(x[lanes]);
            context_free(c[lanes]);
        }
    }
}

static void test_keyed(void **state) {
    (void)state;
    context *c = context_new(1);
    shape s = {.rank = 1, .size = {100}};
    tensor *key = tensors_ok(c, tensor_scalar_i64(c, 7));
    random_seed(c, 7);
    tensor *a = tensors_ok(c, random_draw(c, OP_randn, &s, DT_F32, key));
    assert_int_equal(tensor_get_int(c->counter, 0), 0);
    tensor *stream = draw(c, OP_randn, DT_F32, 100);
    tensor *b = tensors_ok(c, random_draw(c, OP_randn, &s, DT_F32, key));
    assert_true(tensors_same(a, b));
    assert_false(tensors_same(a, stream));
    tensor_release(a);
    tensor_release(b);
    tensor_release(stream);
    /* a refused draw leaves the stream where it was */
    int64_t before = tensor_get_int(c->counter, 0);
    tensors_refused(c, random_draw(c, OP_rand, &s, DT_I32, NULL), 108);
    tensors_refused(c, random_draw(c, OP_rand, &(shape){.rank = 1, .size = {INT64_C(1) << 50}}, DT_F32, NULL),
                    901);
    assert_int_equal(tensor_get_int(c->counter, 0), before);
    tensor_release(key);
    context_free(c);
}

static void test_arange(void **state) {
    (void)state;
    context *c = context_new(2);
    arange_attrs a = {.start = 0.5, .step = 0.1, .count = 40000, .dtype = DT_F32};
    tensor *x = tensors_ok(c, op_call0(c, OP_arange, &a));
    for (int64_t i = 0; i < 40000; i++)
        assert_true(((float *)tensor_data(x))[i] == (float)(0.5 + (double)i * 0.1));
    tensor_release(x);
    a = (arange_attrs){.start = 5, .step = -2, .count = 4, .dtype = DT_I8};
    x = tensors_ok(c, op_call0(c, OP_arange, &a));
    for (int64_t i = 0; i < 4; i++) assert_int_equal(tensor_get_int(x, i), 5 - 2 * i);
    tensor_release(x);
    a.count = -1;
    tensors_refused(c, op_call0(c, OP_arange, &a), 312);
    static const dtype all[] = {DT_BOOL, DT_U8, DT_I8, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64};
    for (size_t d = 0; d < sizeof all / sizeof *all; d++) {
        x = tensors_ok(c, op_full(c, 3, &(shape){.rank = 2, .size = {30, 7}}, all[d]));
        for (int64_t i = 0; i < 210; i++) assert_true(tensor_get_real(x, i) == (all[d] == DT_BOOL ? 1 : 3));
        tensor_release(x);
    }
    x = tensors_ok(c, op_call0(c, OP_extent, &(extent_attrs){.size = 12}));
    assert_true(x->meta.weak && x->meta.dtype == DT_I64 && tensor_get_int(x, 0) == 12);
    tensor_release(x);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_keyed),
        cmocka_unit_test(test_arange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
