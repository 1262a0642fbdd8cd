/* test_syntax_errors.c — what mistakes say: the number, the bytes that are marked, the hint; that every
 * number is explained; and which texts the line editor goes on with. */
#include "tests/harness/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "repl/lang/parser.h"
#include "repl/lang/syntax_errors.h"

typedef struct slip {
    const char *content;
    int number;
    const char *marked, *hint; /* hint: a part of it; "" for one without */
} slip;

static const slip slips[] = {
    /* powers, conditions, counters and comparisons of other languages */
    {"x ^ 2", E_FOREIGN_OPERATOR, "^", "**"},
    {"a && b", E_FOREIGN_OPERATOR, "&&", "`and`"},
    {"a || b", E_FOREIGN_OPERATOR, "||", "`or`"},
    {"!a", E_FOREIGN_OPERATOR, "!", "`not`"},
    {"x++", E_FOREIGN_OPERATOR, "++", "x += 1"},
    {"x--; y", E_FOREIGN_OPERATOR, "--", "x -= 1"},
    {"f(x++)", E_FOREIGN_OPERATOR, "++", "x += 1"},
    {"a === b", E_FOREIGN_OPERATOR, "===", "=="},
    {"x := 3", E_FOREIGN_OPERATOR, ":=", "="},
    {"x => x", E_FOREIGN_OPERATOR, "=>", "->"},
    {"x **= 2", E_FOREIGN_OPERATOR, "**=", "x ** y"},
    {"x //= 2", E_FOREIGN_OPERATOR, "//=", "x // y"},
    {"a <> b", E_FOREIGN_OPERATOR, "<>", "!="},
    {"a .* b", E_FOREIGN_OPERATOR, ".*", "x * y"},
    {"a.^2", E_FOREIGN_OPERATOR, ".^", "**"},
    {"a.**2", E_FOREIGN_OPERATOR, ".**", "x ** y"},
    {"sin.(x)", E_FOREIGN_OPERATOR, ".(", "f(x)"},
    {"x'", E_STRING_OPEN, "'", "x.T"},
    {"y = (x + 1)' @ x", E_STRING_OPEN, "'", "x.T"},
    {"x' * y'", E_STATEMENTS_TOUCH, "' * y'", "x.T"},
    {"print(f\"{x}\")", E_STATEMENTS_TOUCH, "\"{x}\"", "print("},
    {"f'{x}'", E_STATEMENTS_TOUCH, "'{x}'", "print("},
    {"[i for i in 0..3]", E_UNEXPECTED, "for", "map(f, t)"},
    {"[1, 2; 3, 4]", E_UNEXPECTED, ";", "[[1, 2], [3, 4]]"},
    {"f(x; y)", E_UNEXPECTED, ";", "rows are"},
    /* words of other languages */
    {"True", E_FOREIGN_WORD, "True", "true"},
    {"f(x, keep=False)", E_FOREIGN_WORD, "False", "false"},
    {"x == null", E_FOREIGN_WORD, "null", "None"},
    {"x = nil", E_FOREIGN_WORD, "nil", "None"},
    {"x = none", E_FOREIGN_WORD, "none", "None"},
    {"f = lambda x: x + 1", E_FOREIGN_WORD, "lambda", "x -> body"},
    {"f = lambda: 1", E_FOREIGN_WORD, "lambda", "x -> body"},
    {"import numpy as np", E_FOREIGN_WORD, "import", "load(FILE)"},
    {"from numpy import sin", E_FOREIGN_WORD, "from", "nothing needs importing"},
    {"if a { 1 }\nelif b { 2 }", E_FOREIGN_WORD, "elif", "else if"},
    {"function f(x) { x }", E_FOREIGN_WORD, "function", "def f(x)"},
    {"let x = 3", E_FOREIGN_WORD, "let", "name = value"},
    {"int x = 3", E_FOREIGN_WORD, "int", "name = value"},
    {"try { x }", E_FOREIGN_WORD, "try", "catching"},
    {"try: x", E_FOREIGN_WORD, "try", "catching"},
    {"with tape { x }", E_FOREIGN_WORD, "with", "tape { .. }"},
    {"class A { }", E_FOREIGN_WORD, "class", "record"},
    {"del x", E_FOREIGN_WORD, "del", "None"},
    {"pass", E_FOREIGN_WORD, "pass", "{ }"},
    {"x is None", E_FOREIGN_WORD, "is", "x == None"},
    {"7 mod 3", E_FOREIGN_WORD, "mod", "%"},
    {"if a then b", E_FOREIGN_WORD, "then", "if c { .. }"},
    {"assert x, 'm'", E_STATEMENTS_TOUCH, "x", "assert(x)"},
    {"print 'hello'", E_STATEMENTS_TOUCH, "'hello'", "print('hello')"},
    /* choices and membership */
    {"c ? a : b", E_UNEXPECTED, "?", "if c { a } else { b }"},
    {"a if c else b", E_STATEMENTS_TOUCH, "if", "if c { a } else { b }"},
    {"x in y", E_UNEXPECTED, "in", "any(x == value)"},
    {"x not in y", E_UNEXPECTED, "not", "not any(x == value)"},
    {"[x for x in y]", E_UNEXPECTED, "for", "map(f, t)"},
    /* blocks */
    {"if x: y", E_BLOCK_WANTED, ":", "`{`"},
    {"for i in 0..3: x", E_BLOCK_WANTED, ":", "`{`"},
    {"while c:\n x", E_BLOCK_WANTED, ":", "`{`"},
    {"def f(x): x", E_BLOCK_WANTED, ":", "`{`"},
    {"if a {1} else: 2", E_BLOCK_WANTED, ":", "`{`"},
    {"if a\n{ 1 }", E_BLOCK_WANTED, "{", "move it up"},
    {"def f(x)\n{ 1 }", E_BLOCK_WANTED, "{", "move it up"},
    {"if a b", E_BLOCK_WANTED, "b", "{ .. }"},
    {"while a\n", E_BLOCK_WANTED, "", "{ .. }"},
    {"if a { b: 1 }", E_BLOCK_WANTED, "{", "{ {..} }"},
    {"if a { 1 }\nelse { 2 }", E_ELSE_ALONE, "else", "} else {"},
    {"x else y", E_ELSE_ALONE, "else", "if c { a }"},
    {"def f(x) -> f32 { x }", E_UNEXPECTED, "->", "leave"},
    {"if x = 3 { 1 }", E_ASSIGN_INSIDE, "=", "=="},
    {"while x = 3 { 1 }", E_ASSIGN_INSIDE, "=", "=="},
    {"(x = 3)", E_ASSIGN_INSIDE, "=", "=="},
    {"f(a.b = 3)", E_ASSIGN_INSIDE, "=", "=="},
    {"a = b = 3", E_ASSIGN_INSIDE, "=", "a = 1; b = a"},
    {"x + (y += 1)", E_ASSIGN_INSIDE, "+=", ""},
    {"if a, b { 1 }", E_BARE_TUPLE, ",", "(a, b)"},
    {"while a, b { 1 }", E_BARE_TUPLE, ",", "(a, b)"},
    {"a += 1, 2", E_BARE_TUPLE, ",", "(a, b)"},
    {"if a { 1 } b", E_STATEMENTS_TOUCH, "b", "`;`"},
    {"a b", E_STATEMENTS_TOUCH, "b", "a(b)"},
    {"2 x", E_STATEMENTS_TOUCH, "x", "*"},
    {"[1 2]", E_STATEMENTS_TOUCH, "2", "commas"},
    {"f(x y)", E_STATEMENTS_TOUCH, "y", "commas"},
    {"x = while", E_UNEXPECTED, "while", "line of its own"},
    /* jumps */
    {"break", E_OUTSIDE_LOOP, "break", "`for` or `while`"},
    {"if a { continue }", E_OUTSIDE_LOOP, "continue", "`for` or `while`"},
    {"for i in x { f = y -> { break } }", E_OUTSIDE_LOOP, "break", "return"},
    {"while { break } { }", E_OUTSIDE_LOOP, "break", ""},
    {"return 3", E_OUTSIDE_FUNCTION, "return", "top level"},
    {"for i in x { return }", E_OUTSIDE_FUNCTION, "return", "top level"},
    {"def f(x={ return 1 }) = x", E_OUTSIDE_FUNCTION, "return", "top level"},
    /* assignment */
    {"1 = x", E_NOT_ASSIGNABLE, "1", "=="},
    {"f(x) = x ** 2", E_NOT_ASSIGNABLE, "f(x)", "def f(x)"},
    {"f(x).a = 2", E_NOT_ASSIGNABLE, "f(x)", "def f(x)"},
    {"a + b = c", E_NOT_ASSIGNABLE, "a + b", "=="},
    {"a, 1 = c", E_NOT_ASSIGNABLE, "1", "=="},
    {"[a, b] = c", E_NOT_ASSIGNABLE, "[a, b]", "a, b = ..."},
    {"() = c", E_NOT_ASSIGNABLE, "()", "empty"},
    {"true = 1", E_NOT_ASSIGNABLE, "true", "another name"},
    {"f32 = 1", E_NOT_ASSIGNABLE, "f32", "another name"},
    {"a, b += 1", E_NOT_ASSIGNABLE, "a, b", "a statement for each"},
    {"f(x) += 1", E_NOT_ASSIGNABLE, "f(x)", "def"},
    {"for 1 in x { }", E_NOT_ASSIGNABLE, "1", "names"},
    {"x: f32 = 3", E_UNEXPECTED, ":", "value as f32"},
    /* parameters and arguments */
    {"f(a=1, 2)", E_POSITIONAL_LATE, "2", "before the named"},
    {"f(a=1, b=2, a=3)", E_DUPLICATE, "a", "its own"},
    {"def f(x, y, x) = 1", E_DUPLICATE, "x", "its own"},
    {"(x, x) -> 1", E_DUPLICATE, "x", "its own"},
    {"{a: 1, 'a': 2}", E_DUPLICATE, "'a'", "its own"},
    {"def f(x=1, y) = 1", E_DEFAULT_EARLY, "y", "default"},
    {"def f(in) = 1", E_NAME_WANTED, "in", "another name"},
    {"def while(x) = 1", E_NAME_WANTED, "while", "another name"},
    {"def f32(x) = 1", E_NAME_WANTED, "f32", "another name"},
    {"i8 -> 3", E_NAME_WANTED, "i8", "another name"},
    {"f(*args)", E_OPERAND_MISSING, "*", "one by one"},
    {"def f(x: float) = x", E_DTYPE_WANTED, "float", "f32"},
    {"def f(x: 3) = x", E_DTYPE_WANTED, "3", "bf16"},
    {"x as float64", E_DTYPE_WANTED, "float64", "f64"},
    {"x as int", E_DTYPE_WANTED, "int", "i64"},
    {"x as y", E_DTYPE_WANTED, "y", "f64 f32"},
    {"f32[x + 1]", E_UNEXPECTED, "+", ""},
    {"f32[-1]", E_TYPE_DIMS, "-", "?"},
    {"f32[..., n, ...]", E_TYPE_DIMS, "...", "?"},
    /* operators */
    {"a > 0 & b < 1", E_BITS_BESIDE_COMPARISON, "a > 0 & b < 1", "write (a > 0) & (b < 1)"},
    {"a > 0 | b > 0 | c > 0", E_BITS_BESIDE_COMPARISON, "a > 0 | b > 0 | c > 0",
     "write (a > 0) | (b > 0) | (c > 0)"},
    {"x & y == z", E_BITS_BESIDE_COMPARISON, "x & y == z", "write x & (y == z)"},
    {"a == b & c", E_BITS_BESIDE_COMPARISON, "a == b & c", "write (a == b) & c"},
    {"f(0 < a < 1 & b)", E_BITS_BESIDE_COMPARISON, "0 < a < 1 & b", "write (0 < a < 1) & b"},
    {"a & b & c < d", E_BITS_BESIDE_COMPARISON, "a & b & c < d", "write a & b & (c < d)"},
    {"x as f32[3]", E_AFTER_CAST, "[", "write (x as f32)[3]"},
    {"x as f32 ** 2", E_AFTER_CAST, "**", "write (x as f32) ** 2"},
    {"y + -x as f32.T", E_AFTER_CAST, ".", "write (-x as f32).T"},
    {"x as f32 (3)", E_AFTER_CAST, "(", "write (x as f32)(3)"},
    {"x |> y -> y", E_LAMBDA_PARENS, "->", "(x -> ..)"},
    {"1 + x -> x", E_LAMBDA_PARENS, "->", "(x -> ..)"},
    {"0..2..4", E_RANGE_TWICE, "..", "arange"},
    {"0...4", E_UNEXPECTED, "...", "0..10"},
    {"a == not b", E_NOT_INSIDE, "not", "(not x)"},
    {"-not b", E_NOT_INSIDE, "not", "(not x)"},
    {"1 +", E_OPERAND_MISSING, "+", ""},
    {"1 + * 2", E_OPERAND_MISSING, "+", "`*`"},
    {"a and", E_OPERAND_MISSING, "and", ""},
    {"x\n|> f", E_OPERAND_MISSING, "|>", "line above"},
    {"f(, 1)", E_UNEXPECTED, ",", "leave the comma out"},
    {"[1,, 2]", E_UNEXPECTED, ",", "leave the comma out"},
    {"a \\\n + b", E_LINE_CONTINUED, "\\", "end this one with an operator"},
    /* indices */
    {"a[]", E_INDEX_ITEMS, "[]", "[:, j]"},
    {"a[..., 1, ...]", E_INDEX_ITEMS, "...", ":"},
    {"a[1:2:3:4]", E_UNEXPECTED, ":", "three parts"},
    {"a.1", E_STATEMENTS_TOUCH, ".1", ""},
    {"a.[b]", E_UNEXPECTED, "[", ""},
    /* brackets and strings */
    {"f(1, 2", E_UNCLOSED, "(", "`)`"},
    {"f(1, 2\ny = 3", E_UNCLOSED, "(", "`)`"},
    {"x = [1, 2\ny = 3", E_UNCLOSED, "[", "`]`"},
    {"def f(x) {\n x\n", E_UNCLOSED, "{", "`}`"},
    {"r = {a: 1,\n b: 2", E_UNCLOSED, "{", "`}`"},
    {"f(1))", E_STRAY_CLOSER, ")", "leave it out"},
    {"f(1]", E_WRONG_CLOSER, "]", "`)`"},
    {"f([1)", E_WRONG_CLOSER, ")", "`]`"},
    {"{ (x }", E_WRONG_CLOSER, "}", "`)`"},
    {"x = \"abc", E_STRING_OPEN, "\"", "\""},
    {"x = 'abc", E_STRING_OPEN, "'", "'"},
    {"'\\q'", E_ESCAPE, "\\q", "\\\\"},
    /* numbers and characters */
    {"2x", E_NUMBER, "2x", "2 * x"},
    {"0xff", E_NUMBER, "0xff", "decimal"},
    {"1e", E_NUMBER, "1e", "1e3"},
    {"1.e5", E_NUMBER, "1.e5", "1.0e5"},
    {"12.E-5 + 1", E_NUMBER, "12.E-5", "12.0E-5"},
    {"1__0", E_NUMBER, "1__0", "1_000"},
    {"9223372036854775808", E_INTEGER_RANGE, "9223372036854775808", "point"},
    {"-9223372036854775808 ** 1", E_INTEGER_RANGE, "9223372036854775808", "point"},
    {"0 - 9223372036854775809", E_INTEGER_RANGE, "9223372036854775809", "point"},
    {"f32[9223372036854775808]", E_TYPE_DIMS, "9223372036854775808", "sizes"},
    {"x = \xe2\x80\x9ctext\xe2\x80\x9d", E_CHARACTER, "\xe2\x80\x9c", "plain \""},
    {"x = \xe2\x80\x98t\xe2\x80\x99", E_CHARACTER, "\xe2\x80\x98", "plain '"},
    {"a \xe2\x88\x92 b", E_CHARACTER, "\xe2\x88\x92", "plain -"},
    {"a \xc3\x97 b", E_CHARACTER, "\xc3\x97", "*"},
    {"a \xe2\x89\xa4 b", E_CHARACTER, "\xe2\x89\xa4", "<="},
    {"x\xc2\xb2", E_CHARACTER, "\xc2\xb2", "** 2"},
    {"a\xc2\xa0+ b", E_CHARACTER, "\xc2\xa0", "space"},
    {"`x`", E_CHARACTER, "`", "names need no quotes"},
    {"$x", E_CHARACTER, "$", "letters"},
    {"x = \xe9", E_UTF8, "\xe9", "UTF-8"},
    /* commands */
    {"{\n :help\n}", E_COMMAND_PLACE, ":", "new line"},
    {"x; :help", E_COMMAND_PLACE, ":", "new line"},
    {"def f() {\n x = 1\n :quit\n}", E_COMMAND_PLACE, ":", "close the block"},
    /* the first mistake is told, not a later one */
    {"a b; 'open", E_STATEMENTS_TOUCH, "b", ""},
    {"x = ^ 2; (]", E_FOREIGN_OPERATOR, "^", "**"},
};
enum { SLIP_COUNT = sizeof slips / sizeof *slips };

