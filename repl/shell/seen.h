/* seen.h — what the commands that show something share: the last recording, the machine's limits, places in
 * source texts. */
#ifndef TD_SHELL_SEEN_H
#define TD_SHELL_SEEN_H

#include "profiler/calibration.h"
#include "repl/shell/commands.h"

/* Kept in shell.pictures between commands. */
typedef struct seen {
    recording *last; /* of :profile, or NULL */
    bool limited;    /* limits are known */
    machine_limits limits;
} seen;

/* The shell's, made when first asked for; NULL with the context's error set. */
seen *seen_of(shell *sh);
/* The last recording, or NULL with an error that says how to make one. */
const recording *seen_recording(shell *sh);
/* The machine's limits, measured when they are not known yet (which is said); NULL with the error set. */
const machine_limits *seen_limits(shell *sh, bool again);

/* Finds lines in the session's texts. */
source_finder seen_finder(const shell *sh);

/* Writes `out` to standard output unless `code` says that something failed, frees it, and returns the status. */
status seen_show(shell *sh, status code, text *out);

#endif
