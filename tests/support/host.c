/* host.c — see host.h. */
#include "tests/support/host.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void *take(arena *m, size_t bytes) {
    void *p = arena_alloc(m, bytes + 8);
    assert(p && "the test machine is out of memory");
    return p;
}

shape shape_of(int rank, const int64_t *size) {
    shape s = {.rank = rank};
    for (int i = 0; i < rank; i++) s.size[i] = size[i];
    return s;
}

int64_t shape_elements(const shape *s) {
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->size[i];
    return n;
}

host host_new(arena *m, dtype t, const shape *s) {
    host h = {.dtype = t, .shape = *s, .count = shape_elements(s)};
    h.data = take(m, (size_t)h.count * dtype_size(t));
    return h;
}

host host_scalar(arena *m, dtype t, bool weak) {
    host h = host_new(m, t, &(shape){0});
    h.weak = weak;
    return h;
}

/* ---- formats ---- */

typedef struct format {
    int digits, lowest, highest; /* significant bits; exponents of the smallest and largest normal binades */
} format;

static format format_of(dtype t) {
    switch (t) {
    case DT_F16:
        return (format){11, -14, 15};
    case DT_BF16:
        return (format){8, -126, 127};
    case DT_F32:
        return (format){24, -126, 127};
    default:
        return (format){53, -1022, 1023};
    }
}

int real_digits(dtype t) {
    return format_of(t).digits;
}

long double real_tiniest(dtype t) {
    return ldexpl(1, format_of(t).lowest - format_of(t).digits + 1);
}

long double real_largest(dtype t) {
    return ldexpl(2 - ldexpl(1, 1 - format_of(t).digits), format_of(t).highest);
}

long double real_round(dtype t, long double v) {
    if (t == DT_F64) return (long double)(double)v; /* what the hardware does */
    if (t == DT_F32) return (long double)(float)v;
    format f = format_of(t);
    if (isnan(v) || isinf(v) || v == 0) return v;
    int e = ilogbl(v) > f.lowest ? ilogbl(v) : f.lowest;
    long double r = ldexpl(rintl(ldexpl(v, f.digits - 1 - e)), e - f.digits + 1);
    long double over = ldexpl(1, f.highest + 1);
    return fabsl(r) >= over ? copysignl(INFINITY, v) : r;
}

int64_t real_order(dtype t, long double v) {
    format f = format_of(t);
    long double a = fabsl(v);
    int64_t at;
    if (isinf(v))
        at = (int64_t)(f.highest - f.lowest + 2) << (f.digits - 1);
    else if (a < ldexpl(1, f.lowest))
        at = (int64_t)ldexpl(a, f.digits - 1 - f.lowest);
    else {
        int e = ilogbl(a);
        at = ((int64_t)(e - f.lowest) << (f.digits - 1)) + (int64_t)ldexpl(a, f.digits - 1 - e);
    }
    return v < 0 ? -at : at;
}

/* IEEE 754 patterns: the order number is the pattern of a magnitude. */
static uint64_t encode(dtype t, long double v) {
    format f = format_of(t);
    int bits = (int)dtype_size(t) * 8;
    uint64_t infinity = (uint64_t)(f.highest - f.lowest + 2) << (f.digits - 1);
    uint64_t magnitude =
        isnan(v) ? infinity | (uint64_t)1 << (f.digits - 2) : (uint64_t)real_order(t, fabsl(v));
    return magnitude | (signbit(v) ? (uint64_t)1 << (bits - 1) : 0);
}

static long double decode(dtype t, uint64_t pattern) {
    format f = format_of(t);
    int bits = (int)dtype_size(t) * 8;
    uint64_t magnitude = pattern & (((uint64_t)1 << (bits - 1)) - 1),
             fraction = ((uint64_t)1 << (f.digits - 1)) - 1;
    int exponent = (int)(magnitude >> (f.digits - 1));
    long double v;
    if (exponent == f.highest - f.lowest + 2)
        v = magnitude & fraction ? (long double)NAN : (long double)INFINITY;
    else if (exponent == 0)
        v = ldexpl((long double)magnitude, f.lowest - f.digits + 1);
    else
        v = ldexpl((long double)((magnitude & fraction) | (fraction + 1)),
                   exponent - 1 + f.lowest - f.digits + 1);
    return pattern >> (bits - 1) & 1 ? -v : v;
}

long double real_step(dtype t, long double v, int64_t n) {
    int64_t at = real_order(t, v) + n, infinity = real_order(t, INFINITY);
    if (at > infinity) at = infinity;
    if (at < -infinity) at = -infinity;
    return at < 0 ? -decode(t, (uint64_t)-at) : decode(t, (uint64_t)at);
}

