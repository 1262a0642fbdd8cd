/* unicode.h — UTF-8 in and out, and what a character is: part of a name, wide, invisible. Knows no locale, so
 * that names and columns are the same on every machine. */
#ifndef TD_BASE_UNICODE_H
#define TD_BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character at `text` (`length` >= 1 bytes are there) into *code. Returns its bytes, 1 to 4; 0 when
 * the bytes are not UTF-8 (overlong forms, surrogates and values above U+10FFFF included), with *code the
 * first byte. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);

/* Writes `code` (a Unicode scalar value) as UTF-8. Returns its bytes, 1 to 4; 0 when it is not a scalar
 * value. */
size_t utf8_encode(uint32_t code, char out[4]);

/* How many of the first `limit` bytes of `text` are whole characters: where to cut a text that is too long.
 */
size_t utf8_cut(const char *text, size_t length, size_t limit);

/* Whether a name may begin with the character, or go on with it: letters and `_`, then digits and marks too.
 */
bool unicode_starts_name(uint32_t code);
bool unicode_continues_name(uint32_t code);

/* Columns in a terminal: 0, 1 or 2. Control characters count 1 (they are shown as one replacement character).
 */
int unicode_width(uint32_t code);

/* Columns that `length` bytes of text take; what is not UTF-8 takes one each. */
int unicode_columns(const char *text, size_t length);

#endif
