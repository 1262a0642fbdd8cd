/* test_eval.c — what programs of the language show: values, control flow, functions, indexing, assignment. */
#include "tests/harness/check.h"

#include "tests/harness/script.h"

static void test_scalars(void **state) {
    (void)state;
    script_expect("1 + 2 * 3", "7");
    script_expect("7 // 2, 7 % 3, -7 // 2, 2 ** 10", "(3, 1, -4, 1024)");
    script_expect("1 / 4; 0.5 * 3", "1.5");
    script_expect("-2 ** 2", "-4");
    script_expect("1 < 2 < 3; 1 < 3 < 2", "false");
    script_expect("not (1 < 2) or 2 == 2 and true", "true");
    script_expect("\"a\" + \"b\" == \"ab\"", "true");
    script_expect("None == None, None == 1, f32 == f64", "(true, false, false)");
    script_expect("(1, 2) + (3,)", "(1, 2, 3)");
    script_expect("3 as u8, 300 as u8, -1 as u8", "(u8 3, u8 44, u8 255)");
}

static void test_weak_scalars_meet(void **state) {
    (void)state;
    script_expect("([1, 2] + 1.5).dtype, ([1.0] as f16 * 2).dtype, ([1] as u8 + 1).dtype", "(f32, f16, u8)");
    script_expect("[1, 2.5]", "f32[2] [1, 2.5]");
    script_expect("[1 as f16, 2.5, 1]", "f16[3] [1, 2.5, 1]");
    script_expect("x = 3; y = x / 2; y.dtype, (1 + 1).dtype", "(f32, i64)");
    script_expect("where([true, false], 1, 2)", "i64[2] [1, 2]");
}

static void test_tensors_in_brackets(void **state) {
    (void)state;
    script_expect("[[1, 2], [3, 4]]", "i64[2, 2] [[1, 2], [3, 4]]");
    script_expect("[true, 2]", "i64[2] [1, 2]");
    script_expect("[]", "f32[0] []");
    script_expect_error("[[1, 2], [3]]", 121, "write (a, b)");
    script_expect_error("[1, \"a\"]", 220, "element 1 is a string");
}

static void test_echo(void **state) {
    (void)state;
    script_expect("a = 1; b = 2\n3;\n4\nNone\n(a, b)", "b = ...\n4\n(1, 2)");
    script_expect("a, (b, c) = (1, (2, 3))", "a = ...\nb = ...\nc = ...");
    script_expect("def f(x) = x\nf(2)", "2");
    script_expect("if true { 5 } else { 6 }", "5");
    script_expect("for i in 0..3 { i }", "");
    script_expect("print(\"a\", 1, [2])", "a 1 i64[1] [2]");
}

static void test_loops(void **state) {
    (void)state;
    script_expect("n = 0\nwhile true { n += 1; if n > 100 { break } }\nn", "n = ...\n101");
    script_expect("t = 0\nfor i in 0..10 { if i % 2 == 0 { continue }; t += i }\nt", "t = ...\n25");
    script_expect("t = 0\nfor a, b in ((1, 2), (3, 4)) { t += a * b }\nt", "t = ...\n14");
    script_expect("t = 0\nfor row in [[1, 2], [3, 4]] { t = t + row }\nt", "t = ...\ni64[2] [4, 6]");
    script_expect_error("for i in 5 { }", 219, "0..n");
    script_expect_error("s = \"a\"; while true { s = s + s }", 914, "at most 67108864 bytes");
    script_expect_error("t = (1,); while true { t = t + t }", 914, "at most 4194304 items");
}

