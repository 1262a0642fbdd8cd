/* basic.h — the element-wise functions that need no polynomial, and the compositions sigmoid and softplus.
 *
 * NaN propagates through all of them. Rounding uses the adder's own rounding (half to even), so that it
 * vectorises without SSE4.1; the sign of zero is kept. floordiv and mod follow NumPy, through fmod. */
#ifndef TD_MATH_BASIC_H
#define TD_MATH_BASIC_H

#include "engine/math/log.h"

VM_FN float vm_sqrt_f32(float x) {
    return sqrtf(x);
}
VM_FN double vm_sqrt_f64(double x) {
    return sqrt(x);
}
VM_FN float vm_fmod_f32(float x, float y) {
    return fmodf(x, y);
}
VM_FN double vm_fmod_f64(double x, double y) {
    return fmod(x, y);
}

/* With exp(|x|) = 2^n (1 + w) and q = 2^-n: v = q / (1 + q + w) on the left, 1 - v on the right. The factor q comes
 * last, in two halves, so that denormal results are rounded once; beyond 104 it is 0. */
VM_FN float vm_sigmoid_f32(float x) {
    float a = vm_abs_f32(x);
    uint32_t u = vm_exp_clamp_f32(a * -VM_LOG2E_F32 + VM_EXP_ROUNDER_F32), half = u >> 1;
    float n = vm_from_bits_f32(u) - VM_EXP_ROUNDER_F32;
    float r = (a + n * VM_LN2_HI_F32) + n * VM_LN2_LO_F32;
    int some = !(a > 104.0f);
    float w = vm_expm1_core_f32(vm_keep_f32(some, r));
    float q0 = vm_from_bits_f32(half << 23), q1 = vm_keep_f32(some, vm_from_bits_f32((u - half) << 23));
    float q = q0 * q1, top = 1.0f + q, lost = q - (top - 1.0f); /* what rounding took from 1 + q */
    float v = 1.0f / (top + (w + lost)) * q0 * q1;
    return vm_select_f32(x < 0.0f, v, 1.0f - v);
}
VM_FN double vm_sigmoid_f64(double x) {
    double e = exp(-vm_abs_f64(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/* max(x, 0) + log1p(exp(-|x|)). */
VM_FN float vm_softplus_f32(float x) {
    return (x <= 0.0f ? 0.0f : x) + vm_log1p_f32(vm_exp_f32(-vm_abs_f32(x)));
}
VM_FN double vm_softplus_f64(double x) {
    return (x <= 0.0 ? 0.0 : x) + log1p(exp(-vm_abs_f64(x)));
}

/* One definition for f32 and f64. T: the C type, S: its suffix, LIMIT: from where all are
 * integers. */
#define VM_BASIC(T, S, LIMIT)                                                                                \
    VM_FN T vm_lowest_##S(void) {                                                                            \
        return -vm_inf_##S();                                                                                \
    }                                                                                                        \
    VM_FN T vm_highest_##S(void) {                                                                           \
        return vm_inf_##S();                                                                                 \
    }                                                                                                        \
    VM_FN vm_bool vm_is_negative_##S(T x) {                                                                  \
        return x < (T)0;                                                                                     \
    }                                                                                                        \
    VM_FN vm_bool vm_isnan_##S(T x) {                                                                        \
        return x != x;                                                                                       \
    }                                                                                                        \
    VM_FN vm_bool vm_isinf_##S(T x) {                                                                        \
        return vm_abs_##S(x) == vm_inf_##S();                                                                \
    }                                                                                                        \
    VM_FN vm_bool vm_isfinite_##S(T x) {                                                                     \
        return vm_abs_##S(x) < vm_inf_##S();                                                                 \
    }                                                                                                        \
    VM_FN T vm_add_##S(T x, T y) {                                                                           \
        return x + y;                                                                                        \
    }                                                                                                        \
    VM_FN T vm_sub_##S(T x, T y) {                                                                           \
        return x - y;                                                                                        \
    }                                                                                                        \
    VM_FN T vm_mul_##S(T x, T y) {                                                                           \
        return x * y;                                                                                        \
    }                                                                                                        \
    VM_FN T vm_div_##S(T x, T y) {                                                                           \
        return x / y;                                                                                        \
    }                                                                                                        \
    VM_FN T vm_neg_##S(T x) {                                                                                \
        return -x;                                                                                           \
    }                                                                                                        \
    VM_FN T vm_rsqrt_##S(T x) {                                                                              \
        return (T)1 / vm_sqrt_##S(x);                                                                        \
    }                                                                                                        \
    VM_FN T vm_reciprocal_##S(T x) {                                                                         \
        return (T)1 / x;                                                                                     \
    }                                                                                                        \
    /* max(x, 0) with relu(-0) = +0 and relu(NaN) = NaN. */                                                  \
    VM_FN T vm_relu_##S(T x) {                                                                               \
        return x <= (T)0 ? (T)0 : x;                                                                         \
    }                                                                                                        \
    /* -1, 0 or 1; NaN stays NaN. */                                                                         \
    VM_FN T vm_sign_##S(T x) {                                                                               \
        T s = vm_keep_##S(x != (T)0, vm_copysign_##S((T)1, x));                                              \
        return vm_spoil_##S(x != x, s);                                                                      \
    }                                                                                                        \
    /* g * d, but exact 0 where g is 0, whatever d is: how gradients multiply. */                            \
    VM_FN T vm_mulz_##S(T g, T d) {                                                                          \
        T r = g * d;                                                                                         \
        return g == (T)0 ? (T)0 : r;                                                                         \
    }                                                                                                        \
    /* A NaN wins. Of two zeros maximum takes +0 and minimum -0. */                                          \
    VM_FN T vm_maximum_##S(T x, T y) {                                                                       \
        T tie = vm_from_bits_##S(vm_bits_##S(x) & vm_bits_##S(y));                                           \
        T r = vm_select_##S(x == y, tie, vm_select_##S(x > y, x, y));                                        \
        return vm_spoil_##S(x != x, r);                                                                      \
    }                                                                                                        \
    VM_FN T vm_minimum_##S(T x, T y) {                                                                       \
        T tie = vm_from_bits_##S(vm_bits_##S(x) | vm_bits_##S(y));                                           \
        T r = vm_select_##S(x == y, tie, vm_select_##S(x < y, x, y));                                        \
        return vm_spoil_##S(x != x, r);                                                                      \
    }                                                                                                        \
    /* Half to even: adding and subtracting LIMIT rounds what is below it. */                                \
    VM_FN T vm_round_##S(T x) {                                                                              \
        T a = vm_abs_##S(x), big = vm_keep_##S(a < (LIMIT), (LIMIT));                                        \
        return vm_copysign_##S((a + big) - big, x);                                                          \
    }                                                                                                        \
    VM_FN T vm_floor_##S(T x) {                                                                              \
        T t = vm_round_##S(x);                                                                               \
        return vm_copysign_##S(t - vm_keep_##S(t > x, (T)1), x);                                             \
    }                                                                                                        \
    VM_FN T vm_ceil_##S(T x) {                                                                               \
        T t = vm_round_##S(x);                                                                               \
        return vm_copysign_##S(t + vm_keep_##S(t < x, (T)1), x);                                             \
    }                                                                                                        \
    /* NumPy's floor division: from the exact fmod, so that 1.0 // 0.1 is 9; x // 0 is x / 0. */             \
    VM_FN T vm_floordiv_##S(T x, T y) {                                                                      \
        T m = vm_fmod_##S(x, y), q = (x - m) / y;                                                            \
        T q1 = q - (T)1;                                                                                     \
        q = ((m != (T)0) & ((m < (T)0) != (y < (T)0))) ? q1 : q;                                             \
        T f = vm_floor_##S(q), f1 = f + (T)1;                                                                \
        f = q - f > (T)0.5 ? f1 : f;                                                                         \
        T ratio = x / y;                                                                                     \
        f = q == (T)0 ? vm_copysign_##S((T)0, ratio) : f;                                                    \
        return y == (T)0 ? ratio : f;                                                                        \
    }                                                                                                        \
    /* NumPy's remainder: the divisor's sign, also on a zero result; x % 0 is NaN. */                        \
    VM_FN T vm_mod_##S(T x, T y) {                                                                           \
        T m = vm_fmod_##S(x, y), m1 = m + y;                                                                 \
        T r = (m < (T)0) != (y < (T)0) ? m1 : m;                                                             \
        return m == (T)0 ? vm_copysign_##S((T)0, y) : r;                                                     \
    }

VM_BASIC(float, f32, 0x1p23f)
VM_BASIC(double, f64, 0x1p52)

#undef VM_BASIC

#endif
