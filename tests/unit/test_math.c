/* test_math.c — the scalar functions of engine/math: accuracy on samples (scripts/check-math walks every f32),
 * special values, every pair of casts, every half, integers, Philox's known answers; and that loops compiled for
 * a vector unit give the bits of single calls. */
#include "tests/harness/check.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "engine/math/basic.h"
#include "engine/math/cast.h"
#include "engine/math/erf.h"
#include "engine/math/half.h"
#include "engine/math/hyper.h"
#include "engine/math/int.h"
#include "engine/math/order.h"
#include "engine/math/philox.h"
#include "engine/math/pow.h"
#include "engine/math/trig.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define NOINLINE __attribute__((noinline))

/* A small generator of its own, so that a failure repeats. */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- samples ---- */

enum { SAMPLES = 1 << 16 };

static const float special[] = {0.0f,
                                -0.0f,
                                INFINITY,
                                -INFINITY,
                                NAN,
                                1.0f,
                                -1.0f,
                                0.5f,
                                -0.5f,
                                2.0f,
                                -2.0f,
                                1.5f,
                                -1.5f,
                                2.5f,
                                -2.5f,
                                3.0f,
                                -3.0f,
                                0x1p-149f,
                                -0x1p-149f,
                                0x1p-126f,
                                -0x1p-126f,
                                0x1.fffffcp-127f,
                                FLT_MAX,
                                -FLT_MAX,
                                0x1p23f,
                                0x1p24f,
                                8388607.5f,
                                -4194303.5f,
                                88.72284f,
                                88.722839f,
                                -87.336548f,
                                -103.972076f,
                                -103.97f,
                                -104.0f,
                                128.0f,
                                -149.0f,
                                -150.0f,
                                -126.0f,
                                89.415985f,
                                89.5f,
                                0x1p80f,
                                0x1p79f,
                                0x1p127f,
                                10.0f,
                                20.0f,
                                100.0f,
                                -100.0f,
                                1e-10f,
                                0x1.921fb6p+0f,
                                0x1.921fb4p+0f,
                                16777215.0f,
                                0.7071067f,
                                0.70710677f,
                                9.0f};

/* Special values and their neighbours, then any bit pattern, then values of everyday size. */
static void fill_samples(float *x) {
    uint64_t state = 1;
    int n = 0;
    for (int i = 0; i < COUNT(special); i++) {
        x[n++] = special[i];
        x[n++] = nextafterf(special[i], INFINITY);
        x[n++] = nextafterf(special[i], -INFINITY);
    }
    for (; n < SAMPLES / 2; n++) x[n] = vm_from_bits_f32((uint32_t)next(&state));
    for (; n < SAMPLES; n++) {
        float scale = n % 4 == 0 ? 1.0f : n % 4 == 1 ? 5.0f : n % 4 == 2 ? 100.0f : 0.01f;
        x[n] = ((float)(next(&state) >> 40) * 0x1p-23f - 1.0f) * scale;
    }
}

/* The error of y in ulps of an f32 (or, with digits = 53, of an f64) near `exact`; infinite for a wrong NaN,
 * infinity or sign of zero. */
static double ulps(double y, long double exact, int digits) {
    int least = digits == 24 ? -126 : -1022, most = digits == 24 ? 127 : 1023;
    if (exact != exact || y != y) return exact != exact && y != y ? 0.0 : (double)INFINITY;
    if (exact == 0.0L && y == 0.0) return !signbit(exact) == !signbit(y) ? 0.0 : (double)INFINITY;
    long double top = ldexpl(1.0L, most + 1), edge = top - ldexpl(1.0L, most - digits);
    if (fabs(y) == (double)INFINITY && fabsl(exact) >= edge)
        return !signbit(exact) == !signbit(y) ? 0.0 : (double)INFINITY;
    if (fabsl(exact) > top) exact = copysignl(top, exact);
    long double value = fabs(y) == (double)INFINITY ? copysignl(top, y) : y;
    int e = exact == 0.0L ? least : ilogbl(exact);
    e = e < least ? least : e > most ? most : e;
    return (double)(fabsl(value - exact) / ldexpl(1.0L, e - digits + 1));
}

/* ---- f32 functions of one argument ---- */

