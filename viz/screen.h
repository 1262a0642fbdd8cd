/* screen.h — the timeline on a terminal, through ncurses. */
#ifndef TD_VIZ_SCREEN_H
#define TD_VIZ_SCREEN_H

#include <stdatomic.h>

#include "profiler/trace.h"

/* Shows r until the user leaves or *stop (may be NULL) becomes non-zero. The terminal is as it was before when
 * this returns, and also when a signal ends the program. STATUS_UNSUPPORTED when the standard input or output
 * is no terminal, or one that ncurses does not know. */
status screen_timeline(const recording *r, const atomic_int *stop, error *e);

#endif
