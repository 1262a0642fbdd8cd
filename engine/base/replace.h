/* replace.h — writing a file so that nobody ever sees half of it.
 *
 * The new contents go into a file beside the old one and take its place when they are whole; on a full disk,
 * an error or an interrupt the old file is as it was. What is not a plain file (a pipe, /dev/stdout) is
 * written directly. */
#ifndef TD_BASE_REPLACE_H
#define TD_BASE_REPLACE_H

#include <stdio.h>

#include "engine/base/status.h"
#include "engine/base/text.h"

typedef struct replacement {
    FILE *file;  /* write here */
    text path;   /* the file to be replaced */
    text beside; /* where `file` is meanwhile; empty when written directly */
} replacement;

/* Opens; on failure (STATUS_IO, STATUS_MEMORY) there is nothing to close. An old file that may not be written is not
 * replaced either. */
status replace_open(replacement *r, const char *path, error *e);

/* Ends writing. With `keep`, puts the new file in place, on the disk before it gets its name, and reports whatever went
 * wrong while writing; without, leaves the old one. Frees r's parts in any case. */
status replace_close(replacement *r, bool keep, error *e);

/* Fails with what the system says (`why`, an errno) about writing `path`. */
status replace_failed(const char *path, int why, error *e);

/* The whole of it: `length` bytes into the file at `path`. */
status replace_file(const char *path, const char *data, size_t length, error *e);

/* Adds the hint that a path which begins with `~`, and is not there, needs; false when it is no such path. */
bool path_home_hint(const char *path, error *e);

/* What follows the last point of a file's name: "svg" of "a.b/c.svg"; "" when there is none. */
const char *path_ending(const char *path);

#endif