bool real_same(long double a, long double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b && !signbit(a) == !signbit(b);
}

/* ---- integers ---- */

wide int_lowest(dtype t) {
    return t == DT_I8 ? -128 : t == DT_I32 ? INT32_MIN : t == DT_I64 ? INT64_MIN : 0;
}

wide int_highest(dtype t) {
    return t == DT_BOOL ? 1 : t == DT_U8 ? 255 : t == DT_I8 ? 127 : t == DT_I32 ? INT32_MAX : INT64_MAX;
}

wide int_wrap(dtype t, wide v) {
    if (v >= int_lowest(t) && v <= int_highest(t)) return v;
    wide n = int_highest(t) - int_lowest(t) + 1, r = (v - int_lowest(t)) % n;
    return (r < 0 ? r + n : r) + int_lowest(t);
}

/* ---- elements ---- */

static uint64_t pattern_at(const host *h, int64_t i) {
    size_t size = dtype_size(h->dtype);
    uint64_t p = 0;
    memcpy(&p, (const char *)h->data + (size_t)i * size, size); /* little-endian */
    return p;
}

static void set_pattern(host *h, int64_t i, uint64_t p) {
    size_t size = dtype_size(h->dtype);
    memcpy((char *)h->data + (size_t)i * size, &p, size);
}

wide host_int(const host *h, int64_t i) {
    switch (h->dtype) {
    case DT_I64:
        return ((const int64_t *)h->data)[i];
    case DT_I32:
        return ((const int32_t *)h->data)[i];
    case DT_I8:
        return ((const int8_t *)h->data)[i];
    default:
        assert(!dtype_is_float(h->dtype));
        return ((const uint8_t *)h->data)[i];
    }
}

long double host_real(const host *h, int64_t i) {
    if (!dtype_is_float(h->dtype)) return (long double)host_int(h, i);
    if (h->dtype == DT_F64) return (long double)((const double *)h->data)[i];
    if (h->dtype == DT_F32) return (long double)((const float *)h->data)[i];
    return decode(h->dtype, pattern_at(h, i));
}

void host_set_real(host *h, int64_t i, long double v) {
    assert(dtype_is_float(h->dtype));
    if (h->dtype == DT_F64)
        ((double *)h->data)[i] = (double)v;
    else if (h->dtype == DT_F32)
        ((float *)h->data)[i] = (float)v;
    else
        set_pattern(h, i, encode(h->dtype, real_round(h->dtype, v)));
}

void host_set_int(host *h, int64_t i, wide v) {
    assert(!dtype_is_float(h->dtype));
    set_pattern(h, i, h->dtype == DT_BOOL ? v != 0 : (uint64_t)int_wrap(h->dtype, v));
}

void host_convert(const host *from, int64_t i, host *to, int64_t j) {
    if (dtype_is_float(to->dtype)) {
        host_set_real(to, j, host_real(from, i));
        return;
    }
    if (!dtype_is_float(from->dtype)) {
        host_set_int(to, j, host_int(from, i));
        return;
    }
    long double v = host_real(from, i);
    wide low = int_lowest(to->dtype), high = int_highest(to->dtype);
    if (to->dtype == DT_BOOL)
        host_set_int(to, j, v != 0);
    else if (isnan(v))
        host_set_int(to, j, 0);
    else
        host_set_int(to, j, v <= (long double)low ? low : v >= (long double)high ? high : (wide)truncl(v));
}

const char *host_show(const host *h, int64_t i, char buffer[64]) {
    if (h->dtype == DT_BOOL)
        snprintf(buffer, 64, "%s", host_int(h, i) ? "true" : "false");
    else if (dtype_is_float(h->dtype))
        snprintf(buffer, 64, "%.17Lg", host_real(h, i));
    else
        snprintf(buffer, 64, "%lld", (long long)host_int(h, i));
    return buffer;
}

int64_t host_differs(const host *a, const host *b) {
    if (a->dtype != b->dtype || a->weak != b->weak || a->shape.rank != b->shape.rank) return -2;
    for (int i = 0; i < a->shape.rank; i++)
        if (a->shape.size[i] != b->shape.size[i]) return -2;
    if (memcmp(a->data, b->data, (size_t)a->count * dtype_size(a->dtype)) == 0) return -1;
    for (int64_t i = 0; i < a->count; i++) {
        if (pattern_at(a, i) == pattern_at(b, i)) continue;
        if (!dtype_is_float(a->dtype) || !isnan(host_real(a, i)) || !isnan(host_real(b, i))) return i;
    }
    return -1;
}
