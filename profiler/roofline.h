/* roofline.h — what bounds a launch: moving its data, or computing.
 *
 * The roofline model (Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for
 * multicore architectures", CACM 52(4), 2009): a launch takes at least bytes / bandwidth and at least flops /
 * peak; the larger of the two is its limit. */
#ifndef TD_PROFILER_ROOFLINE_H
#define TD_PROFILER_ROOFLINE_H

#include "profiler/calibration.h"

typedef enum bound { BOUND_UNKNOWN, BOUND_MEMORY, BOUND_COMPUTE } bound;

typedef struct roofline {
    bound by;     /* UNKNOWN: neither bytes nor flops are known */
    double limit; /* ns that the machine needs at least */
} roofline;

roofline roofline_of(const machine_limits *m, double bytes, double flops);

const char *bound_name(bound b); /* "memory", "compute", "" */

#endif
