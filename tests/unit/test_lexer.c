/* test_lexer.c — tokens: kinds and exact spans, numbers, strings, newlines, brackets, faults. */
#include "tests/harness/check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "repl/lang/lexer.h"
#include "repl/lang/syntax_errors.h"

typedef struct lexed {
    arena *memory;
    token_list list;
} lexed;

static lexed lex_bytes(const char *content, size_t length) {
    lexed x = {.memory = arena_new()};
    error e = {0};
    assert_int_equal(lex(&x.list, content, 0, (uint32_t)length, 1, x.memory, &e), STATUS_OK);
    assert_true(x.list.count >= 1 && x.list.items[x.list.count - 1].kind == TOKEN_END);
    return x;
}

static lexed lex_text(const char *content) {
    return lex_bytes(content, strlen(content));
}

static void done(lexed *x) {
    token_list_free(&x->list);
    arena_free(x->memory);
}

/* The tokens' spellings joined by single blanks: a newline is `$`, a command `<..>`, a record's brace `{:`.
 * */
static void check_tokens(const char *content, const char *expected) {
    lexed x = lex_text(content);
    text out = {0};
    for (uint32_t i = 0; i + 1 < x.list.count; i++) {
        const token *t = &x.list.items[i];
        if (i > 0) text_char(&out, ' ');
        if (t->kind == TOKEN_NEWLINE) {
            assert_int_equal(t->end, t->begin + 1);
            assert_int_equal(content[t->begin], '\n');
            text_char(&out, '$');
            continue;
        }
        if (t->kind == TOKEN_COMMAND) text_char(&out, '<');
        text_add_bytes(&out, content + t->begin, t->end - t->begin);
        if (t->kind == TOKEN_COMMAND) text_char(&out, '>');
        if (t->record) text_char(&out, ':');
    }
    assert_int_equal(x.list.fault.code, STATUS_OK);
    assert_string_equal(text_str(&out), expected);
    text_free(&out);
    done(&x);
}

static void longest_match_wins(void **state) {
    (void)state;
    check_tokens("a...b..c.d", "a ... b .. c . d");
    check_tokens("a|>b|c", "a |> b | c");
    check_tokens("a**b*c", "a ** b * c");
    check_tokens("a//b/c", "a // b / c");
    check_tokens("a<=b<c>=d>e==f!=g", "a <= b < c >= d > e == f != g");
    check_tokens("a->b-c", "a -> b - c");
    check_tokens("a+=b-=c*=d/=e=f", "a += b -= c *= d /= e = f");
    check_tokens("f(k=-1,[~x])@y%z&w;?:", "f ( k = - 1 , [ ~ x ] ) @ y % z & w ; ? :");
    check_tokens("0..10", "0 .. 10");
    check_tokens("0..n-1", "0 .. n - 1");
    check_tokens("a[...,1:]", "a [ ... , 1 : ]");
    check_tokens("1...2", "1 ... 2");
    check_tokens("x # comment ( [ {\n# another\ny#z", "x $ y");
}

