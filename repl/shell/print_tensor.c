/* print_tensor.c — the elements of a tensor, fitted to the window.
 *
 * The last axis runs along the line, the others downwards, as NumPy prints them. What does not fit is left
 * out in the middle of an axis and shown as `...`. Elements are aligned under one format, chosen from those
 * that are shown: up to four decimals, or an exponent when the largest is very large or very small. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/number.h"
#include "repl/shell/print.h"

enum { DECIMALS = 4, CELL = 64, NARROWEST_CELL = 3 };

typedef enum cell_kind { CELL_EXACT /* integers, bools */, CELL_FIXED, CELL_SCIENTIFIC } cell_kind;

typedef struct layout {
    const tensor *t;
    int rank;
    struct {
        int64_t size, head, tail; /* shown at both ends; everything when head == size */
    } axis[MAX_RANK];
    int64_t step[MAX_RANK]; /* of the row-major index */
    cell_kind kind;
    int decimals, width;
    int64_t per_line; /* rank 1: elements on a line; 0: all on one */
    int indent;
    text *out;
} layout;

static void elide(layout *l, int axis, int64_t most) {
    /* `...` takes the place of at least two, since it would take the room of one. */
    int64_t size = l->axis[axis].size;
    bool all = size <= most + (axis < l->rank - 1);
    l->axis[axis].head = all ? size : (most + 1) / 2;
    l->axis[axis].tail = all ? 0 : most / 2;
}

/* ---- the elements that are shown ---- */

typedef void (*visit_fn)(layout *l, int64_t index);

/* Calls visit for every element shown; axes are at most MAX_RANK. */
static void each_shown(layout *l, int axis, int64_t base, visit_fn visit) {
    if (axis == l->rank) {
        visit(l, base);
        return;
    }
    int64_t size = l->axis[axis].size, tail = size - l->axis[axis].tail;
    for (int64_t i = 0; i < l->axis[axis].head; i++) each_shown(l, axis + 1, base + i * l->step[axis], visit);
    for (int64_t i = tail; i < size; i++) each_shown(l, axis + 1, base + i * l->step[axis], visit);
}

/* ---- format ---- */

