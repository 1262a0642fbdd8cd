/* reference.c — see reference.h: element-wise rows, and how dtypes meet. */
#include "tests/support/reference.h"

#include <math.h>
#include <string.h>

#define REAL(name) static long double real_##name(const long double *v, dtype t, int *ulps)
#define WHOLE(name) static wide whole_##name(const wide *v, dtype t, bool *fault)
#define UNUSED (void)v, (void)t
#define NO_ULPS UNUSED, (void)ulps
#define NO_FAULT UNUSED, (void)fault

/* x op y, exact before it is rounded once: for f64 by the hardware's own rounding, for the others in long double, whose
 * 64 digits are more than twice theirs and two. */
#define ROUNDED(x, op, y) (t == DT_F64 ? (long double)((double)(x)op(double)(y)) : (x)op(y))

/* ---- arithmetic ---- */

REAL(neg) {
    NO_ULPS;
    return -v[0];
}
WHOLE(neg) {
    NO_FAULT;
    return -v[0];
}
REAL(abs) {
    NO_ULPS;
    return fabsl(v[0]);
}
WHOLE(abs) {
    NO_FAULT;
    return v[0] < 0 ? -v[0] : v[0];
}
REAL(sign) {
    NO_ULPS;
    return v[0] > 0 ? 1 : v[0] < 0 ? -1 : v[0] == 0 ? 0 : v[0];
}
WHOLE(sign) {
    NO_FAULT;
    return v[0] > 0 ? 1 : v[0] < 0 ? -1 : 0;
}
REAL(relu) {
    NO_ULPS;
    return isnan(v[0]) ? v[0] : v[0] > 0 ? v[0] : 0;
}
WHOLE(relu) {
    NO_FAULT;
    return v[0] > 0 ? v[0] : 0;
}
REAL(add) {
    NO_ULPS;
    return ROUNDED(v[0], +, v[1]);
}
WHOLE(add) {
    NO_FAULT;
    return v[0] + v[1];
}
REAL(sub) {
    NO_ULPS;
    return ROUNDED(v[0], -, v[1]);
}
WHOLE(sub) {
    NO_FAULT;
    return v[0] - v[1];
}
REAL(mul) {
    NO_ULPS;
    return ROUNDED(v[0], *, v[1]);
}
WHOLE(mul) {
    NO_FAULT;
    return v[0] * v[1];
}
REAL(mulz) {
    NO_ULPS;
    return v[0] == 0 ? 0 : ROUNDED(v[0], *, v[1]);
}
REAL(div) {
    NO_ULPS;
    return ROUNDED(v[0], /, v[1]);
}

/* NumPy's floor division and remainder of floats (npy_math, npy_divmod): both from the exact remainder. */
REAL(mod) {
    (void)ulps;
    if (v[1] == 0 || isinf(v[0])) return NAN;
    long double r = fmodl(v[0], v[1]);
    if (r == 0) return copysignl(0, v[1]);
    return (r < 0) != (v[1] < 0) ? ROUNDED(r, +, v[1]) : r;
}
REAL(floordiv) {
    long double x = v[0], y = v[1];
    if (y == 0) return ROUNDED(x, /, y);
    long double m = fmodl(x, y);
    if (isnan(m)) return m;
    long double q = (x - m) / y;
    if (m != 0 && (m < 0) != (y < 0)) q -= 1;
    if (q == 0) return copysignl(0, x / y);
    q = rintl(q);
    *ulps = fabsl(q) >=
            ldexpl(1, real_digits(dtype_is_half(t) ? DT_F32 : t) - 1); /* not every integer is a value */
    return q;
}
WHOLE(floordiv) {
    UNUSED;
    *fault = v[1] == 0;
    if (*fault) return 0;
    wide q = v[0] / v[1];
    return v[0] % v[1] != 0 && (v[0] < 0) != (v[1] < 0) ? q - 1 : q;
}
WHOLE(mod) {
    UNUSED;
    *fault = v[1] == 0;
    if (*fault) return 0;
    wide r = v[0] % v[1];
    return r != 0 && (r < 0) != (v[1] < 0) ? r + v[1] : r;
}
REAL(pow) {
    UNUSED;
    *ulps = 1;
    return powl(v[0], v[1]);
}
WHOLE(pow) {
    *fault = v[1] < 0;
    wide r = 1;
    for (int bit = 63; bit >= 0 && !*fault; bit--) { /* from the exponent's highest bit down */
        r = int_wrap(t, r * r);
        if (v[1] >> bit & 1) r = int_wrap(t, r * v[0]);
    }
    return r;
}
REAL(maximum) {
    NO_ULPS;
    if (isnan(v[0]) || isnan(v[1])) return NAN;
    if (v[0] == 0 && v[1] == 0) return signbit(v[0]) && signbit(v[1]) ? -0.0L : 0.0L;
    return v[0] > v[1] ? v[0] : v[1];
}
WHOLE(maximum) {
    NO_FAULT;
    return v[0] > v[1] ? v[0] : v[1];
}
REAL(minimum) {
    NO_ULPS;
    if (isnan(v[0]) || isnan(v[1])) return NAN;
    if (v[0] == 0 && v[1] == 0) return signbit(v[0]) || signbit(v[1]) ? -0.0L : 0.0L;
    return v[0] < v[1] ? v[0] : v[1];
}
WHOLE(minimum) {
    NO_FAULT;
    return v[0] < v[1] ? v[0] : v[1];
}

