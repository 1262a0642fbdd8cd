/* source_render.c — how an error looks:
 *
 *     E101 shape: `@` needs equal inner sizes
 *       h = x @ w          x f32[64, 784]   w f32[10, 784]
 *           ^^^^^          784 (x axis 1) is not 10 (w axis 0)
 *       in net, called at train.td:12:7: net(m, x)
 *       hint: x @ w.T gives f32[64, 10]
 *
 * The source line is drawn cell by cell: tabs become blanks, characters that a terminal would not show become
 * U+FFFD, and of a long line only the part around the span is shown, so that carets stand where they should.
 */
#include "repl/lang/source.h"

#include <string.h>

#include "engine/base/unicode.h"

enum {
    TAB_WIDTH = 4,
    MOST_WIDTH = 100, /* of all, if there is so much room */
    LEAST_WIDTH = 30,
    MARGINS = 4,        /* the indent, and the mark where the line is cut */
    NOTES_COLUMN = 19,  /* where operands start beside a short line */
    NOTES_GAP = 3,      /* at least so many blanks before them */
    WIDEST_BESIDE = 56, /* beside a line wider than this they go below it */
};

/* The source line of a span: bytes, and the marked part of them. */
typedef struct marked_line {
    const char *text;
    size_t length, begin, end;
} marked_line;

static bool marked_line_find(const source_table *table, span where, marked_line *out) {
    size_t length;
    const char *content = source_text(table, where.source, &length);
    if (!content) return false;
    size_t begin = where.begin < length ? where.begin : length, end = where.end < length ? where.end : length;
    if (end < begin) end = begin;
    size_t first = begin, last = begin;
    while (first > 0 && content[first - 1] != '\n') first--;
    while (last < length && content[last] != '\n') last++;
    while (last > begin && content[last - 1] == '\r') last--;
    *out = (marked_line){content + first, last - first, begin - first, (end < last ? end : last) - first};
    return true;
}

/* One character of the line: its bytes, columns, and what to print. */
typedef struct cell {
    size_t bytes;
    int columns;
    const char *shown;
    size_t shown_bytes;
} cell;

