/* stats.h — what the header line of a tensor says about its elements. */
#ifndef TD_SHELL_STATS_H
#define TD_SHELL_STATS_H

#include "engine/engine.h"

typedef struct tensor_stats {
    int64_t count, finite, nans, infinities;
    double min, max, mean, std; /* of the finite elements; meaningless when there are none */
    int64_t least, most;        /* min and max of integers, exactly; of bools, too */
} tensor_stats;

/* One pass over a concrete tensor of any strides, on all lanes. Fails on an interrupt or when out of
 * memory. */
status tensor_stats_of(context *c, const tensor *t, tensor_stats *out);

#endif
