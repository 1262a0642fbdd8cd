/* report_print.c — the report as a table fitted to the window: the widest texts are cut first, then columns
 * leave, the least telling first. */
#include "profiler/report.h"

#include <stdio.h>
#include <string.h>

enum { COL_SELF, COL_SHARE, COL_CALLS, COL_MEAN, COL_BANDWIDTH, COL_FLOPS, COL_LIMIT, COL_NAME, COL_PLACE };
enum { COLUMNS = COL_PLACE + 1, NAME_LEAST = 16, NAME_GOOD = 24, GAP = 2 };

static const char *const headers[COLUMNS] = {"time",    "share", "calls", "mean", "GB/s",
                                             "GFLOP/s", "limit", "what",  "where"};
/* Columns leave in this order when the window is narrow. */
static const int leaving[] = {COL_MEAN, COL_FLOPS, COL_BANDWIDTH, COL_LIMIT, COL_CALLS, COL_PLACE, COL_SELF};

const char *report_time_text(double ns, char buffer[16]) {
    if (ns < 1e3)
        snprintf(buffer, 16, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(buffer, 16, ns < 1e4 ? "%.2f us" : ns < 1e5 ? "%.1f us" : "%.0f us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(buffer, 16, ns < 1e7 ? "%.2f ms" : ns < 1e8 ? "%.1f ms" : "%.0f ms", ns / 1e6);
    else
        snprintf(buffer, 16, ns < 1e10 ? "%.2f s" : "%.1f s", ns / 1e9);
    return buffer;
}

const char *report_count_text(double n, char buffer[16]) {
    static const char prefix[] = " kMGTPE";
    int p = 0;
    while (n >= 999.5 && p < 6) n /= 1000, p++;
    int decimals = p == 0 || n >= 99.5 ? 0 : n >= 9.995 ? 1 : 2;
    snprintf(buffer, 16, p ? "%.*f %c" : "%.*f ", decimals, n, prefix[p]);
    return buffer;
}

/* Appends s in exactly `width` columns: cut with a dot-dot, or filled with blanks on the side away from
 * `right`. Control characters and bytes that are not UTF-8 come out as `?`. */
static void put_cell(text *out, const char *s, int width, bool right) {
    size_t length = strlen(s);
    int columns = unicode_columns(s, length);
    bool cut = columns > width;
    int room = cut ? width - (width > 2 ? 2 : 0) : width, used = 0;
    for (int i = columns; right && i < width; i++) text_char(out, ' ');
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = utf8_decode(s + at, length - at, &code);
        int w = bytes ? unicode_width(code) : 1;
        if (used + w > room) break;
        if (!bytes || code < 32 || code == 127)
            text_char(out, '?');
        else
            text_add_bytes(out, s + at, bytes);
        used += w;
        at += bytes ? bytes : 1;
    }
    if (cut && width > 2) text_add(out, ".."), used += 2;
    for (; !right && used < width; used++) text_char(out, ' ');
}

static void rate_text(double rate, char buffer[32]) {
    buffer[0] = '\0';
    if (rate > 0) snprintf(buffer, 32, rate < 9.995 ? "%.2f" : rate < 99.95 ? "%.1f" : "%.0f", rate);
}

/* "k3_add_tanh [C]", "k4 matmul [library]", "add": kernels are told apart by their number. */
static void row_name(const report_row *row, char cell[128]) {
    char number[16], id[20] = "";
    snprintf(number, sizeof number, "k%u", row->kernel);
    if (row->kernel && strncmp(row->name, number, strlen(number)) != 0)
        snprintf(id, sizeof id, "%s ", number);
    bool tier = row->tier[0] && strcmp(row->tier, "eager") != 0;
    snprintf(cell, 128, "%s%.80s%s%.20s%s", id, row->name[0] ? row->name : recording_kind_name(row->kind),
             tier ? " [" : "", tier ? row->tier : "", tier ? "]" : "");
}

/* The texts of a row's cells into `cell`; name and place are cut to their buffers. */
static void row_cells(const report_row *row, char cell[COLUMNS][128]) {
    memset(cell, 0, COLUMNS * sizeof cell[0]);
    report_time_text((double)row->self, cell[COL_SELF]);
    if (row->share >= 0) snprintf(cell[COL_SHARE], 128, "%.1f%%", 100 * row->share);
    snprintf(cell[COL_CALLS], 128, "%lld", (long long)row->calls);
    report_time_text(row->calls ? (double)row->total / (double)row->calls : 0, cell[COL_MEAN]);
    rate_text(report_bandwidth(row), cell[COL_BANDWIDTH]);
    rate_text(report_flops(row), cell[COL_FLOPS]);
    double achieved = report_achieved(row);
    if (achieved > 0)
        snprintf(cell[COL_LIMIT], 128, achieved < 0.0995 ? "%.1f%% %s" : "%.0f%% %s", 100 * achieved,
                 row->by == BOUND_MEMORY ? "mem" : "comp");
    row_name(row, cell[COL_NAME]);
    snprintf(cell[COL_PLACE], 128, "%.127s", row->place);
}

static int total_width(const int width[COLUMNS]) {
    int total = 0;
    for (int i = 0; i < COLUMNS; i++) total += width[i] ? width[i] + GAP : 0;
    return total - GAP;
}

/* Makes names and places `over` columns narrower together: names down to a length that is still told apart, then
 * places, then both to the least. */
static void cut_texts(int width[COLUMNS], int over) {
    const struct {
        int column, least;
    } steps[] = {
        {COL_NAME, NAME_GOOD}, {COL_PLACE, NAME_GOOD}, {COL_NAME, NAME_LEAST}, {COL_PLACE, NAME_LEAST}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && over > 0; i++) {
        int spare = width[steps[i].column] - steps[i].least;
        int cut = spare < 0 ? 0 : spare < over ? spare : over;
        width[steps[i].column] -= cut;
        over -= cut;
    }
}

/* Shrinks columns until the table is `limit` wide: a width of 0 leaves the column out. */
static void fit(int width[COLUMNS], int limit) {
    for (size_t i = 0;; i++) {
        int over = total_width(width) - limit;
        if (over <= 0) return;
        /* Cutting texts suffices when they keep a readable rest. */
        int spare_name = width[COL_NAME] > NAME_LEAST ? width[COL_NAME] - NAME_LEAST : 0;
        int spare_place = width[COL_PLACE] > NAME_LEAST ? width[COL_PLACE] - NAME_LEAST : 0;
        if (over <= spare_name + spare_place) {
            cut_texts(width, over);
            return;
        }
        if (i >= sizeof leaving / sizeof *leaving) break;
        width[leaving[i]] = 0;
    }
    int over = total_width(width) - limit;
    width[COL_NAME] = width[COL_NAME] - over > 1 ? width[COL_NAME] - over : 1;
}

static void put_row(text *out, char cell[COLUMNS][128], const int width[COLUMNS]) {
    size_t start = out->length;
    bool first = true;
    for (int i = 0; i < COLUMNS; i++) {
        if (!width[i]) continue;
        if (!first) text_add(out, "  ");
        put_cell(out, cell[i], width[i], i < COL_NAME);
        first = false;
    }
    while (out->length > start && out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
    text_char(out, '\n');
}

/* Rows that are not shown, as one. */
static report_row rest_row(const report *r, uint32_t from, char name[32]) {
    report_row rest = {.name = name, .tier = "", .place = ""};
    snprintf(name, 32, "(%u more rows)", r->count - from);
    for (uint32_t i = from; i < r->count; i++) {
        const report_row *row = &r->rows[i];
        rest.calls += row->calls;
        rest.total += row->total;
        rest.self += row->self;
        if (row->share > 0) rest.share += row->share;
    }
    return rest;
}

static void put_table(const report *r, int limit, uint32_t most, text *out) {
    uint32_t shown = most && most < r->count ? most : r->count;
    char cell[COLUMNS][128], name[32];
    report_row rest = rest_row(r, shown, name);
    uint32_t lines = shown + (shown < r->count);
    int width[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) width[i] = (int)strlen(headers[i]);
    for (uint32_t k = 0; k < lines; k++) {
        row_cells(k < shown ? &r->rows[k] : &rest, cell);
        for (int i = 0; i < COLUMNS; i++) {
            int w = unicode_columns(cell[i], strlen(cell[i]));
            if (w > width[i]) width[i] = w;
        }
    }
    if (limit > 0) fit(width, limit);
    for (int i = 0; i < COLUMNS; i++) snprintf(cell[i], sizeof cell[i], "%s", headers[i]);
    put_row(out, cell, width);
    for (uint32_t k = 0; k < lines; k++) {
        row_cells(k < shown ? &r->rows[k] : &rest, cell);
        put_row(out, cell, width);
    }
}

static void put_limits(const machine_limits *m, text *out) {
    char small[16], large[16], flops[16];
    const int last = LIMIT_LEVELS - 1;
    text_printf(out, "limit of this machine (%d %s): %sB/s memory, %sB/s up to %lld KiB, %sFLOP/s f32\n",
                m->lanes, m->lanes == 1 ? "lane" : "lanes", report_count_text(m->memory[last].rate, large),
                report_count_text(m->memory[0].rate, small), (long long)(m->memory[0].bytes >> 10),
                report_count_text(m->flops, flops));
}

static void put_tracing(const recording *r, text *out) {
    char a[16], b[16];
    if (r->traced > 0 && r->untraced > 0)
        text_printf(out, "tracing: %s traced, %s untraced, %+.1f%%", report_time_text((double)r->traced, a),
                    report_time_text((double)r->untraced, b),
                    100.0 * ((double)r->traced / (double)r->untraced - 1.0));
    else
        text_printf(out, "tracing: %s traced",
                    report_time_text((double)(r->traced ? r->traced : r->wall), a));
    if (r->runs > 1) text_printf(out, "; run %d of %d, the fastest", r->run, r->runs);
    text_printf(out, "; %u %s", r->count, r->count == 1 ? "event" : "events");
    if (r->lost_total)
        text_printf(out, ", %llu MORE LOST (the rings were full: times are incomplete)",
                    (unsigned long long)r->lost_total);
    text_char(out, '\n');
}

void report_print(const report *r, int width, uint32_t most, text *out) {
    char wall[16], between[16];
    if (r->count)
        put_table(r, width, most, out);
    else
        text_add(out, "nothing was launched\n");
    double rest = (double)(r->wall - r->launched);
    if (rest < 0) rest = 0;
    text_printf(out, "wall time %s, of which %s (%.1f%%) between launches\n",
                report_time_text((double)r->wall, wall), report_time_text(rest, between),
                r->wall > 0 ? 100.0 * rest / (double)r->wall : 0.0);
    if (r->limited) put_limits(&r->limits, out);
    put_tracing(r->of, out);
}
