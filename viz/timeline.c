/* timeline.c — drawing a timeline into cells. See timeline.h.
 *
 * From top to bottom: a head line, the axis, the rows, two lines about the selection. A small screen gives up
 * the axis first, then the second line, then the head, then the rows. */
#include "viz/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/timeline_impl.h"

enum { LABEL_COLUMNS = 8, LABEL_FROM = 40, TICK_COLUMNS = 14 };

/* ---- cells ---- */

static timeline_cell *cell_at(const timeline_cells *c, int row, int column) {
    return &c->cell[(size_t)row * (size_t)c->width + (size_t)column];
}

/* Puts text into columns [column, end) of a row; what does not fit is left out. Returns the next column. */
static int put(timeline_cells *c, int row, int column, int end, const char *s, timeline_style style) {
    size_t length = strlen(s);
    if (end > c->width) end = c->width;
    for (size_t at = 0; at < length && row < c->height;) {
        uint32_t code;
        size_t bytes = utf8_decode(s + at, length - at, &code);
        int width = bytes ? unicode_width(code) : 1;
        at += bytes ? bytes : 1;
        if (!bytes || code < 32 || code == 127) code = '?';
        if (!width) continue;
        if (column + width > end) break;
        timeline_cell *cell = cell_at(c, row, column);
        cell->code = code;
        cell->style = style;
        if (width == 2) cell[1] = (timeline_cell){0, style, cell->selected, cell->odd};
        column += width;
    }
    return column;
}

void timeline_time(double ns, char out[24]) {
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    int u = 0;
    while (fabs(ns) >= 999.5 && u < 3) ns /= 1000, u++;
    snprintf(out, 24, "%.4g %s", ns, unit[u]);
}

static bool cells_new(timeline_cells *c, int width, int height) {
    c->width = width < 1 ? 1 : width;
    c->height = height < 1 ? 1 : height;
    size_t count;
    c->cell =
        mem_mul((size_t)c->width, (size_t)c->height, &count) ? mem_calloc(count, sizeof *c->cell) : NULL;
    for (size_t i = 0; c->cell && i < count; i++) c->cell[i].code = ' ';
    return c->cell != NULL;
}

void timeline_cells_free(timeline_cells *cells) {
    mem_free(cells->cell);
    *cells = (timeline_cells){0};
}

/* ---- where things are ---- */

/* Which lines of the screen show what; -1: none. */
typedef struct layout {
    int head, axis, rows, row_count, details, more;
    int left; /* columns before the bars */
} layout;

static layout lay_out(int width, int height) {
    layout l = {.head = -1, .axis = -1, .details = height - 1, .more = -1};
    int used = height > 1 ? 1 : 0;
    l.rows = 0;
    if (height >= 4) l.head = l.rows++, used++;
    if (height >= 5) l.details = height - 2, l.more = height - 1, used++;
    if (height >= 6) l.axis = l.rows++, used++;
    l.row_count = height - used;
    if (height == 1) l.details = -1;
    l.left = width >= LABEL_FROM ? LABEL_COLUMNS : 0;
    return l;
}

/* Column of a time, counted from the first column of the bars; may lie outside of them. */
static int column_of(const timeline_view *v, double time, int columns) {
    double x = floor((time - v->from) / (v->to - v->from) * columns);
    return x < -1 ? -1 : x > columns + 1 ? columns + 1 : (int)x;
}

/* ---- bars ---- */

static void draw_bar(const timeline_view *v, timeline_cells *c, const recorded *e, int row, int from, int to,
                     int left, bool selected) {
    timeline_style style = (timeline_style)(STYLE_OP + (int)e->kind);
    int columns = c->width - left, first = from < 0 ? 0 : from, last = to > columns ? columns : to;
    bool odd = left + first > 0 && first > 0 && cell_at(c, row, left + first - 1)->style == style &&
               !cell_at(c, row, left + first - 1)->odd;
    for (int x = first; x < last; x++)
        *cell_at(c, row, left + x) = (timeline_cell){v->blocks ? ' ' : '=', style, selected, odd};
    bool open = !v->blocks && from >= 0, closed = !v->blocks && to <= columns && last - first > 1;
    if (open) cell_at(c, row, left + first)->code = closed || to > columns ? '[' : '#';
    if (closed) cell_at(c, row, left + last - 1)->code = ']';
    if (last - first >= 3)
        put(c, row, left + first + open, left + last - closed,
            *e->name ? e->name : recording_kind_name(e->kind), style);
}

