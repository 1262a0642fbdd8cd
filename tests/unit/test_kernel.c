/* test_kernel.c — what fuses into what; faults, interrupts and failing allocations in programs.
 *     ctest: timeout=300 */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/runtime/plan.h"
#include "tests/harness/bodies.h"

/* ---- fusion ---- */

static const body *body_named(const char *name) {
    for (int i = 0; i < BODIES; i++)
        if (strcmp(bodies[i].name, name) == 0) return &bodies[i];
    fail_msg("no body %s", name);
    return NULL;
}

static program *freeze(context *c, body_fn run, dtype t, int64_t rows, int64_t columns, tensor **x) {
    body_inputs(c, t, (int64_t[]){rows, columns}, x);
    program *p = freeze_body(c, run, x, BODY_INPUTS);
    if (!p) fail_msg("%s", c->err.message);
    program_set_tier(p, TIER_TILES);
    return p;
}

static void drop(program *p, tensor **x) {
    program_free(p);
    for (int i = 0; i < BODY_INPUTS; i++) tensor_release(x[i]);
}

static void fuses_rows_into_one_kernel(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int kernels, phases; /* of the first */
    } want[] = {
        {"chain", 1, 0}, {"softmax", 1, 3}, {"layer_norm", 1, 3}, {"loss", 1, 1}, {"bias_gradient", 1, 1}};
    context *c = context_new(1);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        tensor *x[BODY_INPUTS];
        program *p = freeze(c, body_named(want[i].body)->run, DT_F32, 40, 50, x);
        assert_int_equal(p->step_count, want[i].kernels);
        assert_int_equal(p->steps[0].k->phase_count, want[i].phases);
        drop(p, x);
    }
    context_free(c);
}

static void computes_an_exponential_once(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x[BODY_INPUTS];
    program *p = freeze(c, body_named("softmax")->run, DT_F32, 40, 500, x);
    text t = {0};
    kernel_print(p->g, p->steps[0].k, &t);
    assert_non_null(strstr(text_str(&t), "exp"));
    assert_int_equal(p->steps[0].k->slot_count, 1); /* kept for the quotients */
    assert_null(strstr(strstr(text_str(&t), " exp ") + 4, " exp "));
    text_free(&t);
    drop(p, x);
    context_free(c);
}

/* ---- faults ---- */

static int divides(context *c, tensor *const *x, tensor **out) {
    tensor *q = b2(c, OP_floordiv, x[0], x[2]);
    out[0] = bkeep(b2(c, OP_add, q, x[1]));
    return 1;
}

/* The quotients are used by nobody; the remainders are. */
static int divides_for_nothing(context *c, tensor *const *x, tensor **out) {
    b2(c, OP_floordiv, x[0], x[2]);
    out[0] = bkeep(b2(c, OP_mul, x[0], x[0]));
    return 1;
}

static void set_all(tensor *t, int32_t value) {
    int32_t *p = tensor_data(t);
    for (int64_t i = 0; i < tensor_count(t); i++) p[i] = value;
}

static void raises_what_eager_raises(void **state) {
    (void)state;
    static const body_fn runs[] = {divides, divides_for_nothing};
    context *c = context_new(1);
    for (int i = 0; i < 2; i++) {
        tensor *x[BODY_INPUTS], *out[BODY_OUTPUTS] = {NULL};
        body_inputs(c, DT_I32, (int64_t[]){30, 70}, x);
        set_all(x[2], 7);
        program *p = freeze_body(c, runs[i], x, BODY_INPUTS);
        assert_non_null(p);
        program_set_tier(p, TIER_TILES);
        for (int round = 0; round < 2; round++) {
            assert_true(frozen_matches(c, p, runs[i], x, BODY_INPUTS));
            int32_t *y = tensor_data(x[2]);
            y[5] = y[2001] = 0;
            assert_int_equal(program_run(p, x, BODY_INPUTS, out), STATUS_VALUE);
            assert_int_equal(c->err.number, 302);
            assert_non_null(strstr(c->err.message, "integer division by zero (2 elements)"));
            assert_null(out[0]);
            error_clear(&c->err);
            set_all(x[2], 7);
        }
        drop(p, x);
    }
    assert_int_equal(allocator_used(c->memory) / 4096, 0);
    context_free(c);
}