static void words_and_names(void **state) {
    (void)state;
    static const struct {
        const char *word;
        int kind;
    } words[] = {{"def", TOKEN_DEF},
                 {"for", TOKEN_FOR},
                 {"while", TOKEN_WHILE},
                 {"break", TOKEN_BREAK},
                 {"continue", TOKEN_CONTINUE},
                 {"return", TOKEN_RETURN},
                 {"if", TOKEN_IF},
                 {"else", TOKEN_ELSE},
                 {"in", TOKEN_IN},
                 {"and", TOKEN_AND},
                 {"or", TOKEN_OR},
                 {"not", TOKEN_NOT},
                 {"as", TOKEN_AS},
                 {"true", TOKEN_TRUE},
                 {"false", TOKEN_FALSE},
                 {"None", TOKEN_NONE},
                 {"f64", TOKEN_DTYPE},
                 {"f32", TOKEN_DTYPE},
                 {"f16", TOKEN_DTYPE},
                 {"bf16", TOKEN_DTYPE},
                 {"i64", TOKEN_DTYPE},
                 {"i32", TOKEN_DTYPE},
                 {"i8", TOKEN_DTYPE},
                 {"u8", TOKEN_DTYPE},
                 {"bool", TOKEN_DTYPE},
                 {"tape", TOKEN_NAME},
                 {"on", TOKEN_NAME},
                 {"precision", TOKEN_NAME},
                 {"_", TOKEN_NAME},
                 {"_x1", TOKEN_NAME},
                 {"iff", TOKEN_NAME},
                 {"f3", TOKEN_NAME},
                 {"none", TOKEN_NAME},
                 {"\xce\xb1", TOKEN_NAME},
                 {"\xce\xb1_\xd9\xa1", TOKEN_NAME},
                 {"e\xcc\x81t\xc3\xa9", TOKEN_NAME},
                 {"\xe4\xb8\xad\xe6\x96\x87", TOKEN_NAME}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        lexed x = lex_text(words[i].word);
        assert_int_equal(x.list.count, 2);
        assert_int_equal(x.list.items[0].kind, words[i].kind);
        assert_int_equal(x.list.items[0].begin, 0);
        assert_int_equal(x.list.items[0].end, strlen(words[i].word));
        done(&x);
    }
}

static void check_integer(const char *content, uint64_t value) {
    lexed x = lex_text(content);
    assert_int_equal(x.list.count, 2);
    assert_int_equal(x.list.items[0].kind, TOKEN_INT);
    assert_true(x.list.items[0].integer == value);
    done(&x);
}

static void check_real(const char *content, double value) {
    lexed x = lex_text(content);
    assert_int_equal(x.list.count, 2);
    assert_int_equal(x.list.items[0].kind, TOKEN_REAL);
    assert_memory_equal(&x.list.items[0].real, &value, sizeof value);
    done(&x);
}

static void numbers(void **state) {
    (void)state;
    check_integer("0", 0);
    check_integer("007", 7);
    check_integer("1_000_000", 1000000);
    check_integer("9223372036854775807", INT64_MAX);
    check_integer("9223372036854775808", (uint64_t)INT64_MAX + 1); /* the parser decides about it */
    check_real("1.", 1);
    check_real("1.5", 1.5);
    check_real(".5", 0.5);
    check_real("1e3", 1e3);
    check_real("1E+3", 1e3);
    check_real("1.5e-3", 1.5e-3);
    check_real("1_0.2_5", 10.25);
    check_real("1e1_0", 1e10);
    check_real("0.1", 0.1);
    check_real("1.7976931348623157e308", DBL_MAX);
    check_real("5e-324", 4.9406564584124654e-324);
    check_real("1e400", (double)INFINITY);
    char digits[401] = "0.";
    memset(digits + 2, '3', 398);
    check_real(digits, 1.0 / 3);
    check_tokens("1.exp", "1 . exp"); /* a letter follows the point */
    check_tokens("1.e5x", "1 . e5x");
    check_tokens("1.abs()", "1 . abs ( )");
    check_tokens("1._x", "1 . _x");
    check_tokens("1.5.abs", "1.5 . abs");
    check_tokens("1..5", "1 .. 5");
    check_tokens("1. .5", "1. .5");
    check_tokens("2.**3", "2. ** 3");
    check_tokens("[1.,2.]", "[ 1. , 2. ]");
}

static void check_string(const char *content, const char *value, size_t length) {
    lexed x = lex_text(content);
    assert_int_equal(x.list.count, 2);
    assert_int_equal(x.list.items[0].kind, TOKEN_STRING);
    assert_int_equal(x.list.items[0].end, strlen(content));
    assert_int_equal(x.list.items[0].length, length);
    assert_memory_equal(x.list.items[0].string, value, length);
    assert_int_equal(x.list.items[0].string[length], 0);
    done(&x);
}

