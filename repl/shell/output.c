/* output.c — results and diagnostics; see shell.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "repl/shell/json.h"
#include "repl/shell/shell.h"

#define BOLD_RED "\x1b[1;31m"
#define CYAN "\x1b[36m"
#define DIM "\x1b[2m"
#define PLAIN "\x1b[0m"

static status output_failed(shell *sh) {
    if (sh->output_errno == 0) sh->output_errno = errno ? errno : EIO;
    return fail(&sh->c->err, STATUS_IO, 802, "results can't be written to standard output: %s",
                strerror(sh->output_errno));
}

status shell_flush(shell *sh) {
    if (sh->output_errno != 0) return output_failed(sh);
    return fflush(stdout) == 0 ? STATUS_OK : output_failed(sh);
}

status shell_results(shell *sh, text *out) {
    if (out->failed) {
        text_clear(out);
        return fail_memory(&sh->c->err, out->capacity);
    }
    if (sh->output_errno != 0) return output_failed(sh);
    bool written = out->length == 0 || fwrite(out->data, 1, out->length, stdout) == out->length;
    text_clear(out);
    if (!written) return output_failed(sh);
    return sh->interactive ? shell_flush(sh) : STATUS_OK;
}

void shell_diagnostics(shell *sh, text *out) {
    if (sh->output_errno == 0) fflush(stdout); /* keeps the order when both go to one place */
    if (out->length > 0) fwrite(out->data, 1, out->length, stderr);
    text_clear(out);
}

/* An error's lines with its class, carets and hint in colour. */
static void paint(const char *plain, size_t length, text *out) {
    const char *end = plain + length;
    bool first = true;
    for (const char *line = plain; line < end; first = false) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((stop ? stop : end) - line), blanks = 0;
        while (blanks < n && line[blanks] == ' ') blanks++;
        const char *colon = first ? memchr(line, ':', n) : NULL;
        size_t painted = 0;
        if (colon) {
            painted = (size_t)(colon - line) + 1;
            text_add(out, BOLD_RED);
        } else if (blanks < n && line[blanks] == '^') {
            painted = blanks;
            while (painted < n && line[painted] == '^') painted++;
            text_add(out, BOLD_RED);
        } else if (n - blanks >= 5 && memcmp(line + blanks, "hint:", 5) == 0) {
            painted = blanks + 5;
            text_add(out, CYAN);
        }
        text_add_bytes(out, line, painted);
        if (painted > 0) text_add(out, PLAIN);
        text_add_bytes(out, line + painted, n - painted);
        text_char(out, '\n');
        line += n + 1;
    }
}

void shell_show_error(shell *sh) {
    text plain = {0}, painted = {0};
    sh->last_error = sh->c->err.number;
    if (sh->json)
        json_error(session_sources(sh->session), &sh->c->err, &plain);
    else if (sh->c->err.code == STATUS_INTERRUPT && sh->interactive)
        text_add(&plain, "interrupted\n");
    else
        session_render_error(sh->session, isatty(STDERR_FILENO) ? shell_window(sh).width : 0, &plain);
    if (plain.failed) { /* no memory even for that: the message itself is in a fixed place */
        fflush(stdout);
        fprintf(stderr, "E%d %s: %s\n", sh->c->err.number, status_name(sh->c->err.code), sh->c->err.message);
    } else if (sh->colour_err && !sh->json && sh->c->err.code != STATUS_INTERRUPT) {
        paint(text_str(&plain), plain.length, &painted);
        shell_diagnostics(sh, painted.failed ? &plain : &painted);
    } else {
        shell_diagnostics(sh, &plain);
    }
    text_free(&plain);
    text_free(&painted);
}

void shell_warn(shell *sh, span where, const char *message) {
    text out = {0};
    const source_table *sources = session_sources(sh->session);
    const char *name = source_name(sources, where.source);
    if (sh->json) {
        json_warning(sources, where, message, &out);
    } else {
        if (name) text_printf(&out, "%s:%u: ", name, source_locate(sources, where.source, where.begin).line);
        text_printf(&out, "warning: %s\n", message);
    }
    shell_diagnostics(sh, &out);
    text_free(&out);
}

/* A size from the environment, for terminals that do not know theirs. */
static int from_environment(const char *name, int otherwise) {
    const char *s = getenv(name);
    long n = s ? strtol(s, NULL, 10) : 0;
    return n >= 20 && n <= 10000 ? (int)n : otherwise;
}

print_options shell_window(const shell *sh) {
    print_options o = {.width = 80, .height = 24, .dim = "", .plain = ""};
    if (!isatty(STDOUT_FILENO)) return o;
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    o.width = known ? size.ws_col : from_environment("COLUMNS", 80);
    o.height = known ? size.ws_row : from_environment("LINES", 24);
    if (o.width < 40) o.width = 40;
    if (sh->colour_out) {
        o.dim = DIM;
        o.plain = PLAIN;
    }
    return o;
}
