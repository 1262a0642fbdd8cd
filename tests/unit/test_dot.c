/* test_dot.c — diagrams: the DOT text of graphs made by hand is read back by cgraph and counted; backward
 * parts, folding, and the time that a large graph takes to lay out.
 *
 *     ctest: timeout=120 */
#include "tests/harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <graphviz/cgraph.h>

#include "viz/dot.h"
#include "viz/render.h"

/* ---- graphs by hand ---- */

static meta f32_of(int rank, dim a, dim b) {
    return (meta){.shape = {.rank = rank, .size = {a, rank > 1 ? b : 0}}, .dtype = DT_F32};
}

static value_id input(graph *g, const char *name, meta m) {
    value_id v;
    assert_int_equal(graph_add_input(g, &m, name, &v), STATUS_OK);
    return v;
}

static value_id scalar(graph *g, double x) {
    shape s = {0};
    float f = (float)x;
    tensor *t = tensor_from(g->c, DT_F32, &s, &f);
    value_id v;
    assert_non_null(t);
    assert_int_equal(graph_add_const(g, t, (span){0}, &v), STATUS_OK);
    tensor_release(t);
    return v;
}

/* An op on one or two values (b: NO_VALUE for one) from source line `line`; `forward`: of a backward node. */
static value_id op(graph *g, op_id id, value_id a, value_id b, meta m, uint32_t line, value_id forward) {
    static const union {
        reduce_attrs reduce;
        transpose_attrs transpose;
        shape_attrs shape;
    } none = {0};
    value_id in[] = {a, b};
    node *n;
    span where = {1, line * 100, line * 100 + 5};
    const void *attrs = op_table[id].attr_bytes ? &none : NULL;
    assert_int_equal(graph_add_op(g, id, in, b == NO_VALUE ? 1 : 2, attrs, &m, 1, where, &n), STATUS_OK);
    if (forward != NO_VALUE) {
        n->backward = true;
        n->forward = g->values[forward].node;
    }
    return n->out;
}

/* A training step of a network of two layers, with its gradient and the update of one weight. */
static graph *training_step(context *c) {
    graph *g = graph_new(c, "train_step");
    assert_non_null(g);
    const value_id no = NO_VALUE;
    meta xs = f32_of(2, 64, 784), hs = f32_of(2, 64, 128), ps = f32_of(2, 64, 10), one = f32_of(0, 0, 0);
    meta w1s = f32_of(2, 784, 128), w2s = f32_of(2, 128, 10), w2t = f32_of(2, 10, 128),
         ht = f32_of(2, 128, 64), xt = f32_of(2, 784, 64);
    value_id x = input(g, "x", xs), y = input(g, "y", ps), w1 = input(g, "m.w1", w1s),
             b1 = input(g, "m.b1", f32_of(1, 128, 0));
    value_id w2 = input(g, "m.w2", w2s), b2 = input(g, "m.b2", f32_of(1, 10, 0));
    value_id z = op(g, OP_matmul, x, w1, hs, 4, no), zb = op(g, OP_add, z, b1, hs, 4, no),
             h = op(g, OP_tanh, zb, no, hs, 4, no);
    value_id p = op(g, OP_matmul, h, w2, ps, 5, no), pb = op(g, OP_add, p, b2, ps, 5, no);
    value_id d = op(g, OP_sub, pb, y, ps, 8, no), sq = op(g, OP_mul, d, d, ps, 8, no),
             l = op(g, OP_mean, sq, no, one, 8, no);
    value_id gm = op(g, OP_expand, scalar(g, 1.0 / 640), no, ps, 12, l);
    value_id gsq = op(g, OP_mul, gm, d, ps, 12, sq), gsq2 = op(g, OP_mul, gsq, scalar(g, 2), ps, 12, sq);
    value_id gb2 = op(g, OP_sum, gsq2, no, f32_of(1, 10, 0), 12, pb);
    value_id hT = op(g, OP_transpose, h, no, ht, 12, p), gw2 = op(g, OP_matmul, hT, gsq2, w2s, 12, p);
    value_id w2T = op(g, OP_transpose, w2, no, w2t, 12, p), gh = op(g, OP_matmul, gsq2, w2T, hs, 12, p);
    value_id hh = op(g, OP_mul, h, h, hs, 12, h), omh = op(g, OP_sub, scalar(g, 1), hh, hs, 12, h),
             gz = op(g, OP_mulz, gh, omh, hs, 12, h);
    value_id gb1 = op(g, OP_sum, gz, no, f32_of(1, 128, 0), 12, zb);
    value_id xT = op(g, OP_transpose, x, no, xt, 12, z), gw1 = op(g, OP_matmul, xT, gz, w1s, 12, z);
    value_id out[5] = {l};
    const value_id w[] = {w1, b1, w2, b2}, gw[] = {gw1, gb1, gw2, gb2};
    for (int i = 0; i < 4; i++) {
        const meta *m = graph_meta(g, w[i]);
        value_id step = op(g, OP_mul, gw[i], scalar(g, 0.1), *m, 13, no);
        out[i + 1] = op(g, OP_sub, w[i], step, *m, 13, no);
    }
    assert_int_equal(graph_set_outputs(g, out, 5), STATUS_OK);
    return g;
}

