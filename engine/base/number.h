/* number.h — numbers to text and back, the same in every locale.
 *
 * Printing gives the fewest digits that read back to the same value of the given format. Reading is correctly
 * rounded; the usual cases take one multiplication or division (W. Clinger, "How to read floating point
 * numbers accurately", 1990), the others the C library in its "C" locale. */
#ifndef TD_BASE_NUMBER_H
#define TD_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum number_format { NUMBER_F64, NUMBER_F32, NUMBER_F16, NUMBER_BF16 } number_format;

enum { NUMBER_MAX = 40 }; /* bytes that hold any printed number and its NUL */

/* Prints v, which must be a value of format f, NUL-terminated; returns the length. "6", "0.25", "-0",
 * "1.5e-7", "nan", "inf", "-inf". Plain decimals from 1e-5 up to 1e16, else an exponent. */
size_t number_print(char out[NUMBER_MAX], double v, number_format f);
size_t number_print_int(char out[NUMBER_MAX], int64_t v);

/* Read the whole of s[0 .. length): a sign, digits with an optional point and exponent, or `nan`, `inf`,
 * `infinity` in any case. False when it is anything else. Beyond the largest value is infinity. */
bool number_parse(const char *s, size_t length, double *out);
bool number_parse_f32(const char *s, size_t length, float *out); /* rounded once */

/* A sign and digits; false when it is anything else or does not fit. */
bool number_parse_int(const char *s, size_t length, int64_t *out);

#endif
