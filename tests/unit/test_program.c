/* test_program.c — frozen programs against eager execution, bit for bit, in the tile interpreter.
 *     ctest: labels=threads timeout=600 */
#include "tests/harness/check.h"

#include "tests/harness/bodies.h"

static void check_all(int lanes, dtype t) {
    if (CASE_STEP > 1 && lanes == 1) return;
    context *c = context_new(lanes);
    assert_non_null(c);
    for (int b = 0; b < BODIES; b++) {
        if (!dtype_is_float(t) && bodies[b].float_only) continue;
        const char *failure = check_body(c, &bodies[b], t, in_tiles, true);
        if (failure) fail_msg("%s", failure);
    }
    assert_int_equal(allocator_used(c->memory) / 4096, 0); /* the random stream alone */
    context_free(c);
}

static void matches_eager_f32(void **state) {
    (void)state;
    check_all(1, DT_F32);
    check_all(2, DT_F32);
}

static void matches_eager_f64(void **state) {
    (void)state;
    check_all(1, DT_F64);
}

static void matches_eager_halves(void **state) {
    (void)state;
    check_all(1, DT_F16);
    check_all(2, DT_BF16);
}

static void matches_eager_integers(void **state) {
    (void)state;
    check_all(1, DT_I64);
    check_all(1, DT_I32);
    check_all(2, DT_I8);
    check_all(1, DT_U8);
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_eager_f32),
        cmocka_unit_test(matches_eager_f64),
        cmocka_unit_test(matches_eager_halves),
        cmocka_unit_test(matches_eager_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
