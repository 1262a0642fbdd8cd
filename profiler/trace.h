/* trace.h — a recording: what ran when, as every view of it needs it.
 *
 * The event sink (engine/base/event.h) collects ticks and pointers; when it has stopped, recording_collect
 * turns them into nanoseconds from the recording's beginning and copies every text, so that a recording
 * outlives the graphs that ran. From one recording come the table (report.h), the timeline (viz/timeline.h),
 * the heat on diagrams (viz/dot.h) and the exported JSON (chrome.h): an event keeps the ids of its graph, node
 * and kernel and its place in the source text, so each view leads to the others. */
#ifndef TD_PROFILER_TRACE_H
#define TD_PROFILER_TRACE_H

#include "engine/engine.h"

/* Where a span of source text is. The language knows; profiler and viewers ask through this. */
typedef struct source_line {
    const char *file; /* "digits.td" */
    uint32_t line;    /* from 1 */
    const char *text; /* of the line; `length` bytes, without its newline */
    size_t length;
} source_line;

typedef struct source_finder {
    bool (*find)(void *user, span where, source_line *out); /* false: unknown */
    void *user;
} source_finder;

/* One event. Texts are never NULL: unknown ones are "". */
typedef struct recorded {
    int64_t begin, end; /* ns from the beginning of the recording; begin <= end */
    int64_t self;       /* ns of it not spent in events inside it on its lane */
    const char *name, *tier;
    const char *place;  /* "digits.td:14" */
    const char *source; /* that line's text without the blanks around it */
    span where;
    uint32_t graph, node, kernel; /* 0: none */
    int32_t lane;
    int32_t depth;  /* how many events of its lane enclose it */
    int32_t parent; /* index of the innermost of those, or -1 */
    event_kind kind;
    int64_t bytes, flops; /* read and written; arithmetic */
} recorded;

typedef struct recording {
    arena *memory;
    recorded *events; /* by begin; of two that begin together, the longer first */
    uint32_t count, capacity;
    int lanes;
    int compiler;   /* the lane whose events are compilations, the last; -1: there were none */
    uint64_t *lost; /* per lane: events that found their ring full */
    uint64_t lost_total;
    int64_t wall;      /* ns from beginning to end */
    const char *title; /* the statement that ran; "" when unknown */

    /* What tracing cost: wall time of the same statement, ns; 0 when not measured. */
    int64_t traced, untraced;
    int run, runs; /* this is run number `run` of `runs`; 0 of 0 when not repeated */
} recording;

/* "lane 2", or "compile"; writes into out[24] and returns it. */
const char *recording_lane_name(const recording *r, int lane, char *out);
/* "op", "kernel", "matmul", ... */
const char *recording_kind_name(event_kind kind);

/* The stopped sink's events. `finder` may be NULL. The caller frees *out. */
status recording_collect(const event_sink *sink, const source_finder *finder, const char *title,
                         recording **out, error *e);
void recording_free(recording *r); /* NULL is fine */

/* For recordings made by hand (tests, other sources of events): an empty one, and an event put into it whose
 * texts are copied (NULL becomes ""); recording_settle then sorts and finds parents and self times. */
recording *recording_new(int lanes, const char *title); /* NULL when out of memory */
status recording_add(recording *r, const recorded *e);
void recording_settle(recording *r);

#endif