static void every_slip_tells_the_fix(void **state) {
    (void)state;
    bool bad = false;
    for (int i = 0; i < SLIP_COUNT; i++) {
        const slip *s = &slips[i];
        source_table *table = source_table_new();
        uint32_t id = source_add(table, NULL, s->content, strlen(s->content));
        error e = {0};
        ast *tree;
        status code = parse_program(table, id, &e, &tree);
        size_t length = e.where.end - e.where.begin;
        bool good = code == STATUS_SYNTAX && e.number == s->number && e.where.source == id &&
                    length == strlen(s->marked) &&
                    memcmp(s->content + e.where.begin, s->marked, length) == 0 && strstr(e.hint, s->hint) &&
                    e.message[0] && !strchr(e.message, '\n');
        if (!good) {
            text out = {0};
            source_render_error(&out, table, &e, 0);
            print_error("\"%s\": wanted E%d at `%s` with hint `%s`, got\n%s", s->content, s->number,
                        s->marked, s->hint, code ? text_str(&out) : "no error\n");
            text_free(&out);
            bad = true;
        }
        ast_release(tree);
        source_table_free(table);
    }
    assert_false(bad);
}

static void every_number_is_tried_and_explained(void **state) {
    (void)state;
    static const struct {
        int number;
        const char *name, *explanation;
    } rows[] = {
#define ERROR(number, name, explanation) {number, name, explanation},
#include "engine/base/errors.def"
#undef ERROR
    };
    enum { ROW_COUNT = sizeof rows / sizeof *rows };
    for (int i = 0; i < ROW_COUNT; i++) {
        assert_true(i == 0 || rows[i].number > rows[i - 1].number);
        assert_true(rows[i].name[0] && rows[i].explanation[0]);
        assert_false(rows[i].number > 99 && rows[i].number < 101);
    }
    for (int number = E_UNEXPECTED; number < E_SYNTAX_END; number++) {
        bool tried = number == E_TOO_DEEP, explained = false; /* test_parser.c nests too deeply */
        for (int i = 0; i < SLIP_COUNT; i++) tried = tried || slips[i].number == number;
        for (int i = 0; i < ROW_COUNT; i++) explained = explained || rows[i].number == number;
        if (!tried || !explained) fail_msg("E%d: tried %d, explained %d", number, tried, explained);
    }
}

