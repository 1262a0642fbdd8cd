/* clock.c — see clock.h. */
#include "engine/base/clock.h"

#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_ticks(void) {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return clock_ns();
#endif
}

clock_point clock_now(void) {
    return (clock_point){.ticks = clock_ticks(), .ns = clock_ns()};
}

int64_t clock_ticks_to_ns(clock_point a, clock_point b, uint64_t ticks) {
    double per_tick = b.ticks > a.ticks ? (double)(b.ns - a.ns) / (double)(b.ticks - a.ticks) : 1.0;
    return (int64_t)((double)(int64_t)(ticks - a.ticks) * per_tick);
}
