/* test_math_integers.c — the integer functions of engine/math: division as Python's, wrapping without traps, and exact
 * comparisons with reals. */
#include "tests/harness/check.h"

#include "engine/math/int.h"
#include "engine/math/order.h"
#include "tests/math/samples.h"

static int floor_quotient(int x, int y) {
    return (int)floor((double)x / (double)y);
}

static void small_integers_follow_python(void **state) {
    (void)state;
    for (int x = -128; x < 256; x++)
        for (int y = -128; y < 256; y++) {
            int quotient = y ? floor_quotient(x, y) : 0, remainder = y ? x - y * quotient : 0;
            if (x < 128 && y < 128) {
                int8_t a = (int8_t)x, b = (int8_t)y;
                assert_int_equal(vm_add_i8(a, b), wrapped(x + y, 8, 1));
                assert_int_equal(vm_sub_i8(a, b), wrapped(x - y, 8, 1));
                assert_int_equal(vm_mul_i8(a, b), wrapped(x * y, 8, 1));
                assert_int_equal(vm_floordiv_i8(a, b), wrapped(quotient, 8, 1));
                assert_int_equal(vm_mod_i8(a, b), remainder);
                assert_int_equal(vm_maximum_i8(a, b), x > y ? x : y);
                int64_t power = y < 0 ? 0 : 1;
                for (int k = 0; k < y; k++) power = wrapped(power * x, 8, 1);
                assert_int_equal(vm_pow_i8(a, b), power);
            }
            if (x >= 0 && y >= 0) {
                uint8_t a = (uint8_t)x, b = (uint8_t)y;
                assert_int_equal(vm_add_u8(a, b), wrapped(x + y, 8, 0));
                assert_int_equal(vm_sub_u8(a, b), wrapped(x - y, 8, 0));
                assert_int_equal(vm_mul_u8(a, b), wrapped(x * y, 8, 0));
                assert_int_equal(vm_floordiv_u8(a, b), quotient);
                assert_int_equal(vm_mod_u8(a, b), remainder);
                assert_int_equal(vm_minimum_u8(a, b), x < y ? x : y);
                int64_t power = 1;
                for (int k = 0; k < y; k++) power = wrapped(power * x, 8, 0);
                assert_int_equal(vm_pow_u8(a, b), power);
            }
        }
}

static void integers_wrap_without_trapping(void **state) {
    (void)state;
    assert_int_equal(vm_add_i32(INT32_MAX, 1), INT32_MIN);
    assert_int_equal(vm_neg_i32(INT32_MIN), INT32_MIN);
    assert_int_equal(vm_abs_i64(INT64_MIN), INT64_MIN);
    assert_int_equal(vm_abs_i8(-128), -128);
    assert_int_equal(vm_floordiv_i32(INT32_MIN, -1), INT32_MIN);
    assert_int_equal(vm_mod_i32(INT32_MIN, -1), 0);
    assert_int_equal(vm_floordiv_i64(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(vm_mod_i64(INT64_MIN, -1), 0);
    assert_int_equal(vm_floordiv_i64(INT64_MIN, 3), INT64_C(-3074457345618258603));
    assert_int_equal(vm_mod_i64(-7, 3), 2);
    assert_int_equal(vm_mod_i64(7, -3), -2);
    assert_int_equal(vm_floordiv_i64(5, 0), 0);
    assert_int_equal(vm_mod_i32(5, 0), 0);
    assert_int_equal(vm_mul_i64(INT64_C(4611686018427387904), 3), INT64_C(-4611686018427387904));
    assert_int_equal(vm_pow_i64(3, 39), INT64_C(4052555153018976267));
    assert_int_equal(vm_pow_i64(3, 41), INT64_C(-420491770248316829));
    assert_int_equal(vm_pow_i32(0, 0), 1);
    assert_int_equal(vm_pow_i32(2, -1), 0);
    assert_int_equal(vm_sign_i64(INT64_MIN), -1);
    assert_int_equal(vm_relu_i32(-5), 0);
    assert_int_equal(vm_not_u8(1), 254);
    assert_int_equal(vm_not_bool(1), 0);
    assert_int_equal(vm_lowest_i8(), -128);
    assert_int_equal(vm_highest_u8(), 255);
    assert_true(vm_is_negative_i64(-1) && !vm_is_negative_u8(200));
}

static void integers_compare_exactly_with_reals(void **state) {
    (void)state;
    static const struct {
        int64_t x;
        double y;
        int order;
    } rows[] = {{0, 0.0, 0},
                {0, -0.0, 0},
                {1, 1.5, -1},
                {2, 1.5, 1},
                {-1, -1.5, 1},
                {-2, -1.5, -1},
                {0, 0.5, -1},
                {0, -0.5, 1},
                {0, 5e-324, -1},
                {INT64_C(9007199254740993), 9007199254740992.0, 1},
                {INT64_C(9007199254740992), 9007199254740992.0, 0},
                {INT64_C(-9007199254740993), -9007199254740992.0, -1},
                {INT64_MAX, 0x1p63, -1},
                {INT64_MAX, 9223372036854774784.0, 1},
                {INT64_MIN, -0x1p63, 0},
                {INT64_MIN, -0x1.0000000000001p63, 1},
                {INT64_MIN + 1, -0x1p63, 1},
                {5, INFINITY, -1},
                {5, -INFINITY, 1},
                {5, NAN, 2},
                {INT64_MAX, 1e300, -1},
                {INT64_MIN, -1e300, 1}};
    for (int i = 0; i < COUNT(rows); i++)
        assert_int_equal(vm_order_i64_f64(rows[i].x, rows[i].y), rows[i].order);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_integers_follow_python),
        cmocka_unit_test(integers_wrap_without_trapping),
        cmocka_unit_test(integers_compare_exactly_with_reals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