static void test_functions(void **state) {
    (void)state;
    script_expect("def fact(n) { if n < 2 { return 1 }; n * fact(n - 1) }; fact(20)", "2432902008176640000");
    script_expect("def o(k) { g = v -> v + k; k = 100; g }; o(1)(2)", "3");
    script_expect("def o(n) { def g(k) { if k < 2 { 1 } else { k * g(k - 1) } }; g(n) }; o(5)", "120");
    script_expect("k = 1; f = v -> v + k; k = 10; f(1)", "11");
    script_expect("def f(x, b=2) = x * b; f(3), f(3, 4), f(b=5, x=1)", "(6, 12, 5)");
    script_expect("x = [3.0, -1.0]; relu(x), x.relu(), x |> relu |> sum(axis=0)",
                  "(f32[2] [3, 0], f32[2] [3, 0], 3)");
    script_expect("2 |> (v -> v + 1)", "3");
    script_expect("r = {f: v -> v + 1}; r.f(1)", "2");
    script_expect("def f(x) { x = x + 1; x }; x = 1; f(x), x", "(2, 1)");
    script_expect_error("def f(x) = f(x); f(1)", 911, "too deep");
    script_expect_error("def f(x, w) = x; f(1)", 213, "f(x, w)");
    script_expect_error("def f(x, w) = x; f(1, 2, 3)", 214, "takes 2 arguments, not 3");
    script_expect_error("def f(x, w) = x; f(1, 2, q=3)", 215, "no parameter q");
    script_expect_error("def f(x) = x; f(1, x=2)", 215, "twice");
}

static void test_annotations(void **state) {
    (void)state;
    script_expect("def f(x: f32[b, 2], y: f32[b]) = x.shape; f(ones(3, 2), ones(3))", "(3, 2)");
    script_expect("def f(x: f32[..., 2]) = 1; f(ones(2)), f(ones(5, 4, 2)), f(x=ones(1, 2))", "(1, 1, 1)");
    script_expect("def f(x: f32) = x; f(1)", "1");
    script_expect_error("def f(x: f32[b, 2], y: f32[b]) = x; f(ones(3, 2), ones(4))", 216,
                        "b is 3 (x axis 0), not 4 (y axis 0)");
    script_expect_error("def f(x: i64) = x; f(1.5)", 216, "should be i64");
}

static void test_indexing(void **state) {
    (void)state;
    script_expect("a = arange(10); a[::-2], a[7:2:-2], a[-3:], a[100:], a[5:2]",
                  "(i64[5] [9, 7, 5, 3, 1], i64[3] [7, 5, 3], i64[3] [7, 8, 9], i64[0] [], i64[0] [])");
    script_expect(
        "a = arange(24).reshape(2, 3, 4); a[1, ..., 0], a[:, [0, 2], 1].shape, a[None, 0, :, None].shape",
        "(i64[3] [12, 16, 20], (2, 2), (1, 3, 1, 4))");
    script_expect("a = [[1, 2], [3, 4]]; a[a > 2], a[[true, false]], a[(1, 0)]",
                  "(i64[2] [3, 4], i64[1, 2] [[1, 2]], 3)");
    script_expect("t = (1, 2, 3); t[0], t[-1], t[1:]", "(1, 3, (2, 3))");
    script_expect("r = {a: 1}; r.a, r[\"a\"]", "(1, 1)");
    script_expect_error("a = [1, 2]; a[2]", 322, "out of range for axis 0 of size 2");
    script_expect_error("a = [1, 2]; a[-3]", 322, "index -3");
    script_expect_error("a = [1, 2]; a[1.0]", 321, "`//`");
    script_expect_error("a = [1, 2]; a[0, 0]", 323, "2 indices");
    script_expect_error("a = [1, 2]; a[::0]", 325, "can't be 0");
    script_expect_error("a = [[1]]; a[[0], [0]]", 324, "two index tensors");
}

