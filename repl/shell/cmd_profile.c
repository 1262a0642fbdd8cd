/* cmd_profile.c — :profile runs a statement under the tracer and shows where its time went.
 *
 * The statement runs once to warm up (plans, compilers, caches), then in turns without and with the tracer, so
 * that the cost of tracing is known; the fastest of each is shown. All of these runs are taken back and what
 * they print is dropped, except the last, whose bindings stay. */
#include <stdlib.h>
#include <string.h>

#include "profiler/report.h"
#include "profiler/tracer.h"
#include "repl/shell/seen.h"

enum { RUNS_MOST = 1000, SHORT_NS = 20000000 };

typedef struct profile_job {
    shell *sh;
    span where;
    char *title; /* the statement */
    int runs;
    int64_t warm, untraced; /* ns */
    recording *best;
} profile_job;

/* One run; *ns gets its wall time. Traced when `out` is not NULL. */
static status run_once(profile_job *j, bool keep, recording **out, int64_t *ns) {
    context *c = j->sh->c;
    if (out && profile_begin(c)) return c->err.code;
    uint64_t ticks = clock_ticks(), begin = clock_ns();
    status s = session_perform(j->sh->session, j->where, keep);
    *ns = (int64_t)(clock_ns() - begin);
    if (!out) return s;
    if (s) {
        profile_abandon(c);
        return s;
    }
    if (c->events.on)
        event_write(&c->events, (event){.begin = ticks,
                                        .end = clock_ticks(),
                                        .name = "statement",
                                        .tier = "",
                                        .where = j->where,
                                        .kind = EVENT_SPAN});
    source_finder finder = seen_finder(j->sh);
    return profile_end(c, &finder, j->title, out);
}

/* Keeps the faster recording. */
static void keep_best(profile_job *j, recording *r, int64_t ns, int run) {
    if (j->best && j->best->traced <= ns) {
        recording_free(r);
        return;
    }
    recording_free(j->best);
    j->best = r;
    r->traced = ns;
    r->run = run;
}

/* Short statements are repeated more often, as single runs of them say little. */
static int usual_runs(int64_t warm) {
    return warm < SHORT_NS ? 9 : warm < 200000000 ? 5 : warm < 2000000000 ? 3 : 1;
}

/* Before a short statement is timed it runs once more, so that caches are as warm for the one run as for the
 * other. */
static status prime(profile_job *j) {
    int64_t ns;
    return j->warm < SHORT_NS ? run_once(j, false, NULL, &ns) : STATUS_OK;
}

static status run_all(profile_job *j) {
    status s = run_once(j, false, NULL, &j->warm);
    if (s) return s;
    if (!j->runs) j->runs = usual_runs(j->warm);
    for (int run = 1; run <= j->runs && !s; run++) {
        int64_t ns;
        recording *r = NULL;
        if (prime(j) || run_once(j, false, NULL, &ns)) return j->sh->c->err.code;
        if (!j->untraced || ns < j->untraced) j->untraced = ns;
        s = prime(j);
        if (!s) s = run_once(j, run == j->runs, &r, &ns);
        if (!s) keep_best(j, r, ns, run);
    }
    if (s || !j->best) return s;
    j->best->untraced = j->untraced;
    j->best->runs = j->runs;
    return STATUS_OK;
}

/* The table of the last recording, or its JSON. */
static status show_report(shell *sh, bool json) {
    const recording *r = seen_recording(sh);
    const machine_limits *limits = r ? seen_limits(sh, false) : NULL;
    if (!limits) return sh->c->err.code;
    seen *kept = seen_of(sh);
    if (limits_learn(&kept->limits, r)) limits_keep(&kept->limits);
    report table;
    if (report_build(r, limits, &table, &sh->c->err)) return sh->c->err.code;
    print_options window = shell_window(sh);
    text out = {0};
    if (json)
        out.failed |= !report_json(&table, &out);
    else
        report_print(&table, window.width,
                     sh->interactive && window.height > 18 ? (uint32_t)window.height - 8 : 0, &out);
    report_free(&table);
    return seen_show(sh, STATUS_OK, &out);
}

static status profile_statement(shell *sh, const option_args *a, int runs) {
    if (!seen_of(sh) || !seen_limits(sh, false)) return sh->c->err.code;
    profile_job j = {.sh = sh, .runs = runs, .where = command_place(sh, a->rest, a->length)};
    j.title = mem_copy_text(a->rest, a->length);
    status s = j.title ? run_all(&j) : fail_memory(&sh->c->err, a->length);
    mem_free(j.title);
    if (s) {
        recording_free(j.best);
        return s;
    }
    seen *kept = seen_of(sh);
    recording_free(kept->last);
    kept->last = j.best;
    return STATUS_OK;
}

status cmd_profile(shell *sh, const char *args) {
    enum { JSON, RUNS, CALIBRATE, COUNT };
    command_option o[COUNT] = {
        {.name = "--json"}, {.name = "--runs", .valued = true}, {.name = "--calibrate"}};
    option_args a;
    status s = command_options(sh, args, o, COUNT, &a);
    long runs = 0;
    if (!s && o[RUNS].value) {
        char *end;
        runs = strtol(o[RUNS].value, &end, 10);
        if (*end || runs < 1 || runs > RUNS_MOST)
            s = fail(&sh->c->err, STATUS_VALUE, 805, "--runs wants a number from 1 to %d", RUNS_MOST);
    }
    if (!s && o[CALIBRATE].given && !seen_limits(sh, true)) s = sh->c->err.code;
    if (!s && a.length) s = profile_statement(sh, &a, (int)runs);
    if (!s && (a.length || !o[CALIBRATE].given || seen_of(sh)->last)) s = show_report(sh, o[JSON].given);
    command_options_free(o, COUNT);
    return s;
}
