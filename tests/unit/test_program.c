/* test_program.c — frozen programs against eager execution, bit for bit: bodies that fuse in every way the fuser has,
 * over sizes around the borders of lanes, tiles and blocks, dtypes and lanes.
 *     ctest: labels=threads timeout=600 */
#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/frozen.h"

/* ---- bodies; x[0] is [rows, columns], x[1] [columns], x[2] [rows, columns] ---- */

static int chain(context *c, tensor *const *x, tensor **out) {
    tensor *h = b1(c, OP_tanh, b2(c, OP_add, b2(c, OP_mul, x[0], bnumber(c, 0.75)), x[1]));
    out[0] = bkeep(b2(c, OP_mul, h, b2(c, OP_add, h, bnumber(c, 1))));
    out[1] = bkeep(h);
    return 2;
}

static int softmax(context *c, tensor *const *x, tensor **out) {
    tensor *e = b1(c, OP_exp, b2(c, OP_sub, x[0], breduce(c, OP_max, x[0], -1, true)));
    out[0] = bkeep(b2(c, OP_div, e, breduce(c, OP_sum, e, -1, true)));
    return 1;
}

static int softmax_columns(context *c, tensor *const *x, tensor **out) {
    tensor *e = b1(c, OP_exp, b2(c, OP_sub, x[0], breduce(c, OP_max, x[0], 0, true)));
    out[0] = bkeep(b2(c, OP_div, e, breduce(c, OP_sum, e, 0, true)));
    return 1;
}

static int layer_norm(context *c, tensor *const *x, tensor **out) {
    tensor *d = b2(c, OP_sub, x[0], breduce(c, OP_mean, x[0], -1, true));
    tensor *v = breduce(c, OP_mean, b2(c, OP_mul, d, d), -1, true);
    tensor *s = b1(c, OP_sqrt, b2(c, OP_add, v, bnumber(c, 1e-5)));
    out[0] = bkeep(b2(c, OP_mul, b2(c, OP_div, d, s), x[1]));
    out[1] = bkeep(s);
    return 2;
}

static int loss(context *c, tensor *const *x, tensor **out) {
    tensor *d = b2(c, OP_sub, x[0], x[2]);
    out[0] = bkeep(breduce(c, OP_mean, b2(c, OP_mul, d, d), 99, false));
    out[1] = bkeep(b2(c, OP_mul, d, bnumber(c, 0.125)));
    return 2;
}

static int bias_gradient(context *c, tensor *const *x, tensor **out) {
    tensor *g = b2(c, OP_mul, x[2], b2(c, OP_sub, bnumber(c, 1), b2(c, OP_mul, x[0], x[0])));
    out[0] = bkeep(breduce(c, OP_sum, g, 0, false));
    out[1] = bkeep(g);
    return 2;
}

static int several_reductions(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(breduce(c, OP_max, x[0], -1, false));
    out[1] = bkeep(breduce(c, OP_min, x[0], -1, true));
    out[2] = bkeep(breduce(c, OP_sum, x[0], 0, false));
    out[3] = bkeep(breduce(c, OP_any, b2(c, OP_gt, x[0], x[2]), -1, false));
    out[4] = bkeep(breduce(c, OP_all, b2(c, OP_gt, x[0], x[2]), 99, false));
    out[5] = bkeep(breduce(c, OP_sum, b2(c, OP_lt, x[0], x[2]), -1, false));
    return 6;
}

static int transposed(context *c, tensor *const *x, tensor **out) {
    tensor *t = btranspose(c, x[0]);
    out[0] = bkeep(b1(c, OP_relu, t));
    out[1] = bkeep(b2(c, OP_add, btranspose(c, b1(c, OP_sin, x[0])), btranspose(c, x[2])));
    out[2] = bkeep(breduce(c, OP_sum, b1(c, OP_neg, t), -1, false));
    out[3] = bkeep(t);
    return 4;
}

static int reshaped(context *c, tensor *const *x, tensor **out) {
    tensor *sum = b2(c, OP_add, x[0], x[1]);
    dim n = dim_mul(c->dims, x[0]->meta.shape.size[0], x[0]->meta.shape.size[1]);
    tensor *flat = breshape(c, sum, 1, &n);
    out[0] = bkeep(b1(c, OP_neg, flat));
    out[1] = bkeep(b2(c, OP_mul, breshape(c, flat, 2, x[0]->meta.shape.size), x[2]));
    out[2] = bkeep(flat);
    tensor *column = breshape(c, breduce(c, OP_sum, x[0], 1, false), 2, (dim[]){x[0]->meta.shape.size[0], 1});
    out[3] = bkeep(b2(c, OP_sub, x[0], column));
    return 4;
}

static int sliced(context *c, tensor *const *x, tensor **out) {
    dim n = x[0]->meta.shape.size[0], less = dim_sub(c->dims, n, 1);
    tensor *h = b1(c, OP_exp, x[0]);
    out[0] = bkeep(b2(c, OP_sub, bslice(c, h, 0, 1, less, 1), bslice(c, h, 0, 0, less, 1)));
    out[1] = bkeep(b1(c, OP_neg, bslice(c, x[0], 0, less, n, -1)));
    return 2;
}

