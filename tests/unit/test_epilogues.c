/* test_epilogues.c — element-wise consumers of matrix products run on the product's panels: which do, and with the bits
 * of eager execution in every tier, with 1 to 3 lanes, at sizes with several panels, one row, one column, or nothing.
 *     ctest: labels=threads timeout=600 */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/runtime/plan.h"
#include "tests/harness/frozen.h"

/* ---- bodies; x[0] is a [m, k], x[1] w [k, n], x[2] b [n], x[3] g [m, n] ---- */

enum { OPERANDS = 4 };

static tensor *product(context *c, tensor *const *x) {
    return b2(c, OP_matmul, x[0], x[1]);
}

static int bias_relu(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(b1(c, OP_relu, b2(c, OP_add, product(c, x), x[2])));
    return 1;
}

static int mask(context *c, tensor *const *x, tensor **out) {
    tensor *positive = b2(c, OP_gt, b2(c, OP_mul, x[3], x[3]), x[2]);
    out[0] = bkeep(b3(c, OP_where, positive, product(c, x), bnumber(c, 0)));
    return 1;
}

static int product_kept(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x);
    out[0] = bkeep(b2(c, OP_sub, y, x[2]));
    out[1] = bkeep(y);
    return 2;
}

static int product_used_later(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x), *h = b2(c, OP_maximum, b2(c, OP_add, y, x[2]), x[3]);
    out[0] = bkeep(h);
    out[1] = bkeep(b2(c, OP_matmul, btranspose(c, y), h));
    return 2;
}

static int casts(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x);
    out[0] = bkeep(bcast(c, b2(c, OP_add, y, x[2]), DT_F64));
    out[1] = bkeep(bcast(c, b2(c, OP_mul, y, y), DT_F16));
    out[2] = bkeep(b2(c, OP_lt, y, x[3]));
    return 3;
}

/* What lies where the product did is read again after that: it may not be overwritten before. */
static int used_twice(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x), *s = b2(c, OP_mul, y, x[3]);
    out[0] = bkeep(s);
    out[1] = bkeep(b2(c, OP_sub, y, s));
    return 2;
}

static int layers(context *c, tensor *const *x, tensor **out) {
    tensor *h = b2(c, OP_maximum, b2(c, OP_add, product(c, x), x[2]), bnumber(c, 0));
    tensor *y = b2(c, OP_matmul, btranspose(c, x[3]), h);
    out[0] = bkeep(b2(c, OP_add, y, btranspose(c, y)));
    out[1] = bkeep(b2(c, OP_mul, b2(c, OP_matmul, h, y), x[3]));
    return 2;
}

static int transposed_operands(context *c, tensor *const *x, tensor **out) {
    tensor *y = b2(c, OP_matmul, btranspose(c, x[1]), btranspose(c, x[0]));
    out[0] = bkeep(b2(c, OP_add, y, btranspose(c, x[3])));
    return 1;
}

static int batched(context *c, tensor *const *x, tensor **out) {
    tensor *a[2], *both = NULL;
    for (int i = 0; i < 2; i++)
        a[i] = breshape(c, x[i], 3, (dim[]){1, x[i]->meta.shape.size[0], x[i]->meta.shape.size[1]});
    tensor *two[2] = {a[0], b1(c, OP_neg, a[0])};
    if (op_apply(c, OP_concat, two, 2, &(axis_attrs){.axis = 0}, &both)) return 0;
    scope_add(c, both);
    tensor *one = b2(c, OP_matmul, both, x[1]), *many = b2(c, OP_matmul, both, a[1]);
    out[0] = bkeep(b2(c, OP_add, one, x[2]));
    out[1] = bkeep(b2(c, OP_minimum, many, x[3]));
    return 2;
}

static int vectors(context *c, tensor *const *x, tensor **out) {
    tensor *row = b2(c, OP_matmul, x[2], btranspose(c, x[1])); /* [k] */
    tensor *column = b2(c, OP_matmul, x[3], x[2]);             /* [m] */
    out[0] = bkeep(b2(c, OP_add, row, x[0]));
    out[1] = bkeep(b2(c, OP_sub, bnumber(c, 1), row));
    out[2] = bkeep(b2(c, OP_mul, column, bnumber(c, 3)));
    out[3] = bkeep(b2(c, OP_add, b2(c, OP_matmul, x[2], x[2]), bnumber(c, 3)));
    return 4;
}

/* ---- and such that have none ---- */

static int whole_sum(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x);
    out[0] = bkeep(b2(c, OP_sub, y, breduce(c, OP_sum, y, 99, false)));
    return 1;
}

static int rows(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x);
    out[0] = bkeep(b2(c, OP_sub, y, breduce(c, OP_sum, y, -1, true)));
    return 1;
}

static int turned(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(b2(c, OP_mul, btranspose(c, product(c, x)), btranspose(c, x[3])));
    return 1;
}

