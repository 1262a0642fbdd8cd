/* trig.h — sin, cos, tan and their inverses.
 *
 * One argument reduction serves every f32: x * 2/pi in f64 with 2/pi cut into pieces of 29 bits, so that each
 * product with the 24 bits of x is exact and can be taken modulo 4 quarter turns at once (the idea of Payne
 * and Hanek, SIGNUM Newsletter 18(1), 1983, with the adder doing the modulo). Below 2^80 the leading 140 bits
 * of 2/pi count; above it, bits before the 55th only add full turns and a second set of constants starts
 * there. sin and cos go on in f32 with minimax polynomials on [-pi/4, pi/4]; tan, whose quotient would lose
 * more than 2 ulp in f32, stays in f64 and rounds once. */
#ifndef TD_MATH_TRIG_H
#define TD_MATH_TRIG_H

#include "engine/math/bits.h"

/* v modulo 4 for v >= 0, in [-2, 2]: v + M is a multiple of 4. Exact. */
VM_FN double vm_mod4_f64(double v) {
    return v - ((v + 0x1.8p54) - 0x1.8p54);
}

/* |x| in quarter turns: the fraction in [-1/2, 1/2] is returned, *quadrant gets the whole part modulo 4 in
 * its low two bits (the bits above are noise). NaN and infinity give NaN. t2 is below 2^25: no modulo needed. */
VM_FN double vm_turns_f32(float x, uint32_t *quadrant) {
    double a = (double)vm_abs_f32(x);
    uint32_t near0 = vm_mask_less(vm_bits_f32(x) & 0x7fffffffu, 0x67800000u); /* 2^80 */
    double t0 = vm_mod4_f64(a * vm_blend_f64(near0, 0x1.45f306dp-1, 0x1.29fc274p-56));
    double t1 = vm_mod4_f64(a * vm_blend_f64(near0, 0x1.9391054p-30, 0x1.7d1f534p-84));
    double t2 = a * vm_blend_f64(near0, 0x1.4fe13abp-59, 0x1.bb81b6cp-113);
    double t3 = a * vm_blend_f64(near0, 0x1.d1f534ddc0db6p-88, 0x1.4acc9e21c821p-143);
    double r = (t0 + t1 + t2) + VM_ROUNDER_F64;
    double n = r - VM_ROUNDER_F64;
    *quadrant = (uint32_t)vm_bits_f64(r);
    return (((t0 - n) + t1) + t2) + t3;
}

#define VM_HALF_PI_F64 0x1.921fb54442d18p+0

/* sin(r + quadrant * pi/2) on [-pi/4, pi/4]. */
VM_FN float vm_sin_core_f32(float r, uint32_t quadrant) {
    float z = r * r;
    float s = -0x1.99549ep-13f;
    s = s * z + 0x1.11077ap-7f;
    s = s * z + -0x1.555546p-3f;
    s = r + r * (z * s);
    float c = 0x1.99e806p-16f;
    c = c * z + -0x1.6c0c28p-10f;
    c = c * z + 0x1.55554ap-5f;
    c = c * z + -0.5f;
    c = 1.0f + z * c;
    float y = vm_select_f32((int)(quadrant & 1u), c, s);
    return vm_from_bits_f32(vm_bits_f32(y) ^ ((quadrant & 2u) << 30));
}

VM_FN float vm_sin_f32(float x) {
    uint32_t quadrant;
    float r = (float)(vm_turns_f32(x, &quadrant) * VM_HALF_PI_F64);
    float y = vm_sin_core_f32(r, quadrant);
    return vm_from_bits_f32(vm_bits_f32(y) ^ (vm_bits_f32(x) & 0x80000000u));
}

VM_FN float vm_cos_f32(float x) {
    uint32_t quadrant;
    float r = (float)(vm_turns_f32(x, &quadrant) * VM_HALF_PI_F64);
    return vm_sin_core_f32(r, quadrant + 1u);
}

VM_FN float vm_tan_f32(float x) {
    uint32_t quadrant;
    double r = vm_turns_f32(x, &quadrant) * VM_HALF_PI_F64, z = r * r;
    double s = -0x1.994b38b2886efp-13;
    s = s * z + 0x1.110756846482ap-7;
    s = s * z + -0x1.5555458286bbdp-3;
    s = r + r * (z * s);
    double c = 0x1.9912fea6c99bfp-16;
    c = c * z + -0x1.6c07e1fd3817ap-10;
    c = c * z + 0x1.55553c5190e48p-5;
    c = c * z + -0x1.ffffffcb146fcp-2;
    c = 1.0 + z * c;
    uint32_t odd = 0u - (quadrant & 1u);
    float y = (float)(vm_blend_f64(odd, -c, s) / vm_blend_f64(odd, s, c));
    return vm_from_bits_f32(vm_bits_f32(y) ^ (vm_bits_f32(x) & 0x80000000u));
}

#define VM_HALF_PI_HI_F32 0x1.921fb6p+0f
#define VM_HALF_PI_LO_F32 (-0x1.777a5cp-25f)

