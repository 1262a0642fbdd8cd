/* cmd_timeline.c — :timeline shows the last recording over time, on the screen or as text. */
#include <string.h>
#include <unistd.h>

#include "repl/shell/seen.h"
#include "viz/screen.h"
#include "viz/timeline.h"

static status as_text(shell *sh, const recording *r, const char *path) {
    timeline_view v;
    text out = {0};
    if (timeline_open(&v, r, &sh->c->err)) return sh->c->err.code;
    timeline_text(&v, path ? 160 : shell_window(sh).width, &out);
    timeline_close(&v);
    if (!path) return seen_show(sh, STATUS_OK, &out);
    status s = out.failed ? fail_memory(&sh->c->err, out.length)
                          : replace_file(path, text_str(&out), out.length, &sh->c->err);
    text_clear(&out);
    if (s) {
        text_free(&out);
        return s;
    }
    text_printf(&out, "wrote %s, as text\n", path);
    return seen_show(sh, STATUS_OK, &out);
}

status cmd_timeline(shell *sh, const char *args) {
    enum { TEXT, OUT, COUNT };
    command_option o[COUNT] = {{.name = "--text"}, {.name = "--out", .valued = true}};
    option_args a;
    status s = command_options(sh, args, o, COUNT, &a);
    if (!s && a.length) s = command_usage(sh, "timeline");
    const recording *r = s ? NULL : seen_recording(sh);
    if (!s && !r) s = sh->c->err.code;
    if (!s) {
        bool screen = !o[TEXT].given && !o[OUT].given && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        if (!screen)
            s = as_text(sh, r, o[OUT].value);
        else if (!(s = shell_flush(sh)))
            s = screen_timeline(r, &sh->c->interrupt, &sh->c->err);
        if (screen)
            atomic_store(&sh->c->interrupt, 0); /* Ctrl-C left the screen, and that was all it was for */
    }
    command_options_free(o, COUNT);
    return s;
}
