/* test_parser.c — the grammar: every production and precedence row as an S-expression, exact spans, bounds on
 * depth, trees that outlive their parser, texts that are broken at random, and failing allocations. What
 * mistakes say is in test_syntax_errors.c. */
#include "tests/harness/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "repl/lang/parser.h"

typedef struct parsed {
    source_table *table;
    ast *tree;
    error e;
    status code;
} parsed;

static parsed parse_bytes(const char *content, size_t length) {
    parsed x = {.table = source_table_new()};
    uint32_t id = source_add(x.table, NULL, content, length);
    x.code = parse_program(x.table, id, &x.e, &x.tree);
    assert_int_equal(x.code, x.e.code);
    assert_int_equal(x.tree != NULL, x.code == STATUS_OK);
    return x;
}

static parsed parse_text(const char *content) {
    return parse_bytes(content, strlen(content));
}

static void done(parsed *x) {
    ast_release(x->tree);
    source_table_free(x->table);
}

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
    done(&x);
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
        done(&x);
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

/* The block "By example" of the language's text. */
static const char *const examples[] = {
    "d = load(\"digits.csv.gz\"); x = d[:, :64] / 16; y = d[:, 64] as i64",
    "a = [[1, 2], [3, 4]]                     # i64[2, 2]; nested brackets stack equal shapes",
    "b = 1.5; c = true; s = \"text\"            # a `;` after a top-level statement silences its echo",
    "a[0]; a[-1]; a[:, 1:]; a[::2]; a[..., None]; a[a > 2]; a[[0, 1]]; a.T",
    "a[0, :] = 9                              # rebinds a; whoever else holds the old value keeps it",
    "seed(42); e = randn(3, 4); k = randn(3, 4, key=7)      # key= draws apart from the stream",
    "y = einsum(\"bi,ij->bj\", x, w); z = x @ w + b           # NumPy's precedence, `**` for power",
    "relu(z); z.relu(); z |> relu |> sum(axis=1)            # one function, three spellings",
    "def mlp(x: f32[batch, 64], w, b=0) = relu(x @ w + b)   # optional annotations",
    "def loss(m, x, y) { p = m(x); cross_entropy(p, y) }    # a block's value is its last expression",
    "sq = v -> v * v; add = (u, v) -> u + v                 # lambdas",
    "if s > 0 { s } else { -s }                             # an expression",
    "for i in 0..10 { w = w - 0.1 * grad(f)(w) }            # only function bodies open a scope",
    "while err > 1e-6 { n += 1; if n > 100 { break } }",
    "l, g = value_and_grad(loss)(m, x, y)                   # tuples unpack",
    "grad(f); grad(f, wrt=(0, 2)); y, pull = vjp(f, x); y, dy = jvp(f, x, dx); jacobian(f)(x)",
    "hessian(f)(x); hvp(f, x, v)",
    "t = tape { h = x @ w; l = mean(h ** 2) }; t.grad(l, w); t.grad(l, h)   # any value on the tape",
    "m = seq(dense(64, 128), relu, dropout(0.1), dense(128, 10))            # a module",
    "opt = adam(lr=1e-3); m, opt = opt.step(m, g)           # optimisers are values too",
    "m, history = fit(m, x, y, loss=cross_entropy, opt=adam(lr=1e-3), epochs=20, batch=64)   # progress bar",
    "mean(argmax(m(x), axis=1) == y)                        # fit returns the module in evaluation mode",
    "r = {w: randn(3, 4), b: zeros(4)}; r.w; r.w = 2 * r.w  # records",
    "on gpu0 { x }; x.to(gpu0); x as bf16                   # placement and casts",
    "precision(bf16) { x }                                  # autocast region",
    "g = freeze(mlp); g2 = freeze(relu(x @ w + b)); g3 = freeze(mlp, f32[?, 64], f32[64, 10])",
    "print(\"acc\", 0.5); assert(ok, \"message\")",
    "save({x: x, y: y}, \"out.npz\")",
};
enum { EXAMPLE_COUNT = sizeof examples / sizeof *examples };

static void every_example_parses(void **state) {
    (void)state;
    text all = {0};
    for (int i = 0; i < EXAMPLE_COUNT; i++) {
        parsed x = parse_text(examples[i]);
        if (x.code) fail_msg("%s: %s", examples[i], x.e.message);
        assert_int_equal(parse_complete(examples[i], strlen(examples[i])), PARSE_COMPLETE);
        done(&x);
        text_printf(&all, "%s\n", examples[i]);
    }
    parsed x = parse_text(text_str(&all));
    assert_int_equal(x.code, STATUS_OK);
    assert_true(ast_root(x.tree)->count > 2 * EXAMPLE_COUNT);
    done(&x);
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
    done(&x);
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
    done(&x);
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
    done(&x);
}

static void trees_are_counted(void **state) {
    (void)state;
    int64_t live = mem_live();
    parsed x = parse_text("def f(x) = x + 1");
    ast *kept = ast_retain(x.tree);
    const ast_node *body = ast_root(kept)->child[0]->child[1];
    done(&x);
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
    done(&x);
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
    done(&x);
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
    done(&x);
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
    for (int i = 0; i < EXAMPLE_COUNT; i++) {
        size_t length = strlen(examples[i]);
        for (size_t cut = 0; cut <= length; cut++) {
            char *exact = mem_copy_text(examples[i], cut); /* so that reading beyond the end is noticed */
            survive(exact, cut);
            mem_free(exact);
        }
        for (int round = 0; round < 200; round++) {
            char *changed = mem_copy_text(examples[i], length);
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
    for (int i = 0; i < EXAMPLE_COUNT; i++) text_printf(&all, "%s\n", examples[i]);
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
        cmocka_unit_test(deep_nesting_is_refused_not_fatal),
        cmocka_unit_test(a_thousand_brackets_are_allowed),
        cmocka_unit_test(long_flat_texts_stay_flat),
        cmocka_unit_test(token_soup_never_crashes),
        cmocka_unit_test(cut_and_changed_examples_never_crash),
        cmocka_unit_test(failing_allocations_are_errors),
    };
    return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
