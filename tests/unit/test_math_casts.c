/* test_math_casts.c — the conversions of engine/math: every half, and every pair of casts at its limits. */
#include "tests/harness/check.h"

#include "engine/math/cast.h"
#include "engine/math/half.h"
#include "tests/math/samples.h"
#include "tests/math/ulps.h"

static float xs[SAMPLES];

/* ---- halves ---- */

/* The value of an f16 (5 bits of exponent) or bf16 (8 bits), decoded from the definition. */
static double half_value(unsigned h, int exponent_bits) {
    int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int e = (int)(h >> mantissa_bits) & ((1 << exponent_bits) - 1), m = (int)h & ((1 << mantissa_bits) - 1);
    double sign = h & 0x8000u ? -1.0 : 1.0;
    if (e == (1 << exponent_bits) - 1) return m ? (double)NAN : sign * (double)INFINITY;
    if (e == 0) return sign * ldexp(m, 1 - bias - mantissa_bits);
    return sign * ldexp(m + (1 << mantissa_bits), e - bias - mantissa_bits);
}

static void every_half_survives_a_round_trip(void **state) {
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        double v16 = half_value(h, 5), vb16 = half_value(h, 8);
        float f16 = vm_f16_to_f32((uint16_t)h), bf16 = vm_bf16_to_f32((uint16_t)h);
        assert_true(same_f32(f16, (float)v16) && same_f32(bf16, (float)vb16));
        assert_true(ulps(vm_f16_to_f64((uint16_t)h), v16, 53) == 0.0 &&
                    ulps(vm_bf16_to_f64((uint16_t)h), vb16, 53) == 0.0);
        unsigned quiet16 = v16 != v16 ? (h & 0x8000u) | 0x7e00u : h;
        assert_int_equal(vm_f32_to_f16(f16), quiet16);
        assert_int_equal(vm_f64_to_f16(v16 != v16 ? copysign(v16, h & 0x8000u ? -1.0 : 1.0) : v16), quiet16);
        if (vb16 == vb16) {
            assert_int_equal(vm_f32_to_bf16(bf16), h);
            assert_int_equal(vm_f64_to_bf16(vb16), h);
        } else {
            unsigned b = vm_f32_to_bf16(bf16);
            assert_true(half_value(b, 8) != half_value(b, 8) && (b & 0x8000u) == (h & 0x8000u));
        }
    }
}

/* Between each half and the next: just below the middle, the middle (to even), just above. */
static void halves_round_to_nearest_even_once(void **state) {
    (void)state;
    for (int bits = 5; bits <= 8; bits += 3) {
        unsigned infinity = ((1u << bits) - 1) << (15 - bits);
        for (unsigned h = 0; h < infinity; h++) {
            double low = half_value(h, bits);
            double high = h + 1 == infinity ? 2.0 * low - half_value(h - 1, bits) : half_value(h + 1, bits);
            double middle = 0.5 * (low + high);
            unsigned even = h & 1u ? h + 1 : h;
            double at[] = {nextafter(middle, 0.0), middle, nextafter(middle, (double)INFINITY)};
            unsigned want[] = {h, even, h + 1};
            for (int i = 0; i < 3; i++) {
                unsigned got = bits == 5 ? vm_f64_to_f16(at[i]) : vm_f64_to_bf16(at[i]);
                unsigned mirror = bits == 5 ? vm_f64_to_f16(-at[i]) : vm_f64_to_bf16(-at[i]);
                if (got != want[i] || mirror != (want[i] | 0x8000u))
                    fail_msg("%a gives %x, not %x", at[i], got, want[i]);
            }
            float f[] = {nextafterf((float)middle, 0.0f), (float)middle, nextafterf((float)middle, INFINITY)};
            for (int i = 0; i < 3; i++) {
                unsigned got = bits == 5 ? vm_f32_to_f16(f[i]) : vm_f32_to_bf16(f[i]);
                float rounded = bits == 5 ? vm_round_f16(f[i]) : vm_round_bf16(f[i]);
                float back = bits == 5 ? vm_f16_to_f32((uint16_t)want[i]) : vm_bf16_to_f32((uint16_t)want[i]);
                if (got != want[i] || !same_f32(rounded, back) ||
                    !same_f32(vm_round_f16(-f[i]), -vm_round_f16(f[i])))
                    fail_msg("%a gives %x, not %x", (double)f[i], got, want[i]);
            }
        }
    }
    assert_true(same_f32(vm_round_f16(NAN), NAN) && same_f32(vm_round_bf16(NAN), NAN));
    assert_true(vm_round_f16(1e6f) == INFINITY && vm_f64_to_f16(1e300) == 0x7c00u &&
                vm_f64_to_bf16(-1e300) == 0xff80u);
}

/* ---- casts ---- */

/* What x, given exactly, is as an integer of `bits` bits: saturated. */
static int64_t saturated(double x, int bits, int is_signed) {
    double low = is_signed ? -ldexp(1.0, bits - 1) : 0.0, end = ldexp(1.0, is_signed ? bits - 1 : bits);
    if (x != x) return 0;
    if (x < low) return is_signed ? -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1 : 0;
    if (x >= end) return (int64_t)((UINT64_C(1) << (is_signed ? bits - 1 : bits)) - 1);
    return (int64_t)x;
}
static const double cast_reals[] = {0.0,
                                    -0.0,
                                    0.5,
                                    -0.5,
                                    0.999,
                                    -0.999,
                                    1.0,
                                    -1.0,
                                    1.5,
                                    -1.5,
                                    2.5,
                                    126.9,
                                    127.0,
                                    127.5,
                                    128.0,
                                    -128.0,
                                    -128.9,
                                    -129.0,
                                    255.0,
                                    255.9,
                                    256.0,
                                    1e6,
                                    2147483520.0,
                                    2147483647.0,
                                    2147483647.5,
                                    2147483648.0,
                                    -2147483648.0,
                                    -2147483648.5,
                                    -2147483649.0,
                                    -2147483904.0,
                                    9007199254740993.0,
                                    9223371487098961920.0,
                                    9223372036854774784.0,
                                    0x1p63,
                                    -0x1p63,
                                    -0x1.0000000000001p63,
                                    0x1p64,
                                    1e30,
                                    -1e30,
                                    1e300,
                                    -1e300,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    0x1p-149,
                                    5e-324,
                                    FLT_MAX,
                                    0x1.ffffffp127,
                                    16777217.0};
