/* clock.h — monotonic time. Launch boundaries read the time-stamp counter (a few nanoseconds); ticks turn
 * into nanoseconds when a trace is read. */
#ifndef TD_BASE_CLOCK_H
#define TD_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);    /* CLOCK_MONOTONIC, nanoseconds */
uint64_t clock_ticks(void); /* the time-stamp counter where there is one, else clock_ns() */

/* Two simultaneous readings; a pair of them fixes the line from ticks to nanoseconds. */
typedef struct clock_point {
    uint64_t ticks, ns;
} clock_point;

clock_point clock_now(void);
/* Nanoseconds from `a` to the tick count `ticks`, on the line through a and b. */
int64_t clock_ticks_to_ns(clock_point a, clock_point b, uint64_t ticks);

#endif
