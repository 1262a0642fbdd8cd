/* test_eval_grad.c — gradients as the language has them: grad, vjp, jvp, tapes, and nesting them; the compositions of
 * the prelude, which must keep docs/numerics.md. */
#include "tests/harness/check.h"

#include "tests/harness/script.h"

static void test_grad(void **state) {
    (void)state;
    script_expect("grad(v -> v * v)(3.0)", "6");
    script_expect("grad(grad(v -> v ** 3))(2.0)", "12");
    script_expect("grad(grad(grad(v -> v ** 4)))(2.0)", "48");
    script_expect(
        "def f(x, y) { p = x @ y; sum(p ** 2) }; value_and_grad(f, wrt=(0, 1))([1.0, 2.0], [3.0, 4.0])",
        "(121, (f32[2] [66, 88], f32[2] [22, 44]))");
    script_expect("grad((m, x) -> sum(m.w * x) + m.k)({w: [1.0, 2.0], k: 3, b: (1.0, [5.0])}, 2)",
                  "{w: f32[2] [2, 2], k: None, b: (None, f32[1] [0])}");
    script_expect("x = [2.0]; grad(a -> sum(a * x))(x)", "f32[1] [2]");
    script_expect("grad((a, b) -> sum(a * b * b), wrt=1)([2.0], [3.0])", "f32[1] [12]");
    script_expect("x = [3.0]; grad((a, b) -> sum(a * b))(x, x)", "f32[1] [3]");
    script_expect_error("grad(v -> v)(3)", 401, "3.0");
    script_expect_error("grad(v -> v)([1.0, 2.0])", 403, "jacobian");
    script_expect_error("grad(v -> (v, v))(1.0)", 412, "a tuple of 2");
    script_expect_error("grad(3)", 211, "a function");
    script_expect_error("grad(v -> sum(v.k))({k: 1})", 413, "nothing to differentiate by");
}

static void test_products(void **state) {
    (void)state;
    script_expect("y, pull = vjp(v -> v * v, [1.0, 2.0]); y, pull([1.0, 10.0]), pull([0.0, 1.0])",
                  "(f32[2] [1, 4], f32[2] [2, 40], f32[2] [0, 4])");
    script_expect("y, pull = vjp((a, n, b) -> (a * b, n), [2.0], 7, {c: [3.0]}.c); y, pull(([1.0], None))",
                  "((f32[1] [6], 7), (f32[1] [3], None, f32[1] [2]))");
    script_expect("jvp(v -> v ** 2, [1.0, 2.0], [1.0, 10.0])", "(f32[2] [1, 4], f32[2] [2, 40])");
    script_expect("jvp(m -> m.a * m.b, {a: [2.0], b: [3.0]}, {a: [1.0], b: [0.5]})",
                  "(f32[1] [6], f32[1] [4])");
    script_expect("jacobian(v -> v * v)([1.0, 2.0])", "f32[2, 2] [[2, 0], [0, 4]]");
    script_expect("hessian(v -> sum(sin(v) ** 2))([0.0])", "f32[1, 1] [[2]]");
    script_expect("hvp(v -> sum(v ** 3), [1.0, 2.0], [1.0, 0.5])", "f32[2] [6, 6]");
    script_expect("grad(v -> jvp(sin, v, 1.0)[1])(0.0)", "-0");
    script_expect_error("y, pull = vjp(v -> v, [1.0]); pull(([1.0],))", 415, "structure");
}

static void test_tapes(void **state) {
    (void)state;
    script_expect("x = [1.0, 2.0]; t = tape { h = x * 2; l = mean(h ** 2) }; t.grad(l, x), t.grad(l, h)",
                  "(f32[2] [4, 8], f32[2] [2, 4])");
    script_expect("m = {w: [1.0], n: 3}; t = tape { l = sum(m.w * 5) }; t.grad(l, m)",
                  "{w: f32[1] [5], n: None}");
    script_expect("x = 2.0; t = tape { u = tape { y = x ** 3 }; g = u.grad(y, x) }; t.grad(g, x)", "12");
    script_expect_error("x = [1.0]; t = tape { y = sum(x) }; t.grad(y, x + 1)", 414, "not on this tape");
}

