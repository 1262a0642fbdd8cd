/* test_parser.c — the grammar: every production and precedence row as an S-expression, exact spans, trees that outlive
 * their parser. What mistakes say is in test_syntax_errors.c, texts that mean harm in test_parser_hostile.c. */
#include "tests/harness/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "tests/harness/parsing.h"

/* The program's statements, printed. */
static void check(const char *content, const char *expected) {
    parsed x = parse_text(content);
    text out = {0};
    if (x.code) source_render_error(&out, x.table, &x.e, 0);
    for (uint32_t i = 0; x.tree && i < ast_root(x.tree)->count; i++) {
        if (i > 0) text_char(&out, ' ');
        ast_print(&out, ast_root(x.tree)->child[i]);
    }
    assert_string_equal(text_str(&out), expected);
    text_free(&out);
    parse_done(&x);
}

/* Two spellings of one tree, parentheses aside. */
static void check_same(const char *content, const char *spelled_out) {
    text trees[2] = {{0}, {0}};
    const char *const contents[2] = {content, spelled_out};
    for (int i = 0; i < 2; i++) {
        parsed x = parse_text(contents[i]);
        if (x.code) source_render_error(&trees[i], x.table, &x.e, 0);
        assert_string_equal(x.code ? text_str(&trees[i]) : "", "");
        text raw = {0};
        ast_print(&raw, ast_root(x.tree));
        for (const char *p = text_str(&raw); *p; p++) {
            if (p[0] == '\'' && p[1] == 'p')
                p++;
            else
                text_char(&trees[i], *p);
        }
        text_free(&raw);
        parse_done(&x);
    }
    assert_string_equal(text_str(&trees[0]), text_str(&trees[1]));
    text_free(&trees[0]);
    text_free(&trees[1]);
}

static void values(void **state) {
    (void)state;
    check("1; 1.5; 'a\\0b'; true; false; None; x",
          "(int's 1) (real's 1.5) (string's \"a\\x00b\") (bool's 1) (bool's 0) (none's) (name x)");
    check("(1)", "(int'p 1)");
    check("()", "(tuple'p)");
    check("(1,)", "(tuple'p (int 1))");
    check("(1, 2,)", "(tuple'p (int 1) (int 2))");
    check("1, 2", "(tuple (int 1) (int 2))");
    check("1,", "(tuple (int 1))");
    check("[]", "(tensor)");
    check("[[1, 2], [3, 4],]", "(tensor (tensor (int 1) (int 2)) (tensor (int 3) (int 4)))");
    check("{}", "(record)");
    check("{\n}", "(record)");
    check("{;}", "(block)");
    check("{a: 1, 'b c': {},}", "(record (entry \"a\" (int 1)) (entry \"b c\" (record)))");
    check("{\n a\n :\n 1,\n b: 2\n}", "(record (entry \"a\" (int 1)) (entry \"b\" (int 2)))");
    check("{if: 1, f32: 2}.in", "(field in (record (entry \"if\" (int 1)) (entry \"f32\" (int 2))))");
    check("{1; 2\n 3}", "(block (int's 1) (int 2) (int 3))");
    check("_; Out[3]", "(name's _) (index (name Out) (int 3))");
    check("\xce\xb1 + caf\xc3\xa9", "(chain (name \xce\xb1) + (name caf\xc3\xa9))");
    check("", "");
    check("\n;;\n # c\n ; x ;\n;", "(name's x)");
}

static void types(void **state) {
    (void)state;
    check("f32", "(type f32)");
    check("f32[]", "(type f32 [])");
    check("i8[?, 64, n, ...]", "(type i8 [] (dim ?) (dim 64) (dim n) (dim ...))");
    check("freeze(f, f32[?, 64], bf16)",
          "(call (name freeze) (name f) (type f32 [] (dim ?) (dim 64)) (type bf16))");
    check("f32[3](x)", "(call (type f32 [] (dim 3)) (name x))");
    check("x as bool", "(cast bool (name x))");
}

