/* replace.c — see replace.h. */
#include "engine/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *path_ending(const char *path) {
    const char *point = strrchr(path, '.'), *slash = strrchr(path, '/');
    return point && (!slash || slash < point) ? point + 1 : "";
}

bool path_home_hint(const char *path, error *e) {
    if (path[0] != '~') return false;
    fail_hint(e, "`~` is not the home folder here: write its name");
    return true;
}

status replace_failed(const char *path, int why, error *e) {
    if (why == EINTR)
        return fail(e, STATUS_INTERRUPT, 902, "interrupted"); /* waiting for a pipe's other end */
    if (why == ENOSPC || why == EDQUOT || why == EFBIG) {
        fail(e, STATUS_IO, 622, "no room to write `%s`: %s", path, strerror(why));
        return fail_hint(e, "make room or save somewhere else; nothing was left behind");
    }
    status s = why == EISDIR ? fail(e, STATUS_IO, 602, "`%s` is a folder, not a file", path)
                             : fail(e, STATUS_IO, 621, "can't write `%s`: %s", path, strerror(why));
    if (why == ENOENT && !path_home_hint(path, e))
        return fail_hint(e, "the folder has to be there before the file");
    return s;
}

/* Makes the file beside, with the rights of the one that it replaces or of a new one. -1 with errno. */
static int open_beside(replacement *r, const struct stat *old) {
    int fd = mkostemp(r->beside.data, O_CLOEXEC);
    if (fd < 0) return -1;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask) != 0)
        errno = 0; /* then it is the owner's alone */
    return fd;
}

/* The file that `path` leads to, through links, so that a link stays one. */
static void add_target(text *out, const char *path) {
    char *real = realpath(path, NULL);
    text_add(out, real ? real : path);
    free(real);
}

status replace_open(replacement *r, const char *path, error *e) {
    *r = (replacement){0};
    struct stat old;
    bool there = stat(path, &old) == 0;
    add_target(&r->path, path);
    if (!there || S_ISREG(old.st_mode)) text_printf(&r->beside, "%s.XXXXXX", text_str(&r->path));
    if (r->path.failed || r->beside.failed) {
        text_free(&r->path);
        text_free(&r->beside);
        return fail_memory(e, strlen(path));
    }
    int fd = -1;
    if (there && S_ISDIR(old.st_mode))
        errno = EISDIR;
    else if (!r->beside.length)
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    else if (!there || access(path, W_OK) == 0)
        fd = open_beside(r, there ? &old : NULL);
    r->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (r->file) return STATUS_OK;
    int why = errno;
    if (fd >= 0) close(fd);
    if (fd >= 0 && r->beside.length) unlink(r->beside.data);
    text_free(&r->path);
    text_free(&r->beside);
    return replace_failed(path, why, e);
}

status replace_close(replacement *r, bool keep, error *e) {
    errno = 0;
    bool bad = ferror(r->file) != 0 || fflush(r->file) != 0;
    if (keep && !bad && r->beside.length) bad = fsync(fileno(r->file)) != 0;
    int why = errno ? errno : EIO;
    if (fclose(r->file) != 0 && !bad) bad = true, why = errno;
    if (keep && !bad && r->beside.length && rename(r->beside.data, r->path.data) != 0)
        bad = true, why = errno;
    if (r->beside.length && (bad || !keep)) unlink(r->beside.data);
    status s = keep && bad ? replace_failed(r->path.data, why, e) : STATUS_OK;
    text_free(&r->path);
    text_free(&r->beside);
    *r = (replacement){0};
    return s;
}

status replace_file(const char *path, const char *data, size_t length, error *e) {
    replacement r;
    status s = replace_open(&r, path, e);
    if (s) return s;
    fwrite(data, 1, length, r.file);
    return replace_close(&r, true, e);
}
