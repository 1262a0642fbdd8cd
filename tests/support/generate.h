/* generate.h — numbers for tests, by the words of the op table's samples column. Everything follows from a seed.
 *
 *     real      anything finite: near 0, far from it, whole numbers and ties of rounding; integers of every size
 *     small     -4 .. 4; integers -4 .. 6
 *     positive  above 0
 *     nonzero   as real, but not 0
 *     few       a handful of values, so that there are ties
 *     integer   as real, of integer dtypes
 *     bool      false or true; of other dtypes 0 or a few others
 *     index<n>  0 .. n - 1
 *     seed, counter   of a random stream: one i64 each */
#ifndef TD_SUPPORT_GENERATE_H
#define TD_SUPPORT_GENERATE_H

#include "tests/support/host.h"

typedef struct rng {
    uint64_t state;
} rng;

uint64_t rng_next(rng *r);
int64_t rng_below(rng *r, int64_t n); /* 0 .. n - 1 */
double rng_unit(rng *r);              /* [0, 1) */
bool rng_chance(rng *r, int percent);

/* GENTLE values stay near 1 in size, where derivatives are tame and sums exact enough to compare. ROUGH ones do not. */
typedef enum temper { GENTLE, ROUGH } temper;

/* Fills h. `bound` belongs to "index". */
void generate(rng *r, const char *word, int64_t bound, temper how, host *h);
/* The values that a format is known to be difficult at (zeros, infinities, NaN, denormals, ties, extremes): element i
 * of h gets number (i / repeat) mod how many there are; returns how many. */
int generate_special(host *h, int64_t repeat);
int generate_special_count(dtype t);
/* Makes h equal along axis 0. */
void generate_repeat(host *h);

#endif