static int cell_text(const layout *l, int64_t index, char s[CELL]) {
    dtype d = l->t->meta.dtype;
    if (d == DT_BOOL) return snprintf(s, CELL, "%s", tensor_get_int(l->t, index) ? "true" : "false");
    if (!dtype_is_float(d)) return (int)number_print_int(s, tensor_get_int(l->t, index));
    double v = tensor_get_real(l->t, index);
    if (!isfinite(v)) return snprintf(s, CELL, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    return snprintf(s, CELL, l->kind == CELL_SCIENTIFIC ? "%.*e" : "%.*f", l->decimals, v);
}

/* What choosing a format needs to know of the elements shown. */
typedef struct survey {
    layout l; /* first, so that a visitor gets back to it */
    double largest;
    int decimals;   /* that the elements really have, up to the limit */
    bool vanishing; /* an element other than 0 shows no digit but 0 */
} survey;

static void see_largest(layout *l, int64_t index) {
    survey *s = (survey *)l;
    double v = fabs(tensor_get_real(l->t, index));
    if (isfinite(v) && v > s->largest) s->largest = v;
}

/* Decimals that v needs of those that are allowed. */
static void see_decimals(layout *l, int64_t index) {
    survey *s = (survey *)l;
    double v = tensor_get_real(l->t, index);
    if (!isfinite(v)) return;
    char text_[CELL];
    snprintf(text_, sizeof text_, l->kind == CELL_SCIENTIFIC ? "%.*e" : "%.*f", l->decimals, v);
    char *end = strchr(text_, 'e');
    if (!end) end = text_ + strlen(text_);
    while (end[-1] == '0') end--;
    s->vanishing |= v != 0 && text_[strspn(text_, "-0.")] == '\0';
    int used = end[-1] == '.' ? 0 : (int)(end - strchr(text_, '.')) - 1;
    if (used > s->decimals) s->decimals = used;
}

static void see_width(layout *l, int64_t index) {
    char s[CELL];
    int width = cell_text(l, index, s);
    if (width > l->width) l->width = width;
}

static void choose_format(layout *l) {
    survey s = {.l = *l};
    s.l.kind = CELL_EXACT;
    s.l.width = 0;
    if (dtype_is_float(l->t->meta.dtype)) {
        each_shown(&s.l, 0, 0, see_largest);
        s.l.kind = s.largest >= 1e6 || (s.largest > 0 && s.largest < 1e-3) ? CELL_SCIENTIFIC : CELL_FIXED;
        s.l.decimals = s.l.kind == CELL_FIXED && s.largest > 0 && s.largest < 0.1 ? DECIMALS + 2 : DECIMALS;
        s.decimals = 1;
        each_shown(&s.l, 0, 0, see_decimals);
        if (!s.vanishing) s.l.decimals = s.decimals;
    }
    each_shown(&s.l, 0, 0, see_width);
    l->kind = s.l.kind;
    l->decimals = s.l.decimals;
    l->width = s.l.width;
}

/* ---- fitting ---- */

/* Elements of the last axis that fit into a line of `width` characters. */
static int64_t fit(const layout *l, int width) {
    int64_t room = width - l->indent - l->rank; /* the opening brackets */
    int64_t closing = l->rank + 1;              /* the closing ones and a comma */
    int64_t cells = (room - closing + 2) / (l->width + 2);
    return cells < 1 ? 1 : cells;
}

/* Lines of the axes from `axis` on, with the blank ones between blocks. */
static int64_t lines_of(const layout *l, int axis, int height) {
    int64_t lines = 1;
    for (int a = l->rank - 2; a >= axis && lines <= height; a--) {
        int64_t shown = l->axis[a].head + l->axis[a].tail + (l->axis[a].head < l->axis[a].size);
        if (shown > height) return shown;
        lines = shown * lines + (shown - 1) * (l->rank - 2 - a);
    }
    return lines;
}

/* The rows shown, as large a part of each outer axis as keeps the number of lines within `height`. */
static void fit_rows(layout *l, int height) {
    for (int64_t most = height - 1; most > 0; most--) {
        for (int a = 0; a < l->rank - 1; a++) elide(l, a, most);
        if (lines_of(l, 0, height) <= height) return;
    }
}

static void fit_columns(layout *l, int width, int height) {
    int last = l->rank - 1;
    int64_t size = l->axis[last].size;
    int64_t most = (int64_t)width * (l->rank == 1 ? height : 1) / NARROWEST_CELL + 2;
    elide(l, last, most);
    choose_format(l);
    int64_t cells = fit(l, width);
    if (size <= cells) return;
    if (l->rank == 1 && size <= most && (size + cells - 1) / cells <= height) {
        l->per_line = cells;
        return;
    }
    int64_t with_dots = (cells * (l->width + 2) - 5) / (l->width + 2); /* "..., " takes five */
    elide(l, last, with_dots < 2 ? 2 : with_dots);
    choose_format(l);
}

/* ---- drawing ---- */

static void blanks(text *out, int64_t count) {
    for (; count > 0; count--) text_char(out, ' ');
}

static void draw_cell(layout *l, int64_t index) {
    char s[CELL];
    int length = cell_text(l, index, s);
    blanks(l->out, l->width - length);
    text_add_bytes(l->out, s, (size_t)length);
}

static void draw_row(layout *l, int64_t base) {
    int axis = l->rank - 1;
    int64_t size = l->axis[axis].size, head = l->axis[axis].head, tail = size - l->axis[axis].tail;
    text_char(l->out, '[');
    for (int64_t i = 0; i < head; i++) {
        if (i > 0 && l->per_line > 0 && i % l->per_line == 0) {
            text_add(l->out, ",\n");
            blanks(l->out, l->indent + 1);
        } else if (i > 0) {
            text_add(l->out, ", ");
        }
        draw_cell(l, base + i);
    }
    if (head < size) text_add(l->out, ", ...");
    for (int64_t i = tail; i < size; i++) {
        text_add(l->out, ", ");
        draw_cell(l, base + i);
    }
    text_char(l->out, ']');
}

static void draw_axis(layout *l, int axis, int64_t base);

static void draw_item(layout *l, int axis, int64_t base, bool first) {
    if (!first) {
        text_char(l->out, ',');
        for (int i = axis; i < l->rank - 1; i++) text_char(l->out, '\n');
        blanks(l->out, l->indent + axis + 1);
    }
    draw_axis(l, axis + 1, base);
}

static void draw_axis(layout *l, int axis, int64_t base) {
    if (axis == l->rank - 1) {
        draw_row(l, base);
        return;
    }
    int64_t size = l->axis[axis].size, head = l->axis[axis].head, tail = size - l->axis[axis].tail;
    text_char(l->out, '[');
    for (int64_t i = 0; i < head; i++) draw_item(l, axis, base + i * l->step[axis], i == 0);
    if (head < size) {
        text_add(l->out, ",\n");
        blanks(l->out, l->indent + axis + 1);
        text_add(l->out, "...");
    }
    for (int64_t i = tail; i < size; i++) draw_item(l, axis, base + i * l->step[axis], false);
    text_char(l->out, ']');
}

status print_elements(const tensor *t, int width, int height, int indent, text *out) {
    layout l = {.t = t, .rank = t->meta.shape.rank, .indent = indent, .out = out};
    int64_t step = 1;
    for (int a = l.rank - 1; a >= 0; a--) {
        l.axis[a].size = t->meta.shape.size[a];
        l.step[a] = step;
        step *= l.axis[a].size;
    }
    if (step == 0 || l.rank == 0) {
        text_add(out, "[]");
    } else {
        fit_rows(&l, height);
        fit_columns(&l, width, height);
        draw_axis(&l, 0, 0);
    }
    return out->failed ? fail_memory(&t->c->err, out->length) : STATUS_OK;
}
