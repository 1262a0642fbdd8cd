/* test_profile.c — from launches to views: what eager ops and a frozen program leave in a recording, and that
 * ids lead from there to the program's kernels, the graph's nodes and the diagram.
 *
 *     ctest: labels=threads timeout=120 */
#include "tests/harness/check.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "profiler/calibration.h"
#include "profiler/chrome.h"
#include "profiler/predict.h"
#include "profiler/report.h"
#include "profiler/tracer.h"
#include "tests/harness/frozen.h"
#include "viz/dot.h"
#include "viz/timeline.h"

static int layer(context *c, tensor *const *x, tensor **out) {
    c->here = (span){1, 100, 110};
    tensor *z = b2(c, OP_add, b2(c, OP_matmul, x[0], x[1]), x[2]);
    c->here = (span){1, 200, 210};
    out[0] = bkeep(breduce(c, OP_sum, b1(c, OP_tanh, z), -1, false));
    c->here = (span){0};
    return 1;
}

static bool find_line(void *user, span where, source_line *out) {
    (void)user;
    if (where.source != 1) return false;
    *out = (source_line){.file = "net.td", .line = where.begin / 100, .text = "", .length = 0};
    return true;
}
static const source_finder finder = {find_line, NULL};

static void make_inputs(context *c, tensor *x[3]) {
    x[0] = sample(c, DT_F32, 2, (const int64_t[]){60, 70}, 1);
    x[1] = sample(c, DT_F32, 2, (const int64_t[]){70, 50}, 2);
    x[2] = sample(c, DT_F32, 1, (const int64_t[]){50}, 3);
    assert_true(x[0] && x[1] && x[2]);
}

static const recorded *event_named(const recording *r, const char *name) {
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->events[i].name, name) == 0) return &r->events[i];
    return NULL;
}

static int square_sum(context *c, tensor *const *x, tensor **out) {
    out[0] = bkeep(breduce(c, OP_sum, b1(c, OP_exp, b2(c, OP_mul, x[0], x[0])), 0, false));
    return 1;
}

static void records_eager_ops(void **state) {
    context *c = context_new(2);
    tensor *x[3], *out;
    (void)state;
    make_inputs(c, x);
    scope temporaries;
    scope_open(c, &temporaries);
    assert_int_equal(profile_begin(c), STATUS_OK);
    assert_int_equal(profile_begin(c), STATUS_VALUE); /* one at a time */
    error_clear(&c->err);
    assert_int_equal(layer(c, x, &out), 1);
    recording *r;
    assert_int_equal(profile_end(c, &finder, "layer(x)", &r), STATUS_OK);
    scope_close(c, &temporaries);
    assert_false(c->events.on);
    assert_null(c->events.rings);
    const recorded *product = event_named(r, "matmul"), *add = event_named(r, "add");
    assert_non_null(product);
    assert_non_null(add);
    assert_string_equal(product->place, "net.td:1");
    assert_string_equal(event_named(r, "tanh")->place, "net.td:2");
    assert_string_equal(product->tier, "eager");
    assert_int_equal(product->flops, 2 * 60 * 70 * 50);
    assert_true(product->end <= add->begin);
    assert_true(add->bytes >= 4 * (60 * 50 * 2 + 50));
    report table;
    assert_int_equal(report_build(r, NULL, &table, &c->err), STATUS_OK);
    assert_int_equal(table.count, r->count); /* four ops, each of its own */
    assert_int_equal(table.count, 4);
    report_free(&table);
    recording_free(r);
    /* Switched off, nothing is kept and nothing is written. */
    scope_open(c, &temporaries);
    tensor_release(out);
    assert_int_equal(layer(c, x, &out), 1);
    scope_close(c, &temporaries);
    assert_null(c->events.rings);
    tensor_release(out);
    for (int i = 0; i < 3; i++) tensor_release(x[i]);
    context_free(c);
}

