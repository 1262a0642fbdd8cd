/* bits.h — floating-point numbers as bit patterns, and the few tricks that are built on them.
 *
 * The casts go through memcpy in C and through the reinterpreting intrinsics in CUDA; both compile to
 * nothing. */
#ifndef TD_MATH_BITS_H
#define TD_MATH_BITS_H

#include "engine/math/types.h"

#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
VM_FN uint32_t vm_bits_f32(float x) {
    return (uint32_t)__float_as_int(x);
}
VM_FN float vm_from_bits_f32(uint32_t u) {
    return __int_as_float((int)u);
}
VM_FN uint64_t vm_bits_f64(double x) {
    return (uint64_t)__double_as_longlong(x);
}
VM_FN double vm_from_bits_f64(uint64_t u) {
    return __longlong_as_double((long long)u);
}
#else
VM_FN uint32_t vm_bits_f32(float x) {
    uint32_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}
VM_FN float vm_from_bits_f32(uint32_t u) {
    float x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}
VM_FN uint64_t vm_bits_f64(double x) {
    uint64_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}
VM_FN double vm_from_bits_f64(uint64_t u) {
    double x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}
#endif

/* Infinity and the quiet NaN, made from bits so that no header has to define them. */
VM_FN float vm_inf_f32(void) {
    return vm_from_bits_f32(0x7f800000u);
}
VM_FN float vm_nan_f32(void) {
    return vm_from_bits_f32(0x7fc00000u);
}
VM_FN double vm_inf_f64(void) {
    return vm_from_bits_f64(0x7ff0000000000000u);
}
VM_FN double vm_nan_f64(void) {
    return vm_from_bits_f64(0x7ff8000000000000u);
}

/* |x|, exact for every input; NaN stays NaN. */
VM_FN float vm_abs_f32(float x) {
    return vm_from_bits_f32(vm_bits_f32(x) & 0x7fffffffu);
}
VM_FN double vm_abs_f64(double x) {
    return vm_from_bits_f64(vm_bits_f64(x) & 0x7fffffffffffffffu);
}

/* |magnitude| with the sign of `sign`. */
VM_FN float vm_copysign_f32(float magnitude, float sign) {
    return vm_from_bits_f32((vm_bits_f32(magnitude) & 0x7fffffffu) | (vm_bits_f32(sign) & 0x80000000u));
}
VM_FN double vm_copysign_f64(double magnitude, double sign) {
    return vm_from_bits_f64((vm_bits_f64(magnitude) & 0x7fffffffffffffffu) |
                            (vm_bits_f64(sign) & 0x8000000000000000u));
}

/* Adding this constant leaves the nearest integer (half to even) in the low bits of the mantissa, for |x| <
 * 2^22 (f32) and |x| < 2^51 (f64); subtracting it again gives that integer as a float. */
#define VM_ROUNDER_F32 0x1.8p23f
#define VM_ROUNDER_F64 0x1.8p52

#endif
