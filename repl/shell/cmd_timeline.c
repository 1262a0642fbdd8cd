/* cmd_timeline.c — :timeline shows the last recording over time, on the screen, as text or as a picture. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "repl/shell/seen.h"
#include "viz/screen.h"
#include "viz/timeline.h"

enum { TEXT_COLUMNS = 160 }; /* of a file */

static status as_text(shell *sh, const recording *r) {
    timeline_view v;
    text out = {0};
    if (timeline_open(&v, r, &sh->c->err)) return sh->c->err.code;
    timeline_text(&v, shell_window(sh).width, &out);
    timeline_close(&v);
    return seen_show(sh, STATUS_OK, &out);
}

static bool is_picture(const char *path) {
    return strcasecmp(path_ending(path), "svg") == 0;
}

static status check_name(shell *sh, const char *path, bool text_wanted) {
    bool as_characters = strcasecmp(path_ending(path), "txt") == 0;
    if (as_characters || (is_picture(path) && !text_wanted)) return STATUS_OK;
    fail(&sh->c->err, STATUS_VALUE, 704, "%s: a timeline is drawn into %s", path,
         text_wanted ? ".txt files as text" : ".svg files, or as text into .txt files");
    return fail_hint(&sh->c->err, "write, say, --out timeline.%s", text_wanted ? "txt" : "svg");
}

static status into_file(shell *sh, const recording *r, const char *path) {
    timeline_view v;
    text out = {0};
    if (timeline_open(&v, r, &sh->c->err)) return sh->c->err.code;
    if (is_picture(path))
        timeline_svg(&v, &out);
    else
        timeline_text(&v, TEXT_COLUMNS, &out);
    timeline_close(&v);
    status s = out.failed ? fail_memory(&sh->c->err, out.length)
                          : replace_file(path, text_str(&out), out.length, &sh->c->err);
    text_clear(&out);
    if (!s) text_printf(&out, "wrote %s\n", path);
    return seen_show(sh, s, &out);
}

status cmd_timeline(shell *sh, const char *args) {
    enum { TEXT, OUT, COUNT };
    command_option o[COUNT] = {{.name = "--text"}, {.name = "--out", .valued = true}};
    option_args a;
    status s = command_options(sh, args, o, COUNT, &a);
    if (!s && a.length) s = command_usage(sh, "timeline");
    if (!s && o[OUT].given) s = check_name(sh, o[OUT].value, o[TEXT].given);
    const recording *r = s ? NULL : seen_recording(sh);
    if (!s && !r) s = sh->c->err.code;
    if (!s) {
        bool screen = !o[TEXT].given && !o[OUT].given && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        if (o[OUT].given)
            s = into_file(sh, r, o[OUT].value);
        else if (!screen)
            s = as_text(sh, r);
        else if (!(s = shell_flush(sh)))
            s = screen_timeline(r, &sh->c->interrupt, &sh->c->err);
        if (screen)
            atomic_store(&sh->c->interrupt, 0); /* Ctrl-C left the screen, and that was all it was for */
    }
    command_options_free(o, COUNT);
    return s;
}
