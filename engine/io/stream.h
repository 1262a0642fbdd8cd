/* stream.h — bytes in and out of files: reading sees through gzip, writing is atomic. */
#ifndef TD_IO_STREAM_H
#define TD_IO_STREAM_H

#include "engine/core/context.h"

/* ---- reading ---- */

typedef struct io_reader io_reader;

/* Opens `path` for reading; the path must outlive the reader. NULL with c->err set. */
io_reader *io_reader_open(context *c, const char *path);
void io_reader_close(io_reader *r); /* NULL is fine */

/* Reads up to `want` bytes of the (decompressed) content into buffer; *got is less only at its end. */
status io_reader_read(io_reader *r, void *buffer, size_t want, size_t *got);

/* The first bytes without taking them: up to IO_PEEK, less only when the content is shorter. */
enum { IO_PEEK = 4096 };
void io_reader_peek(const io_reader *r, const unsigned char **bytes, size_t *count);

/* Bytes that are left when that is known without reading (a regular file without compression), else -1. */
int64_t io_reader_left(const io_reader *r);
const char *io_reader_path(const io_reader *r);
context *io_reader_context(const io_reader *r);

/* ---- writing ---- */

typedef struct io_writer io_writer;

/* Starts writing to `path` (which must outlive the writer), compressed when `gzip`. NULL with c->err set. */
io_writer *io_writer_open(context *c, const char *path, bool gzip);
status io_writer_write(io_writer *w, const void *data, size_t bytes);
/* Ends the file and puts it in its place. The writer is gone afterwards, whether that succeeded or not. */
status io_writer_finish(io_writer *w);
/* Forgets what was written; NULL is fine. */
void io_writer_abandon(io_writer *w);

#endif
