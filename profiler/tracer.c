/* tracer.c — see tracer.h. */
#include "profiler/tracer.h"

/* Room for events: as much as fits into 256 MiB over all lanes, within limits on both sides. The pages of a
 * ring that stays short are never touched, so generosity costs address space alone. */
enum { RING_MOST = 1 << 18, RING_LEAST = 1 << 12 };

static uint32_t ring_capacity(int lanes) {
    size_t each = ((size_t)256 << 20) / ((size_t)lanes * sizeof(event));
    return each > RING_MOST ? RING_MOST : each < RING_LEAST ? RING_LEAST : (uint32_t)each;
}

status profile_begin(context *c) {
    if (c->events.on)
        return fail(&c->err, STATUS_VALUE, 701,
                    "a recording is already running; end it before starting another");
    int lanes = pool_lanes(c->workers);
    if (event_sink_start(&c->events, lanes, ring_capacity(lanes), &c->err)) return c->err.code;
    pool_set_watch(c->workers, event_of_lane, &c->events);
    return STATUS_OK;
}

static void stop(context *c) {
    pool_set_watch(c->workers, NULL, NULL);
    event_sink_stop(&c->events);
}

status profile_end(context *c, const source_finder *finder, const char *title, recording **out) {
    *out = NULL;
    program_write_compilations(c);
    stop(c);
    status s = recording_collect(&c->events, finder, title, out, &c->err);
    event_sink_free(&c->events);
    return s;
}

void profile_abandon(context *c) {
    stop(c);
    event_sink_free(&c->events);
}
