/* test_math.c — the floating-point functions of engine/math: accuracy on samples (scripts/check-math walks every f32),
 * special values; and that loops compiled for a vector unit give the bits of single calls. */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/math/basic.h"
#include "engine/math/erf.h"
#include "engine/math/hyper.h"
#include "engine/math/pow.h"
#include "engine/math/trig.h"
#include "tests/math/functions.h"
#include "tests/math/samples.h"
#include "tests/math/ulps.h"

/* ---- f32 functions of one argument ---- */

#define NOINLINE __attribute__((noinline))

/* The loops as the engine has them, for the build's target and for AVX2; this file is compiled with the engine's
 * flags for loops. A single call goes through a pointer, so that it stays one. */
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2"), noinline))
#define HAVE_AVX2 __builtin_cpu_supports("avx2")
#else
#define AVX2 NOINLINE
#define HAVE_AVX2 0
#endif

#define DEFINE_UNARY(name, ref, bound)                                                                       \
    static NOINLINE float one_##name(float x) {                                                              \
        return vm_##name##_f32(x);                                                                           \
    }                                                                                                        \
    static NOINLINE void loop_##name(const float *restrict x, float *restrict y, int n) {                    \
        for (int i = 0; i < n; i++) y[i] = vm_##name##_f32(x[i]);                                            \
    }                                                                                                        \
    static AVX2 void wide_##name(const float *restrict x, float *restrict y, int n) {                        \
        for (int i = 0; i < n; i++) y[i] = vm_##name##_f32(x[i]);                                            \
    }
MATH_F32(DEFINE_UNARY)

typedef struct unary {
    const char *name;
    float (*one)(float);
    void (*loop)(const float *restrict, float *restrict, int),
        (*wide)(const float *restrict, float *restrict, int);
    double (*reference)(double);
    double bound;
} unary;
#define UNARY_ENTRY(name, ref, bound) {#name, one_##name, loop_##name, wide_##name, ref, bound},
static const unary unaries[] = {MATH_F32(UNARY_ENTRY)};

static float xs[SAMPLES], ys[SAMPLES], zs[SAMPLES];

static void f32_functions_are_within_their_bounds(void **state) {
    (void)state;
    for (int k = 0; k < COUNT(unaries); k++) {
        const unary *f = &unaries[k];
        for (int i = 0; i < SAMPLES; i++) {
            float y = f->one(xs[i]);
            double exact = f->reference((double)xs[i]), error = ulps((double)y, exact, 24);
            if (!(error <= f->bound))
                fail_msg("%s(%a) = %a, not %a: %g ulps", f->name, xs[i], y, exact, error);
        }
    }
}

static void loops_give_the_bits_of_single_calls(void **state) {
    (void)state;
    for (int k = 0; k < COUNT(unaries); k++) {
        const unary *f = &unaries[k];
        f->loop(xs, ys, SAMPLES);
        memcpy(zs, ys, sizeof zs);
        if (HAVE_AVX2) f->wide(xs, zs, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            float one = f->one(xs[i]);
            if (!same_f32(one, ys[i]) || !same_f32(one, zs[i]))
                fail_msg("%s(%a): %a alone, %a in a loop, %a in a wide one", f->name, xs[i], one, ys[i],
                         zs[i]);
        }
    }
}

static void known_values_come_out(void **state) {
    (void)state;
    assert_true(vm_softplus_f32(100.0f) == 100.0f);
    assert_true(vm_sigmoid_f32(-100.0f) == 3.7835e-44f);
    assert_true(vm_log1p_f32(1e-10f) == 1e-10f);
    assert_true(vm_tanh_f32(20.0f) == 1.0f && vm_tanh_f32(-20.0f) == -1.0f);
    assert_true(vm_exp_f32(0.0f) == 1.0f && vm_exp2_f32(-149.0f) == 0x1p-149f &&
                vm_exp2_f32(10.0f) == 1024.0f);
    assert_true(vm_log_f32(1.0f) == 0.0f && vm_log2_f32(0x1p-149f) == -149.0f && vm_log2_f32(8.0f) == 3.0f);
    assert_true(same_f32(vm_round_f32(-0.5f), -0.0f) && same_f32(vm_round_f32(2.5f), 2.0f));
    assert_true(same_f32(vm_ceil_f32(-0.5f), -0.0f) && same_f32(vm_relu_f32(-0.0f), 0.0f));
    assert_true(vm_round_f64(-2.5) == -2.0 && vm_floor_f64(-0.5) == -1.0 && signbit(vm_ceil_f64(-0.5)));
    assert_true(vm_gelu_f32(-10.0f) < 0.0f && vm_gelu_f32(-10.0f) > -1e-22f);
}

