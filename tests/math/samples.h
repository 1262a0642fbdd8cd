/* samples.h — what the tests of engine/math draw on: special values and their neighbours, bit patterns, a generator. */
#ifndef TD_MATH_SAMPLES_H
#define TD_MATH_SAMPLES_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "engine/math/bits.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* A small generator of its own, so that a failure repeats. */
static inline uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

enum { SAMPLES = 1 << 16 };

static const float special[] = {0.0f,
                                -0.0f,
                                INFINITY,
                                -INFINITY,
                                NAN,
                                1.0f,
                                -1.0f,
                                0.5f,
                                -0.5f,
                                2.0f,
                                -2.0f,
                                1.5f,
                                -1.5f,
                                2.5f,
                                -2.5f,
                                3.0f,
                                -3.0f,
                                0x1p-149f,
                                -0x1p-149f,
                                0x1p-126f,
                                -0x1p-126f,
                                0x1.fffffcp-127f,
                                FLT_MAX,
                                -FLT_MAX,
                                0x1p23f,
                                0x1p24f,
                                8388607.5f,
                                -4194303.5f,
                                88.72284f,
                                88.722839f,
                                -87.336548f,
                                -103.972076f,
                                -103.97f,
                                -104.0f,
                                128.0f,
                                -149.0f,
                                -150.0f,
                                -126.0f,
                                89.415985f,
                                89.5f,
                                0x1p80f,
                                0x1p79f,
                                0x1p127f,
                                10.0f,
                                20.0f,
                                100.0f,
                                -100.0f,
                                1e-10f,
                                0x1.921fb6p+0f,
                                0x1.921fb4p+0f,
                                16777215.0f,
                                0.7071067f,
                                0.70710677f,
                                9.0f};

/* Special values and their neighbours, then any bit pattern, then values of everyday size. */
static inline void fill_samples(float *x) {
    uint64_t state = 1;
    int n = 0;
    for (int i = 0; i < COUNT(special); i++) {
        x[n++] = special[i];
        x[n++] = nextafterf(special[i], INFINITY);
        x[n++] = nextafterf(special[i], -INFINITY);
    }
    for (; n < SAMPLES / 2; n++) x[n] = vm_from_bits_f32((uint32_t)next(&state));
    for (; n < SAMPLES; n++) {
        float scale = n % 4 == 0 ? 1.0f : n % 4 == 1 ? 5.0f : n % 4 == 2 ? 100.0f : 0.01f;
        x[n] = ((float)(next(&state) >> 40) * 0x1p-23f - 1.0f) * scale;
    }
}

static inline int same_f32(float a, float b) {
    return (a != a && b != b) || vm_bits_f32(a) == vm_bits_f32(b);
}

/* x as an integer of `bits` bits holds it. */
static inline int64_t wrapped(int64_t x, int bits, int is_signed) {
    if (bits == 64) return x;
    int64_t size = INT64_C(1) << bits, r = x % size;
    if (r < 0) r += size;
    return is_signed && r >= size / 2 ? r - size : r;
}

#endif