static void postfix(void **state) {
    (void)state;
    check("f(a)(b)[c].d", "(field d (index (call (call (name f) (name a)) (name b)) (name c)))");
    check("f()", "(call (name f))");
    check("f(a, b, k=c, l=d,)",
          "(call (name f) (name a) (name b) (keyword k (name c)) (keyword l (name d)))");
    check("f(x -> x, k=y -> y)",
          "(call (name f) (lambda (param x _ _) (name x)) (keyword k (lambda (param y _ _) (name y))))");
    check("x.T.as", "(field as (field T (name x)))");
    check("5.abs()", "(call (field abs (int 5)))");
    check("a[0]", "(index (name a) (int 0))");
    check("a[:, 1:, :2, ::3, 1:2:3, :, ]", "(index (name a) (slice _ _ _) (slice (int 1) _ _) (slice _ (int "
                                           "2) _) (slice _ _ (int 3)) (slice (int 1) (int 2) "
                                           "(int 3)) (slice _ _ _))");
    check("a[..., None, -1]", "(index (name a) (ellipsis) (none) (int -1))");
    check("a[a > 2]", "(index (name a) (compare (name a) > (int 2)))");
    check("a[[0, 1]]", "(index (name a) (tensor (int 0) (int 1)))");
    check("a[0..3]", "(index (name a) (range (int 0) (int 3)))");
    check("a[n-1:-1:-1]", "(index (name a) (slice (chain (name n) - (int 1)) (int -1) (int -1)))");
    check("f(\n  a,\n  b\n)", "(call (name f) (name a) (name b))");
    check("x\n(y)", "(name x) (name'p y)");
    check("x\n[y]", "(name x) (tensor (name y))");
    check("tape.grad(l, w)", "(call (field grad (name tape)) (name l) (name w))");
}

static void precedence(void **state) {
    (void)state;
    /* 1, 2 */
    check_same("a.b ** c[d] ** e()", "(a.b) ** ((c[d]) ** (e()))");
    check("-x ** 2", "(unary - (power (name x) (int 2)))");
    check("2 ** -1", "(power (int 2) (int -1))");
    check("2 ** -x ** 2", "(power (int 2) (unary - (power (name x) (int 2))))");
    /* 3 */
    check("-1; - 1; --1; -1.5; -x; +x; ~-x", "(int's -1) (int's -1) (unary's - (int -1)) (unary's - (real "
                                             "1.5)) (unary's - (name x)) (unary's + (name x)) "
                                             "(unary ~ (unary - (name x)))");
    check("-2 ** 2; -2[0]; -2.abs; -2(x)", "(unary's - (power (int 2) (int 2))) (unary's - (index (int 2) "
                                           "(int 0))) (unary's - (field abs (int 2))) "
                                           "(unary - (call (int 2) (name x)))");
    check("-9223372036854775808", "(int -9223372036854775808)");
    check("-9223372036854775807 - 1", "(chain (int -9223372036854775807) - (int 1))");
    /* 4 */
    check_same("-x as u8 * y", "((-x) as u8) * y");
    check_same("x ** 2 as f16 as f32", "((x ** 2) as f16) as f32");
    check_same("x * y as f32", "x * (y as f32)");
    /* 5, 6 */
    check("a * b / c // d % e @ f",
          "(chain (name a) * (name b) / (name c) // (name d) % (name e) @ (name f))");
    check("a + b * c - d", "(chain (name a) + (chain (name b) * (name c)) - (name d))");
    check_same("a - b - c", "a - b - c");
    check("a - (b - c)", "(chain (name a) - (chain'p (name b) - (name c)))");
    check_same("x @ w + b", "(x @ w) + b");
    check_same("a * -b", "a * (-b)");
    /* 7 */
    check_same("0..n-1", "0..(n-1)");
    check_same("a + 1..b * 2", "(a + 1)..(b * 2)");
    /* 8 */
    check("a & b | c & d | e",
          "(chain (chain (name a) & (name b)) | (chain (name c) & (name d)) | (name e))");
    check_same("a + b & c..d", "(a + b) & (c..d)");
    check_same("(a > 0) & (b < 1)", "(a > 0) & (b < 1)");
    /* 9 */
    check("a < b <= c == d", "(compare (name a) < (name b) <= (name c) == (name d))");
    check("z |> sum > 0", "(compare (pipe (name z) (name sum)) > (int 0))");
    check("x > 0 |> all", "(pipe (compare (name x) > (int 0)) (name all))");
    check("a < b |> f != c |> g |> h(1)", "(pipe (compare (pipe (compare (name a) < (name b)) (name f)) != "
                                          "(name c)) (name g) (call (name h) (int 1)))");
    check("z |> relu |> sum(axis=1)", "(pipe (name z) (name relu) (call (name sum) (keyword axis (int 1))))");
    check("x |> (grad(f))", "(pipe (name x) (call'p (name grad) (name f)))");
    check("x |> (v -> v + 1)", "(pipe (name x) (lambda'p (param v _ _) (chain (name v) + (int 1))))");
    check_same("a | b |> f", "(a | b) |> f");
    /* 10 */
    check_same("not a == b and c or d and not not e", "((not (a == b)) and c) or (d and (not (not e)))");
    check("a or b or c", "(or (name a) (name b) (name c))");
    check("a and b and c", "(and (name a) (name b) (name c))");
    check_same("not x |> f", "not (x |> f)");
    /* 11, 12 */
    check("x -> x or y, z", "(tuple (lambda (param x _ _) (or (name x) (name y))) (name z))");
    check("f = x -> y -> x + y",
          "(assign (name f) (lambda (param x _ _) (lambda (param y _ _) (chain (name x) + (name y)))))");
    check("f(x -> x, y)", "(call (name f) (lambda (param x _ _) (name x)) (name y))");
    check("() -> 1; (x) -> 1; (x, y: f32[n] = 2) -> 1",
          "(lambda's (int 1)) (lambda's (param x _ _) (int 1)) (lambda (param x _ _) (param y (type f32 [] "
          "(dim n)) (int 2)) (int 1))");
    check("x -> {}", "(lambda (param x _ _) (record))");
    check("x -> { return x }", "(lambda (param x _ _) (block (return (name x))))");
}

