/* test_print.c — how the prompt shows values: scalars, headers, elements fitted to the window, containers. */
#include "tests/harness/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "repl/shell/print.h"
#include "repl/shell/stats.h"

typedef struct shown {
    print_options options;
    text text;
    bool headline;
} shown;

static status on_echo(void *user, session *s, const session_echo *what) {
    shown *o = user;
    return (o->headline ? print_headline : print_value)(s, what->value, &o->options, &o->text);
}

/* What an expression shows in a window of width x height. */
static const char *show(session *s, shown *o, const char *expression, int width, int height) {
    const session_host host = {.user = o, .echo = on_echo};
    text_clear(&o->text);
    o->options = (print_options){.width = width, .height = height, .dim = "", .plain = ""};
    if (session_run(s, NULL, expression, strlen(expression), &host))
        fail_msg("%s: %s", expression, session_context(s)->err.message);
    return text_str(&o->text);
}

typedef struct fixture {
    context *c;
    session *s;
    shown o;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.c = context_new(2)};
    f.s = session_new(f.c);
    *state = &f;
    return f.s ? 0 : -1;
}

static int tear_down(void **state) {
    fixture *f = *state;
    session_free(f->s);
    context_free(f->c);
    text_free(&f->o.text);
    return 0;
}

static void shows(fixture *f, const char *expression, const char *expected) {
    assert_string_equal(show(f->s, &f->o, expression, 80, 24), expected);
}

static void scalars_are_bare(void **state) {
    fixture *f = *state;
    shows(f, "sum([1, 2, 3])", "6\n");
    shows(f, "0.25", "0.25\n");
    shows(f, "true", "true\n");
    shows(f, "2.0 * 3", "6.0\n");
    shows(f, "1 / 3", "0.33333334\n");
    shows(f, "0.1 + 0.2", "0.3\n");
    shows(f, "sum(zeros(1, dtype=f64) + 0.1 + 0.2)", "0.30000000000000004\n");
    shows(f, "sum([0.1] as f16)", "0.1\n");
    shows(f, "sum([0.1] as bf16)", "0.1\n");
    shows(f, "1e300", "1e300\n");
    shows(f, "-inf", "-inf\n");
    shows(f, "nan", "nan\n");
    shows(f, "-0.0", "-0.0\n");
    shows(f, "1e20", "1e20\n");
    shows(f, "-9223372036854775808", "-9223372036854775808\n");
}

static void headers_say_what_is_in_it(void **state) {
    fixture *f = *state;
    shows(f, "[[1, 2], [3, 4]]", "i64[2, 2]  cpu  min 1  max 4  mean 2.5  std 1.12\n[[1, 2],\n [3, 4]]\n");
    shows(f, "[1.0, nan, inf, -inf, 3]",
          "f32[5]  cpu  min 1  max 3  mean 2  std 1  nan 1  inf 2\n[ 1.0,  nan,  inf, -inf,  3.0]\n");
    shows(f, "[nan, nan]", "f32[2]  cpu  nan 2\n[nan, nan]\n");
    shows(f, "[true, false, true]", "bool[3]  cpu  true 2 of 3\n[ true, false,  true]\n");
    shows(f, "zeros(0, 3)", "f32[0, 3]  cpu\n[]\n");
    shows(f, "[123456.0, 2]",
          "f32[2]  cpu  min 2  max 123456  mean 61729  std 61727\n[123456.0,      2.0]\n");
    /* A large mean does not drown the deviation. */
    shows(f, "arange(2) as f64 * 2 + 1e8",
          "f64[2]  cpu  min 1e8  max 1e8  mean 1e8  std 1\n[1.0e+08, 1.0e+08]\n");
}

static void elements_share_a_format(void **state) {
    fixture *f = *state;
    const char *expression[] = {"[1.0, 2.5]",     "[0.125, 10]",  "[1e-9, 1.0]", "[1e10, 1.0]",
                                "[0.001, 0.002]", "[1e-5, 2e-5]", "[0.0, -0.0]", "[1.23456, -22.0]"};
    const char *expected[] = {"[1.0, 2.5]",         "[ 0.125, 10.000]",    "[0.0000, 1.0000]",
                              "[1.0e+10, 1.0e+00]", "[0.001, 0.002]",      "[1.0e-05, 2.0e-05]",
                              "[ 0.0, -0.0]",       "[  1.2346, -22.0000]"};
    for (size_t i = 0; i < sizeof expression / sizeof *expression; i++) {
        const char *got = strchr(show(f->s, &f->o, expression[i], 80, 24), '\n') + 1;
        if (strncmp(got, expected[i], strlen(expected[i])) != 0) fail_msg("%s shows %s", expression[i], got);
    }
}

/* Lines and the widest of them. */
static void measure(const char *s, int *lines, int *widest) {
    *lines = *widest = 0;
    for (const char *end; (end = strchr(s, '\n')) != NULL; s = end + 1) {
        ++*lines;
        if ((int)(end - s) > *widest) *widest = (int)(end - s);
    }
}

