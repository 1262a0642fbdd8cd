/* test_math_draws.c — Philox's known answers, and the ranges and moments of what is drawn with it. */
#include "tests/harness/check.h"

#include "engine/math/basic.h"
#include "engine/math/philox.h"
#include "tests/math/samples.h"

static void philox_gives_the_known_answers(void **state) {
    (void)state;
    /* kat_vectors of the Random123 distribution: counter, key, block */
    static const uint32_t rows[][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
                                         0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
                                         0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < COUNT(rows); i++) {
        uint32_t out[4];
        vm_philox4x32(rows[i], rows[i] + 4, out);
        assert_memory_equal(out, rows[i] + 6, sizeof out);
    }
    uint32_t block[4];
    vm_philox_block(UINT64_C(0x85a308d3243f6a88), UINT64_C(0x0370734413198a2e), UINT64_C(0x299f31d0a4093822),
                    block);
    assert_memory_equal(block, rows[2] + 6, sizeof block);
}

static void draws_have_their_ranges_and_moments(void **state) {
    (void)state;
    assert_true(vm_uniform_f32(0) == 0.0f && vm_uniform_f32(0xffffffff) == 1.0f - 0x1p-24f);
    assert_true(vm_uniform_f64(0, 0) == 0.0 && vm_uniform_f64(0xffffffff, 0xffffffff) == 1.0 - 0x1p-53);
    assert_true(vm_uniform_f64(0, 0x800) == 0x1p-53 && vm_uniform_f64(0x80000000, 0) == 0.5);
    assert_int_equal(vm_uniform_below(0xffffffff, 0xffffffff, 10), 9);
    assert_int_equal(vm_uniform_below(0x80000000, 0, 10), 5);
    assert_int_equal(vm_uniform_below(0x80000000, 0, UINT64_C(0x8000000000000000)),
                     UINT64_C(0x4000000000000000));
    assert_int_equal(vm_uniform_below(0xffffffff, 0xffffffff, UINT64_MAX), UINT64_MAX - 1);
    double sum = 0, square = 0, fourth = 0, cross = 0, sum64 = 0, square64 = 0;
    enum { BLOCKS = 100000 };
    for (uint64_t i = 0; i < BLOCKS; i++) {
        uint32_t w[4];
        float a, b;
        double c, d;
        vm_philox_block(i, 3, 42, w);
        vm_normal_pair_f32(w, &a, &b);
        vm_normal_pair_f64(w, &c, &d);
        assert_true(vm_isfinite_f32(a) && vm_isfinite_f32(b) && vm_isfinite_f64(c) && vm_isfinite_f64(d));
        double x = (double)a, y = (double)b;
        sum += x + y, square += x * x + y * y, fourth += x * x * x * x + y * y * y * y, cross += x * y;
        sum64 += c + d, square64 += c * c + d * d;
    }
    double n = 2.0 * BLOCKS; /* bounds of five standard deviations */
    assert_true(fabs(sum / n) < 5 / sqrt(n) && fabs(sum64 / n) < 5 / sqrt(n));
    assert_true(fabs(square / n - 1) < 5 * sqrt(2 / n) && fabs(square64 / n - 1) < 5 * sqrt(2 / n));
    assert_true(fabs(fourth / n - 3) < 5 * sqrt(96 / n) && fabs(cross / BLOCKS) < 5 / sqrt(BLOCKS));
    /* the extremes of every word */
    for (unsigned mask = 0; mask < 16; mask++) {
        uint32_t w[4];
        float a, b;
        double c, d;
        for (int k = 0; k < 4; k++) w[k] = mask >> k & 1u ? 0xffffffffu : 0u;
        vm_normal_pair_f32(w, &a, &b);
        vm_normal_pair_f64(w, &c, &d);
        assert_true(fabsf(a) < 10.0f && fabsf(b) < 10.0f && fabs(c) < 10.0 && fabs(d) < 10.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(draws_have_their_ranges_and_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