static void statements(void **state) {
    (void)state;
    check("a = 1", "(assign (name a) (int 1))");
    check("a, b = b, a", "(assign (tuple (name a) (name b)) (tuple (name b) (name a)))");
    check("a, = t", "(assign (tuple (name a)) (name t))");
    check("(a, (b, c)), d = t",
          "(assign (tuple (tuple'p (name a) (tuple'p (name b) (name c))) (name d)) (name t))");
    check("(a) = 1", "(assign (name'p a) (int 1))");
    check("r.w[0].b, a[1:] = t", "(assign (tuple (field b (index (field w (name r)) (int 0))) (index (name "
                                 "a) (slice (int 1) _ _))) (name t))");
    check("a = \n\n 1", "(assign (name a) (int 1))");
    check("a += 1; a.b -= 2; a[0] *= 3; a /= 4", "(update's + (name a) (int 1)) (update's - (field b (name "
                                                 "a)) (int 2)) (update's * (index (name a) (int 0)) (int 3)) "
                                                 "(update / (name a) (int 4))");
    check("def f() = 1", "(def f (int 1))");
    check("def f() {}", "(def f (block))");
    check("def f(x: f32[batch, 64], w, b=0,) = relu(x)",
          "(def f (param x (type f32 [] (dim batch) (dim 64)) _) (param w _ _) (param b _ (int 0)) (call "
          "(name relu) (name x)))");
    check("def f(x) =\n  x", "(def f (param x _ _) (name x))");
    check("def f(m, x) { p = m(x); return p, 1 }",
          "(def f (param m _ _) (param x _ _) (block (assign's (name p) (call (name m) (name x))) (return "
          "(tuple (name p) (int "
          "1)))))");
    check("def f() { return }", "(def f (block (return)))");
    check("def f() { def g() = 1; g }", "(def f (block (def's g (int 1)) (name g)))");
    check("for i in 0..10 { w = w - i }",
          "(for (name i) (range (int 0) (int 10)) (block (assign (name w) (chain (name w) - (name i)))))");
    check("for i, (a, b) in z {\n break\n continue\n}",
          "(for (tuple (name i) (tuple'p (name a) (name b))) (name z) (block (break) (continue)))");
    check("for x[0] in y {}", "(for (index (name x) (int 0)) (name y) (block))");
    check("while e > 1 { n += 1; if n > 3 { break } }",
          "(while (compare (name e) > (int 1)) (block (update's + (name n) (int 1)) (if (compare (name n) > "
          "(int 3)) (block "
          "(break)))))");
    check("if a { 1 }", "(if (name a) (block (int 1)))");
    check("if a { 1 } else { 2 }", "(if (name a) (block (int 1)) (block (int 2)))");
    check("y = if a { 1 } else if b { 2 } else { 3 } + 4",
          "(assign (name y) (chain (if (name a) (block (int 1)) (name b) (block (int 2)) (block (int 3))) + "
          "(int 4)))");
    check("if {a: b}.a { {c: 1} }",
          "(if (field a (record (entry \"a\" (name b)))) (block (record (entry \"c\" (int 1)))))");
    check("(if a { 1 }\n else { 2 })", "(if'p (name a) (block (int 1)) (block (int 2)))");
    check("t = tape { h = x }; t", "(assign's (name t) (tape (block (assign (name h) (name x))))) (name t)");
    check("on gpu0 { x }; on devices[0] { x }; on (d) { x }; on 'gpu0' {}",
          "(on's (name gpu0) (block (name x))) (on's (index (name devices) (int 0)) (block (name x))) (on's "
          "(name'p d) (block "
          "(name x))) (on (string \"gpu0\") (block))");
    check("precision(bf16) { x }.y", "(field y (precision bf16 (block (name x))))");
    check("tape = on + precision; precision(x); on(x); on (x); tape(y)",
          "(assign's (name tape) (chain (name on) + (name precision))) (call's (name precision) (name x)) "
          "(call's (name on) "
          "(name x)) (call's (name on) (name x)) (call (name tape) (name y))");
    check("for x in loop { match[end:] }",
          "(for (name x) (name loop) (block (index (name match) (slice (name end) _ _))))");
}

