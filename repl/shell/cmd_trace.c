/* cmd_trace.c — :trace save writes the last recording for other programs. */
#include <string.h>

#include "profiler/chrome.h"
#include "repl/shell/seen.h"

status cmd_trace(shell *sh, const char *args) {
    size_t verb = strcspn(args, " \t");
    if (verb != 4 || memcmp(args, "save", 4) != 0 || !args[4]) return command_usage(sh, "trace");
    const char *file = args + 4 + strspn(args + 4, " \t");
    char *path = command_path(sh, file, strlen(file));
    if (!path) return sh->c->err.code;
    const recording *r = seen_recording(sh);
    status s = r ? chrome_save(r, path, &sh->c->err) : sh->c->err.code;
    text out = {0};
    if (!s) {
        text_printf(&out, "wrote %s: %u events", path, r->count);
        if (r->lost_total) text_printf(&out, ", %llu more were lost", (unsigned long long)r->lost_total);
        text_add(&out, "; chrome://tracing and ui.perfetto.dev open it\n");
    }
    mem_free(path);
    return seen_show(sh, s, &out);
}
