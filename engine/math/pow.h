/* pow.h — x to the power y.
 *
 * f32 through f64: log2 of |x| by the series variable s = (m - 1) / (m + 1) to 2^-52, times y, exp2 to 2^-34,
 * and one rounding, so the result is within 0.51 ulp. The special cases are those of C's pow (Annex F). */
#ifndef TD_MATH_POW_H
#define TD_MATH_POW_H

#include "engine/math/erf.h"

/* log2(a) for a > 0 normal. The exponent is made a double by planting it in the mantissa of 2^52. */
VM_FN double vm_log2_core_f64(double a) {
    uint64_t u = vm_bits_f64(a);
    uint64_t biased = (u - 0x3fe6a09e667f3bcdu + 0x3ff0000000000000u) >> 52; /* k + 1023 */
    double k = vm_from_bits_f64(biased | 0x4330000000000000u) - (0x1p52 + 1023.0);
    double m = vm_from_bits_f64(u - ((biased - 1023u) << 52));
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0x1.f19c094da39f7p-3;
    p = p * z + 0x1.0bb6cc9e85c85p-2;
    p = p * z + 0x1.484fb3657d60fp-2;
    p = p * z + 0x1.a617565d89827p-2;
    p = p * z + 0x1.2776c516bd5ebp-1;
    p = p * z + 0x1.ec709dc39c930p-1;
    p = p * z + 0x1.71547652b82ffp+1;
    return k + s * p;
}

VM_FN float vm_pow_f32(float x, float y) {
    double a = (double)vm_abs_f32(x), e = (double)y, ae = vm_abs_f64(e);
    double w = e * vm_log2_core_f64(a);
    w = w > 200.0 ? 200.0 : w;
    w = w < -200.0 ? -200.0 : w;
    float r = (float)vm_exp2_core_f64(w);
    float at0 = y < 0.0f ? vm_inf_f32() : 0.0f, at_inf = y < 0.0f ? 0.0f : vm_inf_f32();
    r = a == 0.0 ? at0 : r;
    r = a == vm_inf_f64() ? at_inf : r;
    double near_y = ae < 0x1p30 ? ae : 0x1p30; /* f32 from 2^24 on are even integers */
    double t = near_y + 0x1p52;
    vm_bool integer = t - 0x1p52 == near_y, odd = integer & (vm_bits_f64(t) & 1u);
    uint32_t sign = odd ? vm_bits_f32(x) & 0x80000000u : 0u;
    r = vm_from_bits_f32(vm_bits_f32(r) | sign);
    r = ((x < 0.0f) & (integer == 0) & (a != vm_inf_f64())) ? vm_nan_f32() : r;
    r = ((x != x) | (y != y)) ? vm_nan_f32() : r;
    r = ((a == 1.0) & (ae == vm_inf_f64())) ? 1.0f : r;
    return ((x == 1.0f) | (y == 0.0f)) ? 1.0f : r;
}

VM_FN double vm_pow_f64(double x, double y) {
    return pow(x, y);
}

#endif
