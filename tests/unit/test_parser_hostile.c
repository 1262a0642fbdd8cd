/* test_parser_hostile.c — the parser on texts that are deep, long or broken at random, and with failing allocations: a
 * tree or a sound error, always. */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "tests/harness/parsing.h"

/* --- sizes --- */

static void repeat(text *out, const char *piece, int count) {
    for (int i = 0; i < count; i++) text_add(out, piece);
}

/* `before` n times, `middle`, `after` n times. */
static status parse_nested(const char *before, const char *middle, const char *after, int count, error *e) {
    text content = {0};
    repeat(&content, before, count);
    text_add(&content, middle);
    repeat(&content, after, count);
    parsed x = parse_bytes(content.data, content.length);
    if (x.tree) assert_true(ast_root(x.tree)->height <= AST_MAX_DEPTH);
    *e = x.e;
    text_free(&content);
    parse_done(&x);
    return e->code;
}

static const char *const nestings[][3] = {
    {"(", "x", ")"},
    {"[", "x", "]"},
    {"{ ", "x", " }"},
    {"{a: ", "x", "}"},
    {"f(", "x", ")"},
    {"a[", "x", "]"},
    {"f(k=", "x", ")"},
    {"-", "x", ""},
    {"~ ", "x", ""},
    {"not ", "x", ""},
    {"x ** ", "x", ""},
    {"x ** -", "x", ""},
    {"x -> ", "x", ""},
    {"(x=", "1", ") -> 1"},
    {"if ", "x", " {}"},
    {"if x { ", "x", " }"},
    {"for i in x { ", "x", " }"},
    {"while x { ", "x", " }"},
    {"def f() { ", "x", " }"},
    {"tape { ", "x", " }"},
    {"on d { ", "x", " }"},
    {"on ", "x", " {}"},
    {"precision(f16) { ", "x", " }"},
    {"(", "x", ", 1)"},
    {"", "x", "(y)"},
    {"", "x", "[y]"},
    {"", "x", ".y"},
    {"", "x", " as f32"},
    {"", "x", " |> f < y"},
    {"x[", "1", ":]"},
    {"if x {} else { ", "x", " }"},
    {"a + (", "x", ")"},
    {"(", "a, b", ", c), d"},
    {"x |> (", "x", ")"},
};

static void deep_nesting_is_refused_not_fatal(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof nestings / sizeof *nestings; i++) {
        const char *const *n = nestings[i];
        error e;
        parse_nested(n[0], n[1], n[2], 200, &e);
        if (e.code) fail_msg("`%s%s%s`: %s", n[0], n[1], n[2], e.message);
        for (int count = 1001; count <= 20001; count += 19000) {
            parse_nested(n[0], n[1], n[2], count, &e);
            if (e.code != STATUS_LIMIT) fail_msg("%d levels of `%s`: %s", count, n[0], e.message);
            assert_int_equal(e.number, 36);
            assert_int_equal(e.where.source, 1);
            assert_true(e.hint[0] != '\0');
        }
    }
}

static void a_thousand_brackets_are_allowed(void **state) {
    (void)state;
    error e;
    assert_int_equal(parse_nested("(", "x", ")", AST_MAX_DEPTH - 1, &e), STATUS_OK);
    assert_int_equal(parse_nested("(", "x", ")", AST_MAX_DEPTH, &e), STATUS_LIMIT);
    assert_int_equal(parse_nested("[", "x", "]", AST_MAX_DEPTH - 2, &e), STATUS_OK);
}

/* One node with `count` children, or as many of them: flat texts stay flat. */
static void check_flat(const char *first, const char *piece, const char *last, int count) {
    text content = {0};
    text_add(&content, first);
    repeat(&content, piece, count);
    text_add(&content, last);
    parsed x = parse_bytes(content.data, content.length);
    if (x.code) fail_msg("`%s%s..`: %s", first, piece, x.e.message);
    assert_true(ast_root(x.tree)->height <= 6);
    parse_done(&x);
    text_free(&content);
}

static void long_flat_texts_stay_flat(void **state) {
    (void)state;
    enum { MANY = 100000 };
    check_flat("1", " + 1", "", MANY);
    check_flat("x", " - y * 2", "", MANY);
    check_flat("x", " |> f", "", MANY);
    check_flat("x", " < y", "", MANY);
    check_flat("x", " and y", "", MANY);
    check_flat("x", " or not y", "", MANY);
    check_flat("x", " & y", "", MANY);
    check_flat("[", "1, ", "]", MANY);
    check_flat("f(", "1, ", ")", MANY);
    check_flat("a[", "1, ", "]", MANY);
    check_flat("", "1, ", "2", MANY);
    check_flat("", "x = 1; ", "", MANY);
    check_flat("", "x = 1\n", "", MANY);
    check_flat("{", "x\n", "}", MANY);
    check_flat("if x { 1 }", " else if y { 2 }", " else { 3 }", MANY);
    check_flat("f32[", "?, ", "1]", MANY);
    text names = {0};
    text_add(&names, "f(");
    for (int i = 0; i < MANY; i++) text_printf(&names, "k%d=1,", i);
    check_flat(text_str(&names), "", ")", 0);
    text_free(&names);
}

/* --- broken texts --- */

static uint64_t draw(uint64_t *state) {
    return hash_u64(*state += 0x9e3779b97f4a7c15u);
}