static bool find_line(void *user, span where, source_line *out) {
    (void)user;
    static const char line[] = "    h = tanh(x @ m.w1 + m.b1)   # \"a\\b\"";
    *out = (source_line){
        .file = "digits.td", .line = where.begin / 100, .text = line, .length = sizeof line - 1};
    return true;
}
static const source_finder finder = {find_line, NULL};

/* ---- reading back ---- */

static Agraph_t *read_back(const graph *g, const diagram_options *options) {
    text out = {0};
    error e = {0};
    assert_int_equal(dot_graph(g, options, &out, &e), STATUS_OK);
    Agraph_t *read = agmemread(text_str(&out));
    assert_non_null(read);
    text_free(&out);
    return read;
}

static int count_attribute(Agraph_t *g, const char *name, const char *value) {
    int count = 0;
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n))
        for (Agedge_t *e = agfstout(g, n); e; e = agnxtout(g, e)) {
            const char *is = agget(e, (char *)name);
            count += is && strcmp(is, value) == 0;
        }
    return count;
}

static int count_labelled(Agraph_t *g, const char *part) {
    int count = 0;
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n))
        count += strstr(agget(n, (char *)"label"), part) != NULL;
    return count;
}

static bool is_reference(Agnode_t *n) {
    return strcmp(agget(n, (char *)"style"), "filled,dashed") == 0;
}

static int count_references(Agraph_t *g) {
    int count = 0;
    for (Agnode_t *n = agfstnode(g); n; n = agnxtnode(g, n)) count += is_reference(n);
    return count;
}

/* Ranks that hold exactly two nodes together. */
static int count_pairs(Agraph_t *g) {
    int count = 0;
    for (Agraph_t *s = agfstsubg(g); s; s = agnxtsubg(s)) {
        const char *rank = agget(s, (char *)"rank");
        count += rank && strcmp(rank, "same") == 0 && agnnodes(s) == 2;
    }
    return count;
}

/* ---- tests ---- */

static void writes_every_node_and_edge(void **state) {
    context *c = *state;
    graph *g = training_step(c);
    diagram_options o = {.finder = &finder};
    Agraph_t *read = read_back(g, &o);
    /* 6 inputs, 8 forward, 14 backward, 8 of the update, 5 outputs, and 6 references: w2 and x in the backward
     * part, all four weights in the update. Constants stand in the boxes. */
    assert_int_equal(agnnodes(read), 47);
    assert_int_equal(count_references(read), 6);
    assert_int_equal(count_labelled(read, "output "), 5);
    assert_int_equal(count_labelled(read, "mul(_, 0.1)"), 4);
    assert_int_equal(count_labelled(read, "sub(1, _)"), 1);
    assert_int_equal(count_labelled(read, "expand(0.0015625)\\nf32[64, 10]"), 1);
    assert_int_equal(count_labelled(read, "matmul"), 5);
    assert_int_equal(count_labelled(read, "m.w1\\nf32[784, 128]"), 1);
    assert_int_equal(count_labelled(read, "digits.td:4"), 3);
    /* Forward 14 (both operands of d * d are one arrow), backward 18, update 16. */
    assert_int_equal(agnedges(read), 48);
    assert_int_equal(count_attribute(read, "constraint", "false"),
                     3);                                        /* d, and h twice, into the backward part */
    assert_int_equal(count_attribute(read, "dir", "back"), 15); /* the rest of the backward part */
    agclose(read);
    graph_free(g);
}

