/* host.h — arrays of the tests: plain row-major memory, read and written by the definition of each format.
 *
 * Nothing here uses the engine's conversions, so that a test which compares a tensor with a host array compares two
 * independent readings. Floats are handled as long double, which holds every f64 and i64, integers as 128 bits. Arrays
 * live in an arena. */
#ifndef TD_SUPPORT_HOST_H
#define TD_SUPPORT_HOST_H

#include "engine/base/arena.h"
#include "engine/core/tensor.h"

__extension__ typedef __int128 wide;

typedef struct host {
    dtype dtype;
    bool weak;    /* a weak scalar (rank 0, i64 or f64) */
    bool repeats; /* equal along axis 0: may be given as an expanded view */
    shape shape;
    int64_t count;
    void *data;
} host;

/* Zeros. */
host host_new(arena *m, dtype t, const shape *s);
host host_scalar(arena *m, dtype t, bool weak);
/* A shape of `rank` sizes. */
shape shape_of(int rank, const int64_t *size);
int64_t shape_elements(const shape *s);

/* Element i: of any dtype as a real, of an integer or bool dtype as an integer. */
long double host_real(const host *h, int64_t i);
wide host_int(const host *h, int64_t i);
/* Stores, rounded to nearest even, or wrapped; bool becomes v != 0. */
void host_set_real(host *h, int64_t i, long double v);
void host_set_int(host *h, int64_t i, wide v);

/* v rounded to nearest even in float format t: overflow to infinity, denormals kept. */
long double real_round(dtype t, long double v);
/* The position of v, a value of float format t, among all of them: neighbours differ by 1, both zeros are 0. */
int64_t real_order(dtype t, long double v);
/* The value n places after v (before, when negative), stopping at the infinities. */
long double real_step(dtype t, long double v, int64_t n);
/* Bits per significand, the hidden one included. */
int real_digits(dtype t);
/* The smallest and the largest positive finite value. */
long double real_tiniest(dtype t);
long double real_largest(dtype t);
/* The same value: NaNs are one, zeros of different sign are two. */
bool real_same(long double a, long double b);
/* v modulo the integer dtype's range. */
wide int_wrap(dtype t, wide v);
wide int_lowest(dtype t);
wide int_highest(dtype t);

/* numerics.md's conversion of one element. */
void host_convert(const host *from, int64_t i, host *to, int64_t j);

/* How a tensor with the array's contents lies in memory. */
typedef enum layout {
    LAYOUT_PLAIN,
    LAYOUT_TRANSPOSED, /* axes stored in reverse order */
    LAYOUT_REVERSED,   /* the last axis runs backwards */
    LAYOUT_SPACED,     /* every second element of its storage, from the third on */
    LAYOUT_ROWS,       /* rows of a wider matrix */
    LAYOUT_EXPANDED,   /* stride 0 along axis 0, where the array repeats; else plain */
    LAYOUT_COUNT
} layout;

tensor *host_tensor(context *c, const host *h, layout l); /* NULL with the error set when out of memory */
/* A concrete tensor's elements. */
host host_read(arena *m, const tensor *t);

/* Index of the first element that differs (bit for bit, NaNs as one), -1 when all agree, -2 when the metas differ. */
int64_t host_differs(const host *a, const host *b);
/* Element i as text. */
const char *host_show(const host *h, int64_t i, char buffer[64]);

#endif