/* Events shorter than a column go where no bar is. */
static void draw_thin(timeline_cells *c, const recorded *e, int row, int x, bool selected) {
    timeline_cell *cell = cell_at(c, row, x);
    bool thin = cell->code == '|' || cell->code == ':';
    if (cell->style != STYLE_PLAIN && !thin && !selected) return;
    uint32_t code = thin && cell->style != STYLE_PLAIN ? ':' : '|';
    *cell =
        (timeline_cell){code, (timeline_style)(STYLE_OP + (int)e->kind), selected || cell->selected, false};
}

/* All events of rows [top, top + count), which stand on the lines from `line` on; thin ones after the bars. */
static void draw_events(const timeline_view *v, timeline_cells *c, int line, int count, int top, int left) {
    int columns = c->width - left;
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < v->of->count; i++) {
            const recorded *e = &v->of->events[i];
            int row = timeline_row(v, e) - top;
            if (row < 0 || row >= count || (double)e->end < v->from || (double)e->begin > v->to) continue;
            bool selected = (int32_t)i == v->selected;
            if (selected != (pass == 2)) continue;
            int from = column_of(v, (double)e->begin, columns), to = column_of(v, (double)e->end, columns);
            if (to > from && (pass == 0 || selected) && from < columns && to > 0)
                draw_bar(v, c, e, line + row, from, to, left, selected);
            else if (to == from && pass > 0 && from >= 0)
                draw_thin(c, e, line + row, left + (from < columns ? from : columns - 1), selected);
        }
    }
}

static void draw_labels(const timeline_view *v, timeline_cells *c, int line, int count, int top, int left) {
    for (int lane = 0; left && lane < v->of->lanes; lane++) {
        int row = v->first_row[lane] - top;
        char label[24];
        recording_lane_name(v->of, lane, label);
        /* The label stands at the lane's first row, or at the top when that is out of sight. */
        if (row < 0 && v->first_row[lane + 1] > top) row = 0;
        if (row >= 0 && row < count) put(c, line + row, 0, left - 1, label, STYLE_HEAD);
    }
}

/* ---- the lines around ---- */

double timeline_step(double least) {
    double step = pow(10, floor(log10(least)));
    return step >= least ? step : step * (step * 2 >= least ? 2 : step * 5 >= least ? 5 : 10);
}

/* Ticks far enough apart for their texts. */
static void draw_axis(const timeline_view *v, timeline_cells *c, int line, int left) {
    int columns = c->width - left;
    double length = v->to - v->from, least = length * TICK_COLUMNS / columns;
    double step = timeline_step(least);
    int ticks = 0;
    for (double t = ceil(v->from / step) * step; t <= v->to && ticks < columns; t += step, ticks++) {
        char label[24];
        int x = column_of(v, t, columns);
        if (x < 0 || x >= columns) continue;
        timeline_time(t, label);
        int end = left + x + TICK_COLUMNS < c->width ? left + x + TICK_COLUMNS : c->width;
        if (left + x + 1 + (int)strlen(label) > c->width) label[0] = '\0';
        put(c, line, put(c, line, left + x, end, "|", STYLE_DIM), end, label, STYLE_DIM);
    }
}

void timeline_head(const timeline_view *v, char *out, size_t size) {
    char from[24], to[24], all[24];
    timeline_time(v->from, from);
    timeline_time(v->to, to);
    timeline_time((double)v->of->wall, all);
    int used = snprintf(out, size, "%s .. %s of %s, %u events", from, to, all, v->of->count);
    if (v->of->lost_total && used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, ", %llu LOST", (unsigned long long)v->of->lost_total);
}

/* The same, and what ran. */
static void head_text(const timeline_view *v, char *out, size_t size) {
    timeline_head(v, out, size);
    size_t used = strlen(out);
    if (*v->of->title) snprintf(out + used, size - used, "  %s", v->of->title);
}

static void rate_text(double amount, int64_t ns, const char *unit, char *out, size_t size) {
    out[0] = '\0';
    if (amount > 0 && ns > 0) snprintf(out, size, "  %.3g %s", amount / (double)ns, unit);
}

void timeline_details(const recorded *e, char *out, size_t size) {
    char begin[24], length[24], ids[64] = "", bandwidth[32], flops[32];
    timeline_time((double)e->begin, begin);
    timeline_time((double)(e->end - e->begin), length);
    if (e->graph) snprintf(ids, sizeof ids, "  graph %u node %u", e->graph, e->node);
    if (e->graph && e->kernel)
        snprintf(ids, sizeof ids, "  graph %u node %u kernel %u", e->graph, e->node, e->kernel);
    rate_text((double)e->bytes, e->end - e->begin, "GB/s", bandwidth, sizeof bandwidth);
    rate_text((double)e->flops, e->end - e->begin, "GFLOP/s", flops, sizeof flops);
    snprintf(out, size, "%.80s%s%.20s%s  %s at %s%s%s%s", *e->name ? e->name : recording_kind_name(e->kind),
             *e->tier ? " [" : "", e->tier, *e->tier ? "]" : "", length, begin, ids, bandwidth, flops);
}

