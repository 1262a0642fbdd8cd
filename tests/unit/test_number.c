/* test_number.c — numbers to text and back: fewest digits, exactness against the C library, refusals. */
#include "tests/harness/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/map.h"
#include "engine/base/number.h"

static void prints(double v, number_format f, const char *expected) {
    char out[NUMBER_MAX];
    size_t length = number_print(out, v, f);
    assert_string_equal(out, expected);
    assert_int_equal(length, strlen(expected));
}

static void known_values_print_as_expected(void **state) {
    (void)state;
    prints(6, NUMBER_F64, "6");
    prints(0.25, NUMBER_F32, "0.25");
    prints(-0.0, NUMBER_F64, "-0");
    prints(NAN, NUMBER_F32, "nan");
    prints(-INFINITY, NUMBER_F32, "-inf");
    prints((double)0.1f, NUMBER_F32, "0.1");
    prints((double)0.1f, NUMBER_F64, "0.10000000149011612");
    prints(0.1, NUMBER_F64, "0.1");
    prints(1e22, NUMBER_F64, "1e22");
    prints(1e15, NUMBER_F64, "1000000000000000");
    prints(9007199254740992, NUMBER_F64, "9007199254740992");
    prints(0x1p-44, NUMBER_F64, "5.684341886080802e-14"); /* a power of two: the nearest 16 digits don't do */
    prints(5e-324, NUMBER_F64, "5e-324");
    prints(1.7976931348623157e308, NUMBER_F64, "1.7976931348623157e308");
    prints((double)1.4e-45f, NUMBER_F32, "1e-45");
    prints((double)3.4028235e38f, NUMBER_F32, "3.4028235e38");
    prints(0x1.554p-2, NUMBER_F16, "0.3333"); /* f16(1/3) */
    prints(65504, NUMBER_F16, "65500");       /* 65500 rounds to 65504 */
    prints(0x1p-24, NUMBER_F16, "6e-8");
    prints(0x1.92p1, NUMBER_BF16, "3.14");
    prints(1e-5, NUMBER_F64, "0.00001");
    prints(1.5e-6, NUMBER_F64, "1.5e-6");
    char out[NUMBER_MAX];
    number_print_int(out, INT64_MIN);
    assert_string_equal(out, "-9223372036854775808");
}

static uint64_t next(uint64_t *state) {
    return hash_u64(*state += 0x9e3779b97f4a7c15u);
}

/* Digits of a printed number, its sign, point, exponent and outer zeros left out. */
static int digit_count(const char *s) {
    char digits[NUMBER_MAX];
    int n = 0;
    for (; *s && *s != 'e'; s++)
        if (*s >= '0' && *s <= '9' && (n > 0 || *s != '0')) digits[n++] = *s;
    while (n > 0 && digits[n - 1] == '0') n--;
    return n;
}

/* No shorter decimal of the library reads back. */
static int library_digits(double v, bool f32) {
    for (int p = 1;; p++) {
        char s[64];
        snprintf(s, sizeof s, "%.*e", p - 1, v);
        if (f32 ? strtof(s, NULL) == (float)v : strtod(s, NULL) == v) return digit_count(s);
    }
}

static void random_values_read_back_in_the_fewest_digits(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next(&seed);
        double d;
        float f, again;
        uint32_t low = (uint32_t)bits;
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &low, sizeof f);
        if (i % 4 == 1) d = (double)(bits % 1000000) / 1000, f = (float)d;
        if (i % 4 == 2) d = ldexp(1, (int)(bits % 2000) - 1060), f = ldexpf(1, (int)(bits % 270) - 148);
        char out[NUMBER_MAX];
        double back;
        if (isfinite(d)) {
            size_t length = number_print(out, d, NUMBER_F64);
            assert_true(number_parse(out, length, &back));
            assert_true(back == d && strtod(out, NULL) == d);
            assert_true(digit_count(out) <= library_digits(d, false));
        }
        if (!isfinite(f)) continue;
        size_t length = number_print(out, (double)f, NUMBER_F32);
        assert_true(number_parse_f32(out, length, &again));
        assert_true(again == f && strtof(out, NULL) == f && (float)strtod(out, NULL) == f);
        assert_true(digit_count(out) <= library_digits((double)f, true));
    }
}

static void reading_agrees_with_the_library(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 200000; i++) {
        char s[80];
        uint64_t a = next(&seed), b = next(&seed);
        int digits = (int)(b % 20), exponent = (int)(b >> 8) % (i % 2 ? 20 : 330);
        snprintf(s, sizeof s, "%s%.*s.%llue%d", b & 1 ? "-" : "", digits, "98765432109876543210",
                 (unsigned long long)(a >> (b % 64)), exponent);
        double d;
        float f;
        assert_true(number_parse(s, strlen(s), &d));
        assert_true(number_parse_f32(s, strlen(s), &f));
        assert_true(d == strtod(s, NULL));
        assert_true(f == strtof(s, NULL));
    }
    /* Just beside the middle between two floats and between two doubles, told apart by the last digit. */
    char s[1200] = "1.00000005960464477539062500";
    float f;
    double d;
    number_parse_f32(s, strlen(s), &f);
    assert_true(f == 1.0f);
    snprintf(s, sizeof s, "1.0000000596046447753906250000000000000000000000000000000001");
    number_parse_f32(s, strlen(s), &f);
    assert_true(f == 0x1.000002p0f);
    snprintf(s, sizeof s, "9007199254740993.");
    memset(s + 17, '0', 1000);
    s[1017] = '\0';
    number_parse(s, strlen(s), &d);
    assert_true(d == 9007199254740992);
    s[1017] = '1';
    s[1018] = '\0';
    number_parse(s, strlen(s), &d);
    assert_true(d == 9007199254740994);
}

static void words_and_mistakes(void **state) {
    (void)state;
    double d;
    int64_t n;
    assert_true(number_parse("NaN", 3, &d) && isnan(d));
    assert_true(number_parse("-Infinity", 9, &d) && d == -INFINITY);
    assert_true(number_parse("+inf", 4, &d) && d == INFINITY);
    assert_true(number_parse("1e999", 5, &d) && d == INFINITY);
    assert_true(number_parse("1e-999999999999", 15, &d) && d == 0);
    assert_true(number_parse("0e99999999999", 13, &d) && d == 0);
    assert_true(number_parse(".5", 2, &d) && d == 0.5);
    assert_true(number_parse("5.", 2, &d) && d == 5);
    const char *bad[] = {"",     "-",     ".",  "e5", "1e",   "1e+", "1.2.3",
                         "0x10", "1_000", "1 ", " 1", "nano", "in",  "1f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(number_parse(bad[i], strlen(bad[i]), &d));
    assert_true(number_parse_int("-9223372036854775808", 20, &n) && n == INT64_MIN);
    assert_true(number_parse_int("9223372036854775807", 19, &n) && n == INT64_MAX);
    assert_false(number_parse_int("9223372036854775808", 19, &n));
    assert_false(number_parse_int("-9223372036854775809", 20, &n));
    assert_false(number_parse_int("1.0", 3, &n));
    assert_false(number_parse_int("+", 1, &n));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values_print_as_expected),
        cmocka_unit_test(random_values_read_back_in_the_fewest_digits),
        cmocka_unit_test(reading_agrees_with_the_library),
        cmocka_unit_test(words_and_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