/* The consumer needs a second product that needs the first. */
static int second_product(context *c, tensor *const *x, tensor **out) {
    tensor *y = product(c, x);
    tensor *z = b2(c, OP_matmul, b2(c, OP_matmul, y, btranspose(c, x[1])), x[1]);
    out[0] = bkeep(b2(c, OP_add, y, z));
    return 1;
}

static const struct {
    const char *name;
    body_fn run;
    int epilogues, in_place; /* at sizes above 1; epilogues that write where the product was */
} bodies_of_products[] = {{"bias_relu", bias_relu, 1, 1},
                          {"mask", mask, 1, 1},
                          {"product_kept", product_kept, 1, 0},
                          {"product_used_later", product_used_later, 1, 0},
                          {"casts", casts, 1, 0},
                          {"used_twice", used_twice, 1, 1},
                          {"layers", layers, 2, 2},
                          {"transposed_operands", transposed_operands, 1, 1},
                          {"batched", batched, 2, 2},
                          {"vectors", vectors, 3, 2},
                          {"whole_sum", whole_sum, 0, 0},
                          {"rows", rows, 0, 0},
                          {"turned", turned, 0, 0},
                          {"second_product", second_product, 1, 1}};

enum { PRODUCTS = sizeof bodies_of_products / sizeof *bodies_of_products };

/* m, n, k. The third has several panels, the last of which are cut off. */
static const int64_t sizes[][3] = {{17, 33, 9}, {2, 3, 4},   {1100, 300, 8}, {3, 40, 700},
                                   {1, 300, 5}, {300, 1, 5}, {1, 1, 1},      {3, 5, 1},
                                   {0, 5, 4},   {4, 0, 5},   {3, 4, 0}};

static void operands(context *c, dtype t, const int64_t *s, tensor **x) {
    x[0] = sample(c, t, 2, (int64_t[]){s[0], s[2]}, 1);
    x[1] = sample(c, t, 2, (int64_t[]){s[2], s[1]}, 2);
    x[2] = sample(c, t, 1, (int64_t[]){s[1]}, 3);
    x[3] = sample(c, t, 2, (int64_t[]){s[0], s[1]}, 4);
}

static void drop(tensor **x) {
    for (int i = 0; i < OPERANDS; i++) tensor_release(x[i]);
}

static void count(const program *p, int *epilogues, int *in_place) {
    *epilogues = *in_place = 0;
    for (int i = 0; i < p->step_count; i++) {
        if (!p->steps[i].operands || !p->steps[i].k) continue;
        ++*epilogues;
        *in_place += p->steps[i].k->panels != p->steps[i].k->product;
    }
}

typedef status (*prepare_fn)(program *p);

static status tiles(program *p) {
    return program_set_tier(p, TIER_TILES);
}
static status compiled(program *p) {
    return program_set_tier(p, TIER_C);
}
static status cuda(program *p) {
    return program_emulate(p, 5);
}

/* Body `b` at all sizes; a program runs all that it accepts. Where a compiler takes its time, those of the first alone. */
static void check(context *c, int b, dtype t, prepare_fn prepare) {
    program *p = NULL;
    body_fn run = bodies_of_products[b].run;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tensor *x[OPERANDS];
        operands(c, t, sizes[s], x);
        bool accepted = p && program_accepts(p, x, OPERANDS, NULL);
        if (!p || (!accepted && prepare == tiles)) {
            program_free(p);
            p = freeze_body(c, run, x, OPERANDS);
            if (!p || prepare(p)) fail_msg("%s: %s", bodies_of_products[b].name, c->err.message);
            accepted = true;
        }
        for (int round = 0; accepted && round < 2; round++)
            if (!frozen_matches(c, p, run, x, OPERANDS))
                fail_msg("%s of %s at %lld x %lld x %lld", bodies_of_products[b].name, dtype_name(t),
                         (long long)sizes[s][0], (long long)sizes[s][1], (long long)sizes[s][2]);
        drop(x);
    }
    program_free(p);
}

static void epilogues_are_found(void **state) {
    (void)state;
    context *c = context_new(1);
    for (int b = 0; b < PRODUCTS; b++) {
        tensor *x[OPERANDS];
        operands(c, DT_F32, sizes[0], x);
        program *p = freeze_body(c, bodies_of_products[b].run, x, OPERANDS);
        assert_non_null(p);
        int epilogues, in_place;
        count(p, &epilogues, &in_place);
        if (epilogues != bodies_of_products[b].epilogues || in_place != bodies_of_products[b].in_place)
            fail_msg("%s: %d epilogues, %d in place", bodies_of_products[b].name, epilogues, in_place);
        program_free(p);
        drop(x);
    }
    context_free(c);
}