static void detail_text(const timeline_view *v, char *out, size_t size) {
    if (v->message)
        snprintf(out, size, "%s", v->message);
    else if (v->selected < 0)
        snprintf(out, size, "tab: next event   arrows: move   + -: zoom   /: search   ?: help   q: leave");
    else
        timeline_details(&v->of->events[v->selected], out, size);
}

static void more_text(const timeline_view *v, char *out, size_t size) {
    out[0] = '\0';
    if (v->searching)
        snprintf(out, size, "/%s_", v->search);
    else if (v->selected >= 0)
        snprintf(out, size, "%.200s  %.250s", v->of->events[v->selected].place,
                 v->of->events[v->selected].source);
}

static void draw_help(timeline_cells *c) {
    static const char *const lines[] = {"left, right (h l)   move in time",
                                        "up, down (k j)      the row above or below",
                                        "+ - (i o)           zoom in, out",
                                        "tab, shift-tab      next, previous event of the row",
                                        "enter               zoom to the event",
                                        "home (0), end ($)   everything; the end",
                                        "/ n N               search; next, previous find",
                                        "escape              nothing selected",
                                        "q                   leave",
                                        "| an event shorter than a column, : several"};
    const int count = (int)(sizeof lines / sizeof *lines);
    int first = c->height > count ? (c->height - count) / 2 : 0;
    for (int i = 0; i < count && first + i < c->height; i++) {
        for (int x = 0; x < c->width; x++)
            *cell_at(c, first + i, x) = (timeline_cell){' ', STYLE_HEAD, false, false};
        put(c, first + i, c->width > 60 ? 4 : 0, c->width, lines[i], STYLE_HEAD);
    }
}

/* Scrolls so that the selection's row is among those shown. */
static void keep_in_sight(timeline_view *v) {
    if (v->selected >= 0) {
        int row = timeline_row(v, &v->of->events[v->selected]);
        if (row < v->top) v->top = row;
        if (row >= v->top + v->height) v->top = row - v->height + 1;
    }
    if (v->top > v->rows - v->height) v->top = v->rows - v->height;
    if (v->top < 0) v->top = 0;
}

bool timeline_draw(timeline_view *v, int width, int height, timeline_cells *out) {
    char line[512];
    if (!cells_new(out, width, height)) return false;
    layout l = lay_out(out->width, out->height);
    v->height = l.row_count;
    keep_in_sight(v);
    if (l.head >= 0) {
        head_text(v, line, sizeof line);
        put(out, l.head, 0, out->width, line, STYLE_HEAD);
    }
    if (l.axis >= 0) draw_axis(v, out, l.axis, l.left);
    draw_events(v, out, l.rows, l.row_count, v->top, l.left);
    draw_labels(v, out, l.rows, l.row_count, v->top, l.left);
    if (l.details >= 0) {
        detail_text(v, line, sizeof line);
        if (v->searching && l.more < 0) more_text(v, line, sizeof line);
        put(out, l.details, 0, out->width, line, STYLE_PLAIN);
    }
    if (l.more >= 0) {
        more_text(v, line, sizeof line);
        put(out, l.more, 0, out->width, line, STYLE_DIM);
    }
    if (v->help) draw_help(out);
    return true;
}

static void put_cells(const timeline_cells *c, text *out) {
    for (int row = 0; row < c->height; row++) {
        size_t start = out->length;
        for (int x = 0; x < c->width; x++) {
            char bytes[4];
            uint32_t code = cell_at(c, row, x)->code;
            size_t count = code ? utf8_encode(code, bytes) : 0;
            text_add_bytes(out, bytes, count);
        }
        while (!out->failed && out->length > start && out->data[out->length - 1] == ' ')
            out->data[--out->length] = '\0';
        text_char(out, '\n');
    }
}

void timeline_text(timeline_view *v, int width, text *out) {
    char head[512];
    timeline_cells c;
    head_text(v, head, sizeof head);
    text_printf(out, "%s\n", head);
    if (!cells_new(&c, width, v->rows + 1)) {
        out->failed = true;
        return;
    }
    int left = lay_out(c.width, c.height).left;
    bool blocks = v->blocks;
    v->blocks = false;
    draw_axis(v, &c, 0, left);
    draw_events(v, &c, 1, v->rows, 0, left);
    draw_labels(v, &c, 1, v->rows, 0, left);
    v->blocks = blocks;
    put_cells(&c, out);
    timeline_cells_free(&c);
}
