/* expect.h — what one element-wise call must give, error or values, from the references.
 *
 * A row without a reference is held to what it says of itself: its dtypes follow its class; its f32 and half results
 * must be within EXPECT_OWN_ULPS of its own f64 evaluation (which goes through libm), its integers equal to its own
 * i64 evaluation wrapped. So a new row needs nothing but the row. */
#ifndef TD_SUPPORT_EXPECT_H
#define TD_SUPPORT_EXPECT_H

#include "tests/support/reference.h"

enum { EXPECT_OWN_ULPS = 16 };

typedef struct expectation {
    int number;     /* of the error; 0: a value */
    host value;     /* its meta, and of integers the elements */
    host low, high; /* of floats: between which each element must lie */
} expectation;

expectation expect_elementwise(arena *m, const op_info *op, const host *in, int nin);
/* The first element of `got` that is not as expected; -1: none, -2: another meta. */
int64_t expect_differs(const expectation *e, const host *got);

/* NumPy's broadcasting with the column guard: 0 or the error's number. */
int expect_broadcast(const shape *a, const shape *b, shape *out);
/* Index, into a host of shape `from`, of what row-major element i of shape `to` reads. */
int64_t expect_source(const shape *from, const shape *to, int64_t i);

/* Collects failures and shows the first few. */
typedef struct failures {
    text lines;
    int count;
} failures;
void failures_add(failures *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Fails the running test when there are any. */
void failures_end(failures *f);

#endif