static void texts_that_go_on(void **state) {
    (void)state;
    static const char *const complete[] = {
        "",
        "\n",
        "  # c",
        "x",
        "x\n",
        "x;",
        "f(1)",
        "if a { 1 }",
        "def f(x) = x",
        "{ }",
        "x = 'a'",
        ":help f(",
        "?f",
        "x # (",
        "for i in x {\n}\n",
        "a, b = c",
        "x ->\n x",
        "'('",
        "if a { 1 } else { 2 }",
        "a[...]",
    };
    static const char *const incomplete[] = {
        "(",         "f(1,",       "[1, 2",      "{",
        "{ x\n",     "def f(x) {", "def f(x) =", "x =",
        "x +",       "x + # c",    "x |>",       "x ->",
        "a,",        "a, b = c,",  "if a {",     "if a { 1 } else {",
        "'abc",      "\"abc\n",    "x = {a: 1",  "x = {a:",
        "x and",     "not",        "x as",       "f(\n1\n",
        "for i in",  "1..",        "{ f(",       "tape {\n h = x",
        "x.",        "a[1:",       "f(x, k=",    "(x, y) ->",
        "x = [\n\n", "if a { 'b",
    };
    static const char *const wrong[] = {
        ")",          "(]",         "x = = 1", "a b", "if a",     "while",    "def f",
        "def f(x)",   "{ if a",     "else {",  "x++", "'\\q'",    "(a b",     "f(1, 2\ny = 3",
        "{ x y",      "break",      "2x (",    "for", "a = b = ", "{ a: 1; ", "if x {\n :help",
        "for i in x", "x = = 'abc", "\xff (",
    };
    for (size_t i = 0; i < sizeof complete / sizeof *complete; i++)
        if (parse_complete(complete[i], strlen(complete[i])) != PARSE_COMPLETE)
            fail_msg("not complete: %s", complete[i]);
    for (size_t i = 0; i < sizeof incomplete / sizeof *incomplete; i++)
        if (parse_complete(incomplete[i], strlen(incomplete[i])) != PARSE_INCOMPLETE)
            fail_msg("not incomplete: %s", incomplete[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (parse_complete(wrong[i], strlen(wrong[i])) != PARSE_WRONG) fail_msg("not wrong: %s", wrong[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slip_tells_the_fix),
        cmocka_unit_test(every_number_is_tried_and_explained),
        cmocka_unit_test(texts_that_go_on),
    };
    return cmocka_run_group_tests_name("syntax errors", tests, NULL, NULL);
}
