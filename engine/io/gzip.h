/* gzip.h — zlib streams whose memory comes through base/memory.h. */
#ifndef TD_IO_GZIP_H
#define TD_IO_GZIP_H

#include <zlib.h>

/* Before inflateInit2 or deflateInit2. */
void gzip_memory(z_stream *z);

/* What the two take as windowBits: the largest window, gzip's header and checksum. */
enum { GZIP_WINDOW = 15 + 16 };

#endif
