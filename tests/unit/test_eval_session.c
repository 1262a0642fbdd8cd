/* test_eval_session.c — statements as transactions, undo and redo, interrupts, outputs, and running out of memory at
 * every single allocation.
 *     ctest: timeout=600 */
#include "tests/harness/check.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "tests/harness/script.h"

/* What one more run shows. */
static const char *shows(script *p, const char *code) {
    script_run(p, code);
    return text_str(&p->out);
}

static void test_a_failed_statement_changes_nothing(void **state) {
    (void)state;
    script p;
    script_open(&p);
    script_run(&p, "seed(3); a = [1.0, 2.0]; r = {w: [1.0]}; first = randn(2);");
    assert_int_not_equal(
        script_run(
            &p, "for i in 0..3 { a = a + randn(2); a[0] = 7; r.w[0] = 5; new = 1; if i == 2 { nothing } }"),
        STATUS_OK);
    assert_string_equal(shows(&p, "a, r.w"), "(f32[2] [1, 2], f32[1] [1])\n");
    assert_int_not_equal(script_run(&p, "new"), STATUS_OK);
    assert_string_equal(
        shows(&p, "b = randn(2); seed(3); c = randn(2); all(c == first) and all(b == randn(2))"), "true\n");
    /* what ran before the failing statement stays */
    assert_int_not_equal(script_run(&p, "x = 1; y = nothing; z = 3"), STATUS_OK);
    assert_string_equal(shows(&p, "x"), "1\n");
    assert_null(session_get(p.s, "z"));
    script_close(&p);
}

static void test_undo_and_redo(void **state) {
    (void)state;
    script p;
    script_open(&p);
    text names = {0};
    script_run(&p, "a = 1;");
    script_run(&p, "a, b = (2, 3);");
    script_run(&p, "a + 100;");
    assert_int_equal(session_undo(p.s, &names), STATUS_OK);
    assert_string_equal(text_str(&names), "a, b");
    assert_string_equal(shows(&p, "a"), "1\n");
    assert_null(session_get(p.s, "b"));
    assert_int_equal(session_redo(p.s, NULL), STATUS_OK);
    assert_string_equal(shows(&p, "a, b"), "(2, 3)\n");
    assert_int_equal(session_undo(p.s, NULL), STATUS_OK);
    assert_int_equal(session_undo(p.s, NULL), STATUS_OK);
    assert_null(session_get(p.s, "a"));
    assert_int_not_equal(session_undo(p.s, NULL), STATUS_OK);
    error_clear(&p.c->err);
    script_run(&p, "seed(1);");
    script_run(&p, "u = rand(2);");
    assert_int_equal(session_undo(p.s, NULL), STATUS_OK);
    assert_string_equal(shows(&p, "v = rand(2); seed(1); all(v == rand(2))"), "true\n");
    script_run(&p, "w = 1;");
    assert_int_not_equal(session_redo(p.s, NULL), STATUS_OK); /* a new statement ends what could be redone */
    text_free(&names);
    script_close(&p);
}

static void test_outputs(void **state) {
    (void)state;
    script p;
    script_open(&p);
    script_run(&p, "1 + 1; 10\nNone\n20;\n30");
    assert_int_equal(session_output_count(p.s), 2);
    assert_string_equal(shows(&p, "Out[1], Out[2], _"), "(10, 30, 30)\n");
    for (int i = 0; i < SESSION_OUTPUTS; i++) script_run(&p, "7");
    assert_null(session_output(p.s, 1));
    assert_int_not_equal(script_run(&p, "Out[1]"), STATUS_OK);
    session_forget(p.s);
    assert_null(session_output(p.s, session_output_count(p.s)));
    script_close(&p);
}

/* ---- interrupts ---- */

static void *interrupt_soon(void *user) {
    context *c = user;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&c->interrupt, 1);
    return NULL;
}

static void interrupted(const char *code) {
    script p;
    pthread_t thread;
    script_open(&p);
    script_run(&p, "n = 0; big = ones(64, 64);");
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, p.c), 0);
    assert_int_equal(script_run(&p, code), STATUS_INTERRUPT);
    pthread_join(thread, NULL);
    assert_string_equal(shows(&p, "n"), "0\n");
    script_close(&p);
}