/* ---- f64 functions of one argument, against long double ---- */

static long double refl_sigmoid(long double x) {
    return 1.0L / (1.0L + expl(-x));
}
static long double refl_softplus(long double x) {
    return x > 11000.0L ? x : log1pl(expl(x));
}
static long double refl_relu(long double x) {
    return x != x || x > 0.0L ? x : 0.0L;
}
static long double refl_gelu(long double x) {
    return x == -(long double)INFINITY ? -0.0L
                                       : 0.5L * x * erfcl(-x * 0.707106781186547524400844362104849039L);
}

/* Through libm, whose own bounds these are; gelu multiplies erfc's error by the rounding of its argument. */
/* clang-format off */
#define UNARY_F64(ROW)                                                                                       \
    ROW(exp, expl, 2.0)                                                                                      \
    ROW(exp2, exp2l, 2.0)                                                                                    \
    ROW(expm1, expm1l, 2.0)                                                                                  \
    ROW(log, logl, 2.0)                                                                                      \
    ROW(log2, log2l, 2.0)                                                                                    \
    ROW(log1p, log1pl, 2.0) ROW(sin, sinl, 2.0) ROW(cos, cosl, 2.0) ROW(tan, tanl, 2.0)                      \
        ROW(asin, asinl, 2.0) ROW(acos, acosl, 2.0) ROW(atan, atanl, 2.0) ROW(sinh, sinhl, 2.0)              \
            ROW(cosh, coshl, 2.0) ROW(tanh, tanhl, 2.0) ROW(erf, erfl, 2.0) ROW(erfc, erfcl, 4.0)            \
                ROW(sigmoid, refl_sigmoid, 3.0) ROW(softplus, refl_softplus, 3.0) ROW(sqrt, sqrtl, 0.5)      \
                    ROW(abs, fabsl, 0.0) ROW(relu, refl_relu, 0.0) ROW(floor, floorl, 0.0)                   \
                        ROW(ceil, ceill, 0.0) ROW(round, nearbyintl, 0.0) ROW(gelu, refl_gelu, 2000.0)
/* clang-format on */

#define DEFINE_UNARY_F64(name, ref, bound)                                                                   \
    static double one64_##name(double x) {                                                                   \
        return vm_##name##_f64(x);                                                                           \
    }
UNARY_F64(DEFINE_UNARY_F64)

typedef struct unary64 {
    const char *name;
    double (*one)(double);
    long double (*reference)(long double);
    double bound;
} unary64;
#define UNARY64_ENTRY(name, ref, bound) {#name, one64_##name, ref, bound},
static const unary64 unaries64[] = {UNARY_F64(UNARY64_ENTRY)};

static void f64_functions_are_within_their_bounds(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < SAMPLES / 4; i++) {
        /* a sample, made a proper double by more bits where it is not special */
        double x = (double)xs[i * 4];
        if (i >= COUNT(special) && fabs(x) < 1e30) x *= 1.0 + (double)(next(&random) >> 11) * 0x1p-80;
        for (int k = 0; k < COUNT(unaries64); k++) {
            const unary64 *f = &unaries64[k];
            double y = f->one(x), error = ulps(y, f->reference((long double)x), 53);
            if (!(error <= f->bound)) fail_msg("%s(%a) = %a: %g ulps", f->name, x, y, error);
        }
    }
}

/* ---- functions of two arguments ---- */

static void pow_follows_the_standard(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(special); i++)
        for (int j = 0; j < COUNT(special); j++) {
            float x = special[i], y = special[j], r = vm_pow_f32(x, y);
            double exact = pow((double)x, (double)y), error = ulps((double)r, exact, 24);
            if (!(error <= 1.0)) fail_msg("pow(%a, %a) = %a, not %a", x, y, r, exact);
        }
    for (int i = 0; i + 1 < SAMPLES; i++) {
        float x = xs[i], y = xs[SAMPLES - 1 - i], r = vm_pow_f32(x, y);
        double error = ulps((double)r, pow((double)x, (double)y), 24);
        if (!(error <= 1.0)) fail_msg("pow(%a, %a) = %a: %g ulps", x, y, r, error);
    }
    assert_true(vm_pow_f64(2.0, 0.5) == sqrt(2.0));
}

static void atan2_is_right_in_every_quadrant(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(special); i++)
        for (int j = 0; j < COUNT(special); j++) {
            float y = special[i], x = special[j], r = vm_atan2_f32(y, x);
            double error = ulps((double)r, atan2((double)y, (double)x), 24);
            if (!(error <= 1.0)) fail_msg("atan2(%a, %a) = %a: %g ulps", y, x, r, error);
        }
}

