/* test_eval_freeze.c — freeze as the language has it: a frozen program means what the program means, whatever is rebound
 * in between; what can't be frozen is refused with a number and the place. */
#include "tests/harness/check.h"

#include <string.h>

#include "repl/lang/freeze.h"
#include "tests/harness/script.h"

#define NET                                                                                                  \
    "x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]; m = {w: [[0.5, -1.0], [0.25, 2.0], [-1.0, 0.125]], b: "         \
    "zeros(2)}\n"                                                                                            \
    "def loss(m, x) = mean(relu(x @ m.w + m.b) ** 2)\n"

/* The last thing that `code` shows is true. */
static void same(const char *code) {
    script p;
    script_open(&p);
    status st = script_run(&p, code);
    size_t length = p.out.length;
    bool ends_true = length >= 5 && strcmp(p.out.data + length - 5, "true\n") == 0;
    if (st || !ends_true) print_error("%s\nshows:\n%s", code, text_str(&p.out));
    assert_int_equal(st, STATUS_OK);
    assert_true(ends_true);
    script_close(&p);
}

static void test_functions(void **state) {
    (void)state;
    same(NET "g = freeze(loss); g(m, x) == loss(m, x) and g(m, ones(5, 3)) == loss(m, ones(5, 3))");
    same(NET "g = freeze(value_and_grad(loss)); l, d = g(m, x); k, e1 = value_and_grad(loss)(m, x); l == k "
             "and all(d.w == "
             "e1.w) and all(d.b == e1.b)");
    same(NET "g = freeze(softmax); all(g(x) == softmax(x)) and all(g(x, axis=0) == softmax(x, axis=0))");
    same(NET "g = freeze((x, y) -> cross_entropy(x, y)); g(x, [0, 1]) == cross_entropy(x, [0, 1])");
    same("g = freeze(hessian(v -> sum(sin(v) ** 2))); all(g([0.0, 1.0]) == hessian(v -> sum(sin(v) ** "
         "2))([0.0, 1.0]))");
    same("f = v -> jvp(sin, v, 2.0 * v)[1]; g = freeze(f); all(g([0.5, 1.0]) == f([0.5, 1.0]))");
    same("g = freeze(v -> { t = tape { y = sum(v ** 3) }; t.grad(y, v) }); all(g([2.0]) == [12.0])");
    script_expect("g = freeze((a, b) -> (a + b, {c: a, n: 7, s: \"t\"})); g([1.0], 2)",
                  "(f32[1] [3], {c: f32[1] [1], n: 7, s: \"t\"})");
    script_expect("g = freeze(v -> v); g([1.0]), g(3), g(true)", "(f32[1] [1], 3, true)");
    script_expect("g = freeze(() -> ones(2)); g()", "f32[2] [1, 1]");
}

static void test_expressions_read_names_at_each_call(void **state) {
    (void)state;
    script_expect("x = [1.0]; w = 2.0; g = freeze(x * w + 1); g(); w = 3.0; g(); x = [1, 2]; g(), g(x=[5])",
                  "(f32[2] [4, 7], f32[1] [16])");
    script_expect("x = 3; g = freeze(x * 2); a = g(); x = 2.5; b = g(); a, b", "(6, 5)");
    script_expect("k = 1; g = freeze(v -> v * k); a = g([2.0]); k = 5; a, g([2.0])",
                  "(f32[1] [2], f32[1] [10])");
    script_expect("m = {w: ones(2), k: 3}; g = freeze(x -> x * m.w * m.k); g(1.0); m.k = 4; m.w = m.w * 2; "
                  "g([1.0, 2.0])",
                  "f32[2] [8, 16]");
    script_expect(
        "flag = true; g = freeze(x -> if flag { x } else { -x }); a = g([1.0]); flag = false; a, g([1.0])",
        "(f32[1] [1], f32[1] [-1])");
    script_expect("def f(v) = v + 1\ng = freeze(v -> f(v)); a = g(1);\ndef f(v) = v * 10\na, g(1)",
                  "(2, 10)");
    script_expect("def mk(k) { w = ones(2) * k; (freeze(v -> v * w), freeze(w + 1)) }; f, g = mk(2); f([1.0, "
                  "2.0]), g(), g(w=zeros(1))",
                  "(f32[2] [2, 4], f32[2] [3, 3], f32[1] [1])");
    script_expect_error("x = 1; g = freeze(x + 1); g(q=2)", 506, "does not read q");
    script_expect_error("g = freeze(x + 1); g()", 201, "x is not known");
}

