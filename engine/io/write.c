/* write.c — the writing half of stream.h. A regular file is written under a temporary name in its folder
 * and renamed when it is whole, so that neither a failure nor an interrupt leaves half a file or harms an
 * old one. */
#include "engine/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/base/memory.h"

enum { BLOCK = 1 << 16 };

struct io_writer {
    context *c;
    const char *path;
    char *target;    /* path with links resolved; owned */
    char *temporary; /* the name being written, or NULL: writing to path itself; owned */
    int fd;
    bool gzip, stream_ready;
    z_stream z;
    size_t used; /* bytes in `block` that are not written yet (without gzip) */
    unsigned char block[BLOCK];
};

static void *z_alloc(void *user, unsigned items, unsigned size) {
    (void)user;
    return mem_calloc(items, size);
}

static void z_free(void *user, void *block) {
    (void)user;
    mem_free(block);
}

static status write_failed(io_writer *w, const char *what) {
    int code = errno;
    if (code != ENOSPC && code != EDQUOT && code != EFBIG)
        return fail(&w->c->err, STATUS_IO, 621, "can't %s `%s`: %s", what, w->path, strerror(code));
    fail(&w->c->err, STATUS_IO, 622, "no room to write `%s`: %s", w->path, strerror(code));
    return fail_hint(&w->c->err, "make room or save somewhere else; nothing was left behind");
}

static status write_out(io_writer *w, const unsigned char *data, size_t bytes) {
    while (bytes > 0) {
        if (context_interrupted(w->c)) return w->c->err.code;
        ssize_t done = write(w->fd, data, bytes < BLOCK ? bytes : BLOCK);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return write_failed(w, "write");
        data += done;
        bytes -= (size_t)done;
    }
    return STATUS_OK;
}

/* The name beside `target` under which the file is written. */
static status open_temporary(io_writer *w, const struct stat *old) {
    size_t length = strlen(w->target), bytes = length + 16;
    w->temporary = mem_alloc(bytes);
    if (!w->temporary) return fail_memory(&w->c->err, bytes);
    snprintf(w->temporary, bytes, "%s.XXXXXX", w->target);
    w->fd = mkostemp(w->temporary, O_CLOEXEC);
    if (w->fd < 0) {
        mem_free(w->temporary);
        w->temporary = NULL;
        return write_failed(w, "create");
    }
    mode_t mode = old ? old->st_mode & 07777 : 0666;
    if (!old) {
        mode_t mask = umask(0);
        umask(mask);
        mode &= ~mask;
    }
    (void)fchmod(w->fd, mode); /* on a file system without modes the file is as good */
    return STATUS_OK;
}

static status open_target(io_writer *w) {
    struct stat info;
    bool there = stat(w->path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return fail(&w->c->err, STATUS_IO, 602, "`%s` is a folder, not a file", w->path);
    if (there && !S_ISREG(info.st_mode)) {
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return w->fd < 0 ? write_failed(w, "open") : STATUS_OK;
    }
    if (there && access(w->path, W_OK) != 0) return write_failed(w, "overwrite");
    char real[PATH_MAX];
    const char *target = there && realpath(w->path, real) ? real : w->path;
    w->target = mem_copy_text(target, strlen(target));
    if (!w->target) return fail_memory(&w->c->err, strlen(target) + 1);
    return open_temporary(w, there ? &info : NULL);
}

io_writer *io_writer_open(context *c, const char *path, bool gzip) {
    io_writer *w = mem_calloc(1, sizeof *w);
    if (!w) {
        fail_memory(&c->err, sizeof *w);
        return NULL;
    }
    *w = (io_writer){.c = c, .path = path, .fd = -1, .gzip = gzip};
    w->z.zalloc = z_alloc;
    w->z.zfree = z_free;
    if (gzip) {
        w->stream_ready =
            deflateInit2(&w->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
        if (!w->stream_ready) fail_memory(&c->err, BLOCK);
    }
    if (c->err.code == STATUS_OK && open_target(w) == STATUS_OK) return w;
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
    if (code == STATUS_OK && w->temporary && fsync(w->fd) != 0) code = write_failed(w, "write");
    if (code == STATUS_OK) {
        int fd = w->fd;
        w->fd = -1;
        if (close(fd) != 0 && errno != EINTR) code = write_failed(w, "write");
    }
    if (code == STATUS_OK && w->temporary) {
        if (rename(w->temporary, w->target) != 0) {
            code = write_failed(w, "put in place");
        } else {
            mem_free(w->temporary);
            w->temporary = NULL;
        }
    }
    io_writer_abandon(w);
    return code ? c->err.code : STATUS_OK;
}

void io_writer_abandon(io_writer *w) {
    if (!w) return;
    if (w->stream_ready) deflateEnd(&w->z);
    if (w->fd >= 0) close(w->fd);
    if (w->temporary) unlink(w->temporary);
    mem_free(w->temporary);
    mem_free(w->target);
    mem_free(w);
}