static void ids_lead_to_kernels(void **state) {
    context *c = context_new(2);
    tensor *x[3], *out;
    (void)state;
    make_inputs(c, x);
    program *p = freeze_body(c, layer, x, 3);
    assert_non_null(p);
    const graph *g = program_graph(p);
    program_set_tier(p, TIER_TILES); /* no compilation comes in between */
    assert_int_equal(profile_begin(c), STATUS_OK);
    for (int run = 0; run < 3; run++) {
        assert_int_equal(program_run(p, x, 3, &out), STATUS_OK);
        tensor_release(out);
    }
    recording *r;
    assert_int_equal(profile_end(c, &finder, "p(x)", &r), STATUS_OK);
    const recorded *whole = event_named(r, g->name);
    assert_non_null(whole);
    assert_int_equal(whole->kind, EVENT_SPAN);
    assert_int_equal(whole->graph, g->id);
    int launches = 0, kernels = program_kernel_count(p);
    for (uint32_t i = 0; i < r->count; i++) {
        const recorded *e = &r->events[i];
        if (e->kind == EVENT_SPAN || e->lane != 0) continue;
        launches++;
        assert_int_equal(e->graph, g->id);
        assert_int_equal(r->events[e->parent].kind, EVENT_SPAN); /* inside a run of the graph */
        bool found = false;
        for (int k = 0; k < kernels; k++) {
            program_kernel kernel = program_kernel_at(p, k);
            if (kernel.id != e->kernel) continue;
            for (int n = 0; n < kernel.node_count; n++) found |= kernel.nodes[n] == e->node;
            assert_string_equal(kernel.name, e->name);
        }
        assert_true(found); /* the kernel is the program's, and the node is one of the kernel's */
        assert_int_equal(e->where.begin, g->nodes[e->node].where.begin);
        assert_true(e->place[0] != 0);
    }
    assert_int_equal(launches, 3 * kernels);

    /* The same ids again in the diagram: the kernels' times stand in it and add up. */
    program_kernel list[16];
    assert_true(kernels <= 16);
    for (int k = 0; k < kernels; k++) list[k] = program_kernel_at(p, k);
    diagram d;
    diagram_options o = {
        .kernels = list, .kernel_count = kernels, .cost = true, .times = r, .finder = &finder};
    assert_int_equal(diagram_build(g, &o, &d, &c->err), STATUS_OK);
    assert_true(d.measured);
    report table;
    assert_int_equal(report_build(r, NULL, &table, &c->err), STATUS_OK);
    assert_int_equal(table.count, kernels);
    int64_t sum = 0;
    for (uint32_t i = 0; i < table.count; i++) {
        assert_int_equal(table.rows[i].calls, 3);
        sum += table.rows[i].self;
    }
    assert_true(fabs(d.ns - (double)sum) < 1);
    report_free(&table);
    diagram_free(&d);
    recording_free(r);
    program_free(p);
    for (int i = 0; i < 3; i++) tensor_release(x[i]);
    context_free(c);
}

/* A program that is freed while it is recorded: the names in the recording are copies. */
static void names_outlive_programs(void **state) {
    context *c = context_new(1);
    tensor *x[3], *out;
    (void)state;
    make_inputs(c, x);
    program *p = freeze_body(c, layer, x, 3);
    assert_non_null(p);
    char name[64];
    uint32_t kernel = program_kernel_at(p, program_kernel_count(p) - 1).id;
    snprintf(name, sizeof name, "%s", program_kernel_at(p, program_kernel_count(p) - 1).name);
    assert_int_equal(profile_begin(c), STATUS_OK);
    assert_int_equal(program_run(p, x, 3, &out), STATUS_OK);
    tensor_release(out);
    program_free(p);
    recording *r;
    assert_int_equal(profile_end(c, NULL, NULL, &r), STATUS_OK);
    const recorded *e = event_named(r, name);
    assert_non_null(e);
    assert_int_equal(e->kernel, kernel);
    recording_free(r);
    for (int i = 0; i < 3; i++) tensor_release(x[i]);
    context_free(c);
}