/* Whatever the text, there is a tree or a sound error, and the same question to parse_complete has an answer.
 * */
static void survive(const char *content, size_t length) {
    parsed x = parse_bytes(content, length);
    text out = {0};
    if (x.tree) {
        ast_print(&out, ast_root(x.tree));
    } else {
        if (x.code != STATUS_SYNTAX && x.code != STATUS_LIMIT) fail_msg("status %d: %s", x.code, content);
        if (x.e.number < 1 || x.e.number > 36) fail_msg("number %d: %s", x.e.number, content);
        if (x.e.where.source != 1 || x.e.where.begin > x.e.where.end || x.e.where.end > length)
            fail_msg("span %u %u: %s", x.e.where.begin, x.e.where.end, content);
        source_render_error(&out, x.table, &x.e, 0);
    }
    assert_false(out.failed);
    text_free(&out);
    parse_state complete = parse_complete(content, length);
    if (x.code == STATUS_OK && complete == PARSE_WRONG) fail_msg("good but never complete: %s", content);
    if (x.code != STATUS_OK && complete == PARSE_COMPLETE) fail_msg("complete but not good: %s", content);
    parse_done(&x);
}

static void token_soup_never_crashes(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "def",     "for",    "while",      "break",       "continue",
        "return",  "if",     "else",       "in",          "and",
        "or",      "not",    "as",         "true",        "None",
        "f32",     "bf16",   "tape",       "on",          "precision",
        "x",       "y",      "f",          "1",           "2.5",
        "'s'",     "(",      ")",          "[",           "]",
        "{",       "}",      ",",          ";",           ":",
        "?",       ".",      "..",         "...",         "->",
        "=",       "+=",     "-=",         "+",           "-",
        "~",       "*",      "**",         "/",           "//",
        "%",       "@",      "&",          "|",           "|>",
        "==",      "<",      ">=",         "\n",          "\n",
        " ",       "# c\n",  "\xce\xb1",   "lambda",      "True",
        "(x)",     "{ }",    "{a: 1}",     "f(x)",        "x[0]",
        "a, b",    "x = 1",  "if x { y }", "else {",      "9223372036854775808",
        "'",       "^",      "&&",         "\\",          "\xff",
        ":help\n", "x -> x", "(x, y) ->",  "elif",        "!",
        "is",      "1e",     "\"",         "\xe2\x80\x9c"};
    uint64_t seed = 42;
    for (int round = 0; round < 30000; round++) {
        text soup = {0};
        int count = (int)(draw(&seed) % 24);
        for (int i = 0; i < count; i++) {
            text_add(&soup, pieces[draw(&seed) % (sizeof pieces / sizeof *pieces)]);
            if (draw(&seed) % 4) text_char(&soup, ' ');
        }
        survive(text_str(&soup), soup.length);
        text_free(&soup);
    }
}

static void cut_and_changed_examples_never_crash(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (size_t i = 0; i < parse_example_count; i++) {
        size_t length = strlen(parse_examples[i]);
        for (size_t cut = 0; cut <= length; cut++) {
            char *exact =
                mem_copy_text(parse_examples[i], cut); /* so that reading beyond the end is noticed */
            survive(exact, cut);
            mem_free(exact);
        }
        for (int round = 0; round < 200; round++) {
            char *changed = mem_copy_text(parse_examples[i], length);
            for (int change = 0; change < 3; change++)
                changed[draw(&seed) % length] = (char)(draw(&seed) & 0xff);
            survive(changed, length);
            mem_free(changed);
        }
    }
}

static void failing_allocations_are_errors(void **state) {
    (void)state;
    text all = {0};
    for (size_t i = 0; i < parse_example_count; i++) text_printf(&all, "%s\n", parse_examples[i]);
    text_add(&all, "f(a=1, b=2); {a: 1, b: 2}; (a, b) -> a; "
                   "0.33333333333333333333333333333333333333333333333333333333333333\n");
    const char *contents[] = {text_str(&all), "x + ", "'abc", "f(a=1, a=2)", "a & b > c"};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        size_t length = strlen(contents[i]);
        source_table *table = source_table_new();
        uint32_t id = source_add(table, NULL, contents[i], length);
        error whole = {0};
        ast *tree;
        status expected = parse_program(table, id, &whole, &tree);
        ast_release(tree);
        int64_t live = mem_live();
        for (int64_t after = 1;; after++) {
            error e = {0};
            mem_fail_after(after);
            status code = parse_program(table, id, &e, &tree);
            mem_fail_after(0);
            assert_int_equal(code, e.code);
            bool reached = code == expected;
            if (!reached) {
                assert_int_equal(code, STATUS_MEMORY);
                assert_null(tree);
            }
            ast_release(tree);
            assert_int_equal(mem_live(), live);
            if (reached) {
                assert_true(after > 3);
                break;
            }
        }
        for (int64_t after = 1; after < 40; after++) {
            mem_fail_after(after);
            parse_complete(contents[i], length);
            mem_fail_after(0);
            assert_int_equal(mem_live(), live);
        }
        source_table_free(table);
    }
    text_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_nesting_is_refused_not_fatal),
        cmocka_unit_test(a_thousand_brackets_are_allowed),
        cmocka_unit_test(long_flat_texts_stay_flat),
        cmocka_unit_test(token_soup_never_crashes),
        cmocka_unit_test(cut_and_changed_examples_never_crash),
        cmocka_unit_test(failing_allocations_are_errors),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
