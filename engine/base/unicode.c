/* unicode.c — see unicode.h. The ranges are generated and searched by halving. */
#include "engine/base/unicode.h"

typedef struct unicode_range {
    uint32_t first, last;
} unicode_range;

#include "engine/base/unicode_tables.inc"

static bool within(const unicode_range *table, size_t count, uint32_t code) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > table[middle].last)
            low = middle + 1;
        else if (code < table[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

#define WITHIN(table, code) within((table), sizeof(table) / sizeof((table)[0]), (code))

size_t utf8_decode(const char *text, size_t length, uint32_t *code) {
    const unsigned char *p = (const unsigned char *)text;
    *code = p[0];
    if (p[0] < 0x80) return 1;
    size_t bytes = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length < bytes) return 0;
    uint32_t value = p[0] & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[bytes] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    *code = value;
    return bytes;
}

size_t utf8_encode(uint32_t code, char out[4]) {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[bytes] | code);
    return bytes;
}

size_t utf8_cut(const char *text, size_t length, size_t limit) {
    if (length <= limit) return length;
    size_t cut = limit;
    while (cut > 0 && limit - cut < 3 && ((unsigned char)text[cut] & 0xc0) == 0x80) cut--;
    return ((unsigned char)text[cut] & 0xc0) == 0x80 ? limit : cut;
}

bool unicode_starts_name(uint32_t code) {
    if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_';
    return WITHIN(letters, code);
}

bool unicode_continues_name(uint32_t code) {
    if (code < 0x80) return unicode_starts_name(code) || (code >= '0' && code <= '9');
    return WITHIN(letters, code) || WITHIN(continuing, code);
}

int unicode_width(uint32_t code) {
    if (code < 0x80) return 1;
    return WITHIN(zero_width, code) ? 0 : WITHIN(wide, code) ? 2 : 1;
}

int unicode_columns(const char *text, size_t length) {
    int columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = utf8_decode(text + at, length - at, &code);
        columns += bytes ? unicode_width(code) : 1;
        at += bytes ? bytes : 1;
    }
    return columns;
}
