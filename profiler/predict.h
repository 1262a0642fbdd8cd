/* predict.h — how long a graph would take at the machine's limits, before it has run. */
#ifndef TD_PROFILER_PREDICT_H
#define TD_PROFILER_PREDICT_H

#include "profiler/roofline.h"

/* ns[0 .. node_count): the time of each kernel stands at its first node, 0 at the others; nodes outside kernels
 * (`kernel_count` 0: all) have their own. A kernel moves what enters and leaves it and computes what its nodes
 * compute. Sizes are those of the traced call; false when they are unknown or memory ran out: then ns is all
 * 0. */
bool predict_times(const graph *g, const program_kernel *kernels, int kernel_count, const machine_limits *m,
                   double *ns);

#endif
