/* half.h — f16 (IEEE binary16) and bf16 conversions on bit patterns, stored as uint16_t.
 *
 * Narrowing rounds to nearest even once (from f64 too), overflows to infinity, keeps denormals and signed
 * zeros, and turns every NaN into a quiet NaN of the same sign. The float-arithmetic tricks for f16 denormals
 * follow Fabian Giesen's public-domain notes on half conversion ("float->half variants", 2012). */
#ifndef TD_MATH_HALF_H
#define TD_MATH_HALF_H

#include "engine/math/bits.h"

/* a where the condition holds, else b. By masks: compilers turn chains of ?: into branches here, which do not
 * vectorise. */
VM_FN uint32_t vm_pick_u32(int condition, uint32_t a, uint32_t b) {
    uint32_t mask = 0u - (uint32_t)condition;
    return (a & mask) | (b & ~mask);
}

VM_FN float vm_f16_to_f32(uint16_t h) {
    uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13, sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t finite = vm_bits_f32(vm_from_bits_f32(magnitude) * 0x1p112f); /* rebias; exact for denormals */
    uint32_t special = magnitude | 0x7f800000u;
    return vm_from_bits_f32(vm_pick_u32(magnitude >= 0x0f800000u, special, finite) | sign);
}

/* The f16 pattern, without sign, of a magnitude that is given as the pattern `u` of a non-negative f32. */
VM_FN uint32_t vm_f16_magnitude(uint32_t u) {
    uint32_t normal = (u + 0xc8000fffu + ((u >> 13) & 1u)) >> 13;          /* rebias by -112, round */
    uint32_t tiny = vm_bits_f32(vm_from_bits_f32(u) + 0.5f) - 0x3f000000u; /* the adder rounds */
    uint32_t r = vm_pick_u32(u < 0x38800000u, tiny, normal);               /* below 2^-14 */
    r = vm_pick_u32(u >= 0x477ff000u, 0x7c00u, r);                         /* 65520 and up */
    return vm_pick_u32(u > 0x7f800000u, 0x7e00u, r);
}

VM_FN uint16_t vm_f32_to_f16(float x) {
    uint32_t u = vm_bits_f32(x);
    return (uint16_t)(vm_f16_magnitude(u & 0x7fffffffu) | ((u >> 16) & 0x8000u));
}

VM_FN float vm_bf16_to_f32(uint16_t h) {
    return vm_from_bits_f32((uint32_t)h << 16);
}

/* The f32 pattern `u` rounded to its upper half: what a bf16 stores, still in place. */
VM_FN uint32_t vm_bf16_in_place(uint32_t u) {
    uint32_t rounded = u + 0x7fffu + ((u >> 16) & 1u);
    return ((u & 0x7fffffffu) > 0x7f800000u ? (u | 0x00400000u) : rounded) & 0xffff0000u;
}

VM_FN uint16_t vm_f32_to_bf16(float x) {
    return (uint16_t)(vm_bf16_in_place(vm_bits_f32(x)) >> 16);
}

/* x rounded to an f16 or bf16 value and back: what "round to dtype after every op" means inside a kernel. */
VM_FN float vm_round_f16(float x) {
    uint32_t u = vm_bits_f32(x), a = u & 0x7fffffffu;
    uint32_t normal = (a + 0x0fffu + ((a >> 13) & 1u)) & 0xffffe000u;
    uint32_t tiny = vm_bits_f32((vm_from_bits_f32(a) + 0.5f) - 0.5f);
    uint32_t r = vm_pick_u32(a < 0x38800000u, tiny, normal);
    r = vm_pick_u32(a >= 0x477ff000u, 0x7f800000u, r);
    r = vm_pick_u32(a > 0x7f800000u, 0x7fc00000u, r);
    return vm_from_bits_f32(r | (u & 0x80000000u));
}
VM_FN float vm_round_bf16(float x) {
    return vm_from_bits_f32(vm_bf16_in_place(vm_bits_f32(x)));
}

/* f64 to f32 rounded to odd: the neighbour toward zero with its last bit set when inexact. A second rounding
 * to 22 or fewer bits then gives what one rounding of the f64 gives (Boldo and Melquiond, IEEE Trans.
 * Computers 57(4)). */
VM_FN float vm_round_odd_f32(double x) {
    float nearest = (float)x;
    double back = (double)nearest;
    uint32_t u = vm_bits_f32(nearest);
    u = vm_abs_f64(back) > vm_abs_f64(x) ? u - 1u : u;
    return vm_from_bits_f32(back != x ? u | 1u : u);
}

/* An i64 as f64, rounded to odd where it is inexact: one more rounding to 51 or fewer bits then gives what one rounding
 * of the i64 gives. */
VM_FN double vm_round_odd_i64(int64_t x) {
    uint64_t a = x < 0 ? 0u - (uint64_t)x : (uint64_t)x, low = a & 0x7ffu;
    a = (a >> 53) != 0u ? (a - low) | (low != 0u ? 0x800u : 0u) : a;
    return x < 0 ? -(double)a : (double)a;
}

VM_FN double vm_f16_to_f64(uint16_t h) {
    return (double)vm_f16_to_f32(h);
}
VM_FN double vm_bf16_to_f64(uint16_t h) {
    return (double)vm_bf16_to_f32(h);
}
VM_FN uint16_t vm_f64_to_f16(double x) {
    return vm_f32_to_f16(vm_round_odd_f32(x));
}
VM_FN uint16_t vm_f64_to_bf16(double x) {
    return vm_f32_to_bf16(vm_round_odd_f32(x));
}

#endif
