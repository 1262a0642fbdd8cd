/* write.c — the writing half of stream.h: blocks through gzip into a file that takes the old one's place when it is whole
 * (base/replace.h). */
#include "engine/io/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/replace.h"
#include "engine/io/gzip.h"

enum { BLOCK = 1 << 16 };

struct io_writer {
    context *c;
    const char *path;
    replacement to; /* written through its descriptor */
    bool gzip, stream_ready;
    z_stream z;
    size_t used; /* bytes in `block` that are not written yet (without gzip) */
    unsigned char block[BLOCK];
};

static status write_out(io_writer *w, const unsigned char *data, size_t bytes) {
    while (bytes > 0) {
        if (context_interrupted(w->c)) return w->c->err.code;
        ssize_t done = write(fileno(w->to.file), data, bytes < BLOCK ? bytes : BLOCK);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return replace_failed(w->path, errno, &w->c->err);
        data += done;
        bytes -= (size_t)done;
    }
    return STATUS_OK;
}

io_writer *io_writer_open(context *c, const char *path, bool gzip) {
    io_writer *w = mem_calloc(1, sizeof *w);
    if (!w) {
        fail_memory(&c->err, sizeof *w);
        return NULL;
    }
    *w = (io_writer){.c = c, .path = path, .gzip = gzip};
    gzip_memory(&w->z);
    if (gzip) {
        w->stream_ready = deflateInit2(&w->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                                       Z_DEFAULT_STRATEGY) == Z_OK;
        if (!w->stream_ready) fail_memory(&c->err, BLOCK);
    }
    if (c->err.code == STATUS_OK && replace_open(&w->to, path, &c->err) == STATUS_OK) return w;
    io_writer_abandon(w);
    return NULL;
}

/* Compresses `bytes` bytes; `flush` is Z_NO_FLUSH or Z_FINISH. */
static status deflate_out(io_writer *w, const void *data, size_t bytes, int flush) {
    const unsigned char *from = data;
    do {
        unsigned part = bytes < BLOCK ? (unsigned)bytes : BLOCK;
        w->z.next_in = (unsigned char *)(uintptr_t)from; /* zlib reads it only */
        w->z.avail_in = part;
        from += part;
        bytes -= part;
        do {
            w->z.next_out = w->block;
            w->z.avail_out = BLOCK;
            deflate(&w->z, bytes > 0 ? Z_NO_FLUSH : flush); /* can't fail with room for output */
            if (write_out(w, w->block, BLOCK - w->z.avail_out)) return w->c->err.code;
        } while (w->z.avail_out == 0);
    } while (bytes > 0);
    return STATUS_OK;
}

status io_writer_write(io_writer *w, const void *data, size_t bytes) {
    if (w->gzip) return bytes > 0 ? deflate_out(w, data, bytes, Z_NO_FLUSH) : STATUS_OK;
    if (bytes >= BLOCK - w->used) {
        if (write_out(w, w->block, w->used)) return w->c->err.code;
        w->used = 0;
        if (bytes >= BLOCK) return write_out(w, data, bytes);
    }
    if (bytes > 0) memcpy(w->block + w->used, data, bytes);
    w->used += bytes;
    return STATUS_OK;
}

status io_writer_finish(io_writer *w) {
    context *c = w->c;
    status code = w->gzip ? deflate_out(w, "", 0, Z_FINISH) : write_out(w, w->block, w->used);
    if (code == STATUS_OK) code = replace_close(&w->to, true, &c->err);
    io_writer_abandon(w);
    return code;
}

void io_writer_abandon(io_writer *w) {
    if (!w) return;
    if (w->stream_ready) deflateEnd(&w->z);
    if (w->to.file) replace_close(&w->to, false, &w->c->err);
    mem_free(w);
}
