/* timeline.h — a recording as rows of bars over time: what is shown, apart from any screen.
 *
 * A view is a window of time, a selection and a search; timeline_key moves it, timeline_draw turns it into
 * cells, and timeline_text into lines for files and pipes. The screen (screen.h) only shows cells and reads
 * keys, so that everything here is tested without a terminal.
 *
 * Each lane has a row for each depth at which its events enclose each other. An event is a bar with its name;
 * events shorter than a column are a `|`, several of them in one column a `:`. */
#ifndef TD_VIZ_TIMELINE_H
#define TD_VIZ_TIMELINE_H

#include "profiler/trace.h"

enum { TIMELINE_DEPTH = 6, TIMELINE_SEARCH = 63 };

typedef struct timeline_view {
    const recording *of;
    double from, to;  /* the window, ns */
    int32_t selected; /* event, or -1 */
    int top;          /* first row shown */
    int rows;         /* of all lanes */
    int *first_row;   /* of each lane, and `rows` after the last */
    int height;       /* rows that the last drawing had room for */
    bool blocks;      /* bars are filled cells (colours) instead of brackets */
    bool help;
    bool searching; /* keys go to `search` */
    char search[TIMELINE_SEARCH + 1];
    const char *message; /* static; shown once instead of the details */
} timeline_view;

/* A view of the whole of r, which outlives it. */
status timeline_open(timeline_view *v, const recording *r, error *e);
void timeline_close(timeline_view *v);

/* Keys besides characters. */
enum {
    TIMELINE_LEFT = 0x110000,
    TIMELINE_RIGHT,
    TIMELINE_UP,
    TIMELINE_DOWN,
    TIMELINE_HOME,
    TIMELINE_END,
    TIMELINE_BACK_TAB,
    TIMELINE_ERASE
};
/* Acts on a key; false: leave. Unknown keys do nothing. */
bool timeline_key(timeline_view *v, uint32_t key);

typedef enum timeline_style {
    STYLE_PLAIN,
    STYLE_HEAD,
    STYLE_DIM,
    STYLE_OP, /* bars by kind, in the order of event_kind */
    STYLE_KERNEL,
    STYLE_GEMM,
    STYLE_COPY,
    STYLE_COMPILE,
    STYLE_SPAN,
    STYLE_COUNT
} timeline_style;

typedef struct timeline_cell {
    uint32_t code; /* the character; 0: the right half of a wide one */
    timeline_style style;
    bool selected;
    bool odd; /* neighbours differ, so that bars of one kind are told apart */
} timeline_cell;

typedef struct timeline_cells {
    int width, height;
    timeline_cell *cell; /* height rows of width */
} timeline_cells;

/* Cells of a screen of that size, at least 1 x 1; false when out of memory. Keeps the selected row in sight. */
bool timeline_draw(timeline_view *v, int width, int height, timeline_cells *out);
void timeline_cells_free(timeline_cells *cells);

/* The window with all rows as plain text of `width` columns. */
void timeline_text(timeline_view *v, int width, text *out);

/* The window as a picture: an SVG file of its own, with the details of each event where one points at it. Of events too
 * short to be told apart the first one is drawn. */
void timeline_svg(const timeline_view *v, text *out);

/* Row of an event. */
int timeline_row(const timeline_view *v, const recorded *e);

#endif
