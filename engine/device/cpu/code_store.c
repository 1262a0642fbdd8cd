/* code_store.c — see code_store.h.
 *
 * A library's name is a hash of all that went into it: source, headers, flags, compiler, processor target. Files are
 * written under temporary names and renamed, so that what has its final name is whole; a hash at the end of each
 * library (which loaders ignore) finds what was damaged later, before it is loaded. */
#include "engine/device/cpu/code_store.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/embed.h"
#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* No builtins for what libm computes in f64: all tiers must make the same calls. */
static const char *const flags[] = {
    "-std=c17",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-shared",
    "-w",
    "-fno-builtin-exp",
    "-fno-builtin-exp2",
    "-fno-builtin-expm1",
    "-fno-builtin-log",
    "-fno-builtin-log2",
    "-fno-builtin-log1p",
    "-fno-builtin-pow",
    "-fno-builtin-sin",
    "-fno-builtin-cos",
    "-fno-builtin-tan",
    "-fno-builtin-asin",
    "-fno-builtin-acos",
    "-fno-builtin-atan",
    "-fno-builtin-atan2",
    "-fno-builtin-sinh",
    "-fno-builtin-cosh",
    "-fno-builtin-tanh",
    "-fno-builtin-erf",
    "-fno-builtin-erfc",
};
enum { FLAGS = sizeof flags / sizeof *flags, ARGUMENTS = COMPILER_WORDS + FLAGS + 14 };

static const char trailer_mark[8] = "tapedeck";
typedef struct trailer {
    char mark[8];
    uint64_t hash; /* of all bytes before it */
} trailer;

/* ---- settings ---- */

static char *join(const char *a, const char *b) {
    text t = {0};
    text_printf(&t, "%s%s", a, b);
    char *r = t.failed ? NULL : mem_copy_text(text_str(&t), t.length);
    text_free(&t);
    return r;
}

bool store_init(code_store *s, const char *target) {
    *s = (code_store){.target = target};
    const char *cc = getenv("TAPEDECK_CC");
    s->compiler = join(cc && *cc ? cc : "cc", "");
    if (!s->compiler) return false;
    char *save = NULL, *word = strtok_r(s->compiler, " ", &save);
    for (int n = 0; word && n < COMPILER_WORDS; word = strtok_r(NULL, " ", &save)) s->words[n++] = word;
    return true;
}

/* ---- folders ---- */

/* Removes the files of a folder and the folder itself, `depth` folders down. */
static void remove_folder(const char *path, int depth) {
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        text t = {0};
        text_printf(&t, "%s/%s", path, e->d_name);
        if (!t.failed && unlink(text_str(&t)) != 0 && depth > 0) remove_folder(text_str(&t), depth - 1);
        text_free(&t);
    }
    if (d) closedir(d);
    rmdir(path);
}

/* Creates the folders of a path, for the user alone. */
static void make_folders(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    mkdir(path, 0700);
}

/* Is it a folder that only the user can write to? */
static bool is_private(const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return false;
    return st.st_uid == geteuid() && (st.st_mode & 077) == 0 && access(path, R_OK | W_OK | X_OK) == 0;
}

static bool open_folder(code_store *s) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        s->folder = join(cache, "/tapedeck");
    else if (home && *home == '/')
        s->folder = join(home, "/.cache/tapedeck");
    if (s->folder) make_folders(s->folder);
    if (s->folder && is_private(s->folder)) return true;
    mem_free(s->folder);
    const char *tmp = getenv("TMPDIR");
    s->folder = join(tmp && *tmp == '/' ? tmp : "/tmp", "/tapedeck-XXXXXX");
    if (s->folder && mkdtemp(s->folder)) {
        s->own_folder = true;
        return true;
    }
    mem_free(s->folder);
    s->folder = NULL;
    return false;
}

static bool write_file(const char *path, const void *data, size_t length) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    const char *p = data;
    while (length > 0) {
        ssize_t n = write(fd, p, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        p += n;
        length -= (size_t)n;
    }
    return close(fd) == 0 && length == 0;
}

static bool write_header(const char *folder, const embedded_file *f) {
    text t = {0};
    text_printf(&t, "%s/%s", folder, f->name);
    bool good = !t.failed;
    if (good) {
        char *slash = strrchr(t.data, '/');
        *slash = 0;
        make_folders(t.data);
        *slash = '/';
        good = write_file(t.data, f->text, f->length);
    }
    text_free(&t);
    return good;
}