static void maximum_and_minimum_order_zeros_and_spread_nan(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(special); i++)
        for (int j = 0; j < COUNT(special); j++) {
            float x = special[i], y = special[j], top, low;
            if (x != x || y != y)
                top = low = NAN;
            else if (x == y)
                top = signbit(x) ? y : x, low = signbit(x) ? x : y;
            else
                top = x > y ? x : y, low = x > y ? y : x;
            if (!same_f32(vm_maximum_f32(x, y), top) || !same_f32(vm_minimum_f32(x, y), low))
                fail_msg("maximum(%a, %a) = %a, minimum %a", x, y, vm_maximum_f32(x, y),
                         vm_minimum_f32(x, y));
            double hi = vm_maximum_f64((double)x, (double)y), lo = vm_minimum_f64((double)x, (double)y);
            if (!same_f32((float)hi, top) || !same_f32((float)lo, low))
                fail_msg("f64: maximum(%a, %a) = %a", x, y, hi);
            float product = vm_mulz_f32(x, y);
            if (!same_f32(product, x == 0.0f ? 0.0f : x * y)) fail_msg("mulz(%a, %a) = %a", x, y, product);
        }
    assert_true(vm_is_negative_f32(-1.0f) && !vm_is_negative_f64(-0.0));
    assert_true(vm_isnan_f32(NAN) && vm_isinf_f64(-(double)INFINITY) && vm_isfinite_f32(FLT_MAX) &&
                !vm_isfinite_f32(NAN));
    assert_true(vm_lowest_f32() == -INFINITY && vm_highest_f64() == (double)INFINITY);
}

static void float_division_floors_as_numpy_does(void **state) {
    (void)state;
    /* x, y, x // y, x % y, as NumPy 1.26 gives them in f64 */
    static const double rows[][4] = {{1.0, 0.1, 9.0, 0.09999999999999995},
                                     {-1.0, 0.1, -10.0, 5.551115123125783e-17},
                                     {7.0, 2.0, 3.0, 1.0},
                                     {-7.0, 2.0, -4.0, 1.0},
                                     {7.0, -2.0, -4.0, -1.0},
                                     {-7.0, -2.0, 3.0, -1.0},
                                     {6.0, 3.0, 2.0, 0.0},
                                     {6.0, -3.0, -2.0, -0.0},
                                     {0.0, -3.0, -0.0, -0.0},
                                     {-0.0, 3.0, -0.0, 0.0},
                                     {1.0, 0.0, INFINITY, NAN},
                                     {-1.0, 0.0, -INFINITY, NAN},
                                     {0.0, 0.0, NAN, NAN},
                                     {1.0, -0.0, -INFINITY, NAN},
                                     {1.0, INFINITY, 0.0, 1.0},
                                     {-1.0, INFINITY, -1.0, INFINITY},
                                     {1.0, -INFINITY, -1.0, -INFINITY},
                                     {INFINITY, 2.0, NAN, NAN},
                                     {NAN, 2.0, NAN, NAN},
                                     {2.0, NAN, NAN, NAN}};
    for (int i = 0; i < COUNT(rows); i++) {
        const double *r = rows[i];
        double q = vm_floordiv_f64(r[0], r[1]), m = vm_mod_f64(r[0], r[1]);
        if (ulps(q, r[2], 53) != 0.0 || ulps(m, r[3], 53) != 0.0)
            fail_msg("%g // %g = %.17g, %% %.17g; not %.17g, %.17g", r[0], r[1], q, m, r[2], r[3]);
        if (i < 2) continue;
        float qf = vm_floordiv_f32((float)r[0], (float)r[1]), mf = vm_mod_f32((float)r[0], (float)r[1]);
        if (!same_f32(qf, (float)r[2]) || !same_f32(mf, (float)r[3]))
            fail_msg("f32: %g // %g = %g", r[0], r[1], (double)qf);
    }
    assert_true(vm_floordiv_f32(1.0f, 0.1f) == 9.0f);
}

int main(void) {
    fill_samples(xs);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_functions_are_within_their_bounds),
        cmocka_unit_test(loops_give_the_bits_of_single_calls),
        cmocka_unit_test(known_values_come_out),
        cmocka_unit_test(f64_functions_are_within_their_bounds),
        cmocka_unit_test(pow_follows_the_standard),
        cmocka_unit_test(atan2_is_right_in_every_quadrant),
        cmocka_unit_test(maximum_and_minimum_order_zeros_and_spread_nan),
        cmocka_unit_test(float_division_floors_as_numpy_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
