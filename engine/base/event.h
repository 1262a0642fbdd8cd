/* event.h — where launches leave their times.
 *
 * The sink costs one predictable branch while nobody listens. Listening, each launch writes one event into a
 * ring (one ring per lane of the worker pool; lane 0 is the main thread, which writes every launch as a whole; the
 * others write what they did of it, under its label). One ring more is for compilations. A full ring drops the newest event and counts it. Times are ticks of base/clock.h; event_sink_stop
 * fixes the line to nanoseconds. */
#ifndef TD_BASE_EVENT_H
#define TD_BASE_EVENT_H

#include "engine/base/arena.h"
#include "engine/base/clock.h"
#include "engine/base/status.h"

typedef enum event_kind {
    EVENT_OP,      /* one eager op */
    EVENT_KERNEL,  /* one launch of a fused kernel */
    EVENT_GEMM,    /* a matrix product */
    EVENT_COPY,    /* a copy or a layout change */
    EVENT_COMPILE, /* the compiler ran */
    EVENT_SPAN     /* a statement, a graph run: encloses others */
} event_kind;

typedef struct event {
    uint64_t begin, end;          /* ticks */
    const char *name;             /* static, or its graph's: see event_sink_keep_names */
    const char *tier;             /* "eager", "tiles", "C", ... static */
    span where;                   /* source text */
    uint32_t graph, node, kernel; /* ids; 0: none */
    int32_t lane;                 /* thread */
    event_kind kind;
    int64_t bytes, flops; /* read and written; arithmetic, both from the cost model */
} event;

typedef struct event_ring {
    event *events;
    uint32_t count, capacity;
    uint64_t lost;
} event_ring;

typedef struct event_sink {
    bool on;
    int lanes;
    event_ring *rings; /* one per lane, then one for compilations, as lane number `lanes` */
    event label; /* of what lanes share now: events of worker lanes are like it; name NULL: of nothing */
    clock_point begin, end;
    arena *names; /* of graphs that were freed meanwhile */
} event_sink;

/* Starts collecting with room for `capacity` events on each of `lanes` lanes; drops what was collected
 * before. */
status event_sink_start(event_sink *s, int lanes, uint32_t capacity, error *e);
void event_sink_stop(event_sink *s);
void event_sink_free(event_sink *s);

/* Writes one event; call only while s->on. Only lane `e.lane`'s thread may call it for that lane. On lane 0 it ends
 * what the label was for. */
void event_write(event_sink *s, event e);

/* Says what lanes do from now on; called by the main thread before a launch. */
void event_label(event_sink *s, event e);
/* A pool_watch (pool.h) with the sink as its user: a worker lane's part of the launch. */
void event_of_lane(void *sink, int lane, uint64_t begin, uint64_t end);

/* Copies the names in the events of graph `graph`, whose owner is about to free them. Without memory for it
 * they are "?". Does nothing when no event is kept. Called by the main thread between launches. */
void event_sink_keep_names(event_sink *s, uint32_t graph);

#endif
