/* bodies.c — programs that fuse in every way the fuser has, and the sizes to try them on: around the borders of lanes,
 * tiles and blocks. */
#include "tests/harness/bodies.h"

#include <stdio.h>
#include <string.h>

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

const body bodies[BODIES] = {
    {"chain", chain, true, false, 1},
    {"softmax", softmax, true, false, 1},
    {"softmax_columns", softmax_columns, true, false, 1},
    {"layer_norm", layer_norm, true, false, 1},
    {"loss", loss, false, false, 1},
    {"bias_gradient", bias_gradient, false, false, 1},
    {"several_reductions", several_reductions, false, false, 1},
    {"transposed", transposed, true, false, 1},
    {"reshaped", reshaped, false, false, 1},
    {"sliced", sliced, true, false, 2},
    {"shared_rows", shared_rows, true, false, 1},
    {"whole_sum_used", whole_sum_used, true, false, 1},
    {"casts", casts, true, false, 1},
    {"library_between", library_between, true, true, 1},
    {"simple_views", simple_views, true, false, 1},
};

const int64_t body_sizes[BODY_SIZES][2] = {
    {1, 1},   {2, 1},   {1, 2},    {2, 15},   {3, 16},    {17, 17},   {2, 4095},  {3, 4097},
    {64, 10}, {300, 3}, {4096, 2}, {4097, 5}, {2, 20000}, {40, 1023}, {1, 30000}, {1000, 33}};

void body_inputs(context *c, dtype t, const int64_t *size, tensor **x) {
    x[0] = sample(c, t, 2, size, 1);
    x[1] = sample(c, t, 1, size + 1, 2);
    x[2] = sample(c, t, 2, size, 3);
}

/* Does every kernel run in the tier that was asked for? */
static bool all_in(const program *p, const char *tier) {
    for (int i = 0; i < program_kernel_count(p); i++) {
        const char *t = program_kernel_at(p, i).tier, *epilogue = strchr(t, '+');
        if (strcmp(epilogue ? epilogue + 1 : t, tier) != 0 && strcmp(t, "library") != 0) return false;
    }
    return true;
}

status in_tiles(program *p) {
    status code = program_set_tier(p, TIER_TILES);
    return code ? code : all_in(p, "tiles") ? STATUS_OK : STATUS_VALUE;
}

status in_c(program *p) {
    status code = program_set_tier(p, TIER_C);
    return code ? code : all_in(p, "C") ? STATUS_OK : STATUS_VALUE;
}

const char *check_body(context *c, const body *b, dtype t, tier_fn prepare, bool all_sizes) {
    static char failure[600];
    program *p = NULL;
    failure[0] = 0;
    for (int s = 0; s < BODY_SIZES && !failure[0]; s++) {
        const int64_t *size = body_sizes[s];
        tensor *x[BODY_INPUTS];
        if ((b->small_only && size[0] * size[1] > 5000) || size[0] < b->min_rows) continue;
        if (!all_sizes && (size[0] < 3 || size[1] < 3)) continue;
        body_inputs(c, t, size, x);
        if (p && !program_accepts(p, x, BODY_INPUTS, NULL)) {
            program_free(p);
            p = NULL;
        }
        bool good = true;
        if (!p && (p = freeze_body(c, b->run, x, BODY_INPUTS))) good = !prepare(p);
        good = good && p && !c->err.code;
        for (int run = 0; good && run < 2; run++) good = frozen_matches(c, p, b->run, x, BODY_INPUTS);
        if (!good)
            snprintf(failure, sizeof failure, "%s of %s[%d, %d]: %s", b->name, dtype_name(t), (int)size[0],
                     (int)size[1], c->err.message);
        for (int i = 0; i < BODY_INPUTS; i++) tensor_release(x[i]);
    }
    program_free(p);
    return failure[0] ? failure : NULL;
}
