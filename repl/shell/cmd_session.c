/* cmd_session.c — commands about what is bound, what was done, and what it cost. */
#include <stdlib.h>
#include <string.h>

#include "repl/shell/commands.h"
#include "repl/shell/json.h"

static status no_arguments(shell *sh, const char *name, const char *args) {
    return *args == '\0' ? STATUS_OK : command_usage(sh, name);
}

/* Writes and frees `out`, if nothing failed before. */
static status show(shell *sh, status code, text *out) {
    if (code == STATUS_OK) code = shell_results(sh, out);
    text_free(out);
    return code;
}

/* --json or nothing. */
static status only_json(shell *sh, const char *name, const char *args, bool *json) {
    command_args a;
    status code = command_split(sh, args, &a);
    *json = a.json;
    if (code == STATUS_OK && (a.length > 0 || a.out)) code = command_usage(sh, name);
    command_args_free(&a);
    return code;
}

/* "1.5 MB" */
static void add_bytes(text *out, double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000 && unit < 4) bytes /= 1000, unit++;
    text_printf(out, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

/* ---- :vars ---- */

/* Bytes of the tensors in a value; values nest at most VALUE_MAX_DEPTH deep. */
static double bytes_of(value v) {
    double bytes = 0;
    if (v.kind == VALUE_TENSOR && tensor_concrete(v.tensor))
        return (double)tensor_count(v.tensor) * (double)dtype_size(v.tensor->meta.dtype);
    for (size_t i = 0; v.kind == VALUE_TUPLE && i < v.tuple->count; i++) bytes += bytes_of(v.tuple->item[i]);
    for (size_t i = 0; v.kind == VALUE_RECORD && i < v.record->count; i++)
        bytes += bytes_of(v.record->entry[i].value);
    return bytes;
}

typedef struct vars_list {
    shell *sh;
    text *out;
    bool json;
    size_t widest;
    int count;
} vars_list;

static bool measure_name(void *user, const symbol *name, value v) {
    vars_list *l = user;
    (void)v;
    if (name->length > l->widest) l->widest = name->length;
    return true;
}

static void what_it_is(value v, text *out) {
    char m[160];
    if (v.kind == VALUE_TENSOR && v.tensor->meta.shape.rank == 0 && tensor_concrete(v.tensor)) {
        text_printf(out, "%s%s ", v.tensor->meta.weak ? "weak " : "", dtype_name(v.tensor->meta.dtype));
        print_scalar(v.tensor, out);
    } else if (v.kind == VALUE_TENSOR) {
        meta_print(v.tensor->c->dims, &v.tensor->meta, out);
    } else {
        text_add(out, value_describe(v, m, sizeof m));
    }
}

static bool add_var(void *user, const symbol *name, value v) {
    vars_list *l = user;
    text what = {0};
    what_it_is(v, &what);
    if (l->json) {
        text_add(l->out, l->count > 0 ? ",{\"name\":" : "{\"name\":");
        json_string(name->text, name->length, l->out);
        text_add(l->out, ",\"is\":");
        json_string(text_str(&what), what.length, l->out);
        text_printf(l->out, ",\"bytes\":%.0f}", bytes_of(v));
    } else {
        text_printf(l->out, "%-*s  %-32s  ", (int)(l->widest < 30 ? l->widest : 30), name->text,
                    text_str(&what));
        if (bytes_of(v) > 0) add_bytes(l->out, bytes_of(v));
        while (l->out->length > 0 && l->out->data[l->out->length - 1] == ' ')
            l->out->data[--l->out->length] = '\0';
        text_char(l->out, '\n');
    }
    l->out->failed |= what.failed;
    text_free(&what);
    l->count++;
    return !l->out->failed;
}

status cmd_vars(shell *sh, const char *args) {
    text out = {0};
    vars_list l = {.sh = sh, .out = &out};
    if (only_json(sh, "vars", args, &l.json)) return sh->c->err.code;
    session_each(sh->session, measure_name, &l);
    if (l.json) text_add(&out, "{\"vars\":[");
    session_each(sh->session, add_var, &l);
    if (l.json)
        text_add(&out, "]}\n");
    else if (l.count == 0)
        text_add(&out, "nothing is bound\n");
    return show(sh, STATUS_OK, &out);
}

/* ---- :undo, :redo, :clear ---- */

static status step(shell *sh, status (*take)(session *, text *), const char *what) {
    text names = {0}, out = {0};
    status code = take(sh->session, &names);
    if (names.length > 0)
        text_printf(&out, "%s: %s\n", what, names.data);
    else
        text_printf(&out, "%s\n", what);
    out.failed |= names.failed;
    text_free(&names);
    return show(sh, code, &out);
}

status cmd_undo(shell *sh, const char *args) {
    return no_arguments(sh, "undo", args) ? sh->c->err.code : step(sh, session_undo, "undone");
}

status cmd_redo(shell *sh, const char *args) {
    return no_arguments(sh, "redo", args) ? sh->c->err.code : step(sh, session_redo, "redone");
}

status cmd_clear(shell *sh, const char *args) {
    if (no_arguments(sh, "clear", args)) return sh->c->err.code;
    session_forget(sh->session);
    allocator_trim(sh->c->memory);
    return STATUS_OK;
}

/* ---- :run, :quit, :history ---- */

status cmd_run(shell *sh, const char *args) {
    if (*args == '\0') return command_usage(sh, "run");
    char *path = command_path(sh, args, strlen(args));
    if (!path) return sh->c->err.code;
    status code = shell_run_file(sh, path);
    mem_free(path);
    return code;
}

status cmd_quit(shell *sh, const char *args) {
    char *end;
    long code = strtol(args, &end, 10);
    if (*end != '\0' || code < 0 || code > 255) return command_usage(sh, "quit");
    sh->leaving = true;
    sh->leaving_status = (int)code;
    return fail(&sh->c->err, STATUS_INTERRUPT, 808, "leaving");
}

status cmd_history(shell *sh, const char *args) {
    command_args a;
    text out = {0};
    if (command_split(sh, args, &a)) return sh->c->err.code;
    char *end = NULL;
    long most = a.length > 0 ? strtol(a.rest, &end, 10) : 20;
    bool wrong = a.out || most < 1 || (a.length > 0 && end != a.rest + a.length);
    if (!wrong) line_history(&out, most > 100000 ? 100000 : (int)most, a.json);
    command_args_free(&a);
    return wrong ? command_usage(sh, "history") : show(sh, STATUS_OK, &out);
}

/* ---- :time, :mem, :threads ---- */

static void add_time(text *out, double ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    while (ns >= 1000 && unit < 3) ns /= 1000, unit++;
    text_printf(out, "%.3g %s", ns, units[unit]);
}

status cmd_time(shell *sh, const char *args) {
    command_args a;
    if (command_split(sh, args, &a)) return sh->c->err.code;
    if (a.length == 0 || a.out) {
        command_args_free(&a);
        return command_usage(sh, "time");
    }
    uint64_t begin = clock_ns();
    status code = shell_run_part(sh, command_place(sh, a.rest, a.length));
    double ns = (double)(clock_ns() - begin);
    text out = {0};
    if (a.json) {
        text_printf(&out, "{\"time_ns\":%.0f}\n", ns);
    } else {
        text_add(&out, "took ");
        add_time(&out, ns);
        text_char(&out, '\n');
    }
    command_args_free(&a);
    return show(sh, code, &out);
}

status cmd_mem(shell *sh, const char *args) {
    bool json;
    text out = {0};
    if (only_json(sh, "mem", args, &json)) return sh->c->err.code;
    const allocator *m = sh->c->memory;
    double used = (double)allocator_used(m), kept = (double)allocator_cached(m),
           peak = (double)allocator_peak(m), limit = (double)allocator_limit(m);
    if (json) {
        text_printf(&out, "{\"used\":%.0f,\"kept\":%.0f,\"peak\":%.0f,\"limit\":", used, kept, peak);
        text_printf(&out, limit > 0 ? "%.0f" : "null", limit);
        text_printf(&out, ",\"blocks\":%lld}\n", (long long)mem_live());
        return show(sh, STATUS_OK, &out);
    }
    text_add(&out, "in use by tensors   ");
    add_bytes(&out, used);
    text_add(&out, "\nkept for reuse      ");
    add_bytes(&out, kept);
    text_add(&out, "\nhighest use         ");
    add_bytes(&out, peak);
    if (limit > 0) {
        text_add(&out, "\nlimit (--memory)    ");
        add_bytes(&out, limit);
    }
    text_printf(&out, "\nblocks of all kinds %lld\n", (long long)mem_live());
    return show(sh, STATUS_OK, &out);
}

status cmd_threads(shell *sh, const char *args) {
    bool json;
    text out = {0};
    if (only_json(sh, "threads", args, &json)) return sh->c->err.code;
    text_printf(&out, json ? "{\"threads\":%d}\n" : "%d threads (--threads N when the program starts)\n",
                pool_lanes(sh->c->workers));
    return show(sh, STATUS_OK, &out);
}