/* The folder of headers, named by their hash, written when it is not there yet. */
static bool open_headers(code_store *s, uint64_t hash) {
    text t = {0}, tmp = {0};
    text_printf(&t, "%s/include-%016llx", s->folder, (unsigned long long)hash);
    text_printf(&tmp, "%s.%d", text_str(&t), (int)getpid());
    bool good = !t.failed && !tmp.failed;
    struct stat st;
    if (good && lstat(text_str(&t), &st) != 0) {
        for (const embedded_file *f = embedded_headers; good && f->name; f++)
            good = write_header(text_str(&tmp), f);
        /* another process may have been faster */
        if (good && rename(text_str(&tmp), text_str(&t)) != 0) good = lstat(text_str(&t), &st) == 0;
        remove_folder(text_str(&tmp), 3);
    }
    if (good) s->headers = mem_copy_text(text_str(&t), t.length);
    text_free(&t);
    text_free(&tmp);
    return s->headers != NULL;
}

/* The compiler as a file: which one, and of when. False when there is none. */
static bool find_compiler(const code_store *s, uint64_t *identity) {
    const char *name = s->words[0] ? s->words[0] : "", *path = getenv("PATH");
    text t = {0};
    struct stat st;
    bool found = false;
    if (strchr(name, '/')) {
        found = access(name, X_OK) == 0 && stat(name, &st) == 0 && S_ISREG(st.st_mode);
        text_add(&t, name);
    } else
        for (const char *p = path ? path : "/usr/bin:/bin"; !found && *p; p += *p == ':') {
            size_t n = strcspn(p, ":");
            text_clear(&t);
            text_printf(&t, "%.*s/%s", (int)n, p, name);
            found = n > 0 && access(text_str(&t), X_OK) == 0 && stat(text_str(&t), &st) == 0 &&
                    S_ISREG(st.st_mode);
            p += n;
        }
    if (found) {
        int64_t facts[3] = {(int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, (int64_t)st.st_ino};
        *identity = hash_bytes(facts, sizeof facts, hash_bytes(text_str(&t), t.length, 1));
    }
    text_free(&t);
    return found;
}

/* Wider vectors change no bits: lanes are 16 whatever the width, and nothing is contracted. */
static const char *const *target_flags(const char *target) {
    static const char *const avx512[] = {
        "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512", NULL};
    static const char *const avx2[] = {"-mavx2", NULL}, *const portable[] = {NULL};
    if (strcmp(target, "avx512") == 0) return avx512;
    return strcmp(target, "avx2") == 0 ? avx2 : portable;
}

static bool open_store(code_store *s) {
    if (s->opened) return !s->why[0];
    s->opened = true;
    uint64_t compiler = 0, headers = 1;
    if (!find_compiler(s, &compiler)) {
        snprintf(s->why, sizeof s->why,
                 "no C compiler (%s): kernels are interpreted, at lower speed; install gcc or clang, or set "
                 "TAPEDECK_CC",
                 s->words[0] ? s->words[0] : "cc");
        return false;
    }
    for (const embedded_file *f = embedded_headers; f->name; f++)
        headers = hash_bytes(f->text, f->length, headers);
    s->base_key = hash_u64(headers ^ hash_u64(compiler));
    for (const char *const *f = target_flags(s->target); *f; f++)
        s->base_key = hash_bytes(*f, strlen(*f), s->base_key);
    for (int i = 1; s->words[i]; i++) s->base_key = hash_bytes(s->words[i], strlen(s->words[i]), s->base_key);
    for (int i = 0; i < FLAGS; i++) s->base_key = hash_bytes(flags[i], strlen(flags[i]), s->base_key);
    if (open_folder(s) && open_headers(s, headers)) return true;
    snprintf(
        s->why, sizeof s->why,
        "no folder for compiled kernels (%s): kernels are interpreted, at lower speed; XDG_CACHE_HOME names "
        "another place for it",
        strerror(errno));
    return false;
}

void store_close(code_store *s) {
    if (s->own_folder) remove_folder(s->folder, 4);
    mem_free(s->compiler);
    mem_free(s->folder);
    mem_free(s->headers);
}

/* ---- the compiler ---- */

/* Runs it on `source`, giving `output`; what it says goes to `log`. True when it succeeded. */
static bool run_compiler(code_store *s, const char *source, const char *output, const char *log) {
    char *arguments[ARGUMENTS];
    int n = 0;
    for (; s->words[n]; n++) arguments[n] = s->words[n];
    for (int i = 0; i < FLAGS; i++) arguments[n++] = (char *)(uintptr_t)flags[i];
    for (const char *const *f = target_flags(s->target); *f; f++) arguments[n++] = (char *)(uintptr_t)*f;
    char *const rest[] = {(char *)(uintptr_t) "-I",
                          s->headers,
                          (char *)(uintptr_t) "-o",
                          (char *)(uintptr_t)output,
                          (char *)(uintptr_t)source,
                          (char *)(uintptr_t) "-lm",
                          NULL};
    memcpy(&arguments[n], rest, sizeof rest);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setpgroup(&how, 0); /* Ctrl-C at the terminal is not for it */
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    pid_t child;
    int code = posix_spawnp(&child, arguments[0], &files, &how, arguments, environ), status = 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (code != 0) return false;
    atomic_store(&s->child, (int)child);
    pid_t waited;
    do waited = waitpid(child, &status, 0);
    while (waited < 0 && errno == EINTR);
    atomic_store(&s->child, 0);
    return waited == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- libraries ---- */

/* The file's bytes (freed by the caller); NULL when it is not a plain file of ours. */
static char *read_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0) return NULL;
    char *data = NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        data = mem_alloc((size_t)st.st_size + 1);
    size_t done = 0;
    while (data && done < (size_t)st.st_size) {
        ssize_t n = read(fd, data + done, (size_t)st.st_size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    close(fd);
    if (data) data[done] = 0;
    *length = done;
    return data;
}

/* Is the library whole? */
static bool is_whole(const char *path) {
    size_t length;
    char *data = read_file(path, &length);
    trailer t;
    bool whole = data && length > sizeof t;
    if (whole) {
        memcpy(&t, data + length - sizeof t, sizeof t);
        whole = memcmp(t.mark, trailer_mark, sizeof t.mark) == 0 &&
                t.hash == hash_bytes(data, length - sizeof t, 1);
    }
    mem_free(data);
    return whole;
}

/* Ends the library with its trailer and gives it its name. */
static bool seal(const char *made, const char *path) {
    size_t length;
    char *data = read_file(made, &length), *grown = data ? mem_realloc(data, length + sizeof(trailer)) : NULL;
    if (!grown) {
        mem_free(data);
        return false;
    }
    trailer t = {.hash = hash_bytes(grown, length, 1)};
    memcpy(t.mark, trailer_mark, sizeof t.mark);
    memcpy(grown + length, &t, sizeof t);
    bool good = write_file(made, grown, length + sizeof t) && rename(made, path) == 0;
    mem_free(grown);
    return good;
}

/* That the compiler failed, and the first error that it reported. */
static void say(char message[STORE_MESSAGE], const char *compiler, const char *log) {
    size_t length = 0;
    char *said = read_file(log, &length);
    const char *line = said ? strstr(said, "error") : NULL;
    if (!line) line = said ? said : "";
    int count = (int)strcspn(line, "\n");
    snprintf(message, STORE_MESSAGE, "the C compiler (%s) failed%s%.*s", compiler, count ? ": " : "", count,
             line);
    mem_free(said);
}

/* Compiles source into the file `path`. */
static bool build(code_store *s, const char *source, const char *path, char message[STORE_MESSAGE]) {
    text c = {0}, so = {0}, log = {0};
    text_printf(&c, "%s/%d-%u.c", s->folder, (int)getpid(), s->count);
    text_printf(&so, "%s/%d-%u.so", s->folder, (int)getpid(), s->count);
    text_printf(&log, "%s/%d-%u.log", s->folder, (int)getpid(), s->count++);
    bool good = !c.failed && !so.failed && !log.failed;
    if (!good)
        snprintf(message, STORE_MESSAGE, "out of memory");
    else if (!write_file(text_str(&c), source, strlen(source))) {
        snprintf(message, STORE_MESSAGE, "can't write %s: %s", text_str(&c), strerror(errno));
        good = false;
    } else if (!run_compiler(s, text_str(&c), text_str(&so), text_str(&log))) {
        say(message, s->words[0], text_str(&log));
        good = false;
    } else if (!seal(text_str(&so), path)) {
        snprintf(message, STORE_MESSAGE, "can't write %s: %s", path, strerror(errno));
        good = false;
    }
    if (c.data) unlink(c.data);
    if (so.data) unlink(so.data);
    if (log.data) unlink(log.data);
    text_free(&c);
    text_free(&so);
    text_free(&log);
    return good;
}

static void *open_library(const char *path) {
    return is_whole(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

void *store_load(code_store *s, const char *source, bool *cached, char message[STORE_MESSAGE]) {
    *cached = false;
    if (!open_store(s)) {
        memcpy(message, s->why, STORE_MESSAGE);
        return NULL;
    }
    text path = {0};
    text_printf(&path, "%s/%016llx%016llx.so", s->folder, (unsigned long long)s->base_key,
                (unsigned long long)hash_bytes(source, strlen(source), s->base_key));
    void *library = NULL;
    if (path.failed)
        snprintf(message, STORE_MESSAGE, "out of memory");
    else if ((library = open_library(text_str(&path))))
        *cached = true;
    else if (build(s, source, text_str(&path), message)) {
        library = open_library(text_str(&path));
        const char *why = library ? NULL : dlerror();
        if (!library)
            snprintf(message, STORE_MESSAGE, "can't load a compiled kernel: %s", why ? why : "it is damaged");
    }
    text_free(&path);
    return library;
}