static void commands_and_silence(void **state) {
    (void)state;
    check(":help relu  \nx;\n ?f", "(command \":help relu\") (name's x) (command \"?f\")");
    check("x; y\nz;", "(name's x) (name y) (name's z)");
    check("x\n;", "(name x)");
    check("a = 1; # c", "(assign's (name a) (int 1))");
}

static void every_example_parses(void **state) {
    (void)state;
    text all = {0};
    for (size_t i = 0; i < parse_example_count; i++) {
        parsed x = parse_text(parse_examples[i]);
        if (x.code) fail_msg("%s: %s", parse_examples[i], x.e.message);
        assert_int_equal(parse_complete(parse_examples[i], strlen(parse_examples[i])), PARSE_COMPLETE);
        parse_done(&x);
        text_printf(&all, "%s\n", parse_examples[i]);
    }
    parsed x = parse_text(text_str(&all));
    assert_int_equal(x.code, STATUS_OK);
    assert_true(ast_root(x.tree)->count > 2 * parse_example_count);
    parse_done(&x);
    text_free(&all);
}

/* --- spans --- */

/* Follows a path of child numbers ("0.1") from the root; the node's `where` and `sign` must spell these
 * texts. */
static void check_span(const char *content, const char *path, const char *where, const char *sign) {
    parsed x = parse_text(content);
    assert_int_equal(x.code, STATUS_OK);
    const ast_node *node = ast_root(x.tree);
    for (const char *p = path; *p; p++) {
        if (*p == '.') continue;
        assert_true((uint32_t)(*p - '0') < node->count);
        node = node->child[*p - '0'];
    }
    char found[200];
    snprintf(found, sizeof found, "%.*s", (int)(node->where.end - node->where.begin),
             content + node->where.begin);
    assert_string_equal(found, where);
    snprintf(found, sizeof found, "%.*s", (int)(node->sign.end - node->sign.begin),
             content + node->sign.begin);
    assert_string_equal(found, sign);
    assert_int_equal(node->where.source, 1);
    assert_int_equal(node->sign.source, 1);
    parse_done(&x);
}