static void strings(void **state) {
    (void)state;
    check_string("\"\"", "", 0);
    check_string("'it is \"so\"'", "it is \"so\"", 10);
    check_string("\"a'b\"", "a'b", 3);
    check_string("'\\n\\t\\r\\0\\\\\\\"\\''", "\n\t\r\0\\\"'", 7);
    check_string("\"a\\0b\"", "a\0b", 3);
    check_string("'\\u{3b1}\\u{41}\\u{1F600}\\u{0}'",
                 "\xce\xb1"
                 "A\xf0\x9f\x98\x80\0",
                 8);
    check_string("'\xce\xb1 # no comment'", "\xce\xb1 # no comment", 15);
    check_string("'two\nlines'", "two\nlines", 9);
    check_string("'\\u{10ffff}'", "\xf4\x8f\xbf\xbf", 4);
}

static void newlines_end_statements_where_they_should(void **state) {
    (void)state;
    check_tokens("a\nb", "a $ b");
    check_tokens("\n\n a \n\n\t\n b \n", "a $ b $");
    check_tokens("a\r\nb\r\n", "a $ b $");
    check_tokens("a # c\n\n# d\nb", "a $ b");
    check_tokens("f(\na,\nb\n)\nc", "f ( a , b ) $ c");
    check_tokens("[\n1\n2\n]", "[ 1 2 ]");
    check_tokens("{\na\nb\n}", "{ $ a $ b $ }");
    check_tokens("{\na:\n1\n,\nb\n:2\n}\nc", "{: a : 1 , b : 2 } $ c");
    check_tokens("f({\na\n}\n)", "f ( { $ a $ } )");
    check_tokens("{ a: f -> {\nb\n}\n}", "{: a : f -> { $ b $ } }");
    static const char *const joining[] = {"+",  "-",  "*",  "/",  "//", "%",  "@",   "**",  "..", "&",  "|",
                                          "|>", "==", "!=", "<",  "<=", ">",  ">=",  "and", "or", "as", ",",
                                          "=",  "->", "+=", "-=", "*=", "/=", "not", "in",  "~",  "."};
    for (size_t i = 0; i < sizeof joining / sizeof *joining; i++) {
        char content[32], expected[32];
        snprintf(content, sizeof content, "a %s # c\n\n b", joining[i]);
        snprintf(expected, sizeof expected, "a %s b", joining[i]);
        check_tokens(content, expected);
    }
    static const char *const ending[] = {"...",  ")",      "]",    "}", ";",   ":", "?",
                                         "else", "return", "None", "1", "'s'", "x"};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        const char *closer = ending[i];
        char content[32], expected[32];
        const char *opener = *closer == ')' ? "(" : *closer == ']' ? "[" : *closer == '}' ? "{" : "a";
        snprintf(content, sizeof content, "%s %s\nb", opener, closer);
        snprintf(expected, sizeof expected, "%s %s $ b", opener, closer);
        check_tokens(content, expected);
    }
}

static void braces_know_records(void **state) {
    (void)state;
    check_tokens("{a: 1}", "{: a : 1 }");
    check_tokens("{\n # c\n a\n :1}", "{: a : 1 }");
    check_tokens("{'a b': 1}", "{: 'a b' : 1 }");
    check_tokens("{\"a\\\"\" : 1}", "{: \"a\\\"\" : 1 }");
    check_tokens("{\xce\xb1: 1}", "{: \xce\xb1 : 1 }");
    check_tokens("{if: 1}", "{: if : 1 }");
    check_tokens("{}", "{ }");
    check_tokens("{a}", "{ a }");
    check_tokens("{a; b: 1}", "{ a ; b : 1 }");
    check_tokens("{a[1:2]}", "{ a [ 1 : 2 ] }");
    check_tokens("{1: 2}", "{ 1 : 2 }");
    check_tokens("{ {a: 1} }", "{ {: a : 1 } }");
}

static void commands_take_their_line(void **state) {
    (void)state;
    check_tokens(":help it's \"  \t\nx", "<:help it's \"> $ x");
    check_tokens("x\n  ?relu \r\n:q", "x $ <?relu> $ <:q>");
    check_tokens("x; :q", "x ; : q");
    check_tokens("f(\n:q)", "f ( : q )");
    check_tokens("{\n:q\n}", "{ $ : q $ }");
    check_tokens("x = # c\n:q", "x = : q");
    check_tokens("}\n:q" + 2, "<:q>");
}