static cell cell_at(const marked_line *line, size_t at, int column) {
    uint32_t code;
    size_t bytes = utf8_decode(line->text + at, line->length - at, &code);
    if (code == '\t')
        return (cell){1, TAB_WIDTH - column % TAB_WIDTH, "    ", (size_t)(TAB_WIDTH - column % TAB_WIDTH)};
    bool hidden = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
                  (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
    if (bytes == 0 || hidden) return (cell){bytes ? bytes : 1, 1, "\xef\xbf\xbd", 3};
    return (cell){bytes, unicode_width(code), line->text + at, bytes};
}

/* The columns [first, last) that the marked bytes take; at least one. `total`: of the whole line. */
static void measure(const marked_line *line, int *first, int *last, int *total) {
    int column = 0;
    *first = *last = -1;
    for (size_t at = 0; at < line->length;) {
        cell c = cell_at(line, at, column);
        if (*first < 0 && at + c.bytes > line->begin) *first = column;
        if (at < line->end) *last = column + c.columns;
        at += c.bytes;
        column += c.columns;
        if (column > 1000000) break; /* a line of a million columns is cut here */
    }
    *total = column;
    if (*first < 0) *first = column;
    if (*last <= *first) *last = *first + 1;
}

/* Appends the columns [from, to) of the line. Returns the columns written. */
static int draw(text *out, const marked_line *line, int from, int to) {
    int column = 0, written = 0;
    for (size_t at = 0; at < line->length && column < to;) {
        cell c = cell_at(line, at, column);
        if (column >= from && column + c.columns <= to) {
            text_add_bytes(out, c.shown, c.shown_bytes);
            written += c.columns;
        }
        at += c.bytes;
        column += c.columns;
    }
    return written;
}

static void repeat(text *out, char c, int count) {
    for (int i = 0; i < count; i++) text_char(out, c);
}

/* Appends the next line of `notes` and moves past it. */
static void next_note(text *out, const char **notes) {
    size_t length = strcspn(*notes, "\n");
    text_add_bytes(out, *notes, length);
    *notes += length + ((*notes)[length] == '\n');
}

/* Columns of the longest note. */
static int longest_note(const char *notes) {
    int longest = 0;
    while (*notes) {
        int columns = 0;
        for (; *notes && *notes != '\n'; notes++) columns += (*notes & 0xc0) != 0x80;
        if (columns > longest) longest = columns;
        notes += *notes == '\n';
    }
    return longest;
}

/* The columns [*from, *to) of a line that are shown, so that the span is among them. */
static void choose_part(int first, int total, int width, int *from, int *to) {
    int most = width - MARGINS, before = most * 2 / 5;
    *from = 0;
    *to = total;
    if (total <= most) return;
    *from = first > before ? first - before : 0;
    if (*from > 0) most -= 2; /* a mark stands there too */
    *to = *from + most < total ? *from + most : total;
}

/* The source line, the carets, and the notes beside or below them. */
static void draw_span(text *out, const marked_line *line, const char *notes, int width_given) {
    int first, last, total, from, to;
    measure(line, &first, &last, &total);
    choose_part(first, total, width_given, &from, &to);
    if (last > to && to > first) last = to;
    text_add(out, "  ");
    int width = from > 0 ? 2 : 0;
    if (from > 0) text_add(out, "\xe2\x80\xa6 ");
    int lead = width;
    width += draw(out, line, from, to);
    if (to < total) text_add(out, " \xe2\x80\xa6"), width += 2;
    int caret_end = lead + last - from;
    int notes_at = (width > caret_end ? width : caret_end) + NOTES_GAP;
    if (notes_at < NOTES_COLUMN) notes_at = NOTES_COLUMN;
    bool beside = notes_at <= WIDEST_BESIDE &&
                  (width_given >= MOST_WIDTH || 2 + notes_at + longest_note(notes) <= width_given);
    if (*notes && beside) repeat(out, ' ', notes_at - width), next_note(out, &notes);
    text_add(out, "\n  ");
    repeat(out, ' ', lead + first - from);
    repeat(out, '^', last - first);
    if (*notes && beside) repeat(out, ' ', notes_at - caret_end), next_note(out, &notes);
    text_char(out, '\n');
    while (*notes) {
        repeat(out, ' ', beside ? 2 + notes_at : 4);
        next_note(out, &notes);
        text_char(out, '\n');
    }
}

void source_brief(const source_table *table, span where, char *out, size_t size) {
    static const char cut[] = "\xe2\x80\xa6";
    marked_line line = {0};
    size_t used = 0;
    bool more = marked_line_find(table, where, &line) && where.end - where.begin > line.end - line.begin;
    for (size_t at = line.begin; at < line.end;) {
        cell c = cell_at(&line, at, 0);
        at += c.bytes;
        size_t reserve = at < line.end || more ? sizeof cut : 1;
        if (used + c.shown_bytes + reserve > size) {
            more = true;
            break;
        }
        memcpy(out + used, c.shown, c.shown_bytes);
        used += c.shown_bytes;
    }
    while (used && out[used - 1] == ' ') used--;
    if (more && used + sizeof cut <= size) {
        memcpy(out + used, cut, sizeof cut - 1);
        used += sizeof cut - 1;
    }
    out[used] = '\0';
}

static bool encloses(span outer, span inner) {
    return outer.source == inner.source && outer.begin <= inner.begin && inner.end <= outer.end;
}

/* One running function: where it was called, or who called it when that is not a text that is shown. The text of a call
 * that holds the marked place itself is not repeated. */
static void draw_call(text *out, const source_table *table, const error *e, uint32_t i) {
    const error_call *c = &e->calls[i];
    char brief[60];
    text_printf(out, "  in %s, called ", c->name);
    if (c->where.source) {
        source_place at = source_locate(table, c->where.source, c->where.begin);
        source_brief(table, c->where, brief, sizeof brief);
        text_printf(out, "at %s:%u:%u", source_title(table, c->where.source), at.line, at.column);
        if (!encloses(c->where, e->where)) text_printf(out, ": %s", brief);
    } else {
        text_printf(out, "by %s", i + 1 < e->call_count ? e->calls[i + 1].name : "the language itself");
    }
    if (c->times > 1) text_printf(out, ", repeated %u times", c->times);
    text_char(out, '\n');
}

static void draw_calls(text *out, const source_table *table, const error *e) {
    for (uint32_t i = 0; i < e->call_count; i++) {
        if (i == ERROR_CALLS_INNER && e->calls_left_out)
            text_printf(out, "  ... %u more calls\n", e->calls_left_out);
        draw_call(out, table, e, i);
    }
}

/* On one line, or between words on several that fit into `width` columns (0: any number). */
static void draw_hint(text *out, const char *hint, int width) {
    static const char head[] = "  hint:";
    int column = sizeof head - 1;
    text_add(out, head);
    for (const char *word = hint; *word;) {
        size_t length = strcspn(word, " ");
        if (width && column + 1 + (int)length > width && word != hint) {
            text_add(out, "\n       ");
            column = sizeof head - 1;
        }
        text_char(out, ' ');
        text_add_bytes(out, word, length);
        column += 1 + (int)length;
        word += length;
        if (*word) word++;
    }
    text_char(out, '\n');
}

void source_render_error(text *out, const source_table *table, const error *e, int window) {
    int width = window == 0 || window > MOST_WIDTH ? MOST_WIDTH : window < LEAST_WIDTH ? LEAST_WIDTH : window;
    const char *name = source_name(table, e->where.source);
    if (name)
        text_printf(out, "%s:%u: ", name,
                    (unsigned)source_locate(table, e->where.source, e->where.begin).line);
    if (e->number > 0) text_printf(out, "E%d ", e->number);
    text_printf(out, "%s: %s\n", status_name(e->code), e->message);
    marked_line line;
    if (marked_line_find(table, e->where, &line)) {
        draw_span(out, &line, e->operands, width);
    } else {
        for (const char *notes = e->operands; *notes;) {
            text_add(out, "  ");
            next_note(out, &notes);
            text_char(out, '\n');
        }
    }
    draw_calls(out, table, e);
    if (e->hint[0]) draw_hint(out, e->hint, window);
}
