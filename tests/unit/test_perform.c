/* test_perform.c — statements that a command runs: kept, or rehearsed and taken back. */
#include "tests/harness/check.h"

#include <string.h>

#include "tests/harness/script.h"

static int printed;

static status on_print(void *user, session *s, const value *items, size_t count) {
    (void)user;
    (void)s;
    (void)items;
    (void)count;
    printed++;
    return STATUS_OK;
}

/* ":keep STATEMENTS" and ":rehearse STATEMENTS". */
static status on_command(void *user, session *s, const char *line, size_t length, span where) {
    (void)user;
    const char *blank = memchr(line, ' ', length);
    assert_non_null(blank);
    where.begin += (uint32_t)(blank + 1 - line);
    return session_perform(s, where, line[1] == 'k');
}

static status run(session *s, const char *code) {
    const session_host host = {.print = on_print, .command = on_command};
    return session_run(s, NULL, code, strlen(code), &host);
}

static int64_t number(session *s, const char *name) {
    const value *v = session_get(s, name);
    assert_non_null(v);
    assert_int_equal(v->kind, VALUE_TENSOR);
    return tensor_get_int(v->tensor, 0);
}

static void keeps_or_takes_back(void **state) {
    (void)state;
    context *c = context_new(1);
    session *s = session_new(c);
    assert_non_null(s);
    printed = 0;
    assert_int_equal(run(s, "w = 1; def f(x) { print(x); x + 1 }\n:rehearse w = f(w); u = 5"), STATUS_OK);
    assert_int_equal(number(s, "w"), 1);
    assert_null(session_get(s, "u"));
    assert_int_equal(printed, 0);
    assert_int_equal(run(s, ":keep w = f(w); u = 5"), STATUS_OK);
    assert_int_equal(number(s, "w"), 2);
    assert_int_equal(number(s, "u"), 5);
    assert_int_equal(printed, 1);
    /* The kept one is one step of undo, the rehearsed none. */
    assert_int_equal(run(s, ":rehearse w = 70"), STATUS_OK);
    assert_int_equal(session_undo(s, NULL), STATUS_OK);
    assert_int_equal(number(s, "w"), 1);
    assert_null(session_get(s, "u"));
    session_free(s);
    context_free(c);
}

static void rehearsals_draw_the_same_numbers(void **state) {
    (void)state;
    context *c = context_new(1);
    session *s = session_new(c);
    assert_non_null(s);
    assert_int_equal(
        run(s,
            "seed(3)\n:rehearse a = randn(4)\n:rehearse b = randn(9)\na = randn(4); seed(3); b = randn(4)"),
        STATUS_OK);
    assert_int_equal(run(s, "same = sum(a == b)"), STATUS_OK);
    assert_int_equal(number(s, "same"), 4);
    session_free(s);
    context_free(c);
}

static void failures_leave_everything(void **state) {
    (void)state;
    context *c = context_new(1);
    session *s = session_new(c);
    assert_non_null(s);
    assert_int_equal(run(s, "w = 1"), STATUS_OK);
    const char *const bad[] = {":keep w = 2; w = nosuch", ":rehearse w = 2; w = nosuch",
                               ":keep w = ", ":keep w = [1, 2] + [1, 2, 3]", ":keep w = 7 }"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(run(s, bad[i]) != STATUS_OK);
        assert_true(c->err.code != STATUS_OK);
        assert_int_equal(number(s, "w"), 1);
        assert_int_equal(run(s, "w"), STATUS_OK); /* the session goes on */
    }
    /* The error marks the place in the command's line. */
    run(s, ":keep w = 2; w = nosuch");
    text shown = {0};
    session_render_error(s, 0, &shown);
    assert_non_null(strstr(text_str(&shown), ":keep w = 2; w = nosuch"));
    text_free(&shown);
    session_free(s);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_or_takes_back),
        cmocka_unit_test(rehearsals_draw_the_same_numbers),
        cmocka_unit_test(failures_leave_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