static void test_interrupts(void **state) {
    (void)state;
    interrupted("while true { n += 1 }");
    interrupted("for i in 0..1000000000 { n = i }");
    interrupted("def f(x) { g(x); g(x) }; def g(x) { if x > 60 { x } else { f(x + 1) } }; n = f(0)");
    interrupted("f = freeze(v -> { r = v; for i in 0..100000000 { r = r * 2 }; r }); n = f(big)");
    interrupted("h = grad(v -> { r = v; for i in 0..100000000 { r = r * 0.5 }; sum(r) }); n = h(big)");
}

/* ---- memory ---- */

/* Something of everything. `kept` must be as it was whatever fails. */
static const char everything[] =
    "x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]; m = {w: ones(3, 2), b: (zeros(2), \"t\")}\n"
    "def loss(m, x: f32[n, 3], k=2) { h = relu(x @ m.w + m.b[0]); if k > 1 { return mean(h ** k) }; 0.0 }\n"
    "l, g = value_and_grad(loss)(m, x)\n"
    "m = map((p, d) -> if d == None { p } else { p - 0.1 * d }, m, g)\n"
    "m.w[0, :] = [7, 8]; m.w[m.w > 7.5] = 0; x[[1, 0]] *= 2; t = (1, (2, 3)); a, (b, c) = t; t[0] = x\n"
    "y, pull = vjp(v -> softmax(v), x[0]); pull(y); jvp(sin, x, x); hessian(v -> sum(v ** 3))([1.0, 2.0])\n"
    "tp = tape { q = sum(x * x) }; tp.grad(q, x)\n"
    "f = freeze(value_and_grad(loss)); f(m, x); f(m, x[:1]); e1 = freeze(x + randn(3)); e1(); e1(x=ones(3))\n"
    "n = 3; u = freeze(v -> { r = v; for i in 0..n { r = r + i }; r }); u(x)\n"
    "add = (u, v) -> u + v; add(1, v=2) |> (z -> z + 1); s = 0; for i in 0..4 { if i == 2 { continue }; s += "
    "i }; while s > 0 { s -= 1 }\n"
    "print(\"a\", concat((x, x), axis=1), stack((s, s)), x.T, x.shape, arange(3)[::-1]); cross_entropy(x, "
    "[0, 1]); eye(2)\n"
    "summ(1)\n";

static void run_failing_at(int64_t n, bool *reached) {
    int64_t live = mem_live();
    script p;
    script_open(&p);
    assert_int_equal(script_run(&p, "kept = [1, 2];"), STATUS_OK);
    text room = {0};
    for (int i = 0; i < 4000; i++) text_char(&p.out, ' '); /* the test's own text needs no memory later */
    int64_t before = mem_count();
    mem_fail_after(n);
    status st = script_run(&p, everything);
    *reached = mem_count() - before >= n;
    mem_fail_after(0);
    assert_int_equal(st, *reached && st == STATUS_MEMORY ? STATUS_MEMORY : STATUS_NAME);
    if (script_run(&p, "kept, 1 + 1") != STATUS_OK || strcmp(text_str(&p.out), "(i64[2] [1, 2], 2)\n") != 0)
        fail_msg("after allocation %lld failed: %s", (long long)n, text_str(&p.out));
    text_free(&room);
    script_close(&p);
    if (mem_live() != live)
        fail_msg("allocation %lld failed: %lld blocks leak", (long long)n, (long long)(mem_live() - live));
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    bool reached = true;
    int64_t n = 1;
    for (; reached; n++) run_failing_at(n, &reached);
    assert_true(n > 500);
}

/* A session that can't be made says so and leaves nothing behind. */
static void test_opening_may_fail(void **state) {
    (void)state;
    context *c = context_new(1);
    bool made = false;
    for (int64_t n = 1; !made; n += n < 100 ? 1 : 17) {
        int64_t live = mem_live();
        mem_fail_after(n);
        session *s = session_new(c);
        mem_fail_after(0);
        made = s != NULL;
        if (!made) assert_int_equal(c->err.code, STATUS_MEMORY);
        session_free(s);
        if (n == 1) continue; /* tensors are recycled by the context from then on */
        assert_true(mem_live() - live <= 64);
    }
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_statement_changes_nothing),
        cmocka_unit_test(test_undo_and_redo),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_opening_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
