/* ulps.h — how far a result is from the exact one, in units in the last place. */
#ifndef TD_MATH_ULPS_H
#define TD_MATH_ULPS_H

#include <math.h>

/* The error of y in ulps of an f32 (or, with digits = 53, of an f64) near `exact`; infinite for a wrong NaN,
 * infinity or sign of zero. */
static inline double ulps(double y, long double exact, int digits) {
    int least = digits == 24 ? -126 : -1022, most = digits == 24 ? 127 : 1023;
    if (exact != exact || y != y) return exact != exact && y != y ? 0.0 : (double)INFINITY;
    if (exact == 0.0L && y == 0.0) return !signbit(exact) == !signbit(y) ? 0.0 : (double)INFINITY;
    long double top = ldexpl(1.0L, most + 1), edge = top - ldexpl(1.0L, most - digits);
    if (fabs(y) == (double)INFINITY && fabsl(exact) >= edge)
        return !signbit(exact) == !signbit(y) ? 0.0 : (double)INFINITY;
    if (fabsl(exact) > top) exact = copysignl(top, exact);
    long double value = fabs(y) == (double)INFINITY ? copysignl(top, y) : y;
    int e = exact == 0.0L ? least : ilogbl(exact);
    e = e < least ? least : e > most ? most : e;
    return (double)(fabsl(value - exact) / ldexpl(1.0L, e - digits + 1));
}

#endif
