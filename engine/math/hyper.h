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
    a = a > 10.0f ? 10.0f : a;
    float t = (a * (2.0f * VM_LOG2E_F32) - 0.25f) + (VM_ROUNDER_F32 + 127.0f);
    float n = t - (VM_ROUNDER_F32 + 127.0f);
    float h = a - n * 0x1.62e43p-2f; /* ln2/2 to 2^-30 in 21 bits, so the product is exact for n < 8 */
    float s = vm_from_bits_f32(vm_bits_f32(t) << 23);
    float z = h * h;
    float p = -0x1.a38a96p-5f;
    p = p * z + 0x1.10d8f2p-3f;
    p = p * z + -0x1.555506p-2f;
    float th = h + h * (z * p);
    float less = s - 1.0f, more = s + 1.0f;
    float low = less + more * th, high = (th + th) - 2.0f;
    float y = (n < 1.5f ? low : high) / (more + less * th) + (n < 1.5f ? 0.0f : 1.0f);
    return vm_copysign_f32(y, x);
}

/* exp(y)/4 = *a (1 + *s) and exp(-y)/4 = *b / (1 + *s), for 0 <= y <= 89.5. */
VM_FN void vm_quarter_exp_f32(float y, float *a, float *b, float *s) {
    float t = y * VM_LOG2E_F32 + VM_ROUNDER_F32;
    float n = t - VM_ROUNDER_F32;
    *s = vm_expm1_core_f32((y - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32);
    uint32_t k = vm_bits_f32(t) << 23;
    *a = vm_from_bits_f32(0x3e800000u + k);
    *b = vm_from_bits_f32(n > 100.0f ? 0u : 0x3e800000u - k);
}

VM_FN float vm_sinh_f32(float x) {
    float y = vm_abs_f32(x), c = y > 89.5f ? 89.5f : y, a, b, s;
    vm_quarter_exp_f32(c, &a, &b, &s);
    float far = 2.0f * (a + (a * s - b / (1.0f + s)));
    float z = c * c;
    float p = 0x1.7a15bep-19f;
    p = p * z + 0x1.9ffe7p-13f;
    p = p * z + 0x1.111124p-7f;
    p = p * z + 0x1.555556p-3f;
    float near0 = c + c * (z * p);
    return vm_copysign_f32(y < 1.0f ? near0 : far, x);
}

VM_FN float vm_cosh_f32(float x) {
    float y = vm_abs_f32(x), c = y > 89.5f ? 89.5f : y, a, b, s;
    vm_quarter_exp_f32(c, &a, &b, &s);
    return 2.0f * (a + (a * s + b / (1.0f + s)));
}

VM_FN double vm_sinh_f64(double x) {
    return sinh(x);
}
VM_FN double vm_cosh_f64(double x) {
    return cosh(x);
}
VM_FN double vm_tanh_f64(double x) {
    return tanh(x);
}

#endif
