/* test_source.c — the table of sources, and how an error is drawn to the last blank. */
#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/source.h"

static void sources_are_numbered_and_kept(void **state) {
    (void)state;
    int64_t live = mem_live();
    source_table *table = source_table_new();
    char line[32];
    for (unsigned i = 1; i <= 100; i++) {
        int length = snprintf(line, sizeof line, "x = %u", i);
        assert_int_equal(source_add(table, i % 2 ? "file.td" : NULL, line, (size_t)length), i);
    }
    size_t length;
    assert_string_equal(source_text(table, 42, &length), "x = 42");
    assert_int_equal(length, 6);
    assert_null(source_name(table, 42));
    assert_string_equal(source_name(table, 41), "file.td");
    assert_null(source_text(table, 0, &length));
    assert_int_equal(length, 0);
    assert_null(source_text(table, 101, NULL));
    assert_null(source_name(table, 101));
    source_table_free(table);
    source_table_free(NULL);
    assert_int_equal(mem_live(), live);
}

static void places_count_lines_and_characters(void **state) {
    (void)state;
    source_table *table = source_table_new();
    const char *content = "a\n\xce\xb1\xce\xb2 = 1\n\nlast";
    assert_int_equal(source_add(table, NULL, content, strlen(content)), 1);
    static const struct {
        uint32_t offset, line, column;
    } places[] = {{0, 1, 1},  {1, 1, 2},  {2, 2, 1},  {4, 2, 2},  {6, 2, 3},
                  {10, 2, 7}, {11, 3, 1}, {12, 4, 1}, {16, 4, 5}, {999, 4, 5}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        source_place at = source_locate(table, 1, places[i].offset);
        assert_int_equal(at.line, places[i].line);
        assert_int_equal(at.column, places[i].column);
    }
    assert_int_equal(source_locate(table, 2, 0).line, 0);
    source_table_free(table);
}

static void lines_typed_are_one_text(void **state) {
    (void)state;
    source_table *table = source_table_new();
    uint32_t first = source_add(table, NULL, "a", 1), two = source_add(table, NULL, "(b\nc)", 5),
             file = source_add(table, "f.td", "x\ny\n", 4), ended = source_add(table, NULL, "d\n", 2),
             last = source_add(table, NULL, "e", 1);
    assert_int_equal(source_locate(table, first, 0).line, 1);
    assert_int_equal(source_locate(table, two, 0).line, 2);
    assert_int_equal(source_locate(table, two, 3).line, 3);
    assert_int_equal(source_locate(table, file, 2).line, 2);
    assert_int_equal(source_locate(table, ended, 0).line, 4);
    assert_int_equal(source_locate(table, last, 0).line, 5);
    assert_int_equal(source_lines_typed(table), 5);
    source_table_free(table);
}

/* Draws an error over [begin, end) of `content` and compares. `operands`: lines; `hint`: or NULL. */
static void check(const char *name, const char *content, uint32_t begin, uint32_t end, const char *operands,
                  const char *hint, const char *expected) {
    source_table *table = source_table_new();
    uint32_t id = source_add(table, name, content, strlen(content));
    error e = {0};
    fail(&e, STATUS_SHAPE, 101, "`@` needs equal inner sizes");
    e.where = (span){id, begin, end};
    snprintf(e.operands, sizeof e.operands, "%s", operands);
    if (hint) fail_hint(&e, "%s", hint);
    text out = {0};
    source_render_error(&out, table, &e, 0);
    assert_string_equal(text_str(&out), expected);
    text_free(&out);
    source_table_free(table);
}

#define HEAD "E101 shape: `@` needs equal inner sizes\n"

static void errors_look_as_in_the_language_text(void **state) {
    (void)state;
    check(NULL, "h = x @ w", 4, 9, "x f32[64, 784]   w f32[10, 784]\n784 (x axis 1) is not 10 (w axis 0)",
          "x @ w.T gives f32[64, 10]",
          HEAD "  h = x @ w          x f32[64, 784]   w f32[10, 784]\n"
               "      ^^^^^          784 (x axis 1) is not 10 (w axis 0)\n"
               "  hint: x @ w.T gives f32[64, 10]\n");
    check("net.td", "a\nb\nh = x @ w\nc", 8, 13, "", NULL,
          "net.td:3: " HEAD "  h = x @ w\n"
          "      ^^^^^\n");
    check(NULL, "h = x @ w", 4, 9, "one\ntwo\nthree\nfour", NULL,
          HEAD "  h = x @ w          one\n"
               "      ^^^^^          two\n"
               "                     three\n"
               "                     four\n");
}

static void carets_stand_under_what_they_mark(void **state) {
    (void)state;
    /* A tab takes the columns to its next stop, a combining mark none, a wide character two. */
    check(NULL, "\tx @ w", 1, 6, "", NULL, HEAD "      x @ w\n      ^^^^^\n");
    check(NULL, "ab\tx", 3, 4, "", NULL, HEAD "  ab  x\n      ^\n");
    check(NULL, "e\xcc\x81 @ w", 4, 5, "", NULL, HEAD "  e\xcc\x81 @ w\n    ^\n");
    check(NULL, "\xe4\xb8\xad @ w", 0, 3, "", NULL, HEAD "  \xe4\xb8\xad @ w\n  ^^\n");
    check(NULL, "\xe4\xb8\xad @ w", 4, 5, "", NULL, HEAD "  \xe4\xb8\xad @ w\n     ^\n");
    check(NULL, "\xce\xb1 @ w", 0, 2, "", NULL, HEAD "  \xce\xb1 @ w\n  ^\n");
    /* What a terminal would obey is shown as a replacement. */
    check(NULL, "a\x1b[31m", 1, 2, "", NULL, HEAD "  a\xef\xbf\xbd[31m\n   ^\n");
    check(NULL,
          "a\xff"
          "b",
          1, 2, "", NULL,
          HEAD "  a\xef\xbf\xbd"
               "b\n   ^\n");
}

