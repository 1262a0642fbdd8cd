/* test_trace.c — recordings: from an event sink, and made by hand; what happens when memory runs out. */
#include "tests/harness/check.h"

#include <string.h>

#include "profiler/trace.h"

static bool find_line(void *user, span where, source_line *out) {
    int *asked = user;
    ++*asked;
    if (where.source != 1) return false;
    static const char line[] = "  h = x @ w   \nnext";
    *out = (source_line){.file = "digits.td", .line = where.begin / 10 + 1, .text = line, .length = 14};
    return true;
}

static event at(event_sink *s, uint64_t begin, uint64_t end, const char *name, int lane) {
    event e = {.begin = s->begin.ticks + begin, .end = s->begin.ticks + end, .name = name, .tier = "C"};
    e.where = (span){1, 10, 19};
    e.lane = lane;
    e.kind = EVENT_KERNEL;
    e.graph = 3;
    e.node = 7;
    e.kernel = 2;
    e.bytes = 100;
    e.flops = 50;
    return e;
}

/* A sink of two lanes in which a tick is `ns` nanoseconds and all lasts 1000 ticks. */
static event_sink sink_of(uint32_t capacity, uint64_t ns) {
    event_sink s = {0};
    error e = {0};
    assert_int_equal(event_sink_start(&s, 2, capacity, &e), STATUS_OK);
    event_sink_stop(&s);
    s.begin = (clock_point){.ticks = 5000, .ns = 100};
    s.end = (clock_point){.ticks = 6000, .ns = 100 + 1000 * ns};
    return s;
}

static void collects_events(void **state) {
    (void)state;
    event_sink s = sink_of(4, 2);
    char name[] = "k1_add";
    event_write(&s, at(&s, 10, 60, name, 0));
    event_write(&s, at(&s, 20, 50, "inner", 0));
    event_write(&s, at(&s, 15, 25, "part", 1));
    event whole = at(&s, 0, 1000, "statement", 0);
    whole.kind = EVENT_SPAN;
    whole.where = (span){9, 0, 1};
    event_write(&s, whole);
    int asked = 0;
    source_finder finder = {find_line, &asked};
    recording *r;
    error e = {0};
    assert_int_equal(recording_collect(&s, &finder, "f(x)", &r, &e), STATUS_OK);
    strcpy(name, "gone"); /* the recording has its own copy */
    event_sink_free(&s);

    assert_int_equal(r->count, 4);
    assert_int_equal(r->lanes, 2);
    assert_int_equal(r->wall, 2000);
    assert_string_equal(r->title, "f(x)");
    assert_int_equal(asked, 2); /* once for each span */
    const recorded *statement = &r->events[0], *kernel = &r->events[1], *part = &r->events[2],
                   *inner = &r->events[3];
    assert_string_equal(statement->name, "statement");
    assert_string_equal(statement->place, "");
    assert_int_equal(statement->self, 2000 - 100);
    assert_string_equal(kernel->name, "k1_add");
    assert_string_equal(kernel->tier, "C");
    assert_string_equal(kernel->place, "digits.td:2");
    assert_string_equal(kernel->source, "h = x @ w");
    assert_int_equal(kernel->begin, 20);
    assert_int_equal(kernel->end, 120);
    assert_int_equal(kernel->self, 100 - 60);
    assert_int_equal(kernel->depth, 1);
    assert_int_equal(kernel->parent, 0);
    assert_int_equal(kernel->graph, 3);
    assert_int_equal(kernel->node, 7);
    assert_int_equal(kernel->kernel, 2);
    assert_int_equal(kernel->bytes, 100);
    assert_int_equal(kernel->flops, 50);
    assert_int_equal(part->lane, 1);
    assert_int_equal(part->depth, 0);
    assert_int_equal(part->parent, -1);
    assert_string_equal(inner->name, "inner");
    assert_int_equal(inner->depth, 2);
    assert_int_equal(inner->parent, 1);
    assert_ptr_equal(inner->place, kernel->place); /* interned */
    recording_free(r);
}