static void test_assignment(void **state) {
    (void)state;
    script_expect("a = [[1, 2], [3, 4]]; b = a; a[0, :] = 9; a, b",
                  "(i64[2, 2] [[9, 9], [3, 4]], i64[2, 2] [[1, 2], [3, 4]])");
    script_expect("a = zeros(2, 2); a[0][1] = 5; a[1] += 1; a", "f32[2, 2] [[0, 5], [1, 1]]");
    script_expect("a = zeros(3); a[[0, 2, 0]] = [5, 6, 7]; a", "f32[3] [7, 0, 6]");
    script_expect("a = [1, -2, 3]; a[a < 0] = 0; a", "i64[3] [1, 0, 3]");
    script_expect("a = arange(6).reshape(2, 3); a[:, ::-2] = [10, 20]; a",
                  "i64[2, 3] [[20, 1, 10], [20, 4, 10]]");
    script_expect("r = {m: {w: [1.0, 2.0]}, k: 1}; q = r; r.m.w[0] = 7; r.n = 2; r, q.m.w",
                  "({m: {w: f32[2] [7, 2]}, k: 1, n: 2}, f32[2] [1, 2])");
    script_expect("t = (1, 2); t[0] = 9; t", "(9, 2)");
    script_expect("a = [1.0]; def f() { a[0] = 5; a }; f(), a", "(f32[1] [5], f32[1] [1])");
    script_expect("x = [1.0]; for i in 0..3 { x[0] += i }; x", "f32[1] [4]");
    script_expect_error("a = zeros(2, 2); a[0] = [1, 2, 3]", 123, "shape [2]");
    script_expect_error("a, b = (1, 2, 3)", 217, "2 names");
    script_expect_error("a = [1, 2] as u8; a[0] = 256", 106, "256 does not fit u8");
    script_expect_error("a = [1, 2] as u8; a[a > 1] = -1", 106, "-1 does not fit u8");
    script_expect("a = [1, 2] as u8; a[:1] = [300]; a[1] = 2.5; a", "u8[2] [44, 2]");
}

static void test_names(void **state) {
    (void)state;
    script_expect("sum = 3; sum; sum",
                  "warning: sum was a function of the language; here it is now the name of this value\n3");
    script_expect("max = 3; softmax([1.0, 1.0])", "warning: max was a function of the language; here it is "
                                                  "now the name of this value\nf32[2] [0.5, 0.5]");
    script_expect("1 + 1\n_ * 10\nOut[1]", "2\n20\n2");
    script_expect_error("summ([1])", 201, "did you mean sum?");
    script_expect_error("np.sum([1])", 201, "there are no modules");
    script_expect_error("x = ones(3); x.item()", 202, "leave .item() out");
    script_expect_error("x = ones(3); x.sum", 202, "write .sum()");
    script_expect_error("x = 1; x(2)", 212, "brackets");
    script_expect_error("x = 5; x[0]", 323, "1 index into integer, which has 0 axes");
    script_expect_error("x = ones(3); x[0, 0]", 323, "2 indices into f32[3], which has 1 axis");
    script_expect_error("\"a\" + 1", 211, "print(");
    script_expect_error("for v in {a: 1} { }", 219, "map(f, r)");
    script_expect_error("x = ones(3); x[1:end]", 201, "x[-1]");
    script_expect_error("type(3)", 201, "x.dtype");
    script_expect("f = x -> x; f.shape", "E202 name: a function has no field shape\n"
                                         "  f = x -> x; f.shape\n"
                                         "                ^^^^^");
    script_expect_error("f = x -> x; f.grad", 202, "write .grad()");
    script_expect_error("f = x -> x; f(1, 2)", 214, "f takes 1 argument, not 2");
    script_expect_error("f = (x: f32[2]) -> x; f(1)", 216, "f: x should be f32[2]");
    script_expect_error("exit()", 201, ":quit leaves");
    script_expect_error("concat(())", 205, "one tensor or more");
    script_expect_error("cross_entropy(zeros(2, 3), [1.0, 2.0])", 225, "target as i64");
}

static void test_errors_point_at_operands(void **state) {
    (void)state;
    script_expect_error("x = ones(64, 784)\nw = ones(10, 784)\nh = x @ w", 101,
                        "E101 shape: `@` needs equal inner sizes\n"
                        "  h = x @ w          x f32[64, 784]   w f32[10, 784]\n"
                        "      ^^^^^          784 (x axis 1) is not 10 (w axis 0)\n"
                        "  hint: x @ w.T gives f32[64, 10]\n");
    script_expect_error("softmax(ones(2), axis=5)", 301, "  softmax(ones(2), axis=5)\n  ^^^^^^^^");
    script_expect_error("if [1, 2] > 0 { 2 }", 218, "any(x) or all(x)");
    script_expect_error("a = ones(2, 3); (a + 1) @ a", 101, "hint: (a + 1) @ a.T gives f32[2, 2]");
    script_expect_error("a = ones(2, 3); -a @ a", 101, "hint: (-a) @ a.T gives f32[2, 2]");
    script_expect_error("a = ones(2, 3, 4); a @ a", 101, "hint: a @ a.transpose(0, 2, 1) gives f32[2, 3, 3]");
    script_expect_error("a = ones(3); b = ones(3, 1); a - b", 103,
                        "write b[..., 0] to go element by element, or a[None, :] to mean the square");
    script_expect_error("b = ones(3); ones(3, 4) + b", 102, "write b[:, None] to line it up with axis 0");
    script_expect_error("zeros(1.5)", 211, "must be an integer, not a real");
}

