/* tracer.h — the tracer of the CPU: switches a context's event sink on and off around what is profiled. */
#ifndef TD_PROFILER_TRACER_H
#define TD_PROFILER_TRACER_H

#include "profiler/trace.h"

/* Starts recording what the context launches. Fails (context.err) when out of memory or already recording. */
status profile_begin(context *c);

/* Stops, and hands out the recording, which the caller frees. `finder` and `title` may be NULL. */
status profile_end(context *c, const source_finder *finder, const char *title, recording **out);

/* Stops and forgets, after what was profiled failed. */
void profile_abandon(context *c);

#endif