static void counts_lost_events(void **state) {
    (void)state;
    event_sink s = sink_of(4, 1);
    for (uint64_t i = 0; i < 10; i++) event_write(&s, at(&s, i * 10, i * 10 + 5, "op", 0));
    for (uint64_t i = 0; i < 5; i++) event_write(&s, at(&s, i * 10, i * 10 + 5, "op", 1));
    recording *r;
    error e = {0};
    assert_int_equal(recording_collect(&s, NULL, NULL, &r, &e), STATUS_OK);
    event_sink_free(&s);
    assert_int_equal(r->count, 8);
    assert_int_equal(r->lost[0], 6);
    assert_int_equal(r->lost[1], 1);
    assert_int_equal(r->lost_total, 7);
    assert_string_equal(r->title, "");
    assert_string_equal(r->events[0].place, "");
    recording_free(r);
}

static void collects_nothing(void **state) {
    (void)state;
    event_sink s = sink_of(4, 1);
    recording *r;
    error e = {0};
    assert_int_equal(recording_collect(&s, NULL, "", &r, &e), STATUS_OK);
    assert_int_equal(r->count, 0);
    assert_int_equal(r->wall, 1000);
    recording_free(r);
    event_sink_free(&s);
}

/* Neighbours that touch are not inside each other; what begins together nests by length. */
static void settles_neighbours(void **state) {
    (void)state;
    recording *r = recording_new(1, "");
    assert_non_null(r);
    const int64_t times[][2] = {{10, 20}, {20, 20}, {20, 30}, {0, 10}, {0, 40}, {0, 5}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        recorded e = {.begin = times[i][0], .end = times[i][1], .name = "e"};
        assert_int_equal(recording_add(r, &e), STATUS_OK);
    }
    recording_settle(r);
    const int64_t want[][4] = {/* begin, end, depth, self */
                               {0, 40, 0, 10},  {0, 10, 1, 5},   {0, 5, 2, 5},
                               {10, 20, 1, 10}, {20, 30, 1, 10}, {20, 20, 2, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_int_equal(r->events[i].begin, want[i][0]);
        assert_int_equal(r->events[i].end, want[i][1]);
        assert_int_equal(r->events[i].depth, want[i][2]);
        assert_int_equal(r->events[i].self, want[i][3]);
    }
    assert_int_equal(r->wall, 40);
    recording_free(r);
}

/* Self times of a random nest of events add up to what the outermost cover. */
static void self_times_add_up(void **state) {
    (void)state;
    uint64_t seed = 1;
    recording *r = recording_new(1, "");
    int64_t covered = 0, open_end[8], now = 0;
    int depth = 0;
    for (int i = 0; i < 2000; i++) {
        now += (int64_t)(hash_u64(++seed) % 5);
        while (depth && open_end[depth - 1] <= now) depth--;
        int64_t most = depth ? open_end[depth - 1] - now : 1000;
        int64_t length = (int64_t)(hash_u64(++seed) % (uint64_t)(most + 1));
        if (!depth) covered += length;
        recorded e = {.begin = now, .end = now + length, .name = "e"};
        assert_int_equal(recording_add(r, &e), STATUS_OK);
        if (length && depth < 8)
            open_end[depth++] = now + length;
        else
            now += length;
    }
    recording_settle(r);
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        assert_true(r->events[i].self >= 0);
        sum += r->events[i].self;
    }
    assert_int_equal(sum, covered);
    recording_free(r);
}

static void survives_running_out_of_memory(void **state) {
    (void)state;
    event_sink s = sink_of(64, 1);
    for (uint64_t i = 0; i < 20; i++) {
        event e = at(&s, i * 10, i * 10 + 5, i % 2 ? "odd" : "even", 0);
        e.where.begin = (uint32_t)i * 10;
        event_write(&s, e);
    }
    int asked = 0;
    source_finder finder = {find_line, &asked};
    int64_t live = mem_live();
    bool worked = false;
    for (int64_t at_allocation = 1; !worked; at_allocation++) {
        error e = {0};
        recording *r;
        mem_fail_after(at_allocation);
        status got = recording_collect(&s, &finder, "title", &r, &e);
        mem_fail_after(0);
        worked = got == STATUS_OK;
        if (!worked) {
            assert_int_equal(got, STATUS_MEMORY);
            assert_int_equal(e.code, STATUS_MEMORY);
            assert_null(r);
        } else {
            assert_true(at_allocation > 5);
        }
        recording_free(r);
        assert_int_equal(mem_live(), live);
    }
    event_sink_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects_events),   cmocka_unit_test(counts_lost_events),
        cmocka_unit_test(collects_nothing),  cmocka_unit_test(settles_neighbours),
        cmocka_unit_test(self_times_add_up), cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
