/* timeline_impl.h — between the files that draw a timeline. */
#ifndef TD_VIZ_TIMELINE_IMPL_H
#define TD_VIZ_TIMELINE_IMPL_H

#include "viz/timeline.h"

/* "1.365 ms" */
void timeline_time(double ns, char out[24]);

/* The ticks of the axis: the smallest of 1, 2 or 5 times a power of ten (ns) that is `least` or more. */
double timeline_step(double least);

/* "0 ns .. 1 us of 1 us, 6 events", with what was lost; cut to fit. */
void timeline_head(const timeline_view *v, char *out, size_t size);

/* What is known of an event: "matmul [library]  1.2 ms at 10 us  graph 1 node 3 kernel 1  1.81 GB/s". */
void timeline_details(const recorded *e, char *out, size_t size);

#endif
