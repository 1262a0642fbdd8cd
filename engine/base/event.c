/* event.c — see event.h. */
#include "engine/base/event.h"

#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"

void event_sink_free(event_sink *s) {
    for (int i = 0; s->rings && i <= s->lanes; i++) mem_free(s->rings[i].events);
    mem_free(s->rings);
    arena_free(s->names);
    *s = (event_sink){0};
}

status event_sink_start(event_sink *s, int lanes, uint32_t capacity, error *e) {
    event_sink_free(s);
    s->rings = mem_calloc((size_t)lanes + 1, sizeof *s->rings);
    if (!s->rings) return fail_memory(e, ((uint64_t)lanes + 1) * sizeof *s->rings);
    s->lanes = lanes;
    for (int i = 0; i <= lanes; i++) {
        s->rings[i].events = mem_alloc(capacity * sizeof(event));
        s->rings[i].capacity = capacity;
        if (s->rings[i].events) continue;
        event_sink_free(s);
        return fail_memory(e, capacity * sizeof(event));
    }
    s->begin = clock_now();
    s->on = true;
    return STATUS_OK;
}

void event_sink_stop(event_sink *s) {
    if (!s->on) return;
    s->on = false;
    s->end = clock_now();
}

void event_write(event_sink *s, event e) {
    event_ring *ring = &s->rings[e.lane <= s->lanes ? e.lane : 0];
    if (e.lane == 0) s->label.name = NULL;
    if (ring->count < ring->capacity)
        ring->events[ring->count++] = e;
    else
        ring->lost++;
}

void event_label(event_sink *s, event e) {
    s->label = e;
}

void event_of_lane(void *sink, int lane, uint64_t begin, uint64_t end) {
    event_sink *s = sink;
    if (lane == 0 || lane >= s->lanes || !s->label.name) return;
    event e = s->label;
    e.begin = begin;
    e.end = end;
    e.lane = lane;
    event_write(s, e);
}

static const char *kept_name(event_sink *s, map *copies, const char *name) {
    uintptr_t copy;
    if (map_get(copies, (uint64_t)(uintptr_t)name, &copy)) return (const char *)copy;
    if (!s->names) s->names = arena_new();
    const char *made = s->names ? arena_text(s->names, name, strlen(name)) : NULL;
    if (!made || !map_put(copies, (uint64_t)(uintptr_t)name, (uintptr_t)made)) return "?";
    return made;
}

void event_sink_keep_names(event_sink *s, uint32_t graph) {
    map copies = {0}; /* address of a name -> its copy */
    for (int lane = 0; s->rings && lane <= s->lanes; lane++) {
        event_ring *ring = &s->rings[lane];
        for (uint32_t i = 0; i < ring->count; i++) {
            event *e = &ring->events[i];
            if (e->graph == graph && e->name) e->name = kept_name(s, &copies, e->name);
        }
    }
    map_free(&copies);
}
