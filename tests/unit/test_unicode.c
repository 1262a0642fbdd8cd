/* test_unicode.c — UTF-8 in and out over all code points, and the classes of characters. */
#include "tests/harness/check.h"

#include <stdbool.h>
#include <string.h>

#include "engine/base/unicode.h"

static void every_scalar_value_goes_there_and_back(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x110000; code++) {
        char bytes[4];
        size_t written = utf8_encode(code, bytes);
        bool scalar = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
        assert_int_equal(written, !scalar ? 0 : code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        if (!scalar) continue;
        uint32_t back;
        assert_int_equal(utf8_decode(bytes, written, &back), written);
        assert_int_equal(back, code);
        if (written == 1) continue;
        assert_int_equal(utf8_decode(bytes, written - 1, &back), 0); /* cut short */
        assert_int_equal(back, (unsigned char)bytes[0]);
    }
}

static void what_is_not_utf8_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80", "\xff",         "\xe2\x28\xa1",     "\xc3("};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t code;
        assert_int_equal(utf8_decode(wrong[i], strlen(wrong[i]), &code), 0);
    }
}

static void texts_are_cut_between_characters(void **state) {
    (void)state;
    const char *text = "a\xce\xb1\xe2\x82\xac!"; /* 1 + 2 + 3 + 1 bytes */
    static const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 7, 7};
    for (size_t limit = 0; limit < 9; limit++) assert_int_equal(utf8_cut(text, 7, limit), whole[limit]);
}

static void letters_digits_and_widths(void **state) {
    (void)state;
    assert_true(unicode_starts_name('_') && unicode_starts_name('z') && unicode_starts_name(0x3b1));
    assert_true(unicode_starts_name(0xe9) && unicode_starts_name(0x4e2d) && unicode_starts_name(0x1d6fc));
    assert_false(unicode_starts_name('0') || unicode_starts_name(0x301) || unicode_starts_name(0x2207));
    assert_false(unicode_starts_name(0x80) || unicode_starts_name(0x10ffff) || unicode_starts_name(0x1f600));
    assert_true(unicode_continues_name('0') && unicode_continues_name(0x301) &&
                unicode_continues_name(0x661));
    assert_false(unicode_continues_name(0xb2) || unicode_continues_name('-') || unicode_continues_name(0xa0));
    assert_int_equal(unicode_width('a'), 1);
    assert_int_equal(unicode_width(0x3b1), 1);
    assert_int_equal(unicode_width(0x4e2d), 2);
    assert_int_equal(unicode_width(0x1f600), 2);
    assert_int_equal(unicode_width(0x301), 0);
    assert_int_equal(unicode_width(0x200b), 0);
    assert_int_equal(unicode_columns("a\xe4\xb8\xad"
                                     "e\xcc\x81\xff",
                                     8),
                     5); /* the last byte is not UTF-8 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar_value_goes_there_and_back),
        cmocka_unit_test(what_is_not_utf8_is_refused),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(letters_digits_and_widths),
    };
    return cmocka_run_group_tests_name("unicode", tests, NULL, NULL);
}
