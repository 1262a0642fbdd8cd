/* lex_literal.c — numbers and strings. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/unicode.h"
#include "repl/lang/lexer_impl.h"
#include "repl/lang/syntax_errors.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Whether a letter of a name stands `ahead` bytes on. */
static bool letter_at(const lexer *x, uint32_t ahead) {
    uint32_t code;
    if (x->end - x->at <= ahead) return false;
    return utf8_decode(x->content + x->at + ahead, x->end - x->at - ahead, &code) > 0 &&
           unicode_starts_name(code);
}

/* Digits in groups: `1_000`. An underscore counts only between two digits. */
static void skip_digits(lexer *x) {
    while (is_digit(lex_peek(x, 0)) || (lex_peek(x, 0) == '_' && x->at > 0 &&
                                        is_digit(x->content[x->at - 1]) && is_digit(lex_peek(x, 1))))
        x->at++;
}

/* The fraction and exponent at x->at. Returns whether there was any. */
static bool skip_fraction(lexer *x) {
    bool real = false;
    if (lex_peek(x, 0) == '.' && lex_peek(x, 1) != '.' && !letter_at(x, 1)) {
        real = true;
        x->at++;
        if (is_digit(lex_peek(x, 0))) skip_digits(x);
    }
    if (lex_peek(x, 0) == 'e' || lex_peek(x, 0) == 'E') {
        uint32_t sign = lex_peek(x, 1) == '+' || lex_peek(x, 1) == '-';
        if (is_digit(lex_peek(x, 1 + sign))) {
            real = true;
            x->at += 1 + sign;
            skip_digits(x);
        }
    }
    return real;
}

/* The length of `.e5` at x->at, a point without digits behind it and then an exponent; else 0. (What is no exponent
 * is a field's name.) */
static uint32_t bare_exponent(const lexer *x) {
    uint32_t at = 2;
    if (lex_peek(x, 0) != '.' || (lex_peek(x, 1) != 'e' && lex_peek(x, 1) != 'E')) return 0;
    if (lex_peek(x, at) == '+' || lex_peek(x, at) == '-') at++;
    uint32_t digits = at;
    while (is_digit(lex_peek(x, at))) at++;
    return at == digits || letter_at(x, at) ? 0 : at;
}

static void fault_exponent(lexer *x, const token *t, uint32_t length) {
    int number = (int)(x->at - t->begin), rest = (int)length - 1;
    const char *digits = x->content + t->begin, *exponent = x->content + x->at + 1;
    x->at += length;
    lex_fault(x, E_NUMBER, t->begin, x->at, "a point in a number has digits behind it");
    if (number + rest <= 40)
        fail_hint(&x->list->fault, "write %.*s.0%.*s", number, digits, rest, exponent);
    else
        fail_hint(&x->list->fault, "write a 0 behind the point");
}

/* What stands directly after a number and can't. */
static void fault_tail(lexer *x, const token *t) {
    uint32_t tail = x->at;
    while (x->at < x->end) {
        uint32_t code;
        size_t bytes = utf8_decode(x->content + x->at, x->end - x->at, &code);
        if (bytes == 0 || !unicode_continues_name(code)) break;
        x->at += (uint32_t)bytes;
    }
    int number = (int)(tail - t->begin), rest = (int)(x->at - tail);
    if (number > 40) number = 40;
    if (rest > 40) rest = (int)utf8_cut(x->content + tail, (size_t)rest, 40);
    const char *digits = x->content + t->begin, *after = x->content + tail;
    if (after[0] == '_') {
        lex_fault(x, E_NUMBER, t->begin, x->at, "an underscore in a number stands between two digits");
        fail_hint(&x->list->fault, "write 1_000, or leave the underscore out");
        return;
    }
    lex_fault(x, E_NUMBER, t->begin, x->at, "a number can't go on with `%.*s`", rest, after);
    if ((after[0] == 'e' || after[0] == 'E') && rest == 1)
        fail_hint(&x->list->fault, "an exponent needs digits: %.*se3", number, digits);
    else if (number == 1 && digits[0] == '0' && strchr("xXbBoO", after[0]))
        fail_hint(&x->list->fault, "write the number in decimal; other bases are not in the language");
    else if (after[0] == 'j' && rest == 1)
        fail_hint(&x->list->fault, "there are no complex numbers");
    else
        fail_hint(&x->list->fault, "for a product write %.*s * %.*s; names start with a letter or `_`",
                  number, digits, rest, after);
}

