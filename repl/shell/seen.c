/* seen.c — see seen.h. */
#include "repl/shell/seen.h"

#include <string.h>

/* ---- what is kept ---- */

static void free_seen(shell *sh) {
    seen *s = sh->pictures;
    if (!s) return;
    recording_free(s->last);
    mem_free(s);
    sh->pictures = NULL;
}

seen *seen_of(shell *sh) {
    if (sh->pictures) return sh->pictures;
    seen *s = mem_calloc(1, sizeof *s);
    if (!s) {
        fail_memory(&sh->c->err, sizeof *s);
        return NULL;
    }
    sh->pictures = s;
    sh->pictures_free = free_seen;
    return s;
}

const recording *seen_recording(shell *sh) {
    seen *s = seen_of(sh);
    if (s && s->last) return s->last;
    if (s) {
        fail(&sh->c->err, STATUS_VALUE, 706, "nothing was recorded yet");
        fail_hint(&sh->c->err, "first :profile STATEMENT");
    }
    return NULL;
}

const machine_limits *seen_limits(shell *sh, bool again) {
    seen *s = seen_of(sh);
    if (!s) return NULL;
    if (s->limited && !again) return &s->limits;
    if (again ? limits_measure(sh->c, &s->limits) : limits_get(sh->c, &s->limits)) return NULL;
    if (again) limits_keep(&s->limits);
    s->limited = true;
    return &s->limits;
}

/* ---- places ---- */

/* The line around byte `at`. */
static void line_around(const char *content, size_t length, size_t at, source_line *out) {
    size_t begin = at < length ? at : length, end = begin;
    while (begin > 0 && content[begin - 1] != '\n') begin--;
    while (end < length && content[end] != '\n') end++;
    out->text = content + begin;
    out->length = end - begin;
}

static bool find_place(void *user, span where, source_line *out) {
    const source_table *sources = user;
    size_t length;
    const char *content = source_text(sources, where.source, &length),
               *name = source_name(sources, where.source);
    if (!content) return false;
    const char *slash = name ? strrchr(name, '/') : NULL;
    *out = (source_line){.file = slash ? slash + 1 : name ? name : "prompt"};
    out->line = source_locate(sources, where.source, where.begin).line;
    line_around(content, length, where.begin, out);
    return true;
}

source_finder seen_finder(const shell *sh) {
    return (source_finder){find_place, (void *)(uintptr_t)session_sources(sh->session)};
}

status seen_show(shell *sh, status code, text *out) {
    if (!code && out->failed) code = fail_memory(&sh->c->err, out->length);
    if (!code) code = shell_results(sh, out);
    text_free(out);
    return code;
}
