/* test_graph.c — traces, the verifier, the text form and each pass, on small programs. */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/engine.h"
#include "engine/graph/passes/rebuild.h"
#include "engine/ops/random.h"

static context *c;

static int setup(void **state) {
    (void)state;
    c = context_new(1);
    return c ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    context_free(c);
    return mem_live() == 0 ? 0 : -1;
}

static tensor *filled(double value, int64_t rows, int64_t cols) {
    shape s = {.rank = 2, .size = {rows, cols}};
    tensor *t = op_full(c, value, &s, DT_F32);
    assert_non_null(t);
    return t;
}

/* A graph of f(x) where x is f32[rows, cols]. */
static graph *traced(tensor *(*f)(tensor *x), int64_t rows, int64_t cols) {
    tensor *example = filled(1, rows, cols);
    trace *t = trace_begin(c, "test");
    tensor *x = trace_input(t, example, "x"), *y = f(x);
    graph *g = NULL;
    assert_non_null(y);
    assert_int_equal(trace_end(t, &y, 1, &g), STATUS_OK);
    assert_int_equal(graph_verify(g), STATUS_OK);
    tensor_release(x);
    tensor_release(y);
    tensor_release(example);
    return g;
}

static uint32_t count_ops(const graph *g, op_id op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->node_count; i++) n += g->nodes[i].kind == NODE_OP && g->nodes[i].op == op;
    return n;
}

static graph *through(status (*pass)(const graph *, graph **), graph *g) {
    graph *out = NULL;
    assert_int_equal(pass(g, &out), STATUS_OK);
    assert_int_equal(graph_verify(out), STATUS_OK);
    graph_free(g);
    return out;
}

/* Consumes y and returns op(y, value). */
static tensor *with(op_id op, tensor *y, double value) {
    tensor *v = tensor_weak_real(c, value), *r = op_call2(c, op, y, v, NULL);
    tensor_release(v);
    tensor_release(y);
    return r;
}

static tensor *then(op_id op, tensor *y) {
    tensor *r = op_call1(c, op, y, NULL);
    tensor_release(y);
    return r;
}

static tensor *two_equal(tensor *x) {
    tensor *a = then(OP_exp, op_call1(c, OP_tanh, x, NULL)), *b = then(OP_exp, op_call1(c, OP_tanh, x, NULL));
    tensor *r = op_call2(c, OP_add, a, b, NULL);
    tensor_release(a);
    tensor_release(b);
    return r;
}

static void sizes_are_symbols(void **state) {
    (void)state;
    graph *g = traced(two_equal, 3, 1);
    const meta *m = graph_meta(g, g->inputs[0]);
    assert_false(dim_known(m->shape.size[0]));
    assert_int_equal(m->shape.size[1], 1); /* specialised on */
    text s = {0};
    graph_print(g, &s);
    assert_non_null(strstr(text_str(&s), "%0 = input 0 x : f32[s0, 1]"));
    assert_non_null(strstr(text_str(&s), " = tanh %0 : f32[s0, 1]"));
    text_free(&s);
    graph_free(g);
}

static void cse_merges_equal_nodes(void **state) {
    (void)state;
    graph *g = traced(two_equal, 3, 4);
    assert_int_equal(count_ops(g, OP_tanh), 2);
    g = through(pass_cse, g);
    assert_int_equal(count_ops(g, OP_tanh), 1);
    assert_int_equal(count_ops(g, OP_exp), 1);
    assert_int_equal(count_ops(g, OP_add), 1);
    graph_free(g);
}

static tensor *identities(tensor *x) {
    tensor *y = with(OP_div, with(OP_mul, with(OP_sub, op_call1(c, OP_exp, x, NULL), 0), 1), 1);
    y = then(OP_neg, then(OP_neg, y));
    tensor *t = op_transpose(c, y, 2, (int64_t[]){1, 0}), *u = op_transpose(c, t, 2, (int64_t[]){1, 0});
    tensor_release(y);
    tensor_release(t);
    return u;
}

static void simplify_keeps_only_what_changes_bits(void **state) {
    (void)state;
    graph *g = through(pass_dce, through(pass_simplify, traced(identities, 3, 4)));
    assert_int_equal(g->node_count, 2); /* the input and exp */
    graph_free(g);
}

static tensor *not_identities(tensor *x) {
    return with(OP_div, with(OP_add, with(OP_mul, op_call1(c, OP_exp, x, NULL), 0), 0), 3);
}