static int shared_rows(context *c, tensor *const *x, tensor **out) {
    tensor *m = breduce(c, OP_max, x[0], -1, true);
    tensor *s = b1(c, OP_log, breduce(c, OP_sum, b1(c, OP_exp, b2(c, OP_sub, x[0], m)), -1, true));
    tensor *lse = b2(c, OP_add, s, m), *p = b1(c, OP_exp, b2(c, OP_sub, x[0], lse));
    out[0] = bkeep(breduce(
        c, OP_mean, b2(c, OP_sub, lse, breduce(c, OP_sum, b2(c, OP_mul, x[0], x[2]), -1, true)), 99, false));
    out[1] = bkeep(b2(c, OP_sub, p, x[2]));
    out[2] = bkeep(breduce(c, OP_sum, b2(c, OP_sub, p, x[2]), 0, false));
    return 3;
}

static int whole_sum_used(context *c, tensor *const *x, tensor **out) {
    tensor *s = breduce(c, OP_sum, b1(c, OP_cos, x[0]), 99, false);
    out[0] = bkeep(b2(c, OP_div, x[0], s));
    out[1] = bkeep(b2(c, OP_mul, s, bnumber(c, 2)));
    return 2;
}

static int casts(context *c, tensor *const *x, tensor **out) {
    tensor *i = bcast(c, b2(c, OP_mul, x[0], bnumber(c, 50)), DT_I8);
    out[0] = bkeep(i);
    out[1] = bkeep(b2(c, OP_add, i, bcast(c, x[2], DT_U8)));
    out[2] = bkeep(bcast(c, b1(c, OP_exp, x[0]), DT_F16));
    out[3] = bkeep(b2(c, OP_mul, bcast(c, x[0], DT_BF16), bcast(c, x[2], DT_BF16)));
    out[4] = bkeep(b3(c, OP_where, bcast(c, i, DT_BOOL), x[0], bnumber(c, 2)));
    out[5] = bkeep(breduce(c, OP_mean, bcast(c, x[0], DT_F16), -1, false));
    out[6] = bkeep(b2(c, OP_lt, i, x[0]));
    return 7;
}

static int library_between(context *c, tensor *const *x, tensor **out) {
    tensor *h = b1(c, OP_tanh, b2(c, OP_add, b2(c, OP_matmul, x[0], btranspose(c, x[2])), bnumber(c, 0.5)));
    tensor *y = b2(c, OP_matmul, h, x[2]);
    out[0] = bkeep(b2(c, OP_sub, y, x[0]));
    out[1] = bkeep(b2(c, OP_mul, h, h));
    out[2] = bkeep(y);
    return 3;
}

static int simple_views(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(x[0]);
    out[1] = bkeep(btranspose(c, x[0]));
    out[2] = bkeep(bslice(c, x[1], 0, 0, 1, 1));
    out[3] = bkeep(x[1]);
    shape s = x[0]->meta.shape;
    out[4] = scope_add(c, op_full(c, 1.5, &s, DT_F32));
    out[4] = bkeep(b2(c, OP_add, out[4], x[0]));
    return 5;
}

static const struct {
    const char *name;
    body_fn body;
    bool float_only, small_only;
} bodies[] = {
    {"chain", chain, true, false},
    {"softmax", softmax, true, false},
    {"softmax_columns", softmax_columns, true, false},
    {"layer_norm", layer_norm, true, false},
    {"loss", loss, false, false},
    {"bias_gradient", bias_gradient, false, false},
    {"several_reductions", several_reductions, false, false},
    {"transposed", transposed, true, false},
    {"reshaped", reshaped, false, false},
    {"sliced", sliced, true, false},
    {"shared_rows", shared_rows, true, false},
    {"whole_sum_used", whole_sum_used, true, false},
    {"casts", casts, true, false},
    {"library_between", library_between, true, true},
    {"simple_views", simple_views, true, false},
};
enum { BODIES = sizeof bodies / sizeof *bodies };

static const int64_t sizes[][2] = {{1, 1},     {2, 1},     {1, 2},     {2, 15},   {3, 16},   {17, 17},
                                   {2, 4095},  {3, 4097},  {64, 10},   {300, 3},  {4096, 2}, {4097, 5},
                                   {2, 20000}, {40, 1023}, {1, 30000}, {1000, 33}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void make_inputs(context *c, dtype t, const int64_t *size, tensor **x) {
    x[0] = sample(c, t, 2, size, 1);
    x[1] = sample(c, t, 1, size + 1, 2);
    x[2] = sample(c, t, 2, size, 3);
    for (int i = 0; i < 3; i++) assert_non_null(x[i]);
}

static void drop(tensor **x, int n) {
    for (int i = 0; i < n; i++) tensor_release(x[i]);
}

static void check_body(context *c, int b, dtype t) {
    program *p = NULL;
    for (int s = 0; s < SIZES; s++) {
        tensor *x[3];
        if (bodies[b].small_only && sizes[s][0] * sizes[s][1] > 5000) continue;
        if (bodies[b].body == sliced && sizes[s][0] < 2) continue;
        make_inputs(c, t, sizes[s], x);
        if (p && !program_accepts(p, x, 3, NULL)) {
            program_free(p);
            p = NULL;
        }
        if (!p) p = freeze_body(c, bodies[b].body, x, 3);
        if (!p) fail_msg("%s: %s", bodies[b].name, c->err.message);
        for (int run = 0; run < 2; run++)
            if (!frozen_matches(c, p, bodies[b].body, x, 3))
                fail_msg("%s of %s[%d, %d]", bodies[b].name, dtype_name(t), (int)sizes[s][0],
                         (int)sizes[s][1]);
        drop(x, 3);
    }
    program_free(p);
}

static void check_all(int lanes, dtype t) {
    context *c = context_new(lanes);
    assert_non_null(c);
    for (int b = 0; b < BODIES; b++)
        if (dtype_is_float(t) || !bodies[b].float_only) check_body(c, b, t);
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
