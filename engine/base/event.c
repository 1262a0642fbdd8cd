/* event.c — see event.h. */
#include "engine/base/event.h"

#include "engine/base/memory.h"

void event_sink_free(event_sink *s) {
    for (int i = 0; s->rings && i < s->lanes; i++) mem_free(s->rings[i].events);
    mem_free(s->rings);
    *s = (event_sink){0};
}

status event_sink_start(event_sink *s, int lanes, uint32_t capacity, error *e) {
    event_sink_free(s);
    s->rings = mem_calloc((size_t)lanes, sizeof *s->rings);
    if (!s->rings) return fail_memory(e, (uint64_t)lanes * sizeof *s->rings);
    s->lanes = lanes;
    for (int i = 0; i < lanes; i++) {
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
    event_ring *ring = &s->rings[e.lane < s->lanes ? e.lane : 0];
    if (ring->count < ring->capacity)
        ring->events[ring->count++] = e;
    else
        ring->lost++;
}
