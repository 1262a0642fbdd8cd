/* hyper.h — sinh, cosh and tanh.
 *
 * tanh: y = n ln2/2 + h with s = 2^n and T = tanh(h) by an odd polynomial; the addition theorem gives
 * tanh(y) = ((s-1) + (s+1) T) / ((s+1) + (s-1) T), which is T itself for n = 0, and 1 - 2 (1-T) / (the
 * same denominator), where the value is above 1/2 and the rounding errors of the first form would add up.
 * The reduction is off centre, h in [-0.09, 0.26], so that the change of form is at n = 2.
 * sinh and cosh add exp(y)/4 and exp(-y)/4, split so that one rounding dominates, and double the sum; sinh
 * near 0 has its own odd polynomial. */
#ifndef TD_MATH_HYPER_H
#define TD_MATH_HYPER_H

#include "engine/math/exp.h"

VM_FN float vm_tanh_f32(float x) {
    float a = vm_abs_f32(x);
    a = 10.0f < a ? 10.0f : a; /* tanh is 1 from 9.02 on; NaN stays */
    float t = (a * (2.0f * VM_LOG2E_F32) - 0.25f) + (VM_ROUNDER_F32 + 127.0f);
    uint32_t u = vm_bits_f32(t);
    float n = t - (VM_ROUNDER_F32 + 127.0f);
    float h = a - n * 0x1.62e43p-2f; /* ln2/2 to 2^-30 in 21 bits, so the product is exact for n < 8 */
    float s = vm_from_bits_f32(u << 23);
    float z = h * h;
    float p = -0x1.a38a96p-5f;
    p = p * z + 0x1.10d8f2p-3f;
    p = p * z + -0x1.555506p-2f;
    float th = h + h * (z * p);
    float less = s - 1.0f, more = s + 1.0f;
    int below2 = u < 0x4b40007fu + 2u; /* n < 2 */
    float y = vm_select_f32(below2, less + more * th, (th + th) - 2.0f) / (more + less * th);
    y = y + vm_keep_f32(!below2, 1.0f);
    return vm_from_bits_f32(vm_bits_f32(y) | (vm_bits_f32(x) & 0x80000000u)); /* y has no sign of its own */
}

/* exp(y)/4 = *a (1 + *s) and exp(-y)/4 = *b / (1 + *s), for y >= 0; above 89.8 *s grows with y. */
VM_FN void vm_quarter_exp_f32(float y, float *a, float *b, float *s) {
    int32_t u = (int32_t)vm_bits_f32(y * VM_LOG2E_F32 + VM_ROUNDER_F32), most = 0x4b400000 + 129;
    u = u < most ? u : most;
    float n = vm_from_bits_f32((uint32_t)u) - VM_ROUNDER_F32;
    *s = vm_expm1_core_f32((y - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32);
    int32_t down = 0x4b400000 + 125 - u; /* the biased exponent of 2^-n / 4 */
    *a = vm_from_bits_f32(((uint32_t)u + 125u) << 23);
    *b = vm_from_bits_f32((uint32_t)(down > 0 ? down : 0) << 23);
}

VM_FN float vm_sinh_f32(float x) {
    float y = vm_abs_f32(x), a, b, s;
    vm_quarter_exp_f32(y, &a, &b, &s);
    float far = 2.0f * (a + (a * s - b / (1.0f + s)));
    float z = y * y;
    float p = 0x1.7a15bep-19f;
    p = p * z + 0x1.9ffe7p-13f;
    p = p * z + 0x1.111124p-7f;
    p = p * z + 0x1.555556p-3f;
    float near0 = y + y * (z * p);
    int small = vm_bits_f32(y) < 0x3f800000u;
    return vm_copysign_f32(vm_select_f32(small, near0, far), x);
}

VM_FN float vm_cosh_f32(float x) {
    float a, b, s;
    vm_quarter_exp_f32(vm_abs_f32(x), &a, &b, &s);
    return 2.0f * (a + (a * s + b / (1.0f + s)));
}

VM_FN double vm_sinh_f64(double x) {
    return sinh(x);
}
VM_FN double vm_cosh_f64(double x) {
    return cosh(x);
}
/* Not libm's, which is off by a little more than 2 ulp: an odd polynomial (error 2^-65) below 0.55, and above it a
 * form in which the error of exp counts less than half. */
VM_FN double vm_tanh_f64(double x) {
    double a = vm_abs_f64(x), z = a * a;
    double p = 0x1.e7754e544e994p-18;
    p = p * z + -0x1.11cf9dae8215fp-15;
    p = p * z + 0x1.8915106feb211p-14;
    p = p * z + -0x1.f3578b87d0ef9p-13;
    p = p * z + 0x1.3539fbdd2e441p-11;
    p = p * z + -0x1.7da11b219d512p-10;
    p = p * z + 0x1.d6d3b2754e8adp-9;
    p = p * z + -0x1.226e34d6fc195p-7;
    p = p * z + 0x1.664f487fbf9efp-6;
    p = p * z + -0x1.ba1ba1ba119c5p-5;
    p = p * z + 0x1.111111111108bp-3;
    p = p * z + -0x1.5555555555555p-2;
    double far = 1.0 - 2.0 / (exp(a + a) + 1.0);
    return vm_copysign_f64(a < 0.55 ? a + a * (z * p) : far, x);
}

#endif
