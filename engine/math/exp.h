/* exp.h — exp, exp2 and expm1.
 *
 * exp(x) = 2^n exp(r) with n = round(x / ln 2) and r = x - n ln 2 in two parts (Cody and Waite, Software
 * Manual for the Elementary Functions, 1980), |r| <= ln2/2, and a minimax polynomial for (exp(r) - 1 - r) /
 * r^2 (Remez exchange, coefficients then adjusted in the last place for the rounded set). The factor 2^n is
 * applied in two halves, so that results in the denormal range are rounded once and overflow gives infinity.
 */
#ifndef TD_MATH_EXP_H
#define TD_MATH_EXP_H

#include "engine/math/bits.h"

#define VM_LOG2E_F32 0x1.715476p0f
#define VM_LN2_HI_F32 0x1.62e4p-1f /* 15 bits: n * hi is exact for |n| < 512 */
#define VM_LN2_LO_F32 0x1.7f7d1cp-20f

/* exp(r) - 1 for |r| <= ln2/2, with an error relative to 1 (not to the result) of 2^-28. */
VM_FN float vm_expm1_core_f32(float r) {
    float q = 0x1.6a2282p-10f;
    q = q * r + 0x1.123aeep-7f;
    q = q * r + 0x1.5558d2p-5f;
    q = q * r + 0x1.55549p-3f;
    q = q * r + 0x1.fffffcp-2f;
    return r + r * r * q;
}

/* p * 2^n, rounded once, where `t` is n + VM_ROUNDER_F32 + 254 and -252 <= n <= 256: two factors 2^(n/2). */
VM_FN float vm_scale2_f32(float p, float t) {
    uint32_t u = vm_bits_f32(t), half = u >> 1;
    return p * vm_from_bits_f32(half << 23) * vm_from_bits_f32((u - half) << 23);
}

VM_FN float vm_exp_f32(float x) {
    float c = x > 89.0f ? 89.0f : x;
    c = c < -104.0f ? -104.0f : c;
    float t = c * VM_LOG2E_F32 + (VM_ROUNDER_F32 + 254.0f);
    float n = t - (VM_ROUNDER_F32 + 254.0f);
    float r = (c - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32;
    return vm_scale2_f32(1.0f + vm_expm1_core_f32(r), t);
}

VM_FN float vm_exp2_f32(float x) {
    float c = x > 129.0f ? 129.0f : x;
    c = c < -151.0f ? -151.0f : c;
    float t = c + (VM_ROUNDER_F32 + 254.0f);
    float r = c - (t - (VM_ROUNDER_F32 + 254.0f));
    float q = 0x1.41f8a2p-13f;
    q = q * r + 0x1.5f3e3ep-10f;
    q = q * r + 0x1.3b2e34p-7f;
    q = q * r + 0x1.c6af2cp-5f;
    q = q * r + 0x1.ebfbdap-3f;
    q = q * r + 0x1.62e43p-1f;
    return vm_scale2_f32(1.0f + r * q, t);
}

/* exp(r) - 1 for |r| <= ln2/2 with an error relative to the result. */
VM_FN float vm_expm1_relative_f32(float r) {
    float q = 0x1.6e6p-10f;
    q = q * r + 0x1.1235e2p-7f;
    q = q * r + 0x1.55544p-5f;
    q = q * r + 0x1.55549ep-3f;
    q = q * r + 0.5f;
    return r + r * r * q;
}

/* 2^n p + (2^n - 1) with p = exp(r) - 1, which is p itself for n = 0. The factor of n = 128 is split. */
VM_FN float vm_expm1_f32(float x) {
    float c = x > 89.0f ? 89.0f : x;
    c = c < -20.0f ? -20.0f : c;
    float t = c * VM_LOG2E_F32 + VM_ROUNDER_F32;
    float n = t - VM_ROUNDER_F32;
    float r = (c - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32;
    float top = n > 127.0f ? 2.0f : 1.0f;
    uint32_t k = vm_bits_f32(t) - (n > 127.0f ? 1u : 0u);
    float s = vm_from_bits_f32((k + 127u) << 23);
    float y = (s * vm_expm1_relative_f32(r) + (s - 1.0f)) * top;
    return x == 0.0f ? x : y;
}

VM_FN double vm_exp_f64(double x) {
    return exp(x);
}
VM_FN double vm_exp2_f64(double x) {
    return exp2(x);
}
VM_FN double vm_expm1_f64(double x) {
    return expm1(x);
}

#endif