static void brackets_know_their_partners(void **state) {
    (void)state;
    lexed x = lex_text("f([a](b), {c: (d)}) (");
    static const uint32_t pairs[][2] = {{1, 16}, {2, 4}, {5, 7}, {9, 15}, {12, 14}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(x.list.items[pairs[i][0]].partner, pairs[i][1]);
        assert_int_equal(x.list.items[pairs[i][1]].partner, pairs[i][0]);
    }
    assert_int_equal(x.list.open_count, 1);
    assert_int_equal(x.list.open[0], 17);
    assert_int_equal(x.list.items[17].partner, 0);
    done(&x);
}

/* A fault over the bytes [begin, end). */
static void check_fault(const char *content, size_t length, int number, uint32_t begin, uint32_t end) {
    lexed x = lex_bytes(content, length);
    assert_int_equal(x.list.fault.code, STATUS_SYNTAX);
    assert_int_equal(x.list.fault.number, number);
    assert_int_equal(x.list.fault.where.source, 1);
    assert_int_equal(x.list.fault.where.begin, begin);
    assert_int_equal(x.list.fault.where.end, end);
    assert_int_equal(x.list.items[x.list.count - 2].kind, TOKEN_FAULT);
    assert_true(x.list.fault.hint[0] != '\0');
    done(&x);
}