static void simplify_leaves_what_could_differ(void **state) {
    (void)state;
    graph *g = through(pass_simplify, traced(not_identities, 3, 4));
    assert_int_equal(count_ops(g, OP_mul), 1); /* x * 0 is not 0 for NaN */
    assert_int_equal(count_ops(g, OP_add), 1); /* x + 0 turns -0 into 0 */
    assert_int_equal(count_ops(g, OP_div), 1); /* 1/3 is rounded */
    graph_free(g);
}

static tensor *by_eight(tensor *x) {
    return with(OP_div, op_call1(c, OP_exp, x, NULL), 8);
}

static void division_by_a_power_of_two_multiplies(void **state) {
    (void)state;
    graph *g = through(pass_simplify, traced(by_eight, 3, 4));
    assert_int_equal(count_ops(g, OP_div), 0);
    assert_int_equal(count_ops(g, OP_mul), 1);
    graph_free(g);
}

static tensor *unused_and_raising(tensor *x) {
    tensor *dead = op_call1(c, OP_exp, x, NULL);
    tensor_release(dead);
    tensor *i = op_cast(c, x, DT_I32, false), *may_raise = op_call2(c, OP_floordiv, i, i, NULL);
    assert_non_null(may_raise);
    tensor_release(may_raise);
    tensor_release(i);
    return op_call1(c, OP_sin, x, NULL);
}

static void dce_keeps_what_can_raise(void **state) {
    (void)state;
    graph *g = through(pass_dce, traced(unused_and_raising, 3, 4));
    assert_int_equal(count_ops(g, OP_exp), 0);
    assert_int_equal(count_ops(g, OP_floordiv), 1);
    assert_int_equal(count_ops(g, OP_cast), 1);
    graph_free(g);
}

static tensor *of_constants(tensor *x) {
    tensor *two = tensor_weak_real(c, 2), *scaled = op_call2(c, OP_mul, x, two, NULL);
    tensor_release(two);
    return scaled;
}

static void what_is_known_is_computed_at_once(void **state) {
    (void)state;
    graph *g = traced(of_constants, 3, 4);
    assert_int_equal(g->node_count, 3); /* input, the constant 2 as f32, mul: the cast ran while tracing */
    assert_int_equal(count_ops(g, OP_cast), 0);
    graph_free(g);
}

static tensor *product_of_size(tensor *x) {
    tensor *n = op_call0(c, OP_extent, &(extent_attrs){.size = x->meta.shape.size[0]});
    tensor *r = op_call2(c, OP_mul, x, n, NULL);
    tensor_release(n);
    return r;
}

static void fold_leaves_symbolic_sizes(void **state) {
    (void)state;
    graph *g = through(pass_fold, traced(product_of_size, 3, 4));
    assert_int_equal(count_ops(g, OP_extent), 1);
    graph_free(g);
}

static void verifier_notices_damage(void **state) {
    (void)state;
    graph *g = traced(two_equal, 3, 4);
    node *n = &g->nodes[1];
    value_id in = n->in[0];
    n->in[0] = n->out; /* uses itself */
    assert_int_equal(graph_verify(g), STATUS_FREEZE);
    assert_non_null(strstr(c->err.message, "before it is defined"));
    error_clear(&c->err);
    n->in[0] = in;
    g->values[n->out].meta.dtype = DT_F64;
    assert_int_not_equal(graph_verify(g), STATUS_OK);
    error_clear(&c->err);
    g->values[n->out].meta.dtype = DT_F32;
    n->op = OP_add; /* two operands wanted */
    assert_int_equal(graph_verify(g), STATUS_FREEZE);
    error_clear(&c->err);
    n->op = OP_tanh;
    assert_int_equal(graph_verify(g), STATUS_OK);
    graph_free(g);
}

static void guards_say_what_was_decided(void **state) {
    (void)state;
    tensor *a = filled(1, 3, 4), *b = filled(1, 3, 4);
    trace *t = trace_begin(c, "sum");
    tensor *x = trace_input(t, a, "x"), *y = trace_input(t, b, "y"), *z = op_call2(c, OP_add, x, y, NULL);
    graph *g = NULL;
    assert_int_equal(trace_end(t, &z, 1, &g), STATUS_OK);
    assert_int_equal(g->dims->guard_count, 2); /* rows equal, columns equal */
    int64_t good[4] = {7, 9, 7, 9}, bad[4] = {7, 9, 7, 8};
    const dim_guard *broken = NULL;
    assert_true(dims_guards_hold(g->dims, good, &broken));
    assert_false(dims_guards_hold(g->dims, bad, &broken));
    assert_int_equal(broken->relation, DIM_EQ);
    graph_free(g);
    for (int i = 0; i < 5; i++) tensor_release(((tensor *[]){a, b, x, y, z})[i]);
}