/* What enters and leaves a kernel is counted once; sizes are those of the traced call. */
static void predicts_times(void **state) {
    context *c = context_new(1);
    tensor *x[3];
    (void)state;
    make_inputs(c, x);
    program *p = freeze_body(c, layer, x, 3);
    assert_non_null(p);
    const graph *g = program_graph(p);
    int kernels = program_kernel_count(p);
    program_kernel list[16];
    for (int k = 0; k < kernels; k++) list[k] = program_kernel_at(p, k);
    machine_limits m = {.lanes = 1,
                        .flops = 1e18}; /* memory alone counts, 1 GB/s: a byte takes a nanosecond */
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        m.memory[i].bytes = 1 << 30;
        m.memory[i].rate = 1e9;
    }
    double ns[64];
    assert_true(g->node_count <= 64);
    assert_true(predict_times(g, list, kernels, &m, ns));
    /* matmul: x (60 x 70), w (70 x 50) in, 60 x 50 out; then 60 x 50 and the bias of 50 in, 60 sums out. */
    double product = 4 * (60 * 70 + 70 * 50 + 60 * 50), rest = 4 * (60 * 50 + 50 + 60), sum = 0;
    for (uint32_t i = 0; i < g->node_count; i++) sum += ns[i];
    assert_int_equal(kernels, 2);
    assert_true(fabs(sum - product - rest) < 0.5);
    assert_true(fabs(ns[list[0].nodes[0]] - product) < 0.5);
    /* Without kernels each node stands alone, and moves more. */
    assert_true(predict_times(g, NULL, 0, &m, ns));
    double alone = 0;
    for (uint32_t i = 0; i < g->node_count; i++) alone += ns[i];
    assert_true(alone > sum);
    program_free(p);
    for (int i = 0; i < 3; i++) tensor_release(x[i]);
    context_free(c);
}

static void measures_the_machine(void **state) {
    context *c = context_new(2);
    (void)state;
    machine_limits m;
    uint64_t begin = clock_ns();
    assert_int_equal(limits_measure(c, &m), STATUS_OK);
    double seconds = (double)(clock_ns() - begin) * 1e-9;
    print_message("measured in %.2f s: %.1f .. %.1f GB/s, %.1f GFLOP/s\n", seconds, m.memory[0].rate / 1e9,
                  m.memory[LIMIT_LEVELS - 1].rate / 1e9, m.flops / 1e9);
    assert_true(seconds < 60); /* sanitizers and other tests slow it down */
    assert_int_equal(m.lanes, 2);
    assert_true(m.processor[0] != 0);
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        assert_true(m.memory[i].rate > 1e6 && m.memory[i].rate < 1e15);
        if (i)
            assert_true(m.memory[i].rate <= m.memory[i - 1].rate &&
                        m.memory[i].bytes > m.memory[i - 1].bytes);
    }
    assert_true(m.flops > 1e6 && m.flops < 1e16);
    context_free(c);
}

/* ---- lanes and compilations ---- */

/* Tasks that wait for each other, so that each lane has one. */
typedef struct meeting {
    atomic_int here;
    int all;
} meeting;

static void meet(void *user, int64_t task, int lane) {
    meeting *m = user;
    (void)task;
    (void)lane;
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < m->all) sched_yield();
}

static void lanes_write_their_parts(void **state) {
    (void)state;
    context *c = context_new(3);
    meeting m = {.all = 3};
    assert_int_equal(profile_begin(c), STATUS_OK);
    for (int round = 0; round < 2; round++) { /* the second has no label: nobody writes */
        atomic_store(&m.here, 0);
        uint64_t begin = clock_ticks();
        if (!round)
            event_label(&c->events, (event){.name = "both", .tier = "C", .kind = EVENT_KERNEL, .graph = 7});
        pool_run(c->workers, 3, meet, &m, NULL);
        event_write(&c->events, (event){.begin = begin,
                                        .end = clock_ticks(),
                                        .name = "both",
                                        .tier = "C",
                                        .kind = EVENT_KERNEL,
                                        .graph = 7,
                                        .bytes = 100});
    }
    recording *r;
    assert_int_equal(profile_end(c, NULL, "", &r), STATUS_OK);
    assert_int_equal(r->count, 4);
    assert_int_equal(r->compiler, -1);
    assert_int_equal(r->lanes, 3);
    int lanes = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const recorded *e = &r->events[i];
        assert_string_equal(e->name, "both");
        assert_int_equal(e->graph, 7);
        assert_int_equal(e->bytes, e->lane ? 0 : 100);
        lanes |= 1 << e->lane;
    }
    assert_int_equal(lanes, 7);
    report table; /* counts launches, not lanes */
    assert_int_equal(report_build(r, NULL, &table, &c->err), STATUS_OK);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.rows[0].calls, 2);
    assert_true(table.rows[0].bytes == 200);
    assert_true(table.launched <= r->wall);
    report_free(&table);
    recording_free(r);
    context_free(c);
}

