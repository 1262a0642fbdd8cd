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
    float ax = vm_abs_f32(x), ay = vm_abs_f32(y), inf = vm_inf_f32();
    double w = (double)y * vm_log2_core_f64((double)ax);
    w = w > 200.0 ? 200.0 : w;
    float r = (float)vm_exp2_core_f64(w < -200.0 ? -200.0 : w);
    /* y = 0 is dealt with last, so here 0^y and inf^y are 0 or infinite. */
    r = vm_select_f32(ax == 0.0f, vm_keep_f32(y < 0.0f, inf), r);
    r = vm_select_f32(ax == inf, vm_keep_f32(y > 0.0f, inf), r);
    /* A negative x: |y| + 2^23 shows in its last bit whether y is odd; from 2^23 on |y| itself does. */
    float big = vm_keep_f32(ay < 0x1p23f, 0x1p23f), t = ay + big;
    int integer = t - big == ay, odd = (ay < 0x1p24f) & integer;
    uint32_t sign = (vm_bits_f32(t) << 31) & vm_bits_f32(x) & (0u - (uint32_t)odd);
    r = vm_from_bits_f32(vm_bits_f32(r) | (sign & 0x80000000u));
    r = vm_spoil_f32((x < 0.0f) & !integer & (ax != inf), r);
    r = vm_spoil_f32((x != x) | (y != y), r);
    r = vm_select_f32((ax == 1.0f) & (ay == inf), 1.0f, r);
    r = vm_select_f32(y == 2.0f, x * x, r); /* as a literal 2 is computed */
    return vm_select_f32((x == 1.0f) | (y == 0.0f), 1.0f, r);
}

VM_FN double vm_pow_f64(double x, double y) {
    return y == 2.0 ? x * x : pow(x, y);
}

#endif
