/* timeline_svg.c — a timeline as an SVG picture: the head, an axis over all rows, the lanes with their bars, a legend.
 * See timeline.h. */
#include <stdio.h>
#include <string.h>

#include "viz/timeline_impl.h"

/* All in pixels. Names are set in a monospaced face, whose characters are CHAR wide at most, so that it is known what
 * fits into a bar. */
enum {
    WIDTH = 1200,
    LEFT = 76, /* of the bars, as in all rows */
    RIGHT = WIDTH - 24,
    AXIS = 72, /* baseline of the ticks' texts */
    TOP = 82,  /* of the first row */
    ROW = 22,
    BAR = 20,
    LANE_GAP = 8,
    TICK = 110, /* between ticks, at least */
    CHAR = 7
};
static const double thinnest = 0.6;

static const struct {
    const char *fill, *line;
} kinds[] = {{"#cfe3f5", "#4c86b8"}, {"#fbd9b5", "#c97b2b"}, {"#cdebc9", "#4a9a45"},
             {"#e5d5f0", "#8a5fb0"}, {"#f7cfd3", "#c05563"}, {"#e8eaed", "#8b929b"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Appends up to `most` columns of s as XML text; what XML can't have becomes U+FFFD. */
static void put_escaped(text *out, const char *s, int most) {
    size_t length = strlen(s);
    int columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = utf8_decode(s + at, length - at, &code);
        columns += bytes ? unicode_width(code) : 1;
        if (columns > most) return;
        if (!bytes || (code < 32 && code != '\n') || code == 127 || code == 0xfffe || code == 0xffff)
            text_add(out, "\xef\xbf\xbd");
        else if (code == '<' || code == '>' || code == '&' || code == '"')
            text_add(out, code == '<' ? "&lt;" : code == '>' ? "&gt;" : code == '&' ? "&amp;" : "&quot;");
        else
            text_add_bytes(out, s + at, bytes);
        at += bytes ? bytes : 1;
    }
}

/* ---- where things are ---- */

static double x_of(const timeline_view *v, double ns) {
    double x = LEFT + (ns - v->from) / (v->to - v->from) * (RIGHT - LEFT);
    return x < LEFT ? LEFT : x > RIGHT ? RIGHT : x;
}

/* Does anything happen on the lane in the window? */
static bool lane_shown(const timeline_view *v, int lane) {
    for (uint32_t i = 0; i < v->of->count; i++) {
        const recorded *e = &v->of->events[i];
        if (e->lane == lane && (double)e->end >= v->from && (double)e->begin <= v->to) return true;
    }
    return false;
}

/* ---- the parts ---- */

/* What an event says when one points at it. */
static void put_title(const recorded *e, text *out) {
    char details[256];
    timeline_details(e, details, sizeof details);
    text_add(out, "<title>");
    put_escaped(out, details, 1000);
    if (*e->place) {
        text_char(out, '\n');
        put_escaped(out, e->place, 1000);
        text_add(out, "  ");
        put_escaped(out, e->source, 200);
    }
    text_add(out, "</title>");
}

static void put_bar(const timeline_view *v, const recorded *e, double y, text *out) {
    double x = x_of(v, (double)e->begin), width = x_of(v, (double)e->end) - x;
    const char *name = *e->name ? e->name : recording_kind_name(e->kind);
    int most = ((int)width - 6) / CHAR, columns = unicode_columns(name, strlen(name));
    text_printf(out, "<g class=\"k%d\"><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"/>",
                (int)e->kind, x, y, width < thinnest ? thinnest : width, BAR);
    put_title(e, out);
    if (most >= columns || most >= 4) {
        text_printf(out, "<text x=\"%.2f\" y=\"%.0f\">", x + 4, y + 14);
        put_escaped(out, name, most >= columns ? columns : most - 1);
        text_add(out, most >= columns ? "</text>" : "\xe2\x80\xa6</text>");
    }
    text_add(out, "</g>\n");
}

/* A lane's rows from y on. Events come by their beginnings; `drawn`: how far each row is taken. */
static void put_lane(const timeline_view *v, int lane, double y, text *out) {
    int rows = v->first_row[lane + 1] - v->first_row[lane];
    double drawn[TIMELINE_DEPTH] = {0};
    char label[24];
    text_printf(out,
                "<rect class=\"lane\" x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\"/>\n<text "
                "class=\"label\" x=\"%d\" "
                "y=\"%.0f\">%s</text>\n",
                LEFT, y, RIGHT - LEFT, rows * ROW + 2, LEFT - 10, y + 16,
                recording_lane_name(v->of, lane, label));
    for (uint32_t i = 0; i < v->of->count && !out->failed; i++) {
        const recorded *e = &v->of->events[i];
        if (e->lane != lane || (double)e->end < v->from || (double)e->begin > v->to) continue;
        int row = timeline_row(v, e) - v->first_row[lane];
        double end = x_of(v, (double)e->end);
        if (end - x_of(v, (double)e->begin) < thinnest && end < drawn[row] + thinnest) continue;
        drawn[row] = end;
        put_bar(v, e, y + 2 + row * ROW, out);
    }
}

static void put_axis(const timeline_view *v, double bottom, text *out) {
    double step = timeline_step((v->to - v->from) * TICK / (RIGHT - LEFT));
    int64_t first = (int64_t)(v->from / step), last = (int64_t)(v->to / step);
    for (int64_t i = first; i <= last; i++) {
        double t = (double)i * step, x = x_of(v, t);
        if (t < v->from || t > v->to) continue;
        char label[24];
        timeline_time(t, label);
        text_printf(
            out,
            "<path class=\"tick\" d=\"M%.2f %d V%.0f\"/><text class=\"axis\" x=\"%.2f\" y=\"%d\">%s</text>\n",
            x, AXIS + 4, bottom, x, AXIS, label);
    }
}

static void put_legend(const timeline_view *v, double y, text *out) {
    bool used[KINDS] = {false};
    double x = LEFT;
    for (uint32_t i = 0; i < v->of->count; i++)
        if ((size_t)v->of->events[i].kind < KINDS) used[v->of->events[i].kind] = true;
    for (int k = 0; k < KINDS; k++) {
        if (!used[k]) continue;
        const char *name = recording_kind_name((event_kind)k);
        text_printf(out, "<g class=\"k%d\"><rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\"/></g>", k,
                    x, y - 10);
        text_printf(out, "<text class=\"legend\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", x + 18, y, name);
        x += 18 + (double)strlen(name) * CHAR + 18;
    }
}

static void put_style(text *out) {
    text_add(
        out,
        "<style>\n"
        "text { font: 11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328 }\n"
        ".head { font: bold 15px system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif }\n"
        ".axis { fill: #59636e; text-anchor: middle } .legend, .sub { fill: #59636e }\n"
        ".label { fill: #59636e; text-anchor: end }\n"
        ".tick { stroke: #d1d9e0; stroke-width: 1; fill: none } .lane { fill: #59636e; fill-opacity: 0.06 "
        "}\n");
    for (int k = 0; k < KINDS; k++)
        text_printf(out, ".k%d rect { fill: %s; stroke: %s; stroke-width: 0.6 }\n", k, kinds[k].fill,
                    kinds[k].line);
    text_add(out, "</style>\n");
}

/* What ran, and when; lanes that did nothing are only counted. */
static void put_head(const timeline_view *v, int idle, text *out) {
    char head[256];
    const char *title = *v->of->title ? v->of->title : "timeline";
    timeline_head(v, head, sizeof head);
    text_add(out, "<text class=\"head\" x=\"16\" y=\"26\">");
    put_escaped(out, title, 120);
    text_add(out, unicode_columns(title, strlen(title)) > 120 ? "\xe2\x80\xa6</text>\n" : "</text>\n");
    text_add(out, "<text class=\"sub\" x=\"16\" y=\"46\">");
    put_escaped(out, head, 200);
    if (idle) text_printf(out, ", %d more lane%s without events", idle, idle > 1 ? "s" : "");
    text_add(out, "</text>\n");
}

void timeline_svg(const timeline_view *v, text *out) {
    text lanes = {0};
    double y = TOP;
    int idle = 0;
    for (int lane = 0; lane < v->of->lanes; lane++) {
        if (!lane_shown(v, lane)) {
            idle++;
            continue;
        }
        put_lane(v, lane, y, &lanes);
        y += (v->first_row[lane + 1] - v->first_row[lane]) * ROW + LANE_GAP;
    }
    text_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n",
        WIDTH, y + 36, WIDTH, y + 36);
    put_style(out);
    text_printf(out, "<rect width=\"%d\" height=\"%.0f\" fill=\"#ffffff\"/>\n", WIDTH, y + 36);
    put_head(v, idle, out);
    put_axis(v, y - LANE_GAP + 2, out);
    text_add_bytes(out, text_str(&lanes), lanes.length);
    put_legend(v, y + 18, out);
    text_add(out, "</svg>\n");
    out->failed |= lanes.failed;
    text_free(&lanes);
}