/* The digits of [begin, end) without underscores, NUL-terminated, in `small` when they fit; else allocated.
 */
static char *plain_digits(lexer *x, uint32_t begin, uint32_t end, char *small, size_t small_size) {
    char *digits = end - begin < small_size ? small : mem_alloc((size_t)(end - begin) + 1);
    if (!digits) {
        fail_memory(x->e, end - begin);
        return NULL;
    }
    size_t n = 0;
    for (uint32_t i = begin; i < end; i++)
        if (x->content[i] != '_') digits[n++] = x->content[i];
    digits[n] = '\0';
    return digits;
}

static status read_real(lexer *x, token *t) {
    char small[64];
    char *digits = plain_digits(x, t->begin, t->end, small, sizeof small);
    if (!digits) return x->e->code;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a decimal point in every user's locale */
    if (plain) {
        t->real = strtod_l(digits, NULL, plain);
        freelocale(plain);
    } else {
        fail_memory(x->e, 0);
    }
    if (digits != small) mem_free(digits);
    return x->e->code;
}

static void read_integer(lexer *x, token *t) {
    const uint64_t most = (uint64_t)INT64_MAX + 1;
    uint64_t value = 0;
    for (uint32_t i = t->begin; i < t->end; i++) {
        if (x->content[i] == '_') continue;
        uint64_t digit = (uint64_t)(x->content[i] - '0');
        if (value > (most - digit) / 10) {
            lex_fault(x, E_INTEGER_RANGE, t->begin, t->end, "an integer of this size does not fit i64");
            fail_operand(&x->list->fault, "the largest is 9223372036854775807");
            fail_hint(&x->list->fault, "write it with a point, as a real number");
            return;
        }
        value = value * 10 + digit;
    }
    t->integer = value;
}

status lex_number(lexer *x, token *t) {
    skip_digits(x);
    bool real = skip_fraction(x);
    t->kind = real ? TOKEN_REAL : TOKEN_INT;
    t->end = x->at;
    uint32_t exponent = real ? 0 : bare_exponent(x);
    if (exponent) {
        fault_exponent(x, t, exponent);
        return STATUS_OK;
    }
    if (letter_at(x, 0)) {
        fault_tail(x, t);
        return STATUS_OK;
    }
    if (real) return read_real(x, t);
    read_integer(x, t);
    return STATUS_OK;
}

/* --- strings --- */

/* Finds the closing quote; x->at is the opening one. Returns its offset, or x->end. */
static uint32_t closing_quote(lexer *x) {
    char quote = x->content[x->at];
    uint32_t at = x->at + 1;
    while (at < x->end && x->content[at] != quote) {
        if (x->content[at] == '\\' && x->end - at > 1) at++;
        at++;
    }
    return at < x->end ? at : x->end;
}

/* Does the quote stand right behind a value, as in x', where no string can begin? */
static bool behind_value(const lexer *x, const token *t) {
    const token_list *l = x->list;
    const token *before = l->count ? &l->items[l->count - 1] : NULL;
    return before && before->end == t->begin &&
           (before->kind == TOKEN_NAME || before->kind == TOKEN_RPAREN || before->kind == TOKEN_RBRACKET);
}