static void hints_can_be_followed(void **state) {
    (void)state;
    static const char square[] = "write a[..., 0] to go element by element, or b[None, :] to mean the square";
    script_expect_error("a = ones(3, 1); b = ones(3); maximum(a, b)", 103, square);
    script_expect_error("a = ones(3, 1); b = ones(3); a.maximum(b)", 103, square);
    script_expect_error("a = ones(3, 1); b = ones(3); maximum(y=b, x=a)", 103, square);
    script_expect_error("a = ones(3, 1); b = ones(3); where(true, a, b)", 103, square);
    script_expect_error("a = ones(3, 1); b = ones(3); freeze(() -> maximum(a, b))()", 103, square);
    script_expect_error("a = ones(3, 1); b = ones(3); a |> maximum(b)", 103,
                        "write (the left operand)[..., 0] to go");
    script_expect_error("mse(ones(3, 1), ones(3))", 103, "or (the right operand)[None, :] to mean");
    script_expect_error("b = ones(2); where(ones(2, 3) > 0, 1, b)", 102, "write b[:, None] to line it up");
    script_expect_error("rand(2, dtype=i64)", 108, "hint: cast the draw: (10 * rand(3)) as i64 gives digits");
    script_expect("seed(1); all((10 * rand(99)) as i64 < 10)", "true");
    script_expect_error("stack(([1], 2))", 121,
                        "stack wants equal shapes: element 0 is i64[1], element 1 is an integer");
    script_expect_error("stack((1, \"a\"))", 220, "stack wants tensors; element 1 is a string");
    script_expect_error("[[1], 2]", 121, "hint: write (a, b) for a tuple");
    script_expect_error("~1.5", 107, "`~x` is for integers and bools");
}

/* Each number stands for one thing, which its explanation is about. */
static void numbers_mean_one_thing(void **state) {
    (void)state;
    script_expect_error("ones(2, 3, 4).T", 125, ".T of f32[2, 3, 4]: which axes?");
    script_expect_error("a = [1]; a[None, None, None, None, None, None, None, None]", 124, "at most 8 axes");
    script_expect_error("a = [1, 2]; a[0, 0]", 323, "2 indices");
    script_expect_error("r = {a: 1}; r[0]", 327, "a record is indexed by a string");
    script_expect_error("r = {a: 1}; r[0] = 2", 327, "a record is indexed by a string");
    script_expect_error("(1, 2)[0, 1]", 327, "a tuple is indexed by one integer or slice");
    script_expect_error("t = (1, 2); t[0:1] = 3", 327, "assigned by one integer");
    script_expect_error("relu[0]", 328, "can't be indexed");
    script_expect_error("ones(3)[[true, false]]", 329, "does not fit axis 0");
    script_expect_error("ones(3)[1.5]", 321, "is not an index");
    script_expect_error("zeros(-1)", 326, "a size can't be -1");
    script_expect_error("arange(0, 1, 0)", 326, "a step of 0 never arrives");
    script_expect_error("map((a, b) -> a, (1, 2), (1,))", 227, "the same structure");
    script_expect_error("map(() -> 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", 228,
                        "map takes at most 9 structures at once, not 10");
    script_expect_error("t = ([1],); for i in 0..64 { t = t + ([1],) }; concat(t)", 228,
                        "concat takes at most 64 tensors at once, not 65");
}