/* ---- functions: within 2 ulp ---- */

#define FUNCTION(name, value)                                                                                \
    REAL(name) {                                                                                             \
        UNUSED;                                                                                              \
        *ulps = 2;                                                                                           \
        return value;                                                                                        \
    }
FUNCTION(exp, expl(v[0]))
FUNCTION(log, logl(v[0]))
FUNCTION(sin, sinl(v[0]))
FUNCTION(cos, cosl(v[0]))
FUNCTION(tanh, tanhl(v[0]))

REAL(sqrt) {
    NO_ULPS;
    return t == DT_F64 ? (long double)sqrt((double)v[0]) : sqrtl(v[0]);
}

/* ---- bits, comparisons, choice ---- */

WHOLE(bits_not) {
    (void)fault;
    return t == DT_BOOL ? !v[0] : -1 - v[0];
}
WHOLE(bits_and) {
    NO_FAULT;
    return v[0] & v[1];
}
WHOLE(bits_or) {
    NO_FAULT;
    return v[0] | v[1];
}
#define COMPARISON(name, op)                                                                                 \
    REAL(name) {                                                                                             \
        NO_ULPS;                                                                                             \
        return v[0] op v[1];                                                                                 \
    }                                                                                                        \
    WHOLE(name) {                                                                                            \
        NO_FAULT;                                                                                            \
        return v[0] op v[1];                                                                                 \
    }
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)
REAL(order_of) { /* long double holds every i64 and f64 */
    NO_ULPS;
    return isnan(v[1]) ? 2 : v[0] < v[1] ? -1 : v[0] > v[1];
}
REAL(where) {
    NO_ULPS;
    return v[0] != 0 ? v[1] : v[2];
}
WHOLE(where) {
    NO_FAULT;
    return v[0] ? v[1] : v[2];
}

