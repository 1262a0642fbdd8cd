/* functions.h — the f32 functions of one argument of engine/math, their references in f64, and their bounds. */
#ifndef TD_MATH_FUNCTIONS_H
#define TD_MATH_FUNCTIONS_H

#include <math.h>

static inline double ref_sigmoid(double x) {
    return 1.0 / (1.0 + exp(-x));
}
static inline double ref_softplus(double x) {
    return x > 700.0 ? x : log1p(exp(x));
}
static inline double ref_rsqrt(double x) {
    return 1.0 / sqrt(x);
}
static inline double ref_reciprocal(double x) {
    return 1.0 / x;
}
static inline double ref_relu(double x) {
    return x != x || x > 0.0 ? x : 0.0;
}
static inline double ref_sign(double x) {
    return x != x ? x : (double)((x > 0.0) - (x < 0.0));
}
static inline double ref_neg(double x) {
    return -x;
}
static inline double ref_gelu(double x) {
    double y = 0.5 * x * erfc(x * -0.70710678118654752440);
    return x == -(double)INFINITY ? -0.0 : y;
}

/* name, reference, bound in ulps. 0.5 means correctly rounded. */
#define MATH_F32(ROW)                                                                                        \
    ROW(exp, exp, 2.0)                                                                                       \
    ROW(exp2, exp2, 2.0)                                                                                     \
    ROW(expm1, expm1, 2.0)                                                                                   \
    ROW(log, log, 2.0)                                                                                       \
    ROW(log2, log2, 2.0)                                                                                     \
    ROW(log1p, log1p, 2.0)                                                                                   \
    ROW(sin, sin, 2.0)                                                                                       \
    ROW(cos, cos, 2.0)                                                                                       \
    ROW(tan, tan, 2.0)                                                                                       \
    ROW(asin, asin, 2.0)                                                                                     \
    ROW(acos, acos, 2.0)                                                                                     \
    ROW(atan, atan, 2.0)                                                                                     \
    ROW(sinh, sinh, 2.0)                                                                                     \
    ROW(cosh, cosh, 2.0)                                                                                     \
    ROW(tanh, tanh, 2.0)                                                                                     \
    ROW(erf, erf, 2.0)                                                                                       \
    ROW(erfc, erfc, 2.0)                                                                                     \
    ROW(gelu, ref_gelu, 2.0)                                                                                 \
    ROW(sigmoid, ref_sigmoid, 2.0)                                                                           \
    ROW(softplus, ref_softplus, 2.0)                                                                         \
    ROW(sqrt, sqrt, 0.5)                                                                                     \
    ROW(rsqrt, ref_rsqrt, 2.0)                                                                               \
    ROW(reciprocal, ref_reciprocal, 0.5)                                                                     \
    ROW(abs, fabs, 0.0)                                                                                      \
    ROW(neg, ref_neg, 0.0)                                                                                   \
    ROW(relu, ref_relu, 0.0)                                                                                 \
    ROW(sign, ref_sign, 0.0)                                                                                 \
    ROW(floor, floor, 0.0)                                                                                   \
    ROW(ceil, ceil, 0.0)                                                                                     \
    ROW(round, nearbyint, 0.0)

#endif