static void everything_fits_the_window(void **state) {
    fixture *f = *state;
    const char *const values[] = {"arange(100000)",
                                  "arange(100000.0)",
                                  "randn(1000, 1000)",
                                  "randn(3, 1000, 5)",
                                  "randn(40, 40, 40)",
                                  "randn(2, 2, 2, 2, 2, 50)",
                                  "arange(100)",
                                  "randn(30, 1) * 1e10",
                                  "randn(1000)",
                                  "(randn(100, 100), randn(100, 100))",
                                  "{a: randn(7), b: (1, randn(9, 9))}",
                                  "randn(25, 3) > 0"};
    static const int sizes[][2] = {{80, 24}, {80, 16}, {200, 50}, {132, 43}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            int lines, widest;
            measure(show(f->s, &f->o, values[i], sizes[k][0], sizes[k][1]), &lines, &widest);
            bool deep = strstr(values[i], "2, 2, 2") != NULL; /* so many axes need more lines */
            if (widest > sizes[k][0] || (lines > sizes[k][1] && !deep))
                fail_msg("%s in %d x %d takes %d lines of %d", values[i], sizes[k][0], sizes[k][1], lines,
                         widest);
        }
}

static void what_is_left_out_is_marked(void **state) {
    fixture *f = *state;
    shows(f, "arange(1000)",
          "i64[1000]  cpu  min 0  max 999  mean 500  std 289\n"
          "[  0,   1,   2,   3,   4,   5,   6, ..., 993, 994, 995, 996, 997, 998, 999]\n");
    shows(f, "arange(40)",
          "i64[40]  cpu  min 0  max 39  mean 19.5  std 11.5\n"
          "[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17, 18,\n"
          " 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,\n"
          " 38, 39]\n");
    assert_string_equal(show(f->s, &f->o, "arange(26).reshape(13, 2)", 80, 10),
                        "i64[13, 2]  cpu  min 0  max 25  mean 12.5  std 7.5\n"
                        "[[ 0,  1],\n [ 2,  3],\n [ 4,  5],\n ...,\n [22, 23],\n [24, 25]]\n");
    assert_string_equal(show(f->s, &f->o, "arange(12).reshape(2, 3, 2)", 80, 24),
                        "i64[2, 3, 2]  cpu  min 0  max 11  mean 5.5  std 3.45\n"
                        "[[[ 0,  1],\n  [ 2,  3],\n  [ 4,  5]],\n\n [[ 6,  7],\n  [ 8,  9],\n  [10, 11]]]\n");
}

static void frozen_graphs_have_names(void **state) {
    fixture *f = *state;
    /* of the function, of the variable that got it first, or the text */
    shows(f, "freeze(tanh)", "frozen graph tanh, 0 specialisations\n");
    shows(f, "def cube(x) = x ** 3\nq = freeze(cube);\nq", "frozen graph cube, 0 specialisations\n");
    shows(f, "freeze(grad(cube))", "frozen graph grad_cube, 0 specialisations\n");
    shows(f, "sq = v -> v * v;\nq = freeze(sq);\nq", "frozen graph sq, 0 specialisations\n");
    shows(f, "freeze(value_and_grad(sq))", "frozen graph value_and_grad_sq, 0 specialisations\n");
    shows(f, "half = freeze(v -> v / 2);\nq = half; q", "frozen graph half, 0 specialisations\n");
    shows(f, "double = freeze(v -> v * 2, f32[3]);\ndouble", "frozen graph double, 1 specialisation\n");
    shows(f, "p, q = freeze(v -> v * 2), freeze(pi * 2);\nq", "frozen graph q, 0 specialisations\n");
    shows(f, "freeze(v -> v / 3)", "frozen graph v -> v / 3, 0 specialisations\n");
    shows(f, "freeze(pi + 1)", "frozen graph pi + 1, 0 specialisations\n");
    shows(f, "freeze(grad(v -> v * v))", "frozen graph grad(v -> v * v), 0 specialisations\n");
    shows(f, "freeze(v -> {\n  v / 3\n})", "frozen graph v -> {\xe2\x80\xa6, 0 specialisations\n");
    shows(f, "(v -> v / 4) |> freeze", "frozen graph v -> v / 4, 0 specialisations\n");
    shows(f, "freeze(v -> v + 1000000 + 2000000 + 3000000 + 4000000)",
          "frozen graph v -> v + 1000000 + 2000000 + 3000000 + 40000\xe2\x80\xa6, 0 specialisations\n");
}

