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

/* Selection, c being 0 or 1. In f32 by masks: both arms are always computed, so that, unlike `?:`, it can't
 * tempt the compiler to split a loop's body in two (each with its own division), and it costs less than a
 * variable blend on most processors. In f64 by `?:`, since GCC makes no 64-bit masks for SSE2. */
VM_FN float vm_select_f32(int c, float a, float b) {
    uint32_t mask = 0u - (uint32_t)c;
    return vm_from_bits_f32((vm_bits_f32(a) & mask) | (vm_bits_f32(b) & ~mask));
}
VM_FN double vm_select_f64(int c, double a, double b) {
    return c ? a : b;
}

/* x where c holds, else +0. */
VM_FN float vm_keep_f32(int c, float x) {
    return vm_from_bits_f32(vm_bits_f32(x) & (0u - (uint32_t)c));
}
VM_FN double vm_keep_f64(int c, double x) {
    return c ? x : 0.0;
}

/* NaN where c holds, else x. */
VM_FN float vm_spoil_f32(int c, float x) {
    return vm_from_bits_f32(vm_bits_f32(x) | (0u - (uint32_t)c));
}
VM_FN double vm_spoil_f64(int c, double x) {
    return c ? vm_nan_f64() : x;
}

/* a where the mask is all ones, b where it is 0; the mask is of 32 bits, as comes from f32 inputs. */
VM_FN double vm_blend_f64(uint32_t mask, double a, double b) {
    uint64_t wide = (uint64_t)(int64_t)(int32_t)mask;
    return vm_from_bits_f64((vm_bits_f64(a) & wide) | (vm_bits_f64(b) & ~wide));
}

/* All ones where a is less than b, as integers that differ by less than 2^31. */
VM_FN uint32_t vm_mask_less(uint32_t a, uint32_t b) {
    return (uint32_t)((int32_t)(a - b) >> 31);
}

/* Adding this constant leaves the nearest integer (half to even) in the low bits of the mantissa, for |x| <
 * 2^22 (f32) and |x| < 2^51 (f64); subtracting it again gives that integer as a float. */
#define VM_ROUNDER_F32 0x1.8p23f
#define VM_ROUNDER_F64 0x1.8p52

#endif
