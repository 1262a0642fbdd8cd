/* chrome.h — a recording in the Chrome trace event format, which chrome://tracing, Perfetto and others open.
 *
 * ("Trace Event Format", the Chromium project.) Events are complete events ("X") with ts and dur in
 * microseconds; lanes are threads with names; ids, place, bytes and flops are in args; what the rings lost
 * is in otherData. */
#ifndef TD_PROFILER_CHROME_H
#define TD_PROFILER_CHROME_H

#include "profiler/trace.h"

/* Appends the whole file. out->failed tells of memory. */
void chrome_write(const recording *r, text *out);

/* Writes the file, piece by piece, beside its place and moves it there when it is whole: an old file stays
 * as it is when the disk is full. */
status chrome_save(const recording *r, const char *path, error *e);

/* s as a JSON string with its quotes: quotes, backslashes and control characters escaped, bytes that are not
 * UTF-8 replaced by U+FFFD. */
void chrome_string(text *out, const char *s);

#endif