static void draws_backward_beside_forward(void **state) {
    context *c = *state;
    graph *g = training_step(c);
    diagram_options o = {0};
    Agraph_t *read = read_back(g, &o);
    assert_int_equal(count_pairs(read), 7); /* z zb h p pb sq l; d has no backward node of its own */
    /* Reversed arrows point from what is computed later to what is computed earlier: their tail is the
     * consumer, and every one of them has a backward node at both ends. */
    for (Agnode_t *n = agfstnode(read); n; n = agnxtnode(read, n))
        for (Agedge_t *e = agfstout(read, n); e; e = agnxtout(read, e)) {
            if (strcmp(agget(e, (char *)"dir"), "back") != 0) continue;
            if (is_reference(aghead(e))) continue;
            assert_string_equal(agget(agtail(e), (char *)"fillcolor"), agget(aghead(e), (char *)"fillcolor"));
            int tail = atoi(agnameof(agtail(e)) + 1), head = atoi(agnameof(aghead(e)) + 1);
            assert_true(tail > head);
        }
    agclose(read);
    graph_free(g);
}

/* What is made of nothing for the backward part alone stands there, though it was recorded as forward. */
static void moves_sources_to_their_users(void **state) {
    context *c = *state;
    graph *g = graph_new(c, "f");
    meta m = f32_of(1, 3, 0);
    value_id x = input(g, "x", m), r = op(g, OP_tanh, x, NO_VALUE, m, 1, NO_VALUE),
             ones = op(g, OP_expand, scalar(g, 1), NO_VALUE, m, 1, NO_VALUE),
             both = op(g, OP_expand, scalar(g, 2), NO_VALUE, m, 1, NO_VALUE),
             s = op(g, OP_mul, r, both, m, 1, NO_VALUE), b = op(g, OP_mul, ones, both, m, 1, r);
    const value_id out[] = {s, b};
    assert_int_equal(graph_set_outputs(g, out, 2), STATUS_OK);
    diagram_options o = {0};
    diagram d;
    assert_int_equal(diagram_build(g, &o, &d, &c->err), STATUS_OK);
    assert_int_equal(d.part[g->values[ones].node], PART_BACKWARD);
    assert_int_equal(d.part[g->values[both].node], PART_FORWARD); /* used on both sides */
    assert_int_equal(d.part[g->values[r].node], PART_FORWARD);
    diagram_free(&d);
    graph_free(g);
}

static void escapes_names(void **state) {
    context *c = *state;
    graph *g = graph_new(c, "a \"name\" \\N <b>");
    value_id x = input(g, "q\"uote\\G", f32_of(1, 3, 0));
    value_id r = op(g, OP_tanh, x, NO_VALUE, f32_of(1, 3, 0), 1, NO_VALUE);
    assert_int_equal(graph_set_outputs(g, &r, 1), STATUS_OK);
    diagram_options o = {.finder = &finder, .title = "<i>\\G\n\x01\xff"};
    Agraph_t *read = read_back(g, &o);
    assert_int_equal(agnnodes(read), 3);
    assert_int_equal(agnedges(read), 2);
    assert_string_equal(agget(read, (char *)"label"), "<i>\\\\G\\n??");
    assert_int_equal(count_labelled(read, "q\"uote\\\\G"), 1);
    assert_non_null(strstr(agget(agnode(read, (char *)"b1", 0), (char *)"tooltip"), "# \"a\\\\b\""));
    agclose(read);
    graph_free(g);
}

