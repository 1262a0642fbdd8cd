/* philox.h — the counter-based random generator Philox 4x32-10 and draws made from its words.
 *
 * Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011). A block of four
 * words is a pure function of a 128-bit counter and a 64-bit key; draw i of a tensor belongs to counter i /
 * (draws per block), so bits depend on the logical index alone. */
#ifndef TD_MATH_PHILOX_H
#define TD_MATH_PHILOX_H

#include "engine/math/log.h"
#include "engine/math/trig.h"

/* out = the block of counter ctr (least significant word first) under key. out may be ctr. */
VM_FN void vm_philox4x32(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = ctr[0], c1 = ctr[1], c2 = ctr[2], c3 = ctr[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xd2511f53u * c0, p1 = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The block with the 64-bit number `index` in the low and `stream` in the high half of the counter. */
VM_FN void vm_philox_block(uint64_t index, uint64_t stream, uint64_t key, uint32_t out[4]) {
    uint32_t ctr[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)};
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    vm_philox4x32(ctr, k, out);
}

/* 24 bits in [0, 1), from the top of one word (four draws a block). */
VM_FN float vm_uniform_f32(uint32_t w) {
    return (float)(int32_t)(w >> 8) * 0x1p-24f;
}

/* 53 bits in [0, 1), from two words, `high` on top (two draws a block). */
VM_FN double vm_uniform_f64(uint32_t high, uint32_t low) {
    uint64_t mantissa = ((uint64_t)high << 20) | (low >> 12); /* 52 bits; the last one below */
    double upper = vm_from_bits_f64(0x3ff0000000000000u | mantissa) - 1.0;
    return upper + (double)(int32_t)((low >> 11) & 1u) * 0x1p-53;
}

/* An integer in [0, n), by the high half of a 64-bit product (bias below n / 2^64), from two words. */
VM_FN uint64_t vm_uniform_below(uint32_t high, uint32_t low, uint64_t n) {
    uint64_t w = ((uint64_t)high << 32) | low;
    uint64_t a = w >> 32, b = w & 0xffffffffu, c = n >> 32, d = n & 0xffffffffu;
    uint64_t bd = b * d, ad = a * d, bc = b * c;
    uint64_t middle = (bd >> 32) + (ad & 0xffffffffu) + (bc & 0xffffffffu);
    return a * c + (ad >> 32) + (bc >> 32) + (middle >> 32);
}

/* A pair of independent normals from one block (Box and Muller, Ann. Math. Stat. 29(2), 1958), in f32
 * arithmetic and so with the same bits on every tier and device: radius from words 0 and 1, angle from
 * word 2. The radius uses u = (w0 + (w1 + 1/2) 2^-32) 2^-32 rounded to f32, never 0, so values reach 9.4; u =
 * 1 gives radius 0. */
VM_FN void vm_normal_pair_f32(const uint32_t w[4], float *z0, float *z1) {
    /* int32 conversions, since those vectorise everywhere: 32 bits as two exact halves of 16. */
    float high = (float)(int32_t)(w[0] >> 16) * 0x1p-16f + (float)(int32_t)(w[0] & 0xffffu) * 0x1p-32f;
    float low = (float)(int32_t)(w[1] >> 8) * 0x1p-56f + 0x1p-57f;
    float radius = sqrtf(-2.0f * vm_log_f32(high + low));
    /* The top two bits are the quadrant; the other 22 make an angle in (-pi/4, pi/4). */
    float turn = (float)((int32_t)((w[2] >> 8) & 0x3fffffu) * 2 + 1) * 0x1p-23f - 0.5f;
    float angle = turn * (float)VM_HALF_PI_F64;
    uint32_t quadrant = w[2] >> 30;
    *z0 = radius * vm_sin_core_f32(angle, quadrant + 1u);
    *z1 = radius * vm_sin_core_f32(angle, quadrant);
}

/* The same in f64, with 64 bits for the radius and 64 for the angle, through libm: the same bits on every CPU
 * tier, within libm's accuracy on a GPU. */
VM_FN void vm_normal_pair_f64(const uint32_t w[4], double *z0, double *z1) {
    double u = (vm_uniform_f64(w[0], w[1]) + 0x1p-54);
    double radius = sqrt(-2.0 * log(u)), angle = vm_uniform_f64(w[2], w[3]) * (4.0 * VM_HALF_PI_F64);
    *z0 = radius * cos(angle);
    *z1 = radius * sin(angle);
}

#endif