static void test_blocks_write_back(void **state) {
    (void)state;
    script_expect("x = [1.0, 2.0]; g = freeze({ x[0] = 5; x += 1; y = x * 2 }); g(); x, y",
                  "(f32[2] [6, 3], f32[2] [12, 6])");
    script_expect("n = 0; x = [1.0]; g = freeze({ x = x * 2 }); for i in 0..3 { g() }; x", "f32[1] [8]");
}

static void test_loops_unroll(void **state) {
    (void)state;
    script_expect("g = freeze((v, n) -> { r = v; for i in 0..n { if i == 1 { continue }; r = r * 2 }; r }); "
                  "g([1.0], 3), g([1.0], 5)",
                  "(f32[1] [4], f32[1] [16])");
    script_expect("n = 2; g = freeze(v -> { i = 0; while i < n { v = v * 3; i += 1 }; v }); a = g(1.0); n = "
                  "3; a, g(1.0)",
                  "(9, 27)");
    script_expect(
        "g = freeze(v -> { t = 0.0; for r in v { t = t + r }; t }); g([1.0, 2.0]), g([1.0, 2.0, 3.0])",
        "(3, 6)");
}

static void test_sizes_stay_open(void **state) {
    (void)state;
    script p;
    script_open(&p);
    const char *code =
        "g = freeze(x -> (x[1:] - x[:-1], x.shape[0] * 2, reshape(x, -1, 1), sum(x, axis=0) / len(x)));\n"
        "a = g(arange(5) as f32); b = g(arange(7) as f32); b";
    assert_int_equal(script_run(&p, code), STATUS_OK);
    assert_string_equal(
        text_str(&p.out),
        "(f32[6] [1, 1, 1, 1, 1, 1], 14, f32[7, 1] [[0], [1], [2], [3], [4], [5], [6]], 3)\n");
    const value *g = session_get(p.s, "g");
    assert_int_equal(g->kind, VALUE_GRAPH);
    assert_int_equal(frozen_count(g->graph), 1);
    assert_non_null(frozen_program(g->graph, 0));
    assert_int_equal(script_run(&p, "g(arange(5));"), STATUS_OK);
    assert_int_equal(frozen_count(g->graph), 2);
    text why = {0};
    frozen_why(g->graph, &why);
    assert_non_null(strstr(text_str(&why), "made because"));
    text_free(&why);
    script_close(&p);
}

/* A record's key may be any text; it stays a name in the graph's text and in emitted comments. */
static void test_odd_keys_are_names(void **state) {
    (void)state;
    script p;
    script_open(&p);
    assert_int_equal(
        script_run(&p, "g = freeze(m -> tanh(m[\"a*/\\n b\"]) + 1); g({\"a*/\\n b\": [1.0, 2.0]});"),
        STATUS_OK);
    program *made = frozen_program(session_get(p.s, "g")->graph, 0);
    assert_string_equal(program_graph(made)->input_names[0], "m.a_/  b");
    for (int i = 0; i < program_kernel_count(made); i++) {
        const char *c = program_kernel_at(made, i).source_c;
        assert_null(c ? strstr(c, "a*/") : NULL);
    }
    script_close(&p);
}

static void test_losses_keep_sizes_open(void **state) {
    (void)state;
    script p;
    script_open(&p);
    const char *code =
        "g = freeze(value_and_grad((x, y) -> cross_entropy(x, y)));\n"
        "g(ones(4, 3), [0, 1, 2, 0]); g(ones(6, 3), [0, 1, 2, 0, 1, 2]); g(ones(5, 7), [0, 1, 2, 0, 1]);";
    assert_int_equal(script_run(&p, code), STATUS_OK);
    assert_int_equal(frozen_count(session_get(p.s, "g")->graph), 1);
    script_close(&p);
}