/* asin(t) - t for |t| <= 1/2, given z = t^2. */
VM_FN float vm_asin_tail_f32(float t, float z) {
    float p = 0x1.33f03ep-5f;
    p = p * z + 0x1.d76462p-7f;
    p = p * z + 0x1.04af2ap-5f;
    p = p * z + 0x1.6cab44p-5f;
    p = p * z + 0x1.333896p-4f;
    p = p * z + 0x1.55554cp-3f;
    return t * (z * p);
}

/* asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) above 1/2; the terms of both cases are summed alike. */
VM_FN float vm_asin_f32(float x) {
    float a = vm_abs_f32(x);
    int small = vm_bits_f32(a) < 0x3f000000u;
    float z = vm_select_f32(small, a * a, 0.5f - 0.5f * a);
    float t = vm_select_f32(small, a, sqrtf(z));
    float tail = vm_asin_tail_f32(t, z);
    float g = vm_select_f32(small, 1.0f, -2.0f);
    float high = vm_keep_f32(!small, VM_HALF_PI_HI_F32), low = vm_keep_f32(!small, VM_HALF_PI_LO_F32);
    return vm_copysign_f32(high + (g * t + (low + g * tail)), x);
}

/* pi/2 - asin(x) in the middle, 2 asin(sqrt((1 - x) / 2)) on the right, pi minus its mirror image on the
 * left. */
VM_FN float vm_acos_f32(float x) {
    float a = vm_abs_f32(x);
    int small = vm_bits_f32(a) < 0x3f000000u;
    int turned = small | (x < 0.0f);
    float z = vm_select_f32(small, a * a, 0.5f - 0.5f * a);
    float t = vm_select_f32(small, x, sqrtf(z));
    float tail = vm_asin_tail_f32(t, z);
    float size = vm_select_f32(small, 1.0f, 2.0f);
    float g = vm_select_f32(turned, -size, size);
    float high = size * vm_keep_f32(turned, VM_HALF_PI_HI_F32);
    float low = size * vm_keep_f32(turned, VM_HALF_PI_LO_F32);
    return high + (g * t + (low + g * tail));
}

/* atan(t) - t for |t| <= 1, given z = t^2; in f64 the same polynomial serves atan2. */
VM_FN float vm_atan_tail_f32(float t, float z) {
    float p = -0x1.df16a6p-10f;
    p = p * z + 0x1.6a9dd8p-7f;
    p = p * z + -0x1.01b69ep-5f;
    p = p * z + 0x1.dd1662p-5f;
    p = p * z + -0x1.58dec0p-4f;
    p = p * z + 0x1.c0d358p-4f;
    p = p * z + -0x1.242710p-3f;
    p = p * z + 0x1.999278p-3f;
    p = p * z + -0x1.555540p-2f;
    return t * (z * p);
}

/* atan(a) = pi/2 + atan(-1/a) above 1. */
VM_FN float vm_atan_f32(float x) {
    float a = vm_abs_f32(x);
    int far = vm_bits_f32(a) > 0x3f800000u;
    float t = vm_select_f32(far, -1.0f, a) / vm_select_f32(far, a, 1.0f);
    float tail = vm_atan_tail_f32(t, t * t);
    float high = vm_keep_f32(far, VM_HALF_PI_HI_F32), low = vm_keep_f32(far, VM_HALF_PI_LO_F32);
    return vm_copysign_f32(high + (t + (low + tail)), x);
}

/* In f64 throughout, rounded once: |y/x| may be far outside the range of f32. */
VM_FN float vm_atan2_f32(float y, float x) {
    double ay = (double)vm_abs_f32(y), ax = (double)vm_abs_f32(x);
    int steep = ay > ax;
    double num = steep ? -ax : ay, den = steep ? ay : ax;
    double least = steep ? ax : ay;
    double t = least == vm_inf_f64() ? 1.0 : num / (den == 0.0 ? 1.0 : den), z = t * t;
    double p = -0x1.df16a6p-10;
    p = p * z + 0x1.6a9dd8p-7;
    p = p * z + -0x1.01b69ep-5;
    p = p * z + 0x1.dd1662p-5;
    p = p * z + -0x1.58dec0p-4;
    p = p * z + 0x1.c0d358p-4;
    p = p * z + -0x1.242710p-3;
    p = p * z + 0x1.999278p-3;
    p = p * z + -0x1.555540p-2;
    double r = t + t * (z * p) + (steep ? VM_HALF_PI_F64 : 0.0);
    r = vm_bits_f32(x) >> 31 ? 2.0 * VM_HALF_PI_F64 - r : r;
    r = ((x != x) | (y != y)) ? vm_nan_f64() : r;
    return vm_copysign_f32((float)r, y);
}

VM_FN double vm_sin_f64(double x) {
    return sin(x);
}
VM_FN double vm_cos_f64(double x) {
    return cos(x);
}
VM_FN double vm_tan_f64(double x) {
    return tan(x);
}
VM_FN double vm_asin_f64(double x) {
    return asin(x);
}
VM_FN double vm_acos_f64(double x) {
    return acos(x);
}
VM_FN double vm_atan_f64(double x) {
    return atan(x);
}
VM_FN double vm_atan2_f64(double y, double x) {
    return atan2(y, x);
}

#endif
