/* timeline_view.c — moving about in a timeline. See timeline.h. */
#include <ctype.h>
#include <string.h>

#include "viz/timeline.h"

enum { KEY_ESCAPE = 27 };
static const double least_window = 10; /* ns */

static double whole(const timeline_view *v) {
    return v->of->wall > 0 ? (double)v->of->wall : 1;
}

status timeline_open(timeline_view *v, const recording *r, error *e) {
    *v = (timeline_view){.of = r, .selected = -1, .height = 1};
    v->to = whole(v);
    size_t lanes = (size_t)r->lanes + 1;
    v->first_row = mem_calloc(lanes, sizeof *v->first_row);
    if (!v->first_row) return fail_memory(e, lanes * sizeof *v->first_row);
    /* Depths of each lane first, then their running sum. */
    for (uint32_t i = 0; i < r->count; i++) {
        int depth = r->events[i].depth < TIMELINE_DEPTH ? r->events[i].depth + 1 : TIMELINE_DEPTH;
        int *deepest = &v->first_row[r->events[i].lane];
        if (depth > *deepest) *deepest = depth;
    }
    for (int lane = 0; lane < r->lanes; lane++) {
        int rows = v->first_row[lane] ? v->first_row[lane] : 1;
        v->first_row[lane] = v->rows;
        v->rows += rows;
    }
    v->first_row[r->lanes] = v->rows;
    return STATUS_OK;
}

void timeline_close(timeline_view *v) {
    mem_free(v->first_row);
    *v = (timeline_view){0};
}

int timeline_row(const timeline_view *v, const recorded *e) {
    int depth = e->depth < TIMELINE_DEPTH ? e->depth : TIMELINE_DEPTH - 1;
    return v->first_row[e->lane] + depth;
}

/* ---- the window ---- */

static void set_window(timeline_view *v, double from, double length) {
    double all = whole(v);
    if (length < least_window) length = least_window;
    if (length > all) length = all;
    if (from > all - length) from = all - length;
    if (from < 0) from = 0;
    v->from = from;
    v->to = from + length;
}

static void pan(timeline_view *v, double part) {
    double length = v->to - v->from;
    set_window(v, v->from + part * length, length);
}

/* Around the selection when it is in the window, else around the middle. */
static void zoom(timeline_view *v, double factor) {
    double length = v->to - v->from, centre = v->from + length / 2;
    if (v->selected >= 0) {
        const recorded *e = &v->of->events[v->selected];
        double middle = ((double)e->begin + (double)e->end) / 2;
        if (middle >= v->from && middle <= v->to) centre = middle;
    }
    double place = (centre - v->from) / length;
    set_window(v, centre - place * length * factor, length * factor);
}

/* Brings the selection into the window without changing its length. */
static void reveal(timeline_view *v) {
    if (v->selected < 0) return;
    const recorded *e = &v->of->events[v->selected];
    double length = v->to - v->from;
    if ((double)e->begin >= v->from && (double)e->end <= v->to) return;
    if ((double)(e->end - e->begin) >= length)
        set_window(v, (double)e->begin, length);
    else
        set_window(v, ((double)e->begin + (double)e->end - length) / 2, length);
}

static void fit_selection(timeline_view *v) {
    if (v->selected < 0) return;
    const recorded *e = &v->of->events[v->selected];
    double length = (double)(e->end - e->begin);
    set_window(v, (double)e->begin - 0.1 * length, 1.2 * length);
}

/* ---- the selection ---- */

static void select_event(timeline_view *v, int32_t which, const char *none) {
    if (which < 0) {
        v->message = none;
        return;
    }
    v->selected = which;
    reveal(v);
}

/* The event of `row` whose middle is nearest to `time`, or -1. */
static int32_t nearest(const timeline_view *v, int row, double time) {
    int32_t best = -1;
    double least = 0;
    for (uint32_t i = 0; i < v->of->count; i++) {
        const recorded *e = &v->of->events[i];
        if (timeline_row(v, e) != row) continue;
        double far = time < (double)e->begin ? (double)e->begin - time
                     : time > (double)e->end ? time - (double)e->end
                                             : 0;
        if (best >= 0 && far >= least) continue;
        best = (int32_t)i;
        least = far;
    }
    return best;
}

/* The next event in the selection's row; without a selection, the first in the window. */
static void step(timeline_view *v, int by) {
    if (v->selected < 0) {
        int32_t found = -1;
        for (int row = 0; row < v->rows && found < 0; row++) found = nearest(v, row, v->from);
        select_event(v, found, "there are no events");
        return;
    }
    int row = timeline_row(v, &v->of->events[v->selected]);
    for (int64_t i = v->selected + by; i >= 0 && i < (int64_t)v->of->count; i += by) {
        if (timeline_row(v, &v->of->events[i]) != row) continue;
        select_event(v, (int32_t)i, NULL);
        return;
    }
    v->message = by > 0 ? "this is the row's last event" : "this is the row's first event";
}

