/* test_calls.c — an error within a function says from where the function was called. */
#include "tests/harness/check.h"

#include <string.h>

#include "tests/harness/script.h"

static void innermost_first_with_the_place_and_text_of_each_call(void **state) {
    (void)state;
    script_expect("def f(x) = x @ ones(3)\n"
                  "def g(x) {\n"
                  "    y = f(x)\n"
                  "    y + 1\n"
                  "}\n"
                  "a = 1; g(ones(2))",
                  "E101 shape: `@` needs equal inner sizes\n"
                  "  def f(x) = x @ ones(3)   x f32[2]   ones(3) f32[3]\n"
                  "             ^^^^^^^^^^^   2 (x axis 0) is not 3 (ones(3) axis 0)\n"
                  "  in f, called at prompt:3:9: f(x)\n"
                  "  in g, called at prompt:6:8: g(ones(2))");
    /* a pipe's call, and a text with a combining mark */
    script_expect_error("def f(x) { x |> error }; def g(x) = \"a\\u{301}\" |> f; g(1)", 225,
                        "\n  in g, called at prompt:1:54: g(1)\n");
}

static void lambdas_have_the_name_they_were_given_or_their_text(void **state) {
    (void)state;
    script_expect_error("f = x -> x + nonsense; g = f; g(1)", 201, "\n  in f, called at prompt:1:31: g(1)\n");
    script_expect_error("(x -> x + nonsense)(1)", 201, "\n  in x -> x + nonsense, called at prompt:1:1\n");
    script_expect_error("(x -> {\n  x + nonsense })(1)", 201,
                        "\n  in x -> {\xe2\x80\xa6, called at prompt:1:1\n");
}

static void a_call_that_failed_before_the_body_ran_is_marked_alone(void **state) {
    (void)state;
    script_expect("def f(x) = x; f(1, 2)", "E214 type: f takes 1 argument, not 2\n"
                                           "  def f(x) = x; f(1, 2)\n"
                                           "                ^^^^^^^\n"
                                           "  hint: it is f(x)");
    script_expect("def f(x: f32[3]) = x; f(1)", "E216 type: f: x should be f32[3] and is an integer\n"
                                                "  def f(x: f32[3]) = x; f(1)\n"
                                                "                        ^^^^");
    script_expect("def f(x) = x; f(y)", "E201 name: y is not known here\n"
                                        "  def f(x) = x; f(y)\n"
                                        "                  ^");
}

static void the_language_s_own_functions_show_where_they_called_back(void **state) {
    (void)state;
    /* all within the prelude: the call is marked, and nothing more is said */
    script_expect(
        "mse([1.0, 2.0], [1.0, 2.0, 3.0])",
        "E102 shape: shapes [2] and [3] do not broadcast\n"
        "  mse([1.0, 2.0], [1.0, 2.0, 3.0])   2 (left axis 0) is not 3 (right axis 0)\n"
        "  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  hint: sizes must be equal or 1, counted from the last axis; reshape or index with None to line "
        "them up");
    script_expect_error("def f(x) = x + nonsense; hvp(f, ones(2), ones(2))", 201,
                        "\n  in f, called by hvp\n"
                        "  in hvp, called at prompt:1:26: hvp(f, ones(2), ones(2))\n");
    script_expect_error("def f(x) = x + nonsense; map(f, (1, 2))", 201,
                        "\n  in f, called at prompt:1:26: map(f, (1, 2))\n");
    script_expect_error("def f(x) = x + nonsense; grad(grad(f))(1.0)", 201,
                        "\n  in f, called at prompt:1:26: grad(grad(f))(1.0)\n");
}

static void frozen_functions_tell_their_calls_while_traced_and_while_run(void **state) {
    (void)state;
    script_expect("def f(x) = sum(x @ ones(3)); def net(x) = f(x); g = freeze(net)\ng(ones(2))",
                  "g = <a frozen graph>\n"
                  "E101 shape: `@` needs equal inner sizes\n"
                  "  def f(x) = sum(x @ ones(3)); def net(x) = f(x); g = freeze(net)\n"
                  "                 ^^^^^^^^^^^\n"
                  "    x f32[2]   ones(3) f32[3]\n"
                  "    2 (x axis 0) is not 3 (ones(3) axis 0)\n"
                  "  in f, called at prompt:1:43: f(x)\n"
                  "  in net, called at prompt:2:1: g(ones(2))");
    script_expect_error("def f(x, y) = x // y; g = freeze(f); g([1], [1]); g([1], [0])", 302,
                        "\n  in f, called at prompt:1:51: g([1], [0])\n");
    script_expect_error("x = [1, 0]; g = freeze(1 // x)\ng()", 302, "\n  in g, called at prompt:2:1: g()\n");
    script_expect_error("g = freeze(x -> x @ ones(3), f32[2])", 101, "called at prompt:1:5\n");
}

static void recursions_are_folded(void **state) {
    (void)state;
    script_expect_error("def f(n) = f(n + 1)\nf(0)", 911,
                        "\n  in f, called at prompt:1:12, repeated 999 times\n"
                        "  in f, called at prompt:2:1: f(0)\n");
    script p;
    script_open(&p);
    assert_int_equal(script_run(&p, "def a(n) = b(n); def b(n) = a(n)\na(0)"), STATUS_LIMIT);
    const error *e = &p.c->err;
    assert_int_equal(e->call_count, ERROR_CALLS);
    uint32_t told = e->calls_left_out;
    for (uint32_t i = 0; i < e->call_count; i++) told += e->calls[i].times;
    assert_int_equal(told, 1000);
    assert_string_equal(e->calls[0].name, "b");
    assert_string_equal(e->calls[ERROR_CALLS - 1].name, "a");
    assert_non_null(strstr(text_str(&p.out), "\n  ... 991 more calls\n"));
    script_close(&p);
}

static void the_next_error_starts_anew(void **state) {
    (void)state;
    script p;
    script_open(&p);
    script_run(&p, "def f(x) = nonsense; f(1)");
    assert_int_equal(p.c->err.call_count, 1);
    script_run(&p, "f + ");
    assert_int_equal(p.c->err.call_count, 0);
    script_run(&p, "nonsense");
    assert_int_equal(p.c->err.call_count, 0);
    script_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(innermost_first_with_the_place_and_text_of_each_call),
        cmocka_unit_test(lambdas_have_the_name_they_were_given_or_their_text),
        cmocka_unit_test(a_call_that_failed_before_the_body_ran_is_marked_alone),
        cmocka_unit_test(the_language_s_own_functions_show_where_they_called_back),
        cmocka_unit_test(frozen_functions_tell_their_calls_while_traced_and_while_run),
        cmocka_unit_test(recursions_are_folded),
        cmocka_unit_test(the_next_error_starts_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