/* A launch that is worth sharing, until a worker got a part of it. */
static void launches_show_on_lanes(void **state) {
    (void)state;
    context *c = context_new(2);
    tensor *x[1], *out;
    x[0] = sample(c, DT_F32, 1, (const int64_t[]){1 << 20}, 1);
    program *p = freeze_body(c, square_sum, x, 1);
    assert_non_null(p);
    program_set_tier(p, TIER_TILES);
    assert_int_equal(profile_begin(c), STATUS_OK);
    int runs = 0;
    for (; runs < 2000 && c->events.rings[1].count == 0; runs++) {
        assert_int_equal(program_run(p, x, 1, &out), STATUS_OK);
        tensor_release(out);
    }
    recording *r;
    assert_int_equal(profile_end(c, NULL, "", &r), STATUS_OK);
    const recorded *part = NULL;
    for (uint32_t i = 0; i < r->count && !part; i++)
        if (r->events[i].lane == 1) part = &r->events[i];
    assert_non_null(part);
    program_kernel k = program_kernel_at(p, 0);
    assert_string_equal(part->name, k.name);
    assert_string_equal(part->tier, "tiles");
    assert_int_equal(part->kernel, k.id);
    assert_int_equal(part->graph, program_graph(p)->id);
    recording_free(r);
    program_free(p);
    tensor_release(x[0]);
    context_free(c);
}

static void compilations_have_a_lane(void **state) {
    (void)state;
    context *c = context_new(2);
    tensor *x[3], *out;
    make_inputs(c, x);
    assert_int_equal(profile_begin(c), STATUS_OK);
    c->here = (span){1, 300, 310};
    program *p = freeze_body(c, layer, x, 3);
    assert_non_null(p);
    c->here = (span){1, 300, 310};
    assert_int_equal(program_set_tier(p, TIER_C), STATUS_OK);
    c->here = (span){0};
    assert_int_equal(program_run(p, x, 3, &out), STATUS_OK);
    tensor_release(out);
    recording *r;
    assert_int_equal(profile_end(c, &finder, "", &r), STATUS_OK);
    assert_int_equal(r->compiler, 2);
    assert_int_equal(r->lanes, 3);
    const recorded *e = event_named(r, "compile");
    assert_non_null(e);
    assert_int_equal(e->kind, EVENT_COMPILE);
    assert_int_equal(e->lane, r->compiler);
    assert_int_equal(e->graph, program_graph(p)->id);
    assert_string_equal(e->place, "net.td:3");
    assert_true(strcmp(e->tier, "cc") == 0 || strcmp(e->tier, "cache") == 0);
    report table; /* it is listed, and is no part of the launches */
    assert_int_equal(report_build(r, NULL, &table, &c->err), STATUS_OK);
    const report_row *last = &table.rows[table.count - 1];
    assert_int_equal(last->kind, EVENT_COMPILE);
    assert_true(last->share < 0);
    report_free(&table);
    text json = {0}, cells = {0};
    chrome_write(r, &json);
    assert_non_null(strstr(text_str(&json), "\"name\":\"compile\",\"lost_events\""));
    text_free(&json);
    timeline_view v;
    assert_int_equal(timeline_open(&v, r, &c->err), STATUS_OK);
    timeline_text(&v, 100, &cells);
    assert_non_null(strstr(text_str(&cells), "\ncompile"));
    timeline_close(&v);
    text_free(&cells);
    recording_free(r);
    assert_int_equal(profile_begin(c), STATUS_OK); /* what ended before is not in the next one */
    assert_int_equal(program_run(p, x, 3, &out), STATUS_OK);
    tensor_release(out);
    assert_int_equal(profile_end(c, &finder, "", &r), STATUS_OK);
    assert_int_equal(r->compiler, -1);
    assert_null(event_named(r, "compile"));
    recording_free(r);
    program_free(p);
    for (int i = 0; i < 3; i++) tensor_release(x[i]);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_eager_ops),      cmocka_unit_test(ids_lead_to_kernels),
        cmocka_unit_test(names_outlive_programs), cmocka_unit_test(predicts_times),
        cmocka_unit_test(measures_the_machine),   cmocka_unit_test(lanes_write_their_parts),
        cmocka_unit_test(launches_show_on_lanes), cmocka_unit_test(compilations_have_a_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