static void test_softmax_family(void **state) {
    (void)state;
    script_expect("softmax([0.0, 0.0]), softmax([-inf, -inf]), softmax([1000.0, 1000.0])",
                  "(f32[2] [0.5, 0.5], f32[2] [nan, nan], f32[2] [0.5, 0.5])");
    script_expect(
        "logsumexp([-inf, -inf]), grad(logsumexp)([-inf, -inf]), logsumexp([inf, 1.0]), logsumexp([1000.0])",
        "(-inf, f32[2] [0, 0], inf, 1000)");
    script_expect("logsumexp([[0.0, 0.0]], axis=1, keep=true).shape, logsumexp([[0.0, 0.0]], axis=1).shape",
                  "((1, 1), (1,))");
    script_expect("log_softmax([0.0, -1000.0])", "f32[2] [0, -1000]");
    script_expect(
        "x = [[0.0, 1000.0]]; cross_entropy(x, [0]), cross_entropy(x, [1]), cross_entropy(x, [[0.0, 1.0]])",
        "(1000, 0, 0)");
    script_expect("grad(cross_entropy)([[0.0, 0.0]], [1])", "f32[1, 2] [[0.5, -0.5]]");
    script_expect_error("cross_entropy([[1.0, 2.0]], [[0]])", 225, "without the last axis");
    script_expect_error("cross_entropy([[1.0, 2.0]], [2])", 306, "cross_entropy");
}

static void test_compositions(void **state) {
    (void)state;
    script_expect("sigmoid([0.0, -100.0, 100.0]), silu(0.0), softplus([100.0, -100.0])",
                  "(f32[3] [0.5, 3.8e-44, 1], 0, f32[2] [100, 0])");
    script_expect("grad(v -> sum(sigmoid(v)))([0.0, -200.0])", "f32[2] [0.25, 0]");
    script_expect("mse([1.0, 3.0], [0.0, 0.0]), mae([1.0, -3.0], [0.0, 0.0]), clip([1, 5, 10], 2, 6)",
                  "(5, 2, i64[3] [2, 5, 6])");
    script_expect("grad(v -> sum(clip(v, 0, 1)))([-1.0, 0.0, 0.5, 1.0, 2.0])",
                  "f32[5] [0, 1, 1, 1, 0]"); /* at its bounds, too */
    script_expect("clip([nan, 2.0], 0, 1), clip([1.0], nan, 2)", "(f32[2] [nan, 1], f32[1] [nan])");
    script_expect("softplus([inf, -inf, 0.0, nan]), grad(v -> sum(softplus(v)))([0.0, -200.0, 200.0])",
                  "(f32[4] [inf, 0, 0.6931472, nan], f32[3] [0.5, 0, 1])");
    /* second derivatives where the first has a corner in its formula, not in its values */
    script_expect("hessian(v -> softplus(v))(0.0), hessian(v -> binary_cross_entropy(v, 1.0))(0.0)",
                  "(0.25, 0.25)");
    script_expect(
        "hessian(v -> huber(v, 0.0))(0.0), hessian(v -> gelu(v, approx=tanh))(0.0) > 0.79, hessian(v "
        "-> silu(v))(0.0)",
        "(1, true, 0.5)");
    script_expect("hessian(v -> sigmoid(v))(0.0), hessian(v -> logsumexp(stack((v, 0.0))))(0.0)",
                  "(0, 0.25)");
    script_expect("grad(v -> sum(elu(v, alpha=2)))([-1000.0, 0.0, 1.0])", "f32[3] [0, 2, 1]");
    script_expect("check_grad(v -> sum(v ** 3 + sin(v)), [1.0, 2.0]) < 1e-6", "true");
    script_expect("check_grad(v -> sum(v ** 3) + sum(stop_grad(v)), [1.0, 2.0]) > 0.01", "true");
    script_expect("check_grad(v -> sum(gelu(v, approx=tanh)), [-2.0, 0.0, 1.0]) < 1e-6", "true");
    script_expect("opt = sgd(lr=0.5); m, opt = opt.step({w: [1.0], n: 3}, {w: [2.0], n: None}); m",
                  "{w: f32[1] [0], n: 3}");
    script_expect("map(v -> v + 1, (1, {a: 2}))", "(2, {a: 3})");
    script_expect_error("gelu([1.0])", 225, "approx=tanh");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grad),         cmocka_unit_test(test_products),
        cmocka_unit_test(test_tapes),        cmocka_unit_test(test_softmax_family),
        cmocka_unit_test(test_compositions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
