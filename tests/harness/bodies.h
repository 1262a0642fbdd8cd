/* bodies.h — programs for tests of the tiers. Inputs are x[0] [rows, columns], x[1] [columns], x[2] [rows, columns]. */
#ifndef TD_HARNESS_BODIES_H
#define TD_HARNESS_BODIES_H

#include "tests/harness/frozen.h"

typedef struct body {
    const char *name;
    body_fn run;
    bool float_only, small_only; /* dtypes; sizes (matrix products) */
    int min_rows;
} body;

/* Compilers take their time: where each kernel is compiled, f32 runs every body and the other dtypes every second one, in
 * turns; under sanitizers all dtypes every third one. */
static inline bool body_is_due(int b, dtype t) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return (b + (int)t) % 3 == 0;
#else
    return t == DT_F32 || (b + (int)t) % 2 == 0;
#endif
}

enum { BODIES = 15, BODY_SIZES = 16, BODY_INPUTS = 3 };
extern const body bodies[BODIES];
extern const int64_t body_sizes[BODY_SIZES][2];

/* The inputs of a body at rows x columns. */
void body_inputs(context *c, dtype t, const int64_t *size, tensor **x);

/* Makes a program run in one tier. */
typedef status (*tier_fn)(program *p);
status in_tiles(program *p);
status in_c(program *p);

/* Checks one body in one tier over all sizes (or those that need one specialisation), each twice; returns a failure's
 * description in a static buffer, or NULL. */
const char *check_body(context *c, const body *b, dtype t, tier_fn prepare, bool all_sizes);

#endif
