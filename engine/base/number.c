/* number.c — see number.h. First printing, then reading. */
#include "engine/base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The powers of ten that a double holds exactly. */
static const double power10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { EXACT_POWER = 22 };

/* ---- printing ---- */

/* Significant bits, the exponent of the smallest normal value, the decimal digits that every value needs at
 * most, and those that any decimal survives. */
static const struct {
    int bits, least, most_digits, safe_digits;
} formats[] = {
    [NUMBER_F64] = {53, -1022, 17, 15},
    [NUMBER_F32] = {24, -126, 9, 6},
    [NUMBER_F16] = {11, -14, 5, 3},
    [NUMBER_BF16] = {8, -126, 4, 2},
};

/* v > 0 rounded to the format, half to even. */
static double round_to(double v, number_format f) {
    if (f == NUMBER_F64) return v;
    int exponent = ilogb(v);
    if (exponent < formats[f].least) exponent = formats[f].least;
    double quantum = ldexp(1, exponent - formats[f].bits + 1);
    return nearbyint(v / quantum) * quantum;
}

/* A decimal with `digits` digits: n * 10^(exponent - digits + 1). */
typedef struct decimal {
    uint64_t n;
    int exponent;
} decimal;

static double strtod_c(const char *s, char **end) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a constant of the library: nothing to free */
    return c ? strtod_l(s, end, c) : strtod(s, end);
}

static double decimal_value(decimal d, int digits) {
    int k = digits - 1 - d.exponent;
    if (d.n < (UINT64_C(1) << 53) && k >= -EXACT_POWER && k <= EXACT_POWER)
        return k >= 0 ? (double)d.n / power10[k] : (double)d.n * power10[-k];
    char s[64];
    snprintf(s, sizeof s, "%llue%d", (unsigned long long)d.n, -k);
    return strtod_c(s, NULL);
}

/* v > 0 to `digits` digits, nearest. Exact enough without the library when the power of ten is exact and the
 * digits are few (see number_print's comment). */