static const int64_t cast_integers[] = {0,
                                        1,
                                        -1,
                                        2,
                                        127,
                                        128,
                                        -128,
                                        -129,
                                        255,
                                        256,
                                        257,
                                        -255,
                                        -256,
                                        32767,
                                        65535,
                                        65536,
                                        16777217,
                                        2147483647,
                                        -2147483647 - 1,
                                        INT64_C(2147483648),
                                        INT64_C(-2147483649),
                                        INT64_C(4294967295),
                                        INT64_C(4294967296),
                                        INT64_C(9007199254740993),
                                        INT64_MAX,
                                        INT64_MIN};

#define CHECK_CAST(got, want, what, x)                                                                       \
    if ((got) != (want))                                                                                     \
    fail_msg("%s of %.17g: %.17g, not %.17g", what, (double)(x), (double)(got), (double)(want))

#define CAST_FROM_FLOAT(F, f)                                                                                \
    static void cast_from_##f(void) {                                                                        \
        for (int i = 0; i < COUNT(cast_reals); i++) {                                                        \
            F x = (F)cast_reals[i];                                                                          \
            CHECK_CAST(vm_cast_##f##_i64(x), saturated((double)x, 64, 1), #f " to i64", x);                  \
            CHECK_CAST(vm_cast_##f##_i32(x), saturated((double)x, 32, 1), #f " to i32", x);                  \
            CHECK_CAST(vm_cast_##f##_i8(x), saturated((double)x, 8, 1), #f " to i8", x);                     \
            CHECK_CAST(vm_cast_##f##_u8(x), saturated((double)x, 8, 0), #f " to u8", x);                     \
            CHECK_CAST(vm_cast_##f##_bool(x), x == 0 ? 0 : 1, #f " to bool", x);                             \
            assert_true(same_f32(vm_cast_##f##_f32(x), (float)x));                                           \
            assert_true(ulps(vm_cast_##f##_f64(x), (long double)x, 53) == 0.0);                              \
        }                                                                                                    \
    }
CAST_FROM_FLOAT(float, f32)
CAST_FROM_FLOAT(double, f64)

#define CAST_FROM_INTEGER(F, f, bits, is_signed)                                                             \
    static void cast_from_##f(void) {                                                                        \
        for (int i = 0; i < COUNT(cast_integers); i++) {                                                     \
            int64_t v = (bits) == 1 ? cast_integers[i] != 0 : wrapped(cast_integers[i], bits, is_signed);    \
            F x = (F)v;                                                                                      \
            CHECK_CAST(vm_cast_##f##_i64(x), v, #f " to i64", v);                                            \
            CHECK_CAST(vm_cast_##f##_i32(x), wrapped(v, 32, 1), #f " to i32", v);                            \
            CHECK_CAST(vm_cast_##f##_i8(x), wrapped(v, 8, 1), #f " to i8", v);                               \
            CHECK_CAST(vm_cast_##f##_u8(x), wrapped(v, 8, 0), #f " to u8", v);                               \
            CHECK_CAST(vm_cast_##f##_bool(x), v != 0, #f " to bool", v);                                     \
            assert_true(ulps((double)vm_cast_##f##_f32(x), (long double)v, 24) <= 0.5);                      \
            assert_true(ulps(vm_cast_##f##_f64(x), (long double)v, 53) <= 0.5);                              \
        }                                                                                                    \
    }
CAST_FROM_INTEGER(int64_t, i64, 64, 1)
CAST_FROM_INTEGER(int32_t, i32, 32, 1)
CAST_FROM_INTEGER(int8_t, i8, 8, 1)
CAST_FROM_INTEGER(uint8_t, u8, 8, 0)
CAST_FROM_INTEGER(uint8_t, bool, 1, 0)

static void casts_saturate_wrap_and_round(void **state) {
    (void)state;
    cast_from_f32();
    cast_from_f64();
    cast_from_i64();
    cast_from_i32();
    cast_from_i8();
    cast_from_u8();
    cast_from_bool();
    assert_int_equal(vm_cast_i64_f32(16777217), 16777216);
    assert_true(vm_cast_i64_f64(INT64_C(9007199254740993)) == 9007199254740992.0);
}

static void casts_in_loops_give_the_same(void **state) {
    (void)state;
    static int32_t wide[SAMPLES];
    static int8_t narrow[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) wide[i] = vm_cast_f32_i32(xs[i]);
    for (int i = 0; i < SAMPLES; i++) narrow[i] = vm_cast_f32_i8(xs[i]);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(wide[i], saturated((double)xs[i], 32, 1));
        assert_int_equal(narrow[i], saturated((double)xs[i], 8, 1));
    }
}

int main(void) {
    fill_samples(xs);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_a_round_trip),
        cmocka_unit_test(halves_round_to_nearest_even_once),
        cmocka_unit_test(casts_saturate_wrap_and_round),
        cmocka_unit_test(casts_in_loops_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
