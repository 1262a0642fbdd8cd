/* read.c — the reading half of stream.h. A reader holds a block of the file's bytes and, for a gzip file, a
 * zlib stream that turns them into content. A file is gzip when it starts with gzip's two magic bytes,
 * whatever its name. */
#include "engine/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/replace.h"
#include "engine/io/gzip.h"

enum { BLOCK = 1 << 16 };

struct io_reader {
    context *c;
    const char *path;
    int fd;
    int64_t size; /* of a regular file, else -1 */
    int64_t raw;  /* bytes read from it so far */
    bool ended;   /* the file has no more bytes */
    bool gzip, member_open;
    bool stream_ready; /* `z` needs inflateEnd */
    z_stream z;        /* next_in, avail_in also serve files without compression */
    unsigned char peeked[IO_PEEK];
    size_t peek_at, peek_count;
    unsigned char block[BLOCK];
};

/* Fills the empty block from the file. */
static status refill(io_reader *r) {
    for (;;) {
        if (context_interrupted(r->c)) return r->c->err.code;
        ssize_t got = read(r->fd, r->block, BLOCK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EISDIR)
            return fail(&r->c->err, STATUS_IO, 602, "`%s` is a folder, not a file", r->path);
        if (got < 0) return fail(&r->c->err, STATUS_IO, 601, "can't read `%s`: %s", r->path, strerror(errno));
        r->ended = got == 0;
        r->raw += got;
        r->z.next_in = r->block;
        r->z.avail_in = (unsigned)got;
        return STATUS_OK;
    }
}

static status damaged(io_reader *r, const char *how) {
    fail(&r->c->err, STATUS_IO, 605, "the gzip file `%s` %s", r->path, how);
    return fail_hint(&r->c->err,
                     "`gzip -t` on the file tells whether it is whole; get it again if it is not");
}

/* Between gzip members: another one, or zeros as padding, or the end. */
static status next_member(io_reader *r, bool *more) {
    for (;;) {
        while (r->z.avail_in > 0 && *r->z.next_in == 0) r->z.next_in++, r->z.avail_in--;
        if (r->z.avail_in > 0) break;
        if (r->ended) {
            *more = false;
            return STATUS_OK;
        }
        if (refill(r)) return r->c->err.code;
    }
    if (*r->z.next_in != 0x1f) return damaged(r, "has bytes after its end that are not gzip");
    if (inflateReset(&r->z) != Z_OK) return damaged(r, "can't be read");
    *more = r->member_open = true;
    return STATUS_OK;
}

static status read_gzip(io_reader *r, unsigned char *buffer, size_t want, size_t *got) {
    size_t done = 0;
    while (done < want) {
        bool more = true;
        if (!r->member_open && next_member(r, &more)) return r->c->err.code;
        if (!more) break;
        if (r->z.avail_in == 0 && !r->ended && refill(r)) return r->c->err.code;
        if (r->z.avail_in == 0) return damaged(r, "ends too early");
        unsigned room = want - done < BLOCK ? (unsigned)(want - done) : BLOCK;
        r->z.next_out = buffer + done;
        r->z.avail_out = room;
        int code = inflate(&r->z, Z_NO_FLUSH);
        done += room - r->z.avail_out;
        if (code == Z_STREAM_END)
            r->member_open = false;
        else if (code == Z_MEM_ERROR)
            return fail_memory(&r->c->err, BLOCK);
        else if (code != Z_OK && code != Z_BUF_ERROR)
            return damaged(r, "is damaged");
        if (context_interrupted(r->c)) return r->c->err.code;
    }
    *got = done;
    return STATUS_OK;
}

static status read_plain(io_reader *r, unsigned char *buffer, size_t want, size_t *got) {
    size_t done = 0;
    while (done < want) {
        if (r->z.avail_in == 0 && !r->ended && refill(r)) return r->c->err.code;
        if (r->z.avail_in == 0) break;
        size_t part = want - done < r->z.avail_in ? want - done : r->z.avail_in;
        memcpy(buffer + done, r->z.next_in, part);
        r->z.next_in += part;
        r->z.avail_in -= (unsigned)part;
        done += part;
    }
    *got = done;
    return STATUS_OK;
}

static status read_on(io_reader *r, unsigned char *buffer, size_t want, size_t *got) {
    return r->gzip ? read_gzip(r, buffer, want, got) : read_plain(r, buffer, want, got);
}

/* Looks at the first bytes of the file and, through them, of the content. */
static status start(io_reader *r) {
    struct stat info;
    if (fstat(r->fd, &info) != 0)
        return fail(&r->c->err, STATUS_IO, 601, "can't read `%s`: %s", r->path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return fail(&r->c->err, STATUS_IO, 602, "`%s` is a folder, not a file", r->path);
    r->size = S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
    if (refill(r)) return r->c->err.code;
    r->gzip = r->z.avail_in >= 2 && r->block[0] == 0x1f && r->block[1] == 0x8b;
    if (r->gzip) {
        gzip_memory(&r->z);
        int code = inflateInit2(&r->z, GZIP_WINDOW);
        if (code != Z_OK) return fail_memory(&r->c->err, BLOCK);
        r->stream_ready = r->member_open = true;
    }
    return read_on(r, r->peeked, IO_PEEK, &r->peek_count);
}

/* Opens the file; a pipe's other end may be waited for, until Ctrl-C. -1 with errno, or with the error set. */
static int open_to_read(context *c, const char *path) {
    for (;;) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd >= 0 || errno != EINTR || context_interrupted(c)) return fd;
    }
}

io_reader *io_reader_open(context *c, const char *path) {
    io_reader *r = mem_calloc(1, sizeof *r);
    if (!r) {
        fail_memory(&c->err, sizeof *r);
        return NULL;
    }
    r->c = c;
    r->path = path;
    r->fd = open_to_read(c, path);
    if (r->fd < 0 && c->err.code != STATUS_INTERRUPT) {
        fail(&c->err, STATUS_IO, 601, "can't open `%s`: %s", path, strerror(errno));
        if (errno == ENOENT && !path_home_hint(path, &c->err) && path[0] != '/') {
            char here[200];
            if (getcwd(here, sizeof here)) fail_hint(&c->err, "names of files start from %s", here);
        }
    } else if (r->fd >= 0 && start(r) == STATUS_OK) {
        return r;
    }
    io_reader_close(r);
    return NULL;
}

void io_reader_close(io_reader *r) {
    if (!r) return;
    if (r->stream_ready) inflateEnd(&r->z);
    if (r->fd >= 0) close(r->fd);
    mem_free(r);
}

status io_reader_read(io_reader *r, void *buffer, size_t want, size_t *got) {
    size_t kept = r->peek_count - r->peek_at, more = 0;
    if (kept > want) kept = want;
    memcpy(buffer, r->peeked + r->peek_at, kept);
    r->peek_at += kept;
    *got = kept;
    if (kept == want) return STATUS_OK;
    status code = read_on(r, (unsigned char *)buffer + kept, want - kept, &more);
    *got += more;
    return code;
}

void io_reader_peek(const io_reader *r, const unsigned char **bytes, size_t *count) {
    *bytes = r->peeked + r->peek_at;
    *count = r->peek_count - r->peek_at;
}

int64_t io_reader_left(const io_reader *r) {
    if (r->gzip || r->size < 0) return -1;
    int64_t unread = r->size - r->raw;
    return (unread > 0 ? unread : 0) + (int64_t)r->z.avail_in + (int64_t)(r->peek_count - r->peek_at);
}

const char *io_reader_path(const io_reader *r) {
    return r->path;
}

context *io_reader_context(const io_reader *r) {
    return r->c;
}