/* The error of an eager run of `run`; 0 when there is none. */
static void eager_error(context *c, body_fn run, tensor *const *x, error *e) {
    tensor *out[BODY_OUTPUTS] = {NULL};
    scope s;
    scope_open(c, &s);
    int n = run(c, x, out);
    scope_close(c, &s);
    for (int i = 0; i < n; i++) tensor_release(out[i]);
    *e = c->err;
    error_clear(&c->err);
}

/* ---- boxes that leave their axis at other sizes; nothing guards them here ---- */

static int last_four(context *c, tensor *const *x, tensor **out) {
    dim n = x[0]->meta.shape.size[0];
    out[0] = bkeep(b1(c, OP_neg, bslice(c, x[0], 0, dim_sub(c->dims, n, 4), 4, 1)));
    return 1;
}

static void boxes_stay_inside(void **state) {
    (void)state;
    context *c = context_new(1);
    program *p = NULL;
    static const int64_t sizes[] = {6, 4, 9, 3, 2, 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tensor *x = sample(c, DT_F32, 2, (int64_t[]){sizes[i], 3}, 1), *out[BODY_OUTPUTS] = {NULL};
        if (!p) p = freeze_body(c, last_four, &x, 1);
        assert_non_null(p);
        program_set_tier(p, TIER_TILES);
        if (sizes[i] >= 4)
            assert_true(frozen_matches(c, p, last_four, &x, 1));
        else {
            error eager;
            eager_error(c, last_four, &x, &eager);
            assert_int_equal(eager.number, 304);
            assert_int_equal(program_run(p, &x, 1, out), eager.code);
            assert_int_equal(c->err.number, 304);
            assert_string_equal(c->err.message, eager.message);
            error_clear(&c->err);
        }
        tensor_release(x);
    }
    program_free(p);
    context_free(c);
}

/* ---- weak integers that do not fit; x[0] is an i8 or i32 tensor, x[1] a weak integer, known when it runs ---- */

static int weak_added(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(b2(c, OP_add, b2(c, OP_mul, x[0], x[0]), x[1]));
    return 1;
}

static int weak_computed(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(b2(c, OP_lt, x[0], b2(c, OP_sub, b2(c, OP_mul, x[1], x[1]), x[1])));
    return 1;
}

static int weak_for_nothing(context *c, tensor *const *x, tensor **out) {
    b3(c, OP_where, b2(c, OP_gt, x[0], x[0]), x[1], x[0]);
    out[0] = bkeep(b2(c, OP_bits_or, x[0], x[0]));
    return 1;
}

static int weak_bits(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(b2(c, OP_bits_and, x[0], x[1]));
    return 1;
}

static tensor *weak(context *c, int64_t value) {
    return tensor_weak_int(c, value);
}

static void check_weak(context *c, body_fn run, dtype t, program *p, int64_t value) {
    tensor *x[2] = {sample(c, t, 1, (int64_t[]){50}, 1), weak(c, value)}, *out[BODY_OUTPUTS] = {NULL};
    error want;
    eager_error(c, run, x, &want);
    if (!want.code) {
        assert_true(frozen_matches(c, p, run, x, 2));
    } else {
        assert_int_equal(want.number, 106);
        assert_int_equal(program_run(p, x, 2, out), want.code);
        assert_int_equal(c->err.number, 106);
        assert_string_equal(c->err.message, want.message);
        assert_string_equal(c->err.hint, want.hint);
        assert_null(out[0]);
        error_clear(&c->err);
    }
    tensor_release(x[0]);
    tensor_release(x[1]);
}

