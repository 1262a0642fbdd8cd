/* test_arguments.c — an error about one argument of a call marks that argument, however it was given. */
#include "tests/harness/check.h"

#include <string.h>

#include "tests/harness/script.h"

static const char setup[] = "x = [1.0, 2.0]; k = [1, 2]; t = tape { h = x * 2; l = sum(h) };\n";

/* The last line of `code` fails with error `number`, and `marked` is what it marks. */
static void check(const char *code, int number, const char *marked) {
    script p;
    script_open(&p);
    script_run(&p, setup);
    script_run(&p, code);
    size_t length;
    const error *e = &p.c->err;
    const char *content = source_text(session_sources(p.s), e->where.source, &length);
    if (e->number != number || !content || e->where.end - e->where.begin != strlen(marked) ||
        memcmp(content + e->where.begin, marked, strlen(marked)) != 0)
        fail_msg("%s: expected E%d with %s marked, and it shows\n%s", code, number, marked, text_str(&p.out));
    script_close(&p);
}

static void of_tapes(void **state) {
    (void)state;
    check("t.grad(l, h + 0)", 414, "h + 0");
    check("t.grad(l + 1, h)", 414, "l + 1");
    check("t.grad(l, x=h + 0)", 414, "h + 0");
    check("t.grad(x=h, y=l * 2)", 414, "l * 2");
    check("t.grad(\"l\", h)", 211, "\"l\"");
    check("t.grad(l, 3)", 411, "3");
    check("t.grad(l)", 213, "t.grad(l)");
}

static void of_gradients(void **state) {
    (void)state;
    check("grad(v -> v * v)(3)", 401, "3");
    check("grad((u, v) -> u * v, wrt=1)(1.0, k)", 401, "k");
    check("grad(x)(2.0)", 211, "x");
    check("grad(tanh, wrt=1.5)", 211, "1.5");
    check("vjp(3, x)", 211, "3");
    check("jvp(k, x, x)", 211, "k");
}

static void of_builtins(void **state) {
    (void)state;
    check("full((2, 2), \"a\")", 211, "\"a\"");
    check("zeros(2, dtype=3)", 211, "3");
    check("arange(0, \"stop\")", 211, "\"stop\"");
    check("randn(2, key=x)", 211, "x");
    check("seed(\"a\")", 211, "\"a\"");
    check("x.to(3)", 211, "3");
    check("x |> to(3)", 211, "3");
}

static void of_ops(void **state) {
    (void)state;
    check("sum(x, axis=\"a\")", 211, "\"a\"");
    check("x.sum(dim=1.5)", 211, "1.5");
    check("sum(x, \"a\")", 211, "\"a\"");
    check("x |> sum(\"a\")", 211, "\"a\"");
    check("where(x > 0, \"a\", 1)", 211, "\"a\"");
    check("concat(1, axis=0)", 211, "1");
    check("one_hot(k, 1.5)", 211, "1.5");
}

/* What stands before the call is not marked by itself, and in the prelude's text nothing is. */
static void elsewhere_the_call_is_marked(void **state) {
    (void)state;
    check("\"a\".sum()", 211, "\"a\".sum()");
    check("\"a\" |> sum", 211, "\"a\" |> sum");
    check("clip(x, \"a\", 3)", 211, "clip(x, \"a\", 3)");
    check("map(sum, (\"a\", \"b\"))", 211, "map(sum, (\"a\", \"b\"))");
    check("def f(v) = sum(\"a\"); map(f, (1, 2))", 211, "\"a\"");
}

static void hints_about_gradients_can_be_followed(void **state) {
    (void)state;
    script_expect_error("x = [1, 2]; x.grad", 202,
                        "hint: gradients belong to functions, and are by floats: grad(f)(x as f32)");
    script_expect_error("x = [1.0]; x.grad", 202, "grad(f)(x), or t = tape { y = .. } and t.grad(y, x)");
    script_expect_error("x = [1, 2]; x.grad()", 211,
                        "grad(f)(x) differentiates the function f at x, which is of floats");
    script_expect_error("t = tape { y = 1.0 * 2 }; t.grad", 202, "the gradient of y by x: t.grad(y, x)");
    script_expect_error("t = tape { y = 1.0 * 2 }; t.gradient(y)", 202, "t.grad(y, x)");
    script_expect_error("t = tape { y = 1.0 * 2 }; t.grad(y)", 213, "hint: it is t.grad(y, x)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_tapes),
        cmocka_unit_test(of_gradients),
        cmocka_unit_test(of_builtins),
        cmocka_unit_test(of_ops),
        cmocka_unit_test(elsewhere_the_call_is_marked),
        cmocka_unit_test(hints_about_gradients_can_be_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
