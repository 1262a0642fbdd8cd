/* render.c — see render.h. */
#include "viz/render.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include <graphviz/gvc.h>

enum { SAID_MOST = 200, POLL_MS = 20 };

/* The child, and what it has said on its standard error. */
typedef struct layout {
    pid_t pid;
    int said; /* read end of the pipe; -1 at its end */
    char text[SAID_MOST + 1];
    size_t length;
} layout;

const char *render_format(const char *path) {
    static const char *const known[][2] = {
        {"svg", "svg"}, {"png", "png"}, {"pdf", "pdf"}, {"dot", "dot"}, {"gv", "dot"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(path_ending(path), known[i][0]) == 0) return known[i][1];
    return NULL;
}

/* What the child does: never returns. Exit status 0: the picture is in `file`; 1: not, and why was said. */
static _Noreturn void lay_out(const char *dot, const char *format, FILE *file, int said) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    agseterr(AGERR); /* warnings would stand in the way of the error */
    Agraph_t *g = agmemread(dot);
    GVC_t *gvc = g ? gvContext() : NULL;
    bool fine = gvc && gvLayout(gvc, g, "dot") == 0 && gvRender(gvc, g, format, file) == 0;
    fine = fflush(file) == 0 && fine;
    _exit(fine ? 0 : 1);
}

/* Forks the child; false with errno. */
static bool start(layout *l, const char *dot, const char *format, FILE *file) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    l->pid = fork();
    if (l->pid == 0) lay_out(dot, format, file, ends[1]);
    int why = errno;
    close(ends[1]);
    l->said = ends[0];
    if (l->pid > 0) return true;
    close(ends[0]);
    errno = why;
    return false;
}

/* Takes in what was said, waiting a little; what exceeds the buffer is dropped. */
static void listen_to(layout *l) {
    struct pollfd p = {.fd = l->said, .events = POLLIN};
    if (l->said < 0) {
        poll(NULL, 0, 1);
        return;
    }
    if (poll(&p, 1, POLL_MS) <= 0) return;
    char drop[256];
    bool full = l->length == SAID_MOST;
    ssize_t got =
        read(l->said, full ? drop : l->text + l->length, full ? sizeof drop : SAID_MOST - l->length);
    if (got > 0 && !full) l->length += (size_t)got;
    if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) return;
    close(l->said);
    l->said = -1;
}

/* Waits for the child's end, or brings it about: by time (STATUS_LIMIT) or on demand (STATUS_INTERRUPT). */
static status wait_for(layout *l, const render_options *options, int *ended) {
    double seconds = options && options->seconds > 0 ? options->seconds : RENDER_SECONDS;
    uint64_t start_ns = clock_ns();
    status s = STATUS_OK;
    for (;;) {
        pid_t got = waitpid(l->pid, ended, WNOHANG);
        if (got == l->pid || (got < 0 && errno != EINTR)) break;
        if (options && options->stop && atomic_load(options->stop)) s = STATUS_INTERRUPT;
        if (!s && (double)(clock_ns() - start_ns) * 1e-9 > seconds) s = STATUS_LIMIT;
        if (s) {
            kill(l->pid, SIGKILL);
            while (waitpid(l->pid, ended, 0) < 0 && errno == EINTR) continue;
            break;
        }
        listen_to(l);
    }
    for (int i = 0; !s && l->said >= 0 && i < 64; i++) listen_to(l);
    if (l->said >= 0) close(l->said);
    l->text[l->length] = '\0';
    l->text[strcspn(l->text, "\n")] = '\0';
    return s;
}

static status render_child(const char *dot, const char *format, FILE *file, const render_options *options,
                           error *e) {
    layout l = {0};
    int ended = 0;
    if (!start(&l, dot, format, file))
        return fail(e, STATUS_IO, 702, "can't start the layout: %s", strerror(errno));
    status s = wait_for(&l, options, &ended);
    if (s == STATUS_INTERRUPT) return fail(e, s, 703, "the layout was interrupted");
    if (s == STATUS_LIMIT) {
        double seconds = options && options->seconds > 0 ? options->seconds : RENDER_SECONDS;
        fail(e, s, 703, "the layout took more than %g seconds and was stopped", seconds);
        return fail_hint(e, "write the DOT text (a file name that ends in .dot) and lay it out elsewhere");
    }
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return STATUS_OK;
    if (WIFSIGNALED(ended))
        return fail(e, STATUS_IO, 702, "the layout ended with signal %d (%s)", WTERMSIG(ended),
                    strsignal(WTERMSIG(ended)));
    return fail(e, STATUS_IO, 702, "Graphviz could not draw %s: %s", format,
                l.text[0] ? l.text : "no reason given");
}

status render_check(const char *path, error *e) {
    if (render_format(path)) return STATUS_OK;
    fail(e, STATUS_VALUE, 704, "%s: a graph is drawn into .svg, .png, .pdf or .dot files", path);
    return fail_hint(e, "write, say, --out graph.svg");
}

status render_file(const char *dot, const char *path, const render_options *options, error *e) {
    if (render_check(path, e)) return e->code;
    const char *format = render_format(path);
    if (strcmp(format, "dot") == 0) return replace_file(path, dot, strlen(dot), e);
    replacement r;
    status s = replace_open(&r, path, e);
    if (s) return s;
    s = render_child(dot, format, r.file, options, e);
    status closed = replace_close(&r, s == STATUS_OK, e);
    return s ? s : closed;
}
