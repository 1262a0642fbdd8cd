/* roofline.c — see roofline.h. */
#include "profiler/roofline.h"

roofline roofline_of(const machine_limits *m, double bytes, double flops) {
    double rate = limits_memory_rate(m, bytes);
    double memory = bytes > 0 && rate > 0 ? bytes / rate * 1e9 : 0;
    double compute = flops > 0 && m->flops > 0 ? flops / m->flops * 1e9 : 0;
    if (memory <= 0 && compute <= 0) return (roofline){.by = BOUND_UNKNOWN};
    return memory >= compute ? (roofline){.by = BOUND_MEMORY, .limit = memory}
                             : (roofline){.by = BOUND_COMPUTE, .limit = compute};
}

const char *bound_name(bound b) {
    return b == BOUND_MEMORY ? "memory" : b == BOUND_COMPUTE ? "compute" : "";
}