static void faults_end_the_tokens(void **state) {
    (void)state;
    static const struct {
        const char *content;
        int number;
        uint32_t begin, end;
    } faults[] = {
        {"a )", E_STRAY_CLOSER, 2, 3},
        {"(a]", E_WRONG_CLOSER, 2, 3},
        {"[a}", E_WRONG_CLOSER, 2, 3},
        {"x = 'ab", E_STRING_OPEN, 4, 5},
        {"'a\\", E_STRING_OPEN, 0, 1},
        {"'a\\'", E_STRING_OPEN, 0, 1},
        {"'a\\qb'", E_ESCAPE, 2, 4},
        {"'\\\xce\xb1'", E_ESCAPE, 1, 4},
        {"'\\u41'", E_ESCAPE, 1, 3},
        {"'\\u{}'", E_ESCAPE, 1, 4},
        {"'\\u{d800}'", E_ESCAPE, 1, 9},
        {"'\\u{110000}'", E_ESCAPE, 1, 11},
        {"'\\u{1234567}'", E_ESCAPE, 1, 12},
        {"'\\\n'", E_ESCAPE, 1, 2},
        {"2x", E_NUMBER, 0, 2},
        {"1_", E_NUMBER, 0, 2},
        {"1__0", E_NUMBER, 0, 4},
        {"1e", E_NUMBER, 0, 2},
        {"1.5e+", E_NUMBER, 0, 4},
        {"0x1F", E_NUMBER, 0, 4},
        {"3j", E_NUMBER, 0, 2},
        {"9223372036854775809", E_INTEGER_RANGE, 0, 19},
        {"99999999999999999999", E_INTEGER_RANGE, 0, 20},
        {"a ^ b", E_FOREIGN_OPERATOR, 2, 3},
        {"a && b", E_FOREIGN_OPERATOR, 2, 4},
        {"!a", E_FOREIGN_OPERATOR, 0, 1},
        {"a || b", E_FOREIGN_OPERATOR, 2, 4},
        {"a === b", E_FOREIGN_OPERATOR, 2, 5},
        {"a **= b", E_FOREIGN_OPERATOR, 2, 5},
        {"a := b", E_FOREIGN_OPERATOR, 2, 4},
        {"a => b", E_FOREIGN_OPERATOR, 2, 4},
        {"a <> b", E_FOREIGN_OPERATOR, 2, 4},
        {"a $ b", E_CHARACTER, 2, 3},
        {"a \xe2\x80\x9c", E_CHARACTER, 2, 5},
        {"a\xc2\xa0"
         "b",
         E_CHARACTER, 1, 3},
        {"x\xc2\xb2", E_CHARACTER, 1, 3},
        {"a \xe2\x88\x92 b", E_CHARACTER, 2, 5},
        {"a \\\nb", E_LINE_CONTINUED, 2, 3},
        {"a \xff", E_UTF8, 2, 3},
        {"'\xe2\x82'", E_UTF8, 1, 2},
        {"\x01", E_CHARACTER, 0, 1},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        check_fault(faults[i].content, strlen(faults[i].content), faults[i].number, faults[i].begin,
                    faults[i].end);
    check_fault("a\0b", 3, E_CHARACTER, 1, 2);
    lexed x = lex_text("x = 'ab");
    assert_true(x.list.fault_open);
    done(&x);
    x = lex_text("x = 'a\\q");
    assert_true(x.list.fault_open);
    done(&x);
    x = lex_text("(a]");
    assert_false(x.list.fault_open);
    assert_string_equal(x.list.fault.operands, "`(` was opened in line 1");
    done(&x);
    x = lex_text("a = 'x\nb = 'y'\n'");
    assert_int_equal(x.list.count, 6); /* a, =, a string over two lines, y, another, the end */
    done(&x);
    x = lex_text("a = 'x\nb = '\nc = 'y");
    assert_non_null(strstr(x.list.fault.operands, "line 1"));
    done(&x);
}

static void a_byte_order_mark_is_skipped(void **state) {
    (void)state;
    lexed x = lex_text("\xef\xbb\xbf:q");
    assert_int_equal(x.list.items[0].kind, TOKEN_COMMAND);
    assert_int_equal(x.list.items[0].begin, 3);
    done(&x);
    check_fault("a\xef\xbb\xbf", 4, E_CHARACTER, 1, 4);
}

static void blanks_are_noted(void **state) {
    (void)state;
    lexed x = lex_text("a +b\n(c)");
    static const bool spaced[] = {false, true, false, false, true, false, false};
    for (size_t i = 0; i < sizeof spaced; i++)
        if (x.list.items[i].kind != TOKEN_NEWLINE) assert_int_equal(x.list.items[i].spaced, spaced[i]);
    done(&x);
}

static void every_kind_has_a_text(void **state) {
    (void)state;
    for (int kind = 0; kind < TOKEN_KIND_COUNT; kind++)
        if (kind != TOKEN_FAULT) assert_string_not_equal(token_kind_text((token_kind)kind), "this");
    assert_string_equal(token_kind_text(TOKEN_KIND_COUNT), "this");
}

static void running_out_of_memory_is_an_error(void **state) {
    (void)state;
    const char *content =
        "f([x, {a: 'text'}]) + 1.5\n' 0123456789012345678901234567890123456789' "
        "0.33333333333333333333333333333333333333333333333333333333333333333333333333 ((((((((((((((((((((";
    int64_t live = mem_live();
    for (int64_t after = 1;; after++) {
        arena *memory = arena_new();
        token_list list = {0};
        error e = {0};
        mem_fail_after(after);
        status code = lex(&list, content, 0, (uint32_t)strlen(content), 1, memory, &e);
        mem_fail_after(0);
        token_list_free(&list);
        arena_free(memory);
        assert_int_equal(mem_live(), live);
        assert_int_equal(code, e.code);
        if (code == STATUS_OK) {
            assert_true(after > 3);
            break;
        }
        assert_int_equal(code, STATUS_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_match_wins),
        cmocka_unit_test(words_and_names),
        cmocka_unit_test(numbers),
        cmocka_unit_test(strings),
        cmocka_unit_test(newlines_end_statements_where_they_should),
        cmocka_unit_test(braces_know_records),
        cmocka_unit_test(commands_take_their_line),
        cmocka_unit_test(brackets_know_their_partners),
        cmocka_unit_test(faults_end_the_tokens),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(blanks_are_noted),
        cmocka_unit_test(every_kind_has_a_text),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests_name("lexer", tests, NULL, NULL);
}