static void marks_kernels_and_heat(void **state) {
    context *c = *state;
    graph *g = graph_new(c, "f");
    meta m = f32_of(1, 1000, 0);
    value_id x = input(g, "x", m), a = op(g, OP_tanh, x, NO_VALUE, m, 1, NO_VALUE),
             b = op(g, OP_exp, a, NO_VALUE, m, 1, NO_VALUE), s = op(g, OP_neg, b, NO_VALUE, m, 2, NO_VALUE);
    assert_int_equal(graph_set_outputs(g, &s, 1), STATUS_OK);
    const uint32_t fused[] = {1, 2}, alone[] = {3};
    const program_kernel kernels[] = {
        {.id = 5, .name = "k5_tanh_exp", .nodes = fused, .node_count = 2, .tier = "C"},
        {.id = 6, .name = "k6_neg", .nodes = alone, .node_count = 1, .tier = "C"}};
    recording *r = recording_new(1, "");
    recorded e = {.begin = 0, .end = 9000, .graph = g->id, .kernel = 5, .kind = EVENT_KERNEL};
    assert_int_equal(recording_add(r, &e), STATUS_OK);
    e = (recorded){.begin = 9000, .end = 10000, .graph = g->id, .kernel = 6, .kind = EVENT_KERNEL};
    assert_int_equal(recording_add(r, &e), STATUS_OK);
    e = (recorded){.begin = 10000, .end = 90000, .graph = g->id + 1, .kernel = 6, .kind = EVENT_KERNEL};
    assert_int_equal(recording_add(r, &e), STATUS_OK); /* of another graph */
    recording_settle(r);
    diagram_options o = {.kernels = kernels, .kernel_count = 2, .cost = true, .times = r};
    Agraph_t *read = read_back(g, &o);
    Agraph_t *cluster = agsubg(read, (char *)"cluster_k5", 0), *other = agsubg(read, (char *)"cluster_k6", 0);
    assert_non_null(cluster);
    assert_non_null(other);
    assert_int_equal(agnnodes(cluster), 2);
    assert_int_equal(agnnodes(other), 1);
    assert_string_equal(agget(cluster, (char *)"label"), "kernel 5: k5_tanh_exp [C]\\n90.0%, 9.00 us");
    assert_string_equal(agget(other, (char *)"label"), "kernel 6: k6_neg [C]\\n10.0%, 1.00 us");
    assert_non_null(strstr(agget(read, (char *)"label"), "measured: 10.0 us"));
    const char *hot = agget(agnode(read, (char *)"b1", 0), (char *)"fillcolor"),
               *cool = agget(agnode(read, (char *)"b3", 0), (char *)"fillcolor");
    assert_string_not_equal(hot, cool);
    assert_int_equal(count_labelled(read, "20.0 kflop, 8.00 kB"), 2); /* tanh and exp: 20 an element */
    agclose(read);
    /* Predictions serve where nothing was measured. */
    const double predicted[] = {0, 100, 200, 100};
    o = (diagram_options){.kernels = kernels, .kernel_count = 2, .cost = true, .predicted = predicted};
    read = read_back(g, &o);
    assert_string_equal(agget(agsubg(read, (char *)"cluster_k5", 0), (char *)"label"),
                        "kernel 5: k5_tanh_exp [C]\\n75.0%, 300 ns predicted");
    agclose(read);
    recording_free(r);
    graph_free(g);
}

/* A forward chain of `length` nodes with `per_line` nodes a source line, and a backward node for each. */
static graph *long_graph(context *c, int length, int per_line) {
    graph *g = graph_new(c, "long");
    assert_non_null(g);
    meta m = f32_of(2, 32, 32);
    value_id *chain = mem_alloc((size_t)(length + 1) * sizeof *chain);
    value_id w = input(g, "w", m);
    chain[0] = input(g, "x", m);
    for (int i = 0; i < length; i++) {
        op_id id = i % 3 == 0 ? OP_matmul : i % 3 == 1 ? OP_add : OP_tanh;
        value_id other = i % 3 == 2 ? NO_VALUE : i % 3 == 1 && i > 9 ? chain[i - 8] : w;
        chain[i + 1] = op(g, id, chain[i], other, m, (uint32_t)(i / per_line + 1), NO_VALUE);
    }
    value_id back = op(g, OP_neg, chain[length], NO_VALUE, m, 9999, chain[length]);
    for (int i = length - 1; i > 0; i--) back = op(g, OP_mulz, back, chain[i], m, 9999, chain[i]);
    assert_int_equal(graph_set_outputs(g, &back, 1), STATUS_OK);
    mem_free(chain);
    return g;
}