static decimal decimal_of(double v, int digits) {
    int exponent = (int)floor(log10(v));
    int k = digits - 1 - exponent;
    decimal d = {0, exponent};
    if (digits >= 1 && digits <= 15 && k >= -EXACT_POWER && k <= EXACT_POWER) {
        double n = nearbyint(k >= 0 ? v * power10[k] : v / power10[-k]);
        if (n >= power10[digits - 1] && n < power10[digits]) {
            d.n = (uint64_t)n;
            return d;
        }
    }
    char s[64];
    snprintf(s, sizeof s, "%.*e", digits - 1, v);
    for (const char *p = s; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') d.n = d.n * 10 + (uint64_t)(*p - '0');
    const char *e = strchr(s, 'e');
    if (e) d.exponent = atoi(e + 1);
    return d;
}

/* The shortest decimal that reads back as v > 0. With up to safe_digits digits the one nearest to v is the
 * only candidate, since the format's own spacing is finer there; so that many are tried first and trailing
 * zeros dropped. At a power of two the next decimal above is a candidate as well, values above being twice
 * as far apart as those below. Subnormal values have fewer bits and start from one digit. */
static decimal shortest(double v, number_format f, int *digits) {
    int scale;
    bool power_of_two = frexp(v, &scale) == 0.5, subnormal = scale - 1 < formats[f].least;
    decimal d = {0};
    for (int p = subnormal ? 1 : formats[f].safe_digits; p <= formats[f].most_digits; p++) {
        *digits = p;
        d = decimal_of(v, p);
        if (round_to(decimal_value(d, p), f) == v) break;
        if (!power_of_two || p == formats[f].most_digits) continue;
        decimal above = {d.n + 1, d.exponent};
        if (round_to(decimal_value(above, p), f) != v) continue;
        d = above;
        break;
    }
    while (*digits > 1 && d.n % 10 == 0) d.n /= 10, --*digits;
    return d;
}

/* "1234" with the point after the first digit times 10^exponent. */
static size_t lay_out(char *out, const char *s, int digits, int exponent) {
    char *p = out;
    if (exponent < -5 || exponent >= 16) {
        *p++ = s[0];
        if (digits > 1) {
            *p++ = '.';
            memcpy(p, s + 1, (size_t)digits - 1);
            p += digits - 1;
        }
        return (size_t)(p - out) + (size_t)sprintf(p, "e%d", exponent);
    }
    if (exponent < 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = -1; i > exponent; i--) *p++ = '0';
        memcpy(p, s, (size_t)digits);
        p += digits;
    } else {
        for (int i = 0; i < digits || i <= exponent; i++) {
            if (i == exponent + 1) *p++ = '.';
            *p++ = i < digits ? s[i] : '0';
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

size_t number_print(char out[NUMBER_MAX], double v, number_format f) {
    if (isnan(v)) return (size_t)sprintf(out, "nan");
    char *p = out;
    if (signbit(v)) *p++ = '-';
    v = fabs(v);
    if (isinf(v)) return (size_t)(p - out) + (size_t)sprintf(p, "inf");
    if (v == 0) return (size_t)(p - out) + (size_t)sprintf(p, "0");
    int digits = 1;
    decimal d = shortest(v, f, &digits);
    char s[24];
    digits = sprintf(s, "%llu", (unsigned long long)d.n);
    return (size_t)(p - out) + lay_out(p, s, digits, d.exponent);
}

size_t number_print_int(char out[NUMBER_MAX], int64_t v) {
    char s[24];
    size_t length = 0, used = 0;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do s[length++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (v < 0) out[used++] = '-';
    while (length > 0) out[used++] = s[--length];
    out[used] = '\0';
    return used;
}

/* ---- reading ---- */

/* A number taken apart. `n` holds its first 19 digits; `exact`: there are no more. */
typedef struct parts {
    bool negative, exact;
    uint64_t n;
    int64_t exponent; /* value = n * 10^exponent when exact */
    double special;   /* of nan and inf, else 0 */
} parts;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(const char *s, size_t length, const char *word) {
    if (strlen(word) != length) return false;
    for (size_t i = 0; i < length; i++)
        if ((s[i] | 0x20) != word[i]) return false;
    return true;
}

static bool take_word(const char *s, size_t length, parts *p) {
    if (is_word(s, length, "nan")) return p->special = NAN, true;
    if (is_word(s, length, "inf") || is_word(s, length, "infinity")) return p->special = INFINITY, true;
    return false;
}

static bool take_apart(const char *s, size_t length, parts *p) {
    *p = (parts){.exact = true};
    const char *end = s + length;
    if (s < end && (*s == '-' || *s == '+')) p->negative = *s++ == '-';
    if (s < end && !is_digit(*s) && *s != '.') return take_word(s, (size_t)(end - s), p);
    int64_t digits = 0, kept = 0;
    for (bool point = false; s < end; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*s)) break;
        digits++;
        if (kept == 0 && *s == '0') {
            p->exponent -= point;
        } else if (kept < 19) {
            p->n = p->n * 10 + (uint64_t)(*s - '0');
            kept++;
            p->exponent -= point;
        } else {
            p->exponent += !point;
            if (*s != '0') p->exact = false;
        }
    }
    if (digits == 0) return false;
    if (s == end) return true;
    if ((*s | 0x20) != 'e') return false;
    bool down = false;
    if (++s < end && (*s == '-' || *s == '+')) down = *s++ == '-';
    if (s == end) return false;
    int64_t exponent = 0;
    for (; s < end && is_digit(*s); s++)
        if (exponent < 1000000000) exponent = exponent * 10 + (*s - '0');
    if (s != end) return false;
    p->exponent += down ? -exponent : exponent;
    return true;
}

/* The library's reading of a text that take_apart accepted. 800 significant digits decide between any two
 * doubles; what follows them can only say "a little more". */
static double read_slowly(const char *s, size_t length, bool as_f32) {
    char copy[840];
    size_t used = 0;
    bool more = false;
    int64_t exponent = 0, e_given = 0;
    size_t i = 0;
    bool point = false;
    for (; i < length && (s[i] | 0x20) != 'e'; i++) {
        if (s[i] == '.') point = true;
        if (!is_digit(s[i])) continue;
        if (used == 0 && s[i] == '0') {
            exponent -= point;
        } else if (used < 800) {
            copy[used++] = s[i];
            exponent -= point;
        } else {
            exponent += !point;
            more |= s[i] != '0';
        }
    }
    if (used == 0) return 0;
    bool down = false;
    for (i++; i < length; i++) {
        if (s[i] == '-') down = true;
        if (is_digit(s[i]) && e_given < 1000000000) e_given = e_given * 10 + (s[i] - '0');
    }
    exponent += down ? -e_given : e_given;
    if (more) {
        copy[used++] = '1';
        exponent--;
    }
    snprintf(copy + used, sizeof copy - used, "e%lld", (long long)exponent);
    if (!as_f32) return strtod_c(copy, NULL);
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? (double)strtof_l(copy, NULL, c) : (double)strtof(copy, NULL);
}

/* The double nearest to an exact, small enough decimal. */
static bool read_quickly(const parts *p, double *out) {
    if (!p->exact || p->n > (UINT64_C(1) << 53) || p->exponent < -EXACT_POWER || p->exponent > EXACT_POWER)
        return false;
    double n = (double)p->n;
    *out = p->exponent < 0 ? n / power10[-p->exponent] : n * power10[p->exponent];
    return true;
}

/* Most numbers of a table are a few digits, which any format holds: n < 2^24. */
static bool read_small(const char *s, size_t length, uint32_t *out) {
    uint32_t n = 0;
    if (length - 1 > 6) return false; /* 0, or more than 7 */
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(s[i])) return false;
        n = n * 10 + (uint32_t)(s[i] - '0');
    }
    *out = n;
    return true;
}

bool number_parse(const char *s, size_t length, double *out) {
    parts p;
    uint32_t small;
    if (read_small(s, length, &small)) return *out = small, true;
    if (!take_apart(s, length, &p)) return false;
    double v;
    if (p.special != 0)
        v = p.special;
    else if (!read_quickly(&p, &v))
        v = read_slowly(s, length, false);
    *out = p.negative ? -v : v;
    return true;
}

/* A double rounds on to the right float unless it lies just between two floats, where what its own rounding
 * dropped would decide, or below the normal floats, where they are further apart. */
static bool rounds_once_more(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return v == 0 || (v >= (double)FLT_MIN && (bits & 0x1fffffff) != 0x10000000);
}

bool number_parse_f32(const char *s, size_t length, float *out) {
    parts p;
    uint32_t small;
    if (read_small(s, length, &small)) return *out = (float)small, true;
    if (!take_apart(s, length, &p)) return false;
    double v;
    if (p.special != 0)
        v = p.special;
    else if (!read_quickly(&p, &v) || !rounds_once_more(v))
        v = read_slowly(s, length, true);
    *out = (float)(p.negative ? -v : v);
    return true;
}

bool number_parse_int(const char *s, size_t length, int64_t *out) {
    const char *end = s + length;
    bool negative = false;
    if (s < end && (*s == '-' || *s == '+')) negative = *s++ == '-';
    if (s == end) return false;
    uint64_t n = 0, limit = (uint64_t)INT64_MAX + negative;
    for (; s < end; s++) {
        if (!is_digit(*s)) return false;
        uint64_t digit = (uint64_t)(*s - '0');
        if (n > (limit - digit) / 10) return false;
        n = n * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}
