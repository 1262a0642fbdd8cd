/* trace.c — see trace.h.
 *
 * Texts are interned: a recording of 200,000 events has some dozens of different names and places. Parents
 * come from one pass over the sorted events with a stack per lane; nothing recurses. */
#include "profiler/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts seen so far, and the place of each span. */
typedef struct interner {
    arena *memory;
    map texts;  /* hash of the text -> const char * */
    map places; /* hash of the span -> place_texts * */
} interner;

typedef struct place_texts {
    span where;
    const char *place, *source;
} place_texts;

const char *recording_kind_name(event_kind kind) {
    static const char *const names[] = {"op", "kernel", "matmul", "copy", "compile", "span"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

const char *recording_lane_name(const recording *r, int lane, char *out) {
    if (lane == r->compiler)
        snprintf(out, 24, "compile");
    else
        snprintf(out, 24, "lane %d", lane);
    return out;
}

/* A lasting copy of `length` bytes of text, the same pointer for the same text; NULL when out of memory. */
static const char *intern(interner *in, const char *s, size_t length) {
    if (!s) return "";
    length = strnlen(s, length);
    if (!length) return "";
    uint64_t key = hash_bytes(s, length, 0) | 1;
    uintptr_t found;
    /* Another text with the same hash: go on to the next key that follows from it. */
    for (; map_get(&in->texts, key, &found); key = hash_u64(key) | 1) {
        const char *known = (const char *)found;
        if (strncmp(known, s, length) == 0 && known[length] == '\0') return known;
    }
    char *copy = arena_text(in->memory, s, length);
    return copy && map_put(&in->texts, key, (uintptr_t)copy) ? copy : NULL;
}

static const char *intern_text(interner *in, const char *s) {
    return intern(in, s, SIZE_MAX);
}

static void trim(const char **s, size_t *length) {
    while (*length && ((*s)[0] == ' ' || (*s)[0] == '\t')) ++*s, --*length;
    while (*length && strchr(" \t\r\n", (*s)[*length - 1])) --*length;
}

/* Place and source line of a span; false when out of memory. */
static bool locate(interner *in, const source_finder *finder, span where, recorded *r) {
    r->place = r->source = "";
    if (!finder || !finder->find || !where.source) return true;
    uint64_t key = hash_bytes(&where, sizeof where, 0) | 1;
    uintptr_t found;
    for (; map_get(&in->places, key, &found); key = hash_u64(key) | 1) {
        const place_texts *known = (const place_texts *)found;
        if (memcmp(&known->where, &where, sizeof where) != 0) continue;
        r->place = known->place;
        r->source = known->source;
        return true;
    }
    source_line line = {0};
    place_texts *p = arena_alloc(in->memory, sizeof *p);
    if (!p) return false;
    *p = (place_texts){.where = where, .place = "", .source = ""};
    if (finder->find(finder->user, where, &line)) {
        text place = {0};
        text_printf(&place, "%s:%u", line.file ? line.file : "?", line.line);
        p->place = place.failed ? NULL : intern_text(in, text_str(&place));
        text_free(&place);
        if (line.text) trim(&line.text, &line.length);
        p->source = intern(in, line.text, line.length);
    }
    r->place = p->place;
    r->source = p->source;
    return p->place && p->source && map_put(&in->places, key, (uintptr_t)p);
}

recording *recording_new(int lanes, const char *title) {
    arena *memory = arena_new();
    recording *r = memory ? mem_calloc(1, sizeof *r) : NULL;
    if (!r) {
        arena_free(memory);
        return NULL;
    }
    r->memory = memory;
    r->lanes = lanes > 0 ? lanes : 1;
    r->compiler = -1;
    r->lost = arena_alloc(memory, (size_t)r->lanes * sizeof *r->lost);
    r->title = title && *title ? arena_text(memory, title, strlen(title)) : "";
    if (r->lost && r->title) return r;
    recording_free(r);
    return NULL;
}

void recording_free(recording *r) {
    if (!r) return;
    arena_free(r->memory);
    mem_free(r->events);
    mem_free(r);
}

/* Room for `count` events in all. */
static bool reserve(recording *r, size_t count) {
    size_t bytes;
    if (count >= INT32_MAX || !mem_mul(count, sizeof *r->events, &bytes)) return false;
    recorded *more = mem_realloc(r->events, bytes);
    if (!more) return false;
    r->events = more;
    r->capacity = (uint32_t)count;
    return true;
}

status recording_add(recording *r, const recorded *e) {
    if (r->count == r->capacity && !reserve(r, r->count ? 2 * (size_t)r->count : 16)) return STATUS_MEMORY;
    recorded copy = *e;
    const char **texts[] = {&copy.name, &copy.tier, &copy.place, &copy.source};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *s = *texts[i];
        *texts[i] = s && *s ? arena_text(r->memory, s, strlen(s)) : "";
        if (!*texts[i]) return STATUS_MEMORY;
    }
    if (copy.end < copy.begin) copy.end = copy.begin;
    if (copy.lane < 0 || copy.lane >= r->lanes) copy.lane = 0;
    r->events[r->count++] = copy;
    return STATUS_OK;
}

/* By begin, then the longer first (it encloses the other), then by lane. */
static int by_begin(const void *a, const void *b) {
    const recorded *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    return (x->kind != EVENT_SPAN) - (y->kind != EVENT_SPAN);
}

/* Depths, parents and self times of one lane. The open events of the lane form a chain through `parent`. */
static void settle_lane(recording *r, int lane) {
    int32_t open = -1;
    for (uint32_t i = 0; i < r->count; i++) {
        recorded *e = &r->events[i];
        if (e->lane != lane) continue;
        while (open >= 0 && r->events[open].end < e->end) open = r->events[open].parent;
        /* An event of no length at another's end stands beside it, not inside. */
        while (open >= 0 && r->events[open].end == e->begin) open = r->events[open].parent;
        e->parent = open;
        e->depth = open >= 0 ? r->events[open].depth + 1 : 0;
        e->self = e->end - e->begin;
        if (open >= 0) r->events[open].self -= e->self;
        open = (int32_t)i;
    }
}

void recording_settle(recording *r) {
    if (r->count) qsort(r->events, r->count, sizeof *r->events, by_begin);
    for (int lane = 0; lane < r->lanes; lane++) settle_lane(r, lane);
    r->lost_total = 0;
    for (int lane = 0; lane < r->lanes; lane++) r->lost_total += r->lost[lane];
    for (uint32_t i = 0; i < r->count; i++)
        if (r->events[i].end > r->wall) r->wall = r->events[i].end;
}

/* One event of the sink as it is recorded; false when out of memory. */
static bool convert(interner *in, const event_sink *sink, const source_finder *finder, const event *from,
                    int lane, recorded *to) {
    *to = (recorded){
        .begin = clock_ticks_to_ns(sink->begin, sink->end, from->begin),
        .end = clock_ticks_to_ns(sink->begin, sink->end, from->end),
        .name = intern_text(in, from->name),
        .tier = intern_text(in, from->tier),
        .where = from->where,
        .graph = from->graph,
        .node = from->node,
        .kernel = from->kernel,
        .lane = lane,
        .parent = -1,
        .kind = from->kind,
        .bytes = from->bytes,
        .flops = from->flops,
    };
    if (to->begin < 0) to->begin = 0;
    if (to->end < to->begin) to->end = to->begin;
    return to->name && to->tier && locate(in, finder, from->where, to);
}

status recording_collect(const event_sink *sink, const source_finder *finder, const char *title,
                         recording **out, error *e) {
    *out = NULL;
    size_t count = 0;
    int lanes = sink->lanes + (sink->lanes && sink->rings[sink->lanes].count > 0);
    for (int lane = 0; lane < lanes; lane++) count += sink->rings[lane].count;
    recording *r = recording_new(lanes, title);
    if (!r || !reserve(r, count ? count : 1)) {
        recording_free(r);
        return fail_memory(e, count * sizeof(recorded));
    }
    interner in = {.memory = r->memory};
    bool fine = true;
    if (lanes > sink->lanes) r->compiler = sink->lanes;
    for (int lane = 0; fine && lane < lanes; lane++) {
        const event_ring *ring = &sink->rings[lane];
        r->lost[lane] = ring->lost;
        for (uint32_t i = 0; fine && i < ring->count; i++)
            fine = convert(&in, sink, finder, &ring->events[i], lane, &r->events[r->count++]);
    }
    map_free(&in.texts);
    map_free(&in.places);
    if (!fine) {
        recording_free(r);
        return fail_memory(e, count * sizeof(recorded));
    }
    r->wall = (int64_t)(sink->end.ns - sink->begin.ns);
    recording_settle(r);
    *out = r;
    return STATUS_OK;
}