static void fault_open_string(lexer *x, const token *t) {
    if (behind_value(x, t)) {
        lex_fault(x, E_STRING_OPEN, t->begin, t->begin + 1, "no string can begin right behind a value");
        fail_hint(&x->list->fault, "for the transpose, write x.T");
        return;
    }
    lex_fault(x, E_STRING_OPEN, t->begin, t->begin + 1, "this string is never closed");
    if (x->line_break)
        fail_operand(&x->list->fault, "the string that opens in line %u spans lines: is its quote missing?",
                     (unsigned)lex_line(x, x->line_break));
    fail_hint(&x->list->fault, "end it with %c", x->content[t->begin]);
    x->list->fault_open = true;
}

/* `\u{..}`: *at is at the `u`; moves behind the `}`. Returns the bytes written, 0 after a fault. */
static size_t unicode_escape(lexer *x, uint32_t *at, uint32_t end, char *out) {
    uint32_t begin = *at - 1, code = 0, digits = 0, i = *at + 1;
    size_t bytes = 0;
    if (i < end && x->content[i] == '{') {
        for (i++; i < end && digits < 7; i++, digits++) {
            char c = x->content[i];
            uint32_t value = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                             : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                             : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                    : 16;
            if (value > 15) break;
            code = code * 16 + value;
        }
        if (digits > 0 && i < end && x->content[i] == '}') {
            bytes = utf8_encode(code, out);
            i++;
        }
    }
    if (bytes == 0) {
        lex_fault(x, E_ESCAPE, begin, i, "`\\u` wants the number of a character in braces");
        fail_hint(&x->list->fault, "write \\u{3b1} for \xce\xb1");
    }
    *at = i;
    return bytes;
}

/* One escape; *at is behind the backslash and moves behind the escape. Returns the bytes written, 0 after a
 * fault. */
static size_t escape(lexer *x, uint32_t *at, uint32_t end, char *out) {
    static const char from[] = "ntr0\\\"'", to[] = "\n\t\r\0\\\"'";
    char c = x->content[*at];
    if (c == 'u') return unicode_escape(x, at, end, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) {
        uint32_t code;
        size_t bytes = utf8_decode(x->content + *at, end - *at, &code);
        uint32_t length = bytes ? (uint32_t)bytes : 1;
        if (c < 0x20 && c >= 0)
            lex_fault(x, E_ESCAPE, *at - 1, *at,
                      "a `\\` in a string stands before the character that it changes");
        else
            lex_fault(x, E_ESCAPE, *at - 1, *at + length, "`\\%.*s` means nothing in a string", (int)length,
                      x->content + *at);
        fail_hint(&x->list->fault,
                  "write \\\\ for a backslash; known are \\n \\t \\r \\0 \\\\ \\\" \\' \\u{..}");
        return 0;
    }
    ++*at;
    out[0] = to[found - from];
    return 1;
}

status lex_string(lexer *x, token *t) {
    uint32_t close = closing_quote(x), at = x->at + 1;
    if (close == x->end) {
        fault_open_string(x, t);
        x->at = x->end;
        return STATUS_OK;
    }
    size_t room = (size_t)(close - at) + 1, length = 0;
    char *decoded = arena_alloc(x->memory, room); /* an escape is never shorter than what it stands for */
    if (!decoded) return fail_memory(x->e, room);
    while (at < close) {
        uint32_t code;
        size_t bytes = utf8_decode(x->content + at, close - at, &code);
        if (bytes == 0) {
            lex_fault(x, E_UTF8, at, at + 1, "the byte 0x%02x is not UTF-8", (unsigned)code);
            fail_hint(&x->list->fault, "save the file as UTF-8");
            return STATUS_OK;
        }
        if (code == '\\') {
            at++;
            size_t written = escape(x, &at, close, decoded + length);
            if (written == 0) return STATUS_OK;
            length += written;
            continue;
        }
        if (code == '\n' && !x->line_break) x->line_break = t->begin + 1;
        memcpy(decoded + length, x->content + at, bytes);
        length += bytes;
        at += (uint32_t)bytes;
    }
    x->at = t->end = close + 1;
    t->kind = TOKEN_STRING;
    t->string = decoded;
    t->length = (uint32_t)length;
    return STATUS_OK;
}
