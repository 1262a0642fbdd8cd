/* generate.c — see generate.h. */
#include "tests/support/generate.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
uint64_t rng_next(rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t rng_below(rng *r, int64_t n) {
    return (int64_t)(rng_next(r) >> 1) % n;
}

double rng_unit(rng *r) {
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

bool rng_chance(rng *r, int percent) {
    return rng_below(r, 100) < percent;
}

static bool is(const char *word, const char *other) {
    return strcmp(word, other) == 0;
}

/* A magnitude from across the format's binades near 1. */
static long double far(rng *r, dtype t) {
    int spread = dtype_is_half(t) ? 8 : 40;
    return ldexpl(1 + (long double)rng_unit(r), (int)rng_below(r, 2 * spread) - spread);
}

static long double real_number(rng *r, const char *word, temper how, dtype t) {
    static const double few[] = {-1, 0, 0.5, 1, 2, -0.0};
    if (is(word, "few")) return (long double)few[rng_below(r, 6)];
    if (is(word, "bool")) return rng_chance(r, 50) ? 0 : (long double)few[rng_below(r, 6)];
    if (is(word, "small")) return (long double)(8 * rng_unit(r) - 4);
    bool positive = is(word, "positive"), nonzero = is(word, "nonzero");
    long double v;
    if (how == GENTLE)
        v = positive ? 0.3L + 2 * (long double)rng_unit(r) : 5 * (long double)rng_unit(r) - 2.5L;
    else if (rng_chance(r, 20))
        v = far(r, t) * (rng_chance(r, 50) ? 1 : -1);
    else if (rng_chance(r, 15))
        v = (long double)(rng_below(r, 33) - 16) / 2;
    else
        v = 12 * (long double)rng_unit(r) - 6;
    if (positive) v = fabsl(v) + (v == 0);
    if (nonzero && fabsl(v) < 0.25L) v = v < 0 ? v - 0.5L : v + 0.5L;
    return v;
}

static wide whole_number(rng *r, const char *word, temper how, dtype t) {
    if (is(word, "few")) return rng_below(r, 4) - (int_lowest(t) < 0);
    if (is(word, "bool")) return rng_below(r, 2) * (rng_below(r, 3) - (int_lowest(t) < 0));
    wide v = rng_below(r, 41) - 20;
    if (is(word, "small")) v = rng_below(r, 11) - 4;
    if (how == ROUGH && !is(word, "small") && rng_chance(r, 40))
        v = int_wrap(t, (wide)(rng_next(r) >> rng_below(r, 60)));
    bool positive = is(word, "positive"), nonzero = is(word, "nonzero");
    if (int_lowest(t) == 0 && v < 0) v = -v;
    if (positive && v < 0) v = -v;
    if ((positive || nonzero) && int_wrap(t, v) == 0) v = 3;
    if (positive && int_wrap(t, v) < 0) v = 5;
    return v;
}

void generate(rng *r, const char *word, int64_t bound, temper how, host *h) {
    for (int64_t i = 0; i < h->count; i++) {
        if (is(word, "index"))
            host_set_int(h, i, rng_below(r, bound));
        else if (is(word, "seed") || is(word, "counter"))
            host_set_int(h, i, rng_below(r, 1000));
        else if (h->dtype == DT_BOOL)
            host_set_int(h, i, (is(word, "positive") || is(word, "nonzero")) ? 1 : rng_below(r, 2));
        else if (dtype_is_float(h->dtype))
            host_set_real(h, i, real_number(r, word, how, h->dtype));
        else
            host_set_int(h, i, whole_number(r, word, how, h->dtype));
    }
}

/* Difficult reals that every format rounds its own way; then those of the format's limits. */
static long double special_real(dtype t, int k) {
    static const double common[] = {0.0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.5,
                                    -0.5,
                                    1.5,
                                    2.5,
                                    -2.5,
                                    2,
                                    -2,
                                    3,
                                    (double)INFINITY,
                                    -(double)INFINITY,
                                    (double)NAN,
                                    0.1,
                                    -0.1,
                                    1e-3,
                                    7.25,
                                    88.5,
                                    -100,
                                    709,
                                    -745,
                                    1e4,
                                    1e10,
                                    -1e10,
                                    255.5,
                                    -128.75,
                                    2147483647.5,
                                    4503599627370497.5};
    enum { COMMON = sizeof common / sizeof *common };
    if (k < COMMON) return (long double)common[k];
    long double tiny = real_tiniest(t), largest = real_largest(t);
    switch (k - COMMON) {
    case 0:
        return tiny;
    case 1:
        return -tiny;
    case 2:
        return 3 * tiny;
    case 3:
        return ldexpl(tiny, real_digits(t) - 1); /* the smallest normal */
    case 4:
        return ldexpl(tiny, real_digits(t) - 1) - tiny;
    case 5:
        return largest;
    case 6:
        return -largest;
    case 7:
        return 1 + ldexpl(1, 1 - real_digits(t));
    case 8:
        return 1 - ldexpl(1, -real_digits(t));
    case 9:
        return sqrtl(largest) * 2;
    default:
        return ldexpl(1, real_digits(t)) - 1;
    }
}

enum { SPECIAL_REALS = 41, SPECIAL_INTS = 13 };

static wide special_int(dtype t, int k) {
    wide low = int_lowest(t), high = int_highest(t);
    wide list[SPECIAL_INTS] = {0, 1, -1, 2, -2, 3, 7, low, low + 1, high, high - 1, high / 2 + 1, -10};
    return int_wrap(t, list[k]);
}

int generate_special_count(dtype t) {
    return t == DT_BOOL ? 2 : dtype_is_float(t) ? SPECIAL_REALS : SPECIAL_INTS;
}

int generate_special(host *h, int64_t repeat) {
    int n = generate_special_count(h->dtype);
    for (int64_t i = 0; i < h->count; i++) {
        int k = (int)(i / repeat % n);
        if (h->dtype == DT_BOOL)
            host_set_int(h, i, k);
        else if (dtype_is_float(h->dtype))
            host_set_real(h, i, special_real(h->dtype, k));
        else
            host_set_int(h, i, special_int(h->dtype, k));
    }
    return n;
}

void generate_repeat(host *h) {
    if (h->shape.rank == 0 || h->shape.size[0] < 1) return;
    size_t row = (size_t)(h->count / h->shape.size[0]) * dtype_size(h->dtype);
    for (int64_t i = 1; i < h->shape.size[0]; i++) memcpy((char *)h->data + (size_t)i * row, h->data, row);
    h->repeats = true;
}
