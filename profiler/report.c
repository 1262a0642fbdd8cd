/* report.c — see report.h: the rows. How they are shown is report_print.c and report_json.c. */
#include "profiler/report.h"

#include <stdlib.h>
#include <string.h>

/* Two bounds' times of a row while it is summed up. */
typedef struct bound_times {
    double memory, compute;
} bound_times;

/* Whether the event belongs to the row. */
static bool same_row(const report_row *row, const recorded *e) {
    if (row->kind != e->kind || row->graph != e->graph || row->kernel != e->kernel) return false;
    if (strcmp(row->name, e->name) != 0 || strcmp(row->tier, e->tier) != 0) return false;
    return strcmp(row->place, e->place) == 0 && (row->share < 0) == (e->lane != 0);
}

static uint64_t row_key(const recorded *e) {
    uint64_t h = hash_bytes(e->name, strlen(e->name), 1);
    h = hash_bytes(e->tier, strlen(e->tier), h);
    h = hash_bytes(e->place, strlen(e->place), h);
    uint32_t ids[] = {(uint32_t)e->kind, e->graph, e->kernel, e->lane != 0};
    return hash_bytes(ids, sizeof ids, h) | 1;
}

/* The table shows launches as the main thread sees them, and compilation wherever it ran. */
static bool shown(const recorded *e) {
    return e->kind != EVENT_SPAN && (e->lane == 0 || e->kind == EVENT_COMPILE);
}

/* The row of an event, made when there is none yet; NULL when out of memory. `rows` has room. */
static report_row *find_row(report *r, map *index, const recorded *e) {
    uint64_t key = row_key(e);
    uintptr_t at;
    for (; map_get(index, key, &at); key = hash_u64(key) | 1)
        if (same_row(&r->rows[at], e)) return &r->rows[at];
    if (!map_put(index, key, r->count)) return NULL;
    report_row *row = &r->rows[r->count++];
    *row = (report_row){.name = e->name, .tier = e->tier, .place = e->place, .kind = e->kind};
    row->graph = e->graph;
    row->kernel = e->kernel;
    row->node = e->node;
    row->share = e->lane == 0 ? 0 : -1;
    return row;
}

static int by_self(const void *a, const void *b) {
    const report_row *x = a, *y = b;
    if ((x->share < 0) != (y->share < 0)) return x->share < 0 ? 1 : -1;
    if (x->self != y->self) return x->self > y->self ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->place, y->place);
}

static void add_event(report *r, report_row *row, bound_times *times, const recorded *e) {
    row->calls++;
    row->total += e->end - e->begin;
    row->self += e->self;
    row->bytes += (double)e->bytes;
    row->flops += (double)e->flops;
    if (!r->limited) return;
    roofline line = roofline_of(&r->limits, (double)e->bytes, (double)e->flops);
    row->limit += line.limit;
    if (line.by == BOUND_MEMORY) times->memory += line.limit;
    if (line.by == BOUND_COMPUTE) times->compute += line.limit;
}

static bool sum_up(report *r, map *index, bound_times *times) {
    for (uint32_t i = 0; i < r->of->count; i++) {
        const recorded *e = &r->of->events[i];
        if (!shown(e)) continue;
        report_row *row = find_row(r, index, e);
        if (!row) return false;
        add_event(r, row, &times[row - r->rows], e);
    }
    return true;
}

status report_build(const recording *of, const machine_limits *limits, report *out, error *e) {
    *out = (report){.of = of, .limited = limits != NULL, .wall = of->wall};
    if (limits) out->limits = *limits;
    size_t room = of->count ? of->count : 1;
    map index = {0};
    out->rows = mem_calloc(room, sizeof *out->rows);
    bound_times *times = mem_calloc(room, sizeof *times);
    bool fine = out->rows && times && sum_up(out, &index, times);
    map_free(&index);
    for (uint32_t i = 0; fine && i < out->count; i++) {
        report_row *row = &out->rows[i];
        if (row->limit > 0) row->by = times[i].memory >= times[i].compute ? BOUND_MEMORY : BOUND_COMPUTE;
        if (row->share < 0) continue;
        row->share = out->wall > 0 ? (double)row->self / (double)out->wall : 0;
        out->launched += row->self;
    }
    mem_free(times);
    if (!fine) {
        report_free(out);
        return fail_memory(e, room * sizeof *out->rows);
    }
    if (out->count) qsort(out->rows, out->count, sizeof *out->rows, by_self);
    return STATUS_OK;
}

void report_free(report *r) {
    mem_free(r->rows);
    *r = (report){0};
}

double report_bandwidth(const report_row *row) {
    return row->total > 0 ? row->bytes / (double)row->total : 0;
}

double report_flops(const report_row *row) {
    return row->total > 0 ? row->flops / (double)row->total : 0;
}

double report_achieved(const report_row *row) {
    return row->total > 0 && row->limit > 0 ? row->limit / (double)row->total : 0;
}