static void refuses_weak_integers_that_do_not_fit(void **state) {
    (void)state;
    static const body_fn runs[] = {weak_added, weak_computed, weak_for_nothing, weak_bits};
    static const dtype types[] = {DT_I8, DT_U8, DT_I32, DT_I64};
    static const int64_t values[] = {5, -1, 127, 128, -128, -129, 255, 256, INT32_MAX, INT32_MAX + 1LL, 16};
    context *c = context_new(2);
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            tensor *x[2] = {sample(c, types[t], 1, (int64_t[]){50}, 1), weak(c, 7)};
            program *p = freeze_body(c, runs[r], x, 2);
            if (!p) fail_msg("%s", c->err.message);
            for (int tier = 0; tier < 3; tier++) {
                if (tier < 2) assert_int_equal(program_set_tier(p, tier ? TIER_C : TIER_TILES), STATUS_OK);
                if (tier == 2) assert_int_equal(program_emulate(p, 3), STATUS_OK);
                for (size_t v = 0; v < sizeof values / sizeof *values; v++)
                    check_weak(c, runs[r], types[t], p, values[v]);
            }
            program_free(p);
            tensor_release(x[0]);
            tensor_release(x[1]);
        }
    context_free(c);
}

/* ---- interrupts ---- */

static void stops_when_interrupted(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x[BODY_INPUTS], *out[BODY_OUTPUTS] = {NULL};
    const body *b = body_named("layer_norm");
    program *p = freeze(c, b->run, DT_F32, 40, 500, x);
    assert_true(frozen_matches(c, p, b->run, x, BODY_INPUTS));
    atomic_store(&c->interrupt, 1);
    assert_int_equal(program_run(p, x, BODY_INPUTS, out), STATUS_INTERRUPT);
    assert_null(out[0]);
    atomic_store(&c->interrupt, 0);
    error_clear(&c->err);
    assert_true(frozen_matches(c, p, b->run, x, BODY_INPUTS));
    drop(p, x);
    assert_int_equal(allocator_used(c->memory) / 4096, 0);
    context_free(c);
}

/* ---- failing allocations ---- */

/* Freezes and runs with allocation number `after` failing; true when that one was never reached. */
static bool survives(const body *b, int64_t after) {
    context *c = context_new(1);
    assert_non_null(c);
    tensor *x[BODY_INPUTS], *out[BODY_OUTPUTS] = {NULL};
    body_inputs(c, DT_F32, (int64_t[]){20, 30}, x);
    int64_t before = mem_count();
    mem_fail_after(after);
    program *p = freeze_body(c, b->run, x, BODY_INPUTS);
    if (p && !program_set_tier(p, TIER_TILES)) program_run(p, x, BODY_INPUTS, out);
    bool done = mem_count() - before < after;
    mem_fail_after(0);
    if (c->err.code) /* some allocations are not needed: costs for display */
        assert_true(!done && c->err.code == STATUS_MEMORY && !out[0]);
    else
        assert_non_null(out[0]);
    error_clear(&c->err);
    for (int i = 0; i < BODY_OUTPUTS; i++) tensor_release(out[i]);
    if (p) { /* what failed once works the next time */
        assert_true(frozen_matches(c, p, b->run, x, BODY_INPUTS));
    }
    drop(p, x);
    context_free(c);
    return done;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    static const char *const names[] = {"layer_norm", "reshaped", "library_between"};
    for (int i = 0; i < 3; i++) {
        int64_t live = mem_live();
        for (int64_t after = 1; !survives(body_named(names[i]), after); after++)
            assert_int_equal(mem_live(), live);
        assert_int_equal(mem_live(), live);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fuses_rows_into_one_kernel),
        cmocka_unit_test(computes_an_exponential_once),
        cmocka_unit_test(raises_what_eager_raises),
        cmocka_unit_test(stops_when_interrupted),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(refuses_weak_integers_that_do_not_fit),
        cmocka_unit_test(boxes_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