static void random_programs_take_their_stream(void **state) {
    (void)state;
    shape s = {.rank = 1, .size = {6}};
    tensor *before = c->counter;
    trace *t = trace_begin(c, "draw");
    tensor *a = random_draw(c, OP_rand, &s, DT_F32, NULL), *b = random_draw(c, OP_rand, &s, DT_F32, NULL);
    graph *g = NULL;
    assert_int_equal(trace_end(t, (tensor *[]){a, b}, 2, &g), STATUS_OK);
    assert_ptr_equal(c->counter, before); /* the context's own stream has not moved */
    assert_int_equal(g->seed_input, 0);
    assert_int_equal(g->counter_input, 1);
    assert_int_equal(g->output_count, 3);
    g = through(pass_cse, g);
    assert_int_equal(count_ops(g, OP_rand), 2); /* two draws at two counters stay two */
    graph_free(g);
    tensor_release(a);
    tensor_release(b);
}

static void shapes_that_depend_on_values_are_refused(void **state) {
    (void)state;
    tensor *a = filled(1, 3, 4);
    trace *t = trace_begin(c, "mask");
    tensor *x = trace_input(t, a, "x"), *zero = tensor_weak_real(c, 0),
           *mask = op_call2(c, OP_gt, x, zero, NULL);
    tensor *rows = op_reduce(c, OP_any, mask, &(int_list){.count = 1, .v = {1}}, false);
    assert_null(op_call2(c, OP_compress, x, rows, NULL));
    assert_int_equal(c->err.number, 512);
    error_clear(&c->err);
    trace_abandon(t);
    assert_null(c->trace);
    for (int i = 0; i < 5; i++) tensor_release(((tensor *[]){a, x, zero, mask, rows})[i]);
}

/* A traced gradient through the whole pipeline; STATUS_MEMORY wherever an allocation fails, and no leak. */
static status trace_a_gradient(void) {
    tensor *example = NULL, *x = NULL, *y = NULL, *s = NULL, *dx = NULL;
    tape *p = NULL;
    graph *g = NULL, *optimised = NULL;
    shape sh = {.rank = 2, .size = {3, 4}};
    trace *t = NULL;
    status code = STATUS_MEMORY;
    if (!(example = op_full(c, 1, &sh, DT_F32)) || !(t = trace_begin(c, "g"))) goto out;
    if (!(x = trace_input(t, example, "x")) || !(p = tape_new(c)) || tape_watch(p, x)) goto out;
    tape_push(c, p);
    if ((y = op_call1(c, OP_tanh, x, NULL))) s = op_reduce(c, OP_mean, y, NULL, false);
    tape_pop(c, p);
    if (!s || tape_gradient(p, s, NULL, &x, 1, &dx)) goto out;
    code = trace_end(t, &dx, 1, &g);
    t = NULL;
    if (!code) code = pipeline_run(g, &optimised, NULL, NULL);
out:
    if (t) trace_abandon(t);
    tape_free(p);
    graph_free(g);
    graph_free(optimised);
    for (int i = 0; i < 5; i++) tensor_release(((tensor *[]){example, x, y, s, dx})[i]);
    return code;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    assert_int_equal(trace_a_gradient(), STATUS_OK);
    allocator_trim(c->memory);
    for (int64_t n = 1;; n++) { /* leaks show when the group is torn down */
        mem_fail_after(n);
        status code = trace_a_gradient();
        mem_fail_after(0);
        if (code == STATUS_OK) {
            assert_true(n > 20);
            break;
        }
        assert_int_equal(code, STATUS_MEMORY);
        assert_int_equal(c->err.code, STATUS_MEMORY);
        error_clear(&c->err);
        allocator_trim(c->memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_symbols),
        cmocka_unit_test(cse_merges_equal_nodes),
        cmocka_unit_test(simplify_keeps_only_what_changes_bits),
        cmocka_unit_test(simplify_leaves_what_could_differ),
        cmocka_unit_test(division_by_a_power_of_two_multiplies),
        cmocka_unit_test(dce_keeps_what_can_raise),
        cmocka_unit_test(what_is_known_is_computed_at_once),
        cmocka_unit_test(fold_leaves_symbolic_sizes),
        cmocka_unit_test(verifier_notices_damage),
        cmocka_unit_test(guards_say_what_was_decided),
        cmocka_unit_test(random_programs_take_their_stream),
        cmocka_unit_test(shapes_that_depend_on_values_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