#define BOTH(name) real_##name, whole_##name
static const reference rows[] = {
    {"neg", KIND_UNARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 1, "1", BOTH(neg), 0},
    {"abs", KIND_UNARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 1, "1", BOTH(abs), 0},
    {"sign", KIND_UNARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 2, "", BOTH(sign), 0},
    {"exp", KIND_UNARY, CLASS_FLOAT, AUTOCAST_F32, 5, 60, "1", real_exp, NULL, 0},
    {"log", KIND_UNARY, CLASS_FLOAT, AUTOCAST_F32, 5, 60, "1", real_log, NULL, 0},
    {"sqrt", KIND_UNARY, CLASS_FLOAT, AUTOCAST_KEEP, 1, 20, "1", real_sqrt, NULL, 0},
    {"sin", KIND_UNARY, CLASS_FLOAT, AUTOCAST_KEEP, 5, 60, "1", real_sin, NULL, 0},
    {"cos", KIND_UNARY, CLASS_FLOAT, AUTOCAST_KEEP, 5, 60, "1", real_cos, NULL, 0},
    {"tanh", KIND_UNARY, CLASS_FLOAT, AUTOCAST_KEEP, 5, 60, "1", real_tanh, NULL, 0},
    {"relu", KIND_UNARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 1, "1", BOTH(relu), 0},
    {"bits_not", KIND_UNARY, CLASS_INTEGRAL, AUTOCAST_KEEP, 1, 1, "", NULL, whole_bits_not, 0},
    {"add", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 1, "11", BOTH(add), 0},
    {"sub", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 1, "11", BOTH(sub), 0},
    {"mul", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 1, "11", BOTH(mul), 0},
    {"mulz", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 3, "11", real_mulz, whole_mul, 0},
    {"div", KIND_BINARY, CLASS_QUOTIENT, AUTOCAST_KEEP, 1, 20, "11", real_div, NULL, 0},
    {"floordiv", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 2, 40, "", BOTH(floordiv), 302},
    {"mod", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 2, 40, "11", BOTH(mod), 302},
    {"pow", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_F32, 10, 100, "11", BOTH(pow), 303},
    {"maximum", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 2, "11", BOTH(maximum), 0},
    {"minimum", KIND_BINARY, CLASS_NUMERIC, AUTOCAST_KEEP, 1, 2, "11", BOTH(minimum), 0},
    {"bits_and", KIND_BINARY, CLASS_INTEGRAL, AUTOCAST_KEEP, 1, 1, "", NULL, whole_bits_and, 0},
    {"bits_or", KIND_BINARY, CLASS_INTEGRAL, AUTOCAST_KEEP, 1, 1, "", NULL, whole_bits_or, 0},
    {"eq", KIND_COMPARE, CLASS_ALL, AUTOCAST_KEEP, 1, 1, "", BOTH(eq), 0},
    {"ne", KIND_COMPARE, CLASS_ALL, AUTOCAST_KEEP, 1, 1, "", BOTH(ne), 0},
    {"lt", KIND_COMPARE, CLASS_ALL, AUTOCAST_KEEP, 1, 1, "", BOTH(lt), 0},
    {"le", KIND_COMPARE, CLASS_ALL, AUTOCAST_KEEP, 1, 1, "", BOTH(le), 0},
    {"gt", KIND_COMPARE, CLASS_ALL, AUTOCAST_KEEP, 1, 1, "", BOTH(gt), 0},
    {"ge", KIND_COMPARE, CLASS_ALL, AUTOCAST_KEEP, 1, 1, "", BOTH(ge), 0},
    {"order", KIND_MIXED, CLASS_NONE, AUTOCAST_KEEP, 1, 10, "", real_order_of, NULL, 0},
    {"where", KIND_TERNARY, CLASS_ALL, AUTOCAST_KEEP, 1, 2, "011", BOTH(where), 0},
};

const reference *reference_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/* ---- how dtypes meet ---- */

/* bool < i8, u8 < i32 < i64 < f16, bf16 < f32 < f64. */
static int rank_of(dtype t) {
    static const int rank[] = {[DT_BOOL] = 0, [DT_I8] = 1,   [DT_U8] = 1,  [DT_I32] = 2, [DT_I64] = 3,
                               [DT_F16] = 4,  [DT_BF16] = 4, [DT_F32] = 5, [DT_F64] = 6};
    return rank[t];
}

static int meet_strong(dtype a, dtype b, dtype *out) {
    *out = rank_of(a) > rank_of(b) ? a : b;
    if (a == b || rank_of(a) != rank_of(b)) return 0;
    *out = DT_I32; /* i8 with u8 */
    return dtype_is_float(a) ? 105 : 0;
}

/* A strong dtype with a weak scalar. */
static int meet_weak(dtype *t, const host *scalar) {
    bool real = scalar->dtype == DT_F64;
    if (real) {
        if (!dtype_is_float(*t)) *t = DT_F32;
        return 0;
    }
    if (*t == DT_BOOL) *t = DT_I64;
    return 0;
}

int reference_meet(op_class class, const host *in, int nin, dtype *out, bool *weak) {
    int strong = 0, number = 0;
    for (int i = 0; i < nin; i++) {
        if (in[i].weak) continue;
        if (strong++ == 0)
            *out = in[i].dtype;
        else if ((number = meet_strong(*out, in[i].dtype, out)))
            return number;
    }
    *weak = strong == 0;
    if (*weak) {
        *out = DT_I64;
        for (int i = 0; i < nin; i++)
            if (in[i].dtype == DT_F64) *out = DT_F64;
    }
    for (int i = 0; i < nin && !*weak; i++)
        if (in[i].weak) meet_weak(out, &in[i]);
    for (int i = 0; i < nin && !*weak; i++)
        if (in[i].weak && in[i].dtype == DT_I64 && !dtype_is_float(*out) &&
            int_wrap(*out, host_int(&in[i], 0)) != host_int(&in[i], 0))
            return 106;
    if (class == CLASS_NUMERIC && *out == DT_BOOL) *out = DT_I64;
    if ((class == CLASS_FLOAT || class == CLASS_QUOTIENT) && !dtype_is_float(*out))
        *out = *weak ? DT_F64 : DT_F32;
    if (class == CLASS_TRUTH) *out = DT_BOOL;
    return class == CLASS_INTEGRAL && dtype_is_float(*out) ? 107 : 0;
}