static void test_types_specialise_at_once(void **state) {
    (void)state;
    script p;
    script_open(&p);
    assert_int_equal(script_run(&p, "g = freeze((x, w) -> relu(x @ w), f32[?, 4], f32[4, 2]);"), STATUS_OK);
    const value *g = session_get(p.s, "g");
    assert_int_equal(frozen_count(g->graph), 1);
    assert_int_equal(script_run(&p, "g(ones(3, 4), ones(4, 2))"), STATUS_OK);
    assert_string_equal(text_str(&p.out), "f32[3, 2] [[4, 4], [4, 4], [4, 4]]\n");
    assert_int_equal(frozen_count(g->graph), 1);
    script_close(&p);
    script_expect_error("freeze(relu, f32)", 507, "f32[?, 64]");
    script_expect_error("freeze(relu, 3)", 507, "an integer");
}

static void test_random_draws_on(void **state) {
    (void)state;
    same("g = freeze(v -> v + randn(3)); seed(1); a = randn(3); b = randn(3); c = rand(2)\n"
         "seed(1); d = g(zeros(3)); h = g(zeros(3)); i = rand(2); all(a == d) and all(b == h) and all(c == "
         "i)");
}

static void test_under_a_tape_and_inside_another(void **state) {
    (void)state;
    script_expect("a = freeze(v -> v * v); grad(v -> sum(a(v)))([3.0])", "f32[1] [6]");
    script_expect("a = freeze(v -> v + 1); b = freeze(v -> a(v) * 2); b([1.0])", "f32[1] [4]");
    script_expect("a = freeze(v -> v * v); t = tape { x = [2.0]; y = sum(a(x)) }; t.grad(y, x)",
                  "f32[1] [4]");
}

static void test_training_is_the_same(void **state) {
    (void)state;
    same(NET "def step(m, x) { l, g = value_and_grad(loss)(m, x); (l, map((p, d) -> p - 0.01 * d, m, g)) }\n"
             "fast = freeze(step); a = m; b = m\n"
             "for i in 0..10 { l, a = step(a, x); k, b = fast(b, x) }\n"
             "l == k and all(a.w == b.w) and all(a.b == b.b)");
}

static void test_refusals(void **state) {
    (void)state;
    script_expect_error("f = freeze(x -> if sum(x) > 0 { x } else { -x }); f([1.0])", 501,
                        "not captured yet");
    script_expect_error("f = freeze(x -> { while max(x) < 3 { x = x * 2 }; x }); f([1.0])", 501,
                        "max(x) < 3");
    script_expect_error("f = freeze(x -> x[x > 2]); f([1.0])", 512, "where(mask, x, 0)");
    script_expect_error("f = freeze(x -> { print(x); x }); f([1.0])", 503, "print");
    script_expect_error("f = freeze(x -> { assert(all(x > 0)); x }); f([1.0])", 503, "assert");
    script_expect_error("f = freeze(x -> (v -> v + x)); f([1.0])", 505, "a function");
    script_expect_error("def r(x) = r(x); f = freeze(r); f([1.0])", 911, "too deep");
    script_expect_error("f = freeze(x -> x @ ones(3, 2)); f(ones(4, 5))", 101, "x f32[4, 5]");
    script_expect_error("f = freeze((a, n) -> (a * 2) + n); a = [1, 2] as i8; f(a, 5); f(a, 300)", 106,
                        "300 does not fit i8\n  f = freeze((a, n) -> (a * 2) + n)");
    script_expect_error("f = freeze((a, x) -> { b = a; b[0] = shape(x)[0]; b }); a = [1, 2] as i8;"
                        "f(a, zeros(127)); f(a, zeros(128))",
                        106, "128 does not fit i8");
    script_expect_error("f = freeze()", 507, "a function or an expression");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_expressions_read_names_at_each_call),
        cmocka_unit_test(test_blocks_write_back),
        cmocka_unit_test(test_loops_unroll),
        cmocka_unit_test(test_sizes_stay_open),
        cmocka_unit_test(test_odd_keys_are_names),
        cmocka_unit_test(test_losses_keep_sizes_open),
        cmocka_unit_test(test_types_specialise_at_once),
        cmocka_unit_test(test_random_draws_on),
        cmocka_unit_test(test_under_a_tape_and_inside_another),
        cmocka_unit_test(test_training_is_the_same),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
