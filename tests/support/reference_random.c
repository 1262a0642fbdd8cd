/* reference_random.c — rand and randn from the paper's Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011).
 *
 * Block number counter + k has the key seed and a zero upper half; f32 uniforms take the top 24 bits of each word, f64
 * ones the top 53 of two; normals come in pairs from one block (Box and Muller). */
#include "tests/support/reference.h"

#include <math.h>

static void philox(uint64_t index, uint64_t seed, uint32_t out[4]) {
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), 0, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = c[0] * (uint64_t)0xD2511F53, b = c[2] * (uint64_t)0xCD9E8D57;
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ key[1], (uint32_t)a};
        for (int i = 0; i < 4; i++) c[i] = next[i];
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    for (int i = 0; i < 4; i++) out[i] = c[i];
}

/* floor(w * 2^bits / 2^32) * 2^-bits, over one word or two. */
static long double uniform(uint64_t w, int of, int bits) {
    return ldexpl((long double)(w >> (of - bits)), -bits);
}

static const full_attrs *begin(arena *m, const void *attrs, host *out) {
    const full_attrs *a = attrs;
    shape s = {.rank = (int)a->shape.count};
    for (int i = 0; i < s.rank; i++) s.size[i] = a->shape.v[i];
    *out = host_new(m, (dtype)a->dtype, &s);
    return a;
}

int reference_rand(arena *m, const host *in, int nin, const void *attrs, host *out, host *tolerance) {
    (void)nin, (void)tolerance;
    dtype t = (dtype)begin(m, attrs, out)->dtype;
    uint64_t seed = (uint64_t)host_int(&in[0], 0), counter = (uint64_t)host_int(&in[1], 0);
    for (int64_t i = 0; i < out->count; i++) {
        uint32_t w[4];
        philox(counter + (uint64_t)i / (t == DT_F64 ? 2 : 4), seed, w);
        if (t == DT_F64)
            host_set_real(out, i, uniform((uint64_t)w[2 * (i % 2)] << 32 | w[2 * (i % 2) + 1], 64, 53));
        else /* halves have as many bits as fit below 1 */
            host_set_real(out, i, uniform(w[i % 4], 32, t == DT_F32 ? 24 : real_digits(t)));
    }
    return 0;
}

int reference_randn(arena *m, const host *in, int nin, const void *attrs, host *out, host *tolerance) {
    (void)nin;
    dtype t = (dtype)begin(m, attrs, out)->dtype;
    *tolerance = host_new(m, DT_F64, &out->shape);
    uint64_t seed = (uint64_t)host_int(&in[0], 0), counter = (uint64_t)host_int(&in[1], 0);
    long double pi = acosl(-1);
    for (int64_t i = 0; i < out->count; i++) {
        uint32_t w[4];
        philox(counter + (uint64_t)i / 2, seed, w);
        long double u, turn; /* radius from u in (0, 1], angle in turns of a full circle */
        if (t == DT_F64) {
            u = uniform((uint64_t)w[0] << 32 | w[1], 64, 53) + 0x1p-54L;
            turn = uniform((uint64_t)w[2] << 32 | w[3], 64, 53);
        } else {
            u = real_round(DT_F32, ldexpl(w[0] + ldexpl(w[1] + 0.5L, -32), -32));
            turn = ((w[2] >> 30) + (((w[2] >> 8) & 0x3fffff) * 2 + 1) * 0x1p-23L - 0.5L) / 4;
        }
        long double z = sqrtl(-2 * logl(u)) * (i % 2 ? sinl(2 * pi * turn) : cosl(2 * pi * turn));
        host_set_real(out, i, z);
        long double off = t == DT_F64 ? 1e-14L : 1e-5L,
                    half = dtype_is_half(t) ? ldexpl(1, -real_digits(t)) : 0;
        host_set_real(tolerance, i, (off + half) * (1 + fabsl(z)));
    }
    return 0;
}