static void tiles_match_eager(void **state) {
    (void)state;
    static const dtype types[] = {DT_F32, DT_F64, DT_F16, DT_BF16, DT_I64, DT_I32, DT_I8, DT_U8};
    for (int lanes = 1; lanes <= 3; lanes++) {
        context *c = context_new(lanes);
        for (int b = 0; b < PRODUCTS; b++)
            for (size_t t = 0; t < sizeof types / sizeof *types; t += CASE_STEP)
                if (lanes == 3 || t + 1 == (size_t)lanes) check(c, b, types[t], tiles);
        context_free(c);
    }
}

static void c_matches_eager(void **state) {
    (void)state;
    static const dtype types[] = {DT_F32, DT_F16, DT_I32};
    for (int lanes = 1; lanes <= 3; lanes++) {
        context *c = context_new(lanes);
        for (int b = 0; b < PRODUCTS; b += CASE_STEP)
            if (bodies_of_products[b].epilogues) check(c, b, types[lanes - 1], compiled);
        context_free(c);
    }
}

/* There the epilogue is a launch of its own. */
static void cuda_matches_eager(void **state) {
    (void)state;
    context *c = context_new(1);
    for (int b = 0; b < 6; b += CASE_STEP) check(c, b, DT_F32, cuda);
    context_free(c);
}

/* ---- what else a step has ---- */

static int divides(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(b2(c, OP_floordiv, product(c, x), x[3]));
    return 1;
}

static void faults_are_raised(void **state) {
    (void)state;
    context *c = context_new(2);
    tensor *x[OPERANDS], *out[BODY_OUTPUTS] = {NULL};
    operands(c, DT_I32, sizes[2], x);
    int32_t *by = tensor_data(x[3]);
    for (int64_t i = 0; i < tensor_count(x[3]); i++) by[i] = (int32_t)(1 + i % 5);
    program *p = freeze_body(c, divides, x, OPERANDS);
    assert_non_null(p);
    assert_int_equal(p->step_count, 1);
    static const program_tier tiers[] = {TIER_TILES, TIER_C};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(program_set_tier(p, tiers[i]), STATUS_OK);
        assert_true(frozen_matches(c, p, divides, x, OPERANDS));
        by[7] = by[299 * 300] = by[1099 * 300 + 299] = 0;
        assert_int_equal(program_run(p, x, OPERANDS, out), STATUS_VALUE);
        assert_int_equal(c->err.number, 302);
        assert_non_null(strstr(c->err.message, "integer division by zero (3 elements)"));
        assert_null(out[0]);
        error_clear(&c->err);
        by[7] = by[299 * 300] = by[1099 * 300 + 299] = 3;
    }
    program_free(p);
    drop(x);
    context_free(c);
}

/* One step, one event, one line of the table: named after all of it, with the work of both. */
static void is_one_kernel(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x[OPERANDS], *out[BODY_OUTPUTS] = {NULL};
    operands(c, DT_F32, sizes[0], x);
    program *p = freeze_body(c, bias_relu, x, OPERANDS);
    assert_int_equal(program_kernel_count(p), 1);
    program_kernel k = program_kernel_at(p, 0);
    assert_string_equal(k.name, "k1_matmul_add_relu");
    assert_int_equal(k.node_count, 3);
    for (int i = 1; i < k.node_count; i++) assert_true(k.nodes[i - 1] < k.nodes[i]);
    assert_string_equal(k.tier, "library+tiles");
    assert_non_null(strstr(k.source_c, "on panels of"));
    assert_null(strstr(k.source_cuda, "on panels of")); /* there it is a launch of its own */
    assert_non_null(strstr(k.source_c, "op_relu_f32"));
    assert_int_equal(event_sink_start(&c->events, 1, 16, &c->err), STATUS_OK);
    program_set_tier(p, TIER_C);
    assert_int_equal(program_run(p, x, OPERANDS, out), STATUS_OK);
    event_sink_stop(&c->events);
    int found = 0;
    for (uint32_t i = 0; i < c->events.rings[0].count; i++) {
        const event *e = &c->events.rings[0].events[i];
        if (e->kind != EVENT_GEMM) continue;
        found++;
        assert_string_equal(e->name, k.name);
        assert_string_equal(e->tier, "library+C");
        assert_int_equal(e->kernel, k.id);
        int64_t m = sizes[0][0], n = sizes[0][1], inner = sizes[0][2];
        assert_int_equal(e->bytes, 4 * (m * inner + inner * n + n + m * n));
        assert_true(e->flops >= 2 * m * n * inner + 2 * m * n);
    }
    assert_int_equal(found, 1);
    tensor_release(out[0]);
    program_free(p);
    drop(x);
    context_free(c);
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epilogues_are_found), cmocka_unit_test(tiles_match_eager),
        cmocka_unit_test(c_matches_eager),     cmocka_unit_test(cuda_matches_eager),
        cmocka_unit_test(faults_are_raised),   cmocka_unit_test(is_one_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