static void operands_can_be_named(void **state) {
    (void)state;
    script_expect("(relu(x=5), sum(x=[1, 2]), maximum(x=1, y=2), maximum(y=4, x=3), maximum(1, y=2))",
                  "(5, 3, 2, 4, 2)");
    script_expect("sum(axis=0, x=[[1, 2], [3, 4]])", "i64[2] [4, 6]");
    script_expect("concat(axis=0, tensors=([1], [2]))", "i64[2] [1, 2]");
    script_expect("take([5, 6], axis=0, y=[1])", "i64[1] [6]");
    script_expect("freeze(relu)(x=5.0)", "5");
    script_expect_error("maximum(1, x=2)", 215, "maximum gets its argument twice: x");
    script_expect_error("maximum(y=1)", 213, "maximum has too few arguments");
    script_expect_error("relu(y=1)", 213, "hint: it is relu(x)");
    script_expect_error("relu(1, y=1)", 215, "relu has no parameter y");
    script_expect("relu(x=\"a\")", "E211 type: relu wants tensors, not a string\n"
                                   "  relu(x=\"a\")\n"
                                   "         ^^^");
}

static void test_arguments_by_place(void **state) {
    (void)state;
    script_expect("sum([[1, 2], [3, 4]], 0, true)", "i64[1, 2] [[4, 6]]");
    script_expect("sum([[1, 2], [3, 4]], 0, 1, true)", "i64[1, 1] [[10]]");
    script_expect("[[1, 2], [3, 4]].max(-1)", "i64[2] [2, 4]");
    script_expect("mean([[1, 2], [3, 4]], (0, 1), false)", "2.5");
    script_expect_error("sum([1, 2], 0, true, 3)", 214, "too many arguments");
}

static void test_creation(void **state) {
    (void)state;
    script_expect("zeros(2), ones((1, 2), dtype=i64), full((2,), 1.5)",
                  "(f32[2] [0, 0], i64[1, 2] [[1, 1]], f32[2] [1.5, 1.5])");
    script_expect("arange(3), arange(1, 2, 0.5), arange(3, 0, -1), arange(2, 1)",
                  "(i64[3] [0, 1, 2], f32[2] [1, 1.5], i64[3] [3, 2, 1], i64[0] [])");
    script_expect("linspace(0, 1, 3), eye(2), eye(1, 2, dtype=bool)",
                  "(f32[3] [0, 0.5, 1], f32[2, 2] [[1, 0], [0, 1]], bool[1, 2] [[true, false]])");
    script_expect("seed(1); a = randn(3); seed(1); b = randn(3); all(a == b), all(a == randn(3))",
                  "(true, false)");
    script_expect("a = rand(3, key=5); b = rand(2); c = rand(3, key=5); all(a == c)", "true");
    script_expect("s = rng_state(); a = rand(2); rng_state(s); all(a == rand(2))", "true");
}

static void test_shapes(void **state) {
    (void)state;
    script_expect("x = arange(6).reshape(2, -1); x.T.shape, x.flatten().shape, x.unsqueeze(-1).shape, "
                  "x[None].squeeze().shape",
                  "((3, 2), (6,), (2, 3, 1), (2, 3))");
    script_expect("transpose(zeros(2, 3, 4)).shape, zeros(2, 3, 4).permute(1, 2, -3).shape",
                  "((4, 3, 2), (3, 4, 2))");
    script_expect("stack(([1, 2], [3, 4]), axis=1), concat(([1], [2.5]))",
                  "(i64[2, 2] [[1, 3], [2, 4]], f32[2] [1, 2.5])");
    script_expect(
        "sum(ones(2, 3), axis=1), ones(2, 3).sum(dim=(0, 1), keepdim=true), sum(ones(2, 3), axis=[0])",
        "(f32[2] [3, 3], f32[1, 1] [[6]], f32[3] [2, 2, 2])");
    script_expect("argmax([[1, 9], [3, 2]]), argmax([[1, 9], [3, 2]], axis=0)", "(1, i64[2] [1, 0])");
    script_expect_error("reshape(arange(6), -1, 4)", 122, "no size fits -1");
    script_expect_error("sum([1], foo=3)", 215, "sum(x, axis=all, keep=false)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_weak_scalars_meet),
        cmocka_unit_test(test_tensors_in_brackets),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_indexing),
        cmocka_unit_test(test_assignment),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_errors_point_at_operands),
        cmocka_unit_test(test_arguments_by_place),
        cmocka_unit_test(hints_can_be_followed),
        cmocka_unit_test(numbers_mean_one_thing),
        cmocka_unit_test(operands_can_be_named),
        cmocka_unit_test(test_creation),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
