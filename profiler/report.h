/* report.h — the table of `:profile`: which ops and kernels took the time, and how near to the machine's limit
 * they came.
 *
 * A row stands for the same kernel, or for the same op on the same source line. Times are those of the main
 * thread (lane 0), which sees every launch as a whole; `self` leaves out what ran inside (a product inside an
 * op), so that the shares of all rows and the time between launches add up to the wall time. Compilation in
 * the background runs beside it and has no share. */
#ifndef TD_PROFILER_REPORT_H
#define TD_PROFILER_REPORT_H

#include "profiler/roofline.h"
#include "profiler/trace.h"

typedef struct report_row {
    const char *name, *tier, *place; /* the recording's */
    event_kind kind;
    uint32_t graph, kernel, node; /* node: of the first event */
    int64_t calls;
    int64_t total, self; /* ns */
    double bytes, flops; /* of all calls */
    double share;        /* self / wall, 0..1; -1: beside the main thread */
    bound by;            /* of most of the limit's time */
    double limit;        /* ns that the machine needs at least for all calls; 0 when unknown */
} report_row;

typedef struct report {
    const recording *of; /* borrowed: texts are its */
    bool limited;        /* `limits` is set */
    machine_limits limits;
    report_row *rows; /* most self time first */
    uint32_t count;
    int64_t wall, launched; /* ns; launched: sum of self over rows with a share */
} report;

/* `limits` may be NULL: then no row has a limit. */
status report_build(const recording *of, const machine_limits *limits, report *out, error *e);
void report_free(report *r);

/* Rates of a row: bytes and flops per ns (that is GB/s and GFLOP/s) over its total time; 0 when unknown. */
double report_bandwidth(const report_row *row);
double report_flops(const report_row *row);
/* Limit / total time, 0..; 0 when unknown. */
double report_achieved(const report_row *row);

/* The table, `width` columns at most (0: no limit), and lines below it on what lies between launches, on the
 * machine's limits, and on what tracing cost and lost. `most` rows (0: all) are shown, the rest summed up. */
void report_print(const report *r, int width, uint32_t most, text *out);
/* Appends the report as one JSON object and a newline; false when out of memory. */
bool report_json(const report *r, text *out);

/* "1.23 ms", "12.3 GB" into buffer; return it. */
const char *report_time_text(double ns, char buffer[16]);
const char *report_count_text(double n, char buffer[16]);

#endif