static void spans_at_edges(void **state) {
    (void)state;
    check(NULL, "x +", 3, 3, "", NULL, HEAD "  x +\n     ^\n");    /* the end of the text */
    check(NULL, "x +\ny", 3, 4, "", NULL, HEAD "  x +\n     ^\n"); /* a newline */
    check(NULL, "x = (a\n @ b)", 4, 12, "", NULL,
          HEAD "  x = (a\n      ^^\n"); /* several lines: the first one */
    check(NULL, "x = (a\r\n @ b)", 4, 13, "", NULL, HEAD "  x = (a\n      ^^\n");
    check(NULL, "", 0, 0, "", NULL, HEAD "  \n  ^\n");
    check(NULL, "x", 5, 9, "", NULL, HEAD "  x\n   ^\n"); /* beyond the end */
}

static void an_error_without_a_place_still_tells_all(void **state) {
    (void)state;
    source_table *table = source_table_new();
    error e = {0};
    fail(&e, STATUS_IO, 0, "no such file");
    fail_operand(&e, "a.csv");
    fail_hint(&e, "look");
    text out = {0};
    source_render_error(&out, table, &e, 0);
    assert_string_equal(text_str(&out), "file: no such file\n  a.csv\n  hint: look\n");
    text_free(&out);
    source_table_free(table);
}

static void long_lines_are_cut_around_the_span(void **state) {
    (void)state;
    char line[2001];
    memset(line, 'a', 2000);
    line[1000] = 'b';
    line[2000] = '\0';
    source_table *table = source_table_new();
    uint32_t id = source_add(table, NULL, line, 2000);
    error e = {0};
    fail(&e, STATUS_NAME, 201, "m");
    fail_operand(&e, "below");
    e.where = (span){id, 1000, 1001};
    text out = {0};
    source_render_error(&out, table, &e, 0);
    char *first = strchr(text_str(&out), '\n') + 1, *second = strchr(first, '\n') + 1;
    assert_true(second - first < 120);
    assert_int_equal(strstr(second, "^") - second,
                     strstr(first, "b") - first - 2); /* the ellipsis has 3 bytes */
    assert_non_null(strstr(second, "\n    below\n"));
    text_free(&out);
    source_table_free(table);
}

/* Columns of the widest line: characters, all of them narrow here. */
static int widest(const char *s) {
    int most = 0;
    while (*s) {
        int columns = 0;
        for (; *s && *s != '\n'; s++) columns += (*s & 0xc0) != 0x80;
        if (columns > most) most = columns;
        s += *s == '\n';
    }
    return most;
}

static void the_line_fits_the_window(void **state) {
    (void)state;
    char line[201];
    memset(line, 'a', 200);
    line[200] = '\0';
    source_table *table = source_table_new();
    uint32_t id = source_add(table, NULL, line, 200);
    for (int width = 30; width <= 120; width += 3) {
        for (uint32_t begin = 0; begin < 200; begin += 7) {
            error e = {0};
            fail(&e, STATUS_NAME, 201, "m");
            fail_operand(&e, "x f32[3]   w f32[4]");
            fail_hint(&e, "a hint of several words, which does not fit into a narrow window on one line");
            e.where = (span){id, begin, begin + 20 < 200 ? begin + 20 : 200};
            text out = {0};
            source_render_error(&out, table, &e, width);
            assert_true(widest(text_str(&out)) <= (width < 100 ? width : 100));
            assert_non_null(strchr(text_str(&out), '^'));
            text_free(&out);
        }
    }
    source_table_free(table);
}

static void running_out_of_memory_is_a_zero(void **state) {
    (void)state;
    int64_t live = mem_live();
    for (int64_t after = 1; after < 6; after++) {
        mem_fail_after(after);
        source_table *table = source_table_new();
        uint32_t id = table ? source_add(table, "name", "a\nb", 3) : 0;
        mem_fail_after(0);
        assert_int_equal(id, 0); /* table, items, name, text, lines */
        if (table) assert_int_equal(source_add(table, "name", "a\nb", 3), 1);
        source_table_free(table);
        assert_int_equal(mem_live(), live);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_numbered_and_kept),
        cmocka_unit_test(places_count_lines_and_characters),
        cmocka_unit_test(lines_typed_are_one_text),
        cmocka_unit_test(errors_look_as_in_the_language_text),
        cmocka_unit_test(carets_stand_under_what_they_mark),
        cmocka_unit_test(spans_at_edges),
        cmocka_unit_test(an_error_without_a_place_still_tells_all),
        cmocka_unit_test(long_lines_are_cut_around_the_span),
        cmocka_unit_test(the_line_fits_the_window),
        cmocka_unit_test(running_out_of_memory_is_a_zero),
    };
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
