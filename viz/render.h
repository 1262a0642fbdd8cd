/* render.h — from a DOT text to a picture in a file.
 *
 * Graphviz lays out in a child process with a time limit: some graphs take it minutes, it can't be stopped
 * from inside, and a fault in it must not end the session. */
#ifndef TD_VIZ_RENDER_H
#define TD_VIZ_RENDER_H

#include <stdatomic.h>

#include "engine/engine.h"

enum { RENDER_SECONDS = 20 };

typedef struct render_options {
    double seconds;         /* limit for layout and drawing; 0: RENDER_SECONDS */
    const atomic_int *stop; /* when it becomes non-zero, the child is killed; may be NULL */
} render_options;

/* The Graphviz format of a file name by its ending: svg, png, pdf, or dot (also for .gv); NULL for others. */
const char *render_format(const char *path);
/* STATUS_VALUE, with what is possible, when it is none of these. */
status render_check(const char *path, error *e);

/* Writes the picture of `dot` to `path` in the format of its name; the DOT text itself needs no layout.
 * STATUS_LIMIT when the time ran out, STATUS_INTERRUPT when stopped; the old file is as it was then. */
status render_file(const char *dot, const char *path, const render_options *options, error *e);

#endif
