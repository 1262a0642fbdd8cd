/* test_dim.c — symbolic sizes: equal expressions are equal numbers, hints follow arithmetic, decisions leave guards. */
#include "tests/harness/check.h"

#include "engine/base/memory.h"
#include "engine/core/dim.h"

static void equal_expressions_are_one(void **state) {
    (void)state;
    dims *t = dims_new();
    dim a = dims_symbol(t, 0, 0, 6, "rows"), b = dims_symbol(t, 0, 1, 4, NULL);
    assert_true(dim_mul(t, a, b) == dim_mul(t, b, a));
    assert_true(dim_add(t, a, 3) == dim_add(t, dim_add(t, 1, a), 2));
    assert_true(dim_mul(t, a, 1) == a && dim_add(t, a, 0) == a && dim_mul(t, a, 0) == 0);
    assert_true(dim_sub(t, a, a) == 0);
    assert_true(dim_div(t, dim_mul(t, a, b), b) == a);
    assert_true(dim_div(t, dim_mul(t, a, 8), 4) == dim_mul(t, a, 2));
    assert_int_equal(t->guard_count, 0);
    text s = {0};
    dim_print(t, dim_add(t, dim_mul(t, a, b), 1), &s);
    assert_string_equal(text_str(&s), "((rows * s1) + 1)");
    text_free(&s);
    dims_free(t);
}

static void hints_follow_arithmetic(void **state) {
    (void)state;
    dims *t = dims_new();
    dim a = dims_symbol(t, 0, 0, 6, NULL), b = dims_symbol(t, 0, 1, 4, NULL);
    dim open = dims_symbol(t, 1, 0, DIM_UNKNOWN, NULL);
    assert_int_equal(dim_hint(t, dim_sub(t, a, b)), 2); /* through a negative intermediate */
    assert_int_equal(dim_hint(t, dim_div(t, dim_sub(t, a, 1), 2)), 2);
    assert_int_equal(dim_hint(t, dim_mul(t, open, 2)), DIM_UNKNOWN);
    assert_true(dim_estimate(t, open) == 1 && dim_estimate(t, a) == 6);
    int64_t number;
    assert_true(dim_pin(t, a, &number) && number == 6);
    assert_false(dim_pin(t, open, &number));
    dims_free(t);
}

static int64_t size_of(void *user, int input, int axis) {
    return ((const int64_t(*)[2])user)[input][axis];
}

static void decisions_leave_guards(void **state) {
    (void)state;
    dims *t = dims_new();
    dim a = dims_symbol(t, 0, 0, 6, NULL), b = dims_symbol(t, 0, 1, 4, NULL);
    dim open = dims_symbol(t, 1, 0, DIM_UNKNOWN, NULL);
    assert_false(dim_same(t, a, b));
    assert_true(dim_less(t, b, a));
    assert_true(dim_same(t, open, a)); /* assumed, and guarded */
    assert_true(dim_same(t, open, a)); /* asked again: no second guard */
    assert_true(dim_same(t, a, open)); /* nor the other way round */
    assert_false(dim_same(t, b, a));
    assert_false(dim_same(t, a, 1)); /* known by specialisation: no guard */
    assert_int_equal(t->guard_count, 3);
    const dim_guard *broken;
    int64_t values[8];
    int64_t good[2][2] = {{9, 5}, {9, 0}}, equal[2][2] = {{5, 5}, {5, 0}}, other[2][2] = {{9, 5}, {8, 0}};
    dims_evaluate(t, size_of, good, values);
    assert_true(dims_guards_hold(t, values, NULL));
    dims_evaluate(t, size_of, equal, values);
    assert_false(dims_guards_hold(t, values, &broken));
    assert_int_equal(broken->relation, DIM_NE);
    dims_evaluate(t, size_of, other, values);
    assert_false(dims_guards_hold(t, values, &broken));
    assert_int_equal(broken->relation, DIM_EQ);
    dims_free(t);
    assert_int_equal(mem_live(), 0);
}

/* What follows from sizes being 2 or more, from equal bases and from earlier guards leaves no guard. */
static void what_follows_is_not_guarded(void **state) {
    (void)state;
    dims *t = dims_new();
    dim a = dims_symbol(t, 0, 0, 6, NULL), b = dims_symbol(t, 0, 1, 4, NULL);
    assert_false(dim_less(t, a, 2));
    assert_true(dim_less(t, 1, a));
    assert_true(dim_less(t, dim_sub(t, a, 3), a));
    assert_false(dim_less(t, dim_add(t, a, 1), dim_sub(t, a, 1)));
    assert_true(dim_less(t, dim_mul(t, a, -1), 0));
    assert_false(dim_less(t, dim_mul(t, dim_sub(t, a, 1), b), 2));
    assert_false(dim_less(t, dim_div(t, a, 2), 0));
    assert_int_equal(t->guard_count, 0);
    assert_true(dim_less(t, 4, a)); /* so a is 5 or more */
    assert_int_equal(t->guard_count, 1);
    assert_true(dim_less(t, 3, a));
    assert_false(dim_less(t, dim_sub(t, a, 2), 3));
    assert_int_equal(t->guard_count, 1);
    assert_false(dim_less(t, a, 6)); /* that does not follow */
    assert_true(dim_less(t, dim_sub(t, b, 5), 0));
    assert_int_equal(t->guard_count, 3);
    dims_free(t);
    assert_int_equal(mem_live(), 0);
}

/* A size without a hint is taken to be large. */
static void unknown_sizes_are_large(void **state) {
    (void)state;
    dims *t = dims_new();
    dim open = dims_symbol(t, 0, 0, DIM_UNKNOWN, NULL), other = dims_symbol(t, 1, 0, DIM_UNKNOWN, NULL);
    dim known = dims_symbol(t, 1, 1, 7, NULL);
    assert_false(dim_less(t, open, 1000));
    assert_true(dim_less(t, known, open));
    assert_false(dim_less(t, open, known));
    assert_false(dim_less(t, open, other));
    assert_int_equal(t->guard_count, 4);
    dims_free(t);
    assert_int_equal(mem_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_expressions_are_one), cmocka_unit_test(hints_follow_arithmetic),
        cmocka_unit_test(decisions_leave_guards),    cmocka_unit_test(what_follows_is_not_guarded),
        cmocka_unit_test(unknown_sizes_are_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
