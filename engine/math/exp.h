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

/* p * 2^n, rounded once, where `u` has n + 254 in its low bits and -252 <= n <= 256: two factors 2^(n/2).
 * Without `some` the result is +0, and made without touching a denormal, which would cost a hundred cycles:
 * masked softmax scores are exactly this case. */
VM_FN float vm_scale2_f32(float p, uint32_t u, int some) {
    uint32_t half = u >> 1;
    return p * vm_from_bits_f32(half << 23) * vm_keep_f32(some, vm_from_bits_f32((u - half) << 23));
}

/* The bits of VM_ROUNDER_F32 + 254 + n, with n brought into [-151, 130] as integers: cheap, and right for
 * infinities (a NaN gives 130; it lives on in r). */
#define VM_EXP_ROUNDER_F32 (VM_ROUNDER_F32 + 254.0f)
VM_FN uint32_t vm_exp_clamp_f32(float t) {
    int32_t u = (int32_t)vm_bits_f32(t), low = 0x4b4000fe - 151, high = 0x4b4000fe + 130;
    u = u > low ? u : low;
    return (uint32_t)(u < high ? u : high);
}

/* Above 89, r grows with x and the result overflows by itself; below -104 it is 0. */
VM_FN float vm_exp_f32(float x) {
    uint32_t u = vm_exp_clamp_f32(x * VM_LOG2E_F32 + VM_EXP_ROUNDER_F32);
    float n = vm_from_bits_f32(u) - VM_EXP_ROUNDER_F32;
    float r = (x - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32;
    int some = !(x < -104.0f);
    return vm_scale2_f32(1.0f + vm_expm1_core_f32(vm_keep_f32(some, r)), u, some);
}

VM_FN float vm_exp2_f32(float x) {
    uint32_t u = vm_exp_clamp_f32(x + VM_EXP_ROUNDER_F32);
    float r = x - (vm_from_bits_f32(u) - VM_EXP_ROUNDER_F32);
    int some = !(x < -150.0f);
    r = vm_keep_f32(some, r);
    float q = 0x1.41f8a2p-13f;
    q = q * r + 0x1.5f3e3ep-10f;
    q = q * r + 0x1.3b2e34p-7f;
    q = q * r + 0x1.c6af2cp-5f;
    q = q * r + 0x1.ebfbdap-3f;
    q = q * r + 0x1.62e43p-1f;
    return vm_scale2_f32(1.0f + r * q, u, some);
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

/* 2^n p + (2^n - 1) with p = exp(r) - 1, which is p itself for n = 0; -1 below -20. For n = 128 the factor is
 * 2^127 and the result is doubled; above 89 r grows until it overflows. */
VM_FN float vm_expm1_f32(float x) {
    int32_t u = (int32_t)vm_bits_f32(x * VM_LOG2E_F32 + VM_ROUNDER_F32), low = 0x4b400000 - 30,
            high = 0x4b400000 + 128;
    u = u > low ? u : low;
    u = u < high ? u : high;
    float n = vm_from_bits_f32((uint32_t)u) - VM_ROUNDER_F32;
    float r = (x - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32;
    r = vm_keep_f32(!(x < -20.0f), r);
    int32_t over = (high - 1 - u) >> 31; /* -1 for n = 128 */
    float s = vm_from_bits_f32((uint32_t)(u + over + 127) << 23);
    float twice = vm_from_bits_f32(0x3f800000u + ((uint32_t)over & 0x00800000u));
    return vm_copysign_f32((s * vm_expm1_relative_f32(r) + (s - 1.0f)) * twice, x);
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
