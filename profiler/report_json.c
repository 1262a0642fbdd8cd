/* report_json.c — the report as one JSON object: times in ns, rates per second, shares and fractions 0..1;
 * null for what is unknown. */
#include "profiler/report.h"

#include <string.h>

#include <cjson/cJSON.h>

/* A JSON object being filled; `fine` turns false at the first failed allocation. */
typedef struct filler {
    cJSON *to;
    bool fine;
} filler;

static void put_number(filler *f, const char *name, double value, bool known) {
    if (!f->fine) return;
    f->fine = known ? cJSON_AddNumberToObject(f->to, name, value) != NULL
                    : cJSON_AddNullToObject(f->to, name) != NULL;
}

/* cJSON writes strings as they are: bytes that are not UTF-8 are replaced first. */
static void put_string(filler *f, const char *name, const char *s) {
    text clean = {0};
    for (; *s && f->fine;) {
        uint32_t code;
        size_t bytes = utf8_decode(s, strlen(s), &code);
        text_add_bytes(&clean, bytes ? s : "\xEF\xBF\xBD", bytes ? bytes : 3);
        s += bytes ? bytes : 1;
    }
    f->fine = f->fine && !clean.failed && cJSON_AddStringToObject(f->to, name, text_str(&clean));
    text_free(&clean);
}

/* Adds an empty object to `array`. */
static filler put_item(cJSON *array, bool fine) {
    cJSON *item = fine ? cJSON_CreateObject() : NULL;
    if (item && cJSON_AddItemToArray(array, item)) return (filler){item, true};
    cJSON_Delete(item);
    return (filler){NULL, false};
}

static bool put_row(cJSON *array, const report_row *row) {
    filler f = put_item(array, true);
    put_string(&f, "name", row->name);
    put_string(&f, "kind", recording_kind_name(row->kind));
    put_string(&f, "tier", row->tier);
    put_string(&f, "where", row->place);
    put_number(&f, "graph", row->graph, row->graph != 0);
    put_number(&f, "node", row->node, row->graph != 0);
    put_number(&f, "kernel", row->kernel, row->kernel != 0);
    put_number(&f, "calls", (double)row->calls, true);
    put_number(&f, "total_ns", (double)row->total, true);
    put_number(&f, "self_ns", (double)row->self, true);
    put_number(&f, "share", row->share, row->share >= 0);
    put_number(&f, "bytes", row->bytes, true);
    put_number(&f, "flops", row->flops, true);
    put_number(&f, "bytes_per_second", report_bandwidth(row) * 1e9, row->total > 0);
    put_number(&f, "flops_per_second", report_flops(row) * 1e9, row->total > 0);
    put_number(&f, "of_limit", report_achieved(row), row->limit > 0 && row->total > 0);
    if (row->by != BOUND_UNKNOWN) put_string(&f, "bound", bound_name(row->by));
    return f.fine;
}

static bool put_limits(filler *f, const machine_limits *m) {
    cJSON *limits = f->fine ? cJSON_AddObjectToObject(f->to, "limits") : NULL;
    filler l = {limits, limits != NULL};
    put_string(&l, "processor", m->processor);
    put_number(&l, "lanes", m->lanes, true);
    put_number(&l, "flops_per_second", m->flops, true);
    cJSON *memory = l.fine ? cJSON_AddArrayToObject(limits, "memory") : NULL;
    l.fine = memory != NULL;
    for (int i = 0; l.fine && i < LIMIT_LEVELS; i++) {
        filler level = put_item(memory, true);
        put_number(&level, "bytes", (double)m->memory[i].bytes, true);
        put_number(&level, "bytes_per_second", m->memory[i].rate, true);
        l.fine = level.fine;
    }
    return l.fine;
}

bool report_json(const report *r, text *out) {
    const recording *of = r->of;
    cJSON *json = cJSON_CreateObject();
    filler f = {json, json != NULL};
    put_string(&f, "title", of->title);
    put_number(&f, "wall_ns", (double)r->wall, true);
    put_number(&f, "between_launches_ns", (double)(r->wall - r->launched), true);
    put_number(&f, "traced_ns", (double)of->traced, of->traced > 0);
    put_number(&f, "untraced_ns", (double)of->untraced, of->untraced > 0);
    put_number(&f, "runs", of->runs, of->runs > 0);
    put_number(&f, "events", of->count, true);
    put_number(&f, "lost", (double)of->lost_total, true);
    if (r->limited) f.fine = f.fine && put_limits(&f, &r->limits);
    cJSON *rows = f.fine ? cJSON_AddArrayToObject(json, "rows") : NULL;
    f.fine = rows != NULL;
    for (uint32_t i = 0; f.fine && i < r->count; i++) f.fine = put_row(rows, &r->rows[i]);
    char *printed = f.fine ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    if (!printed) return false;
    text_add(out, printed);
    text_char(out, '\n');
    cJSON_free(printed);
    return !out->failed;
}