/* The nearest event in the next row, up or down, that has one. */
static void change_row(timeline_view *v, int by) {
    if (v->selected < 0) {
        step(v, 1);
        return;
    }
    const recorded *e = &v->of->events[v->selected];
    double from = (double)e->begin > v->from ? (double)e->begin : v->from;
    double to = (double)e->end < v->to ? (double)e->end : v->to;
    for (int row = timeline_row(v, e) + by; row >= 0 && row < v->rows; row += by) {
        int32_t found = nearest(v, row, (from + to) / 2);
        if (found < 0) continue;
        select_event(v, found, NULL);
        return;
    }
    v->message = by > 0 ? "this is the last row" : "this is the first row";
}

/* ---- searching ---- */

/* Does s contain the search, upper and lower case of ASCII being the same? */
static bool contains(const char *s, const char *search) {
    size_t length = strlen(search);
    for (; *s; s++)
        if (strncasecmp(s, search, length) == 0) return true;
    return length == 0;
}

static void find(timeline_view *v, int by) {
    int64_t count = v->of->count;
    if (!v->search[0]) {
        v->message = "nothing was searched for yet: / and a part of a name, place or source line";
        return;
    }
    int64_t start = v->selected >= 0 ? v->selected : by > 0 ? -1 : count;
    for (int64_t n = 1; n <= count; n++) {
        int64_t i = ((start + by * n) % count + count) % count;
        const recorded *e = &v->of->events[i];
        if (!contains(e->name, v->search) && !contains(e->place, v->search) &&
            !contains(e->source, v->search))
            continue;
        select_event(v, (int32_t)i, NULL);
        return;
    }
    v->message = "no event has that in its name, place or source line";
}

static void search_key(timeline_view *v, uint32_t key) {
    size_t length = strlen(v->search);
    if (key == '\n' || key == '\r') {
        v->searching = false;
        if (length) find(v, 1);
    } else if (key == KEY_ESCAPE) {
        v->searching = false;
        v->search[0] = '\0';
    } else if (key == TIMELINE_ERASE || key == 8 || key == 127) {
        while (length && ((unsigned char)v->search[length - 1] & 0xC0) == 0x80) length--;
        v->search[length ? length - 1 : 0] = '\0';
    } else if (key >= 32 && key < 0x110000) {
        char bytes[4];
        size_t more = utf8_encode(key, bytes);
        if (length + more > TIMELINE_SEARCH) return;
        memcpy(v->search + length, bytes, more);
        v->search[length + more] = '\0';
    }
}

/* ---- keys ---- */

static bool move_key(timeline_view *v, uint32_t key) {
    switch (key) {
    case TIMELINE_LEFT:
    case 'h':
        pan(v, -0.25);
        return true;
    case TIMELINE_RIGHT:
    case 'l':
        pan(v, 0.25);
        return true;
    case TIMELINE_UP:
    case 'k':
        change_row(v, -1);
        return true;
    case TIMELINE_DOWN:
    case 'j':
        change_row(v, 1);
        return true;
    case '+':
    case '=':
    case 'i':
        zoom(v, 0.5);
        return true;
    case '-':
    case 'o':
        zoom(v, 2);
        return true;
    case TIMELINE_HOME:
    case '0':
        set_window(v, 0, whole(v));
        return true;
    case TIMELINE_END:
    case '$':
        set_window(v, whole(v), v->to - v->from);
        return true;
    default:
        return false;
    }
}

bool timeline_key(timeline_view *v, uint32_t key) {
    v->message = NULL;
    if (v->searching) {
        search_key(v, key);
        return true;
    }
    if (v->help) {
        v->help = false;
        return true;
    }
    if (move_key(v, key)) return true;
    switch (key) {
    case '\t':
        step(v, 1);
        break;
    case TIMELINE_BACK_TAB:
        step(v, -1);
        break;
    case '\n':
    case '\r':
        fit_selection(v);
        break;
    case '/':
        v->searching = true;
        v->search[0] = '\0';
        break;
    case 'n':
        find(v, 1);
        break;
    case 'N':
        find(v, -1);
        break;
    case KEY_ESCAPE:
        v->selected = -1;
        break;
    case '?':
        v->help = true;
        break;
    case 'q':
        return false;
    default:
        break;
    }
    return true;
}