static void spans_are_exact(void **state) {
    (void)state;
    check_span(" x + y ", "", " x + y ", " x + y ");
    check_span("h = x @ w + b", "0", "h = x @ w + b", "=");
    check_span("h = x @ w + b", "0.1", "x @ w + b", "x @ w + b");
    check_span("h = x @ w + b", "0.1.0", "x @ w", "x @ w");
    check_span("h = (x @ w) + b", "0.1.0", "(x @ w)", "x @ w");
    check_span("(a, b)", "0", "(a, b)", "a, b");
    check_span("a, b,", "0", "a, b,", "a, b,");
    check_span("f(x, k = y)", "0", "f(x, k = y)", "f(x, k = y)");
    check_span("f(x, k = y)", "0.2", "k = y", "k");
    check_span("a.b[ 1: ].c", "0", "a.b[ 1: ].c", "c");
    check_span("a.b[ 1: ].c", "0.0.1", "1:", "1:");
    check_span("a[ ::2 ]", "0.1", "::2", "::2");
    check_span("- x ** 2", "0", "- x ** 2", "-");
    check_span("- x ** 2", "0.0", "x ** 2", "**");
    check_span("-  5", "0", "-  5", "-  5");
    check_span("x  as f32", "0", "x  as f32", "f32");
    check_span("0 .. n", "0", "0 .. n", "..");
    check_span("not x", "0", "not x", "not");
    check_span("(x: f32 = 2) -> x", "0", "(x: f32 = 2) -> x", "->");
    check_span("(x: f32 = 2) -> x", "0.0", "x: f32 = 2", "x");
    check_span("def f( x ) = x", "0", "def f( x ) = x", "f");
    check_span("for i in x { }", "0", "for i in x { }", "for");
    check_span("for i in x { }", "0.2", "{ }", "{ }");
    check_span("while c { }", "0", "while c { }", "while");
    check_span("if a { } else { } ", "0", "if a { } else { }", "if");
    check_span("def f() { return  x }", "0.0.0", "return  x", "return");
    check_span("{ a: 1, }", "0", "{ a: 1, }", "{ a: 1, }");
    check_span("{ 'a': 1 }", "0.0", "'a': 1", "'a'");
    check_span("a  -=  1", "0", "a  -=  1", "-=");
    check_span("tape { x }", "0", "tape { x }", "tape");
    check_span("on d { x }", "0", "on d { x }", "on");
    check_span("precision(f16) { x }", "0", "precision(f16) { x }", "f16");
    check_span("f32[ n, 2 ]", "0", "f32[ n, 2 ]", "f32");
    check_span("  :help x \n", "0", ":help x", ":help x");
    check_span("'\xce\xb1' + \xce\xb2", "0.1", "\xce\xb2", "\xce\xb2");

    parsed x = parse_text("a + b - c");
    span part = ast_chain_span(ast_root(x.tree)->child[0], 2);
    assert_int_equal(part.begin, 0);
    assert_int_equal(part.end, 5);
    parse_done(&x);
}

static void a_part_of_a_source_keeps_its_spans(void **state) {
    (void)state;
    source_table *table = source_table_new();
    uint32_t id = source_add(table, NULL, ":profile x + 1 }", 16);
    error e = {0};
    ast *tree;
    assert_int_equal(parse_program_part(table, id, 9, 14, &e, &tree), STATUS_OK);
    assert_int_equal(ast_source(tree), id);
    assert_int_equal(ast_root(tree)->child[0]->where.begin, 9);
    assert_int_equal(ast_root(tree)->child[0]->where.end, 14);
    ast_release(tree);
    assert_int_equal(parse_program_part(table, id, 9, 99, &e, &tree), STATUS_VALUE);
    assert_null(tree);
    error_clear(&e);
    assert_int_equal(parse_program(table, 7, &e, &tree), STATUS_VALUE);
    source_table_free(table);
}

static void texts_of_nodes_have_their_hash(void **state) {
    (void)state;
    parsed x = parse_text("abc + 'abc'.abc");
    const ast_node *chain = ast_root(x.tree)->child[0];
    uint64_t hash = hash_bytes("abc", 3, 0);
    assert_int_equal(chain->child[0]->hash, hash);
    assert_int_equal(chain->child[1]->hash, hash);
    assert_int_equal(chain->child[1]->child[0]->hash, hash);
    assert_int_equal(chain->child[1]->child[0]->length, 3);
    parse_done(&x);
}

static void trees_are_counted(void **state) {
    (void)state;
    int64_t live = mem_live();
    parsed x = parse_text("def f(x) = x + 1");
    ast *kept = ast_retain(x.tree);
    const ast_node *body = ast_root(kept)->child[0]->child[1];
    parse_done(&x);
    assert_int_equal(body->kind, AST_CHAIN);
    ast_release(kept);
    ast_release(NULL);
    assert_null(ast_retain(NULL));
    assert_int_equal(mem_live(), live);
}

static void every_kind_and_operator_has_a_name(void **state) {
    (void)state;
    for (int kind = 0; kind < AST_KIND_COUNT; kind++)
        assert_string_not_equal(ast_kind_name((ast_kind)kind), "unknown");
    assert_string_equal(ast_kind_name(AST_KIND_COUNT), "unknown");
    for (int op = AST_ADD; op < AST_OP_COUNT; op++) assert_true(ast_op_text((ast_op)op)[0] != '\0');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(types),
        cmocka_unit_test(postfix),
        cmocka_unit_test(precedence),
        cmocka_unit_test(statements),
        cmocka_unit_test(commands_and_silence),
        cmocka_unit_test(every_example_parses),
        cmocka_unit_test(spans_are_exact),
        cmocka_unit_test(a_part_of_a_source_keeps_its_spans),
        cmocka_unit_test(texts_of_nodes_have_their_hash),
        cmocka_unit_test(trees_are_counted),
        cmocka_unit_test(every_kind_and_operator_has_a_name),
    };
    return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