static void folds_large_graphs(void **state) {
    context *c = *state;
    graph *g = long_graph(c, 400, 20);
    diagram_options o = {.finder = &finder};
    Agraph_t *read = read_back(g, &o);
    /* 20 lines forward, one backward, two inputs, the output. */
    assert_int_equal(agnnodes(read) - count_references(read), 24);
    assert_non_null(strstr(agget(read, (char *)"label"), "802 nodes, folded by source line into 23 boxes"));
    assert_int_equal(count_labelled(read, "20 nodes: "), 20);
    agclose(read);
    o.most = 1000; /* enough room: no folding */
    read = read_back(g, &o);
    assert_int_equal(agnnodes(read) - count_references(read), 803);
    assert_in_range(count_references(read), 110, 134); /* w, by each third node, but for the first */
    assert_null(strstr(agget(read, (char *)"label"), "folded"));
    agclose(read);

    /* By kernel where there are kernels. */
    uint32_t numbers[800];
    program_kernel kernels[40];
    char names[40][16];
    for (uint32_t i = 0; i < 800; i++) numbers[i] = i + 2;
    for (uint32_t k = 0; k < 40; k++) {
        snprintf(names[k], sizeof names[k], "k%u_mix", k + 1);
        kernels[k] =
            (program_kernel){.id = k + 1, .name = names[k], .nodes = numbers + k * 20, .node_count = 20};
    }
    o = (diagram_options){.kernels = kernels, .kernel_count = 40};
    read = read_back(g, &o);
    assert_int_equal(agnnodes(read) - count_references(read), 43);
    assert_non_null(strstr(agget(read, (char *)"label"), "802 nodes, folded by kernel into 42 boxes"));
    assert_int_equal(count_labelled(read, "k7_mix"), 1);
    agclose(read);
    graph_free(g);
}

/* 2,000 nodes forward and backward, unfolded: Graphviz takes minutes for them drawn plainly. */
static void lays_out_large_graphs_quickly(void **state) {
    context *c = *state;
    graph *g = long_graph(c, 1000, 3);
    diagram_options o = {.finder = &finder, .most = 5000};
    text dot = {0};
    error e = {0};
    assert_int_equal(dot_graph(g, &o, &dot, &e), STATUS_OK);
    char path[] = "/tmp/test_dot_XXXXXX.svg";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    uint64_t begin = clock_ns();
    render_options limit = {.seconds = 60};
    assert_int_equal(render_file(text_str(&dot), path, &limit, &e), STATUS_OK);
    double seconds = (double)(clock_ns() - begin) * 1e-9;
    print_message("2,000 nodes: %.2f s\n", seconds);
    assert_true(seconds < 30);
    unlink(path);
    text_free(&dot);
    graph_free(g);
}

static void survives_running_out_of_memory(void **state) {
    context *c = *state;
    graph *g = training_step(c);
    diagram_options o = {.finder = &finder, .cost = true};
    agclose(read_back(g, &o)); /* what the context keeps for the next time is there now */
    int64_t live = mem_live();
    status s = STATUS_MEMORY;
    int64_t after = 1;
    for (; s; after++) {
        text out = {0};
        error e = {0};
        mem_fail_after(after);
        s = dot_graph(g, &o, &out, &e);
        mem_fail_after(0);
        if (s) assert_int_equal(e.code, STATUS_MEMORY);
        text_free(&out);
        assert_int_equal(mem_live(), live);
    }
    assert_true(after > 50);
    graph_free(g);
}

static int open_context(void **state) {
    *state = context_new(1);
    return *state ? 0 : -1;
}

static int close_context(void **state) {
    context_free(*state);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2) { /* draws the training step into a file, to be looked at */
        context *c = context_new(1);
        graph *g = training_step(c);
        diagram_options o = {.finder = &finder};
        text dot = {0};
        error e = {0};
        status s = dot_graph(g, &o, &dot, &e) ? e.code : render_file(text_str(&dot), argv[1], NULL, &e);
        if (s) print_message("%s\n", e.message);
        text_free(&dot);
        graph_free(g);
        context_free(c);
        return s != STATUS_OK;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_every_node_and_edge),    cmocka_unit_test(draws_backward_beside_forward),
        cmocka_unit_test(moves_sources_to_their_users),  cmocka_unit_test(escapes_names),
        cmocka_unit_test(marks_kernels_and_heat),        cmocka_unit_test(folds_large_graphs),
        cmocka_unit_test(lays_out_large_graphs_quickly), cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