static void other_values(void **state) {
    fixture *f = *state;
    shows(f, "\"a\\n\\\"b\\\"\\u{1b}\"", "\"a\\n\\\"b\\\"\\u{1b}\"\n");
    shows(f, "(1, 2.0, \"x\", (true,))", "(1, 2.0, \"x\", (true,))\n");
    shows(f, "{w: [1, 2], \"odd key\": 2.5, n: None}", "{w: [1, 2], \"odd key\": 2.5, n: None}\n");
    shows(f, "([1, 2] as u8, [0.5], [true])", "([1, 2] as u8, [0.5], [true])\n");
    shows(f, "f32", "f32\n");
    shows(f, "0..10", "0..10\n");
    shows(f, "def f(x, y=2) = x + y\nf", "function f(x, y=2)\n");
    shows(f, "x -> x * 2", "function x -> x * 2\n");
    shows(f, "grad(f)", "function grad(f)\n");
    shows(f, "grad(grad(tanh))", "function grad(grad(tanh))\n");
    shows(f, "({a: zeros(9, 2)}, 1)",
          "(\n"
          "  {\n"
          "    a: f32[9, 2]  cpu  min 0  max 0  mean 0  std 0\n"
          "    [[0.0, 0.0],\n"
          "     [0.0, 0.0],\n"
          "     [0.0, 0.0],\n"
          "     ...,\n"
          "     [0.0, 0.0],\n"
          "     [0.0, 0.0]]\n"
          "  },\n"
          "  1,\n"
          ")\n");
    f->o.headline = true;
    shows(f, "({a: zeros(9, 2)}, \"s\", 1)", "({a: f32[9, 2]}, \"s\", 1)");
    shows(f, "zeros(2) + 1", "f32[2]  cpu  min 1  max 1  mean 1  std 0");
    f->o.headline = false;
}

/* The statistics of large tensors and of views agree with a plain loop. */
static void statistics_of_any_strides(void **state) {
    fixture *f = *state;
    enum { N = 700 };
    shape s = {.rank = 2, .size = {N, N}};
    tensor *t = tensor_new(f->c, DT_F64, &s);
    double *x = tensor_data(t);
    for (int i = 0; i < N * N; i++) x[i] = i % 1001 == 7 ? NAN : i % 1003 == 5 ? INFINITY : sin(i) * i + 1e6;
    const shape shapes[] = {{.rank = 2, .size = {N, N}},
                            {.rank = 2, .size = {N, N}},
                            {.rank = 2, .size = {N / 2, N / 3}},
                            {.rank = 1, .size = {N}}};
    const int64_t strides[][2] = {{N, 1}, {1, N}, {-2 * N, 3}, {0, 0}};
    const int64_t offsets[] = {0, 0, (int64_t)N * (N - 1), 11};
    for (int k = 0; k < 4; k++) {
        tensor *v = tensor_view(t, &shapes[k], strides[k], offsets[k]);
        tensor_stats st;
        assert_int_equal(tensor_stats_of(f->c, v, &st), STATUS_OK);
        double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
        int64_t finite = 0, nans = 0;
        for (int64_t i = 0; i < tensor_count(v); i++) {
            double e = tensor_get_real(v, i);
            nans += isnan(e);
            if (!isfinite(e)) continue;
            finite++;
            sum += e;
            least = fmin(least, e);
            most = fmax(most, e);
        }
        for (int64_t i = 0; i < tensor_count(v); i++) {
            double d = tensor_get_real(v, i) - sum / (double)finite;
            if (isfinite(d)) squares += d * d;
        }
        assert_int_equal(st.finite, finite);
        assert_int_equal(st.nans, nans);
        assert_int_equal(st.infinities, tensor_count(v) - finite - nans);
        assert_true(st.min == least && st.max == most);
        assert_true(fabs(st.mean - sum / (double)finite) <= 1e-9 * fabs(st.mean));
        double std = sqrt(squares / (double)finite);
        if (fabs(st.std - std) > 1e-9 * std + 1e-7) fail_msg("view %d: std %.17g, not %.17g", k, st.std, std);
        tensor_release(v);
    }
    atomic_store(&f->c->interrupt, 1);
    tensor_stats st;
    assert_int_equal(tensor_stats_of(f->c, t, &st), STATUS_INTERRUPT);
    atomic_store(&f->c->interrupt, 0);
    error_clear(&f->c->err);
    tensor_release(t);
}

static void running_out_of_memory_is_an_error(void **state) {
    fixture *f = *state;
    const char *setup = "big = randn(300, 300);\nr = {a: big, b: (1, \"two\", big)};";
    assert_int_equal(session_run(f->s, NULL, setup, strlen(setup), NULL), STATUS_OK);
    value r = *session_get(f->s, "r");
    print_options o = {.width = 80, .height = 24, .dim = "", .plain = ""};
    int failures = 0;
    for (int64_t n = 1;; n++) {
        text out = {0};
        int64_t live = mem_live();
        mem_fail_after(n);
        status code = print_value(f->s, r, &o, &out);
        mem_fail_after(0);
        text_free(&out);
        assert_int_equal(mem_live(), live);
        error_clear(&f->c->err);
        if (code == STATUS_OK) break;
        assert_int_equal(code, STATUS_MEMORY);
        failures++;
    }
    assert_true(failures > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_bare),
        cmocka_unit_test(headers_say_what_is_in_it),
        cmocka_unit_test(elements_share_a_format),
        cmocka_unit_test(everything_fits_the_window),
        cmocka_unit_test(what_is_left_out_is_marked),
        cmocka_unit_test(frozen_graphs_have_names),
        cmocka_unit_test(other_values),
        cmocka_unit_test(statistics_of_any_strides),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