static double ref_sigmoid(double x) {
    return 1.0 / (1.0 + exp(-x));
}
static double ref_softplus(double x) {
    return x > 700.0 ? x : log1p(exp(x));
}
static double ref_rsqrt(double x) {
    return 1.0 / sqrt(x);
}
static double ref_reciprocal(double x) {
    return 1.0 / x;
}
static double ref_relu(double x) {
    return x != x || x > 0.0 ? x : 0.0;
}
static double ref_sign(double x) {
    return x != x ? x : (double)((x > 0.0) - (x < 0.0));
}
static double ref_neg(double x) {
    return -x;
}
static double ref_gelu(double x) {
    if (x == -(double)INFINITY) return -0.0;
    return (double)(0.5L * x * erfcl(-(long double)x * 0.707106781186547524400844362104849039L));
}

/* name, reference, bound in ulps */
/* clang-format off */
#define UNARY_F32(ROW)                                                                                       \
    ROW(exp, exp, 2.0)                                                                                       \
    ROW(exp2, exp2, 2.0)                                                                                     \
    ROW(expm1, expm1, 2.0)                                                                                   \
    ROW(log, log, 2.0)                                                                                       \
    ROW(log2, log2, 2.0)                                                                                     \
    ROW(log1p, log1p, 2.0) ROW(sin, sin, 2.0) ROW(cos, cos, 2.0) ROW(tan, tan, 2.0) ROW(asin, asin, 2.0)     \
        ROW(acos, acos, 2.0) ROW(atan, atan, 2.0) ROW(sinh, sinh, 2.0) ROW(cosh, cosh, 2.0)                  \
            ROW(tanh, tanh, 2.0) ROW(erf, erf, 2.0) ROW(erfc, erfc, 2.0) ROW(gelu, ref_gelu, 2.0)            \
                ROW(sigmoid, ref_sigmoid, 2.0) ROW(softplus, ref_softplus, 2.0) ROW(rsqrt, ref_rsqrt, 2.0)   \
                    ROW(sqrt, sqrt, 0.5) ROW(reciprocal, ref_reciprocal, 0.5) ROW(abs, fabs, 0.0)            \
                        ROW(neg, ref_neg, 0.0) ROW(relu, ref_relu, 0.0) ROW(sign, ref_sign, 0.0)             \
                            ROW(floor, floor, 0.0) ROW(ceil, ceil, 0.0) ROW(round, nearbyint, 0.0)
/* clang-format on */

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
UNARY_F32(DEFINE_UNARY)

typedef struct unary {
    const char *name;
    float (*one)(float);
    void (*loop)(const float *restrict, float *restrict, int),
        (*wide)(const float *restrict, float *restrict, int);
    double (*reference)(double);
    double bound;
} unary;
#define UNARY_ENTRY(name, ref, bound) {#name, one_##name, loop_##name, wide_##name, ref, bound},
static const unary unaries[] = {UNARY_F32(UNARY_ENTRY)};

static float xs[SAMPLES], ys[SAMPLES], zs[SAMPLES];

static int same_f32(float a, float b) {
    return (a != a && b != b) || vm_bits_f32(a) == vm_bits_f32(b);
}

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

/* What x, given exactly, is as an integer of `bits` bits: saturated from a float, wrapped from an integer. */
static int64_t saturated(double x, int bits, int is_signed) {
    double low = is_signed ? -ldexp(1.0, bits - 1) : 0.0, end = ldexp(1.0, is_signed ? bits - 1 : bits);
    if (x != x) return 0;
    if (x < low) return is_signed ? -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1 : 0;
    if (x >= end) return (int64_t)((UINT64_C(1) << (is_signed ? bits - 1 : bits)) - 1);
    return (int64_t)x;
}
static int64_t wrapped(int64_t x, int bits, int is_signed) {
    if (bits == 64) return x;
    int64_t size = INT64_C(1) << bits, r = x % size;
    if (r < 0) r += size;
    return is_signed && r >= size / 2 ? r - size : r;
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

/* ---- integers ---- */

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

/* ---- random ---- */

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
        cmocka_unit_test(every_half_survives_a_round_trip),
        cmocka_unit_test(halves_round_to_nearest_even_once),
        cmocka_unit_test(casts_saturate_wrap_and_round),
        cmocka_unit_test(casts_in_loops_give_the_same),
        cmocka_unit_test(small_integers_follow_python),
        cmocka_unit_test(integers_wrap_without_trapping),
        cmocka_unit_test(integers_compare_exactly_with_reals),
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(draws_have_their_ranges_and_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
