/* screen.c — see screen.h. ncurses restores the terminal on SIGINT, SIGTERM and SIGTSTP where the program has
 * no handler of its own; where it has one, that sets `stop`, which is looked at ten times a second. */
#define NCURSES_WIDECHAR 1
#include "viz/screen.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* Two of its functions, which nobody calls here, have names that are types of the engine. */
#define meta curses_meta
#define trace curses_trace_on
#include <curses.h>
#include <term.h>
#undef meta
#undef trace

#include "viz/timeline.h"

enum { POLL_MS = 100, PAIR_FIRST = 1 };

static bool start_colours(void) {
    static const short background[STYLE_COUNT] = {
        [STYLE_OP] = COLOR_CYAN,   [STYLE_KERNEL] = COLOR_GREEN, [STYLE_GEMM] = COLOR_YELLOW,
        [STYLE_COPY] = COLOR_BLUE, [STYLE_COMPILE] = COLOR_RED,  [STYLE_SPAN] = COLOR_WHITE};
    if (getenv("NO_COLOR") || !has_colors() || start_color() == ERR) return false;
    use_default_colors();
    for (int s = STYLE_OP; s < STYLE_COUNT; s++)
        init_pair((short)(PAIR_FIRST + s), COLOR_BLACK, background[s]);
    return true;
}

static attr_t attributes_of(const timeline_cell *c, bool colours, short *pair) {
    attr_t a = A_NORMAL;
    *pair = 0;
    if (c->style == STYLE_HEAD) a = A_BOLD;
    if (c->style == STYLE_DIM) a = A_DIM;
    if (c->style >= STYLE_OP && colours) {
        *pair = (short)(PAIR_FIRST + c->style);
        if (c->odd) a |= A_DIM;
    }
    if (c->selected) a |= A_REVERSE | A_BOLD;
    return a;
}

static void show(const timeline_cells *c, bool colours) {
    bool ascii = MB_CUR_MAX == 1;
    for (int row = 0; row < c->height; row++) {
        for (int x = 0; x < c->width; x++) {
            const timeline_cell *cell = &c->cell[(size_t)row * (size_t)c->width + (size_t)x];
            if (!cell->code) continue;
            wchar_t character[2] = {(wchar_t)(ascii && cell->code > 126 ? '?' : cell->code), 0};
            short pair;
            attr_t a = attributes_of(cell, colours, &pair);
            cchar_t complex;
            if (setcchar(&complex, character, a, pair, NULL) == OK) mvadd_wch(row, x, &complex);
        }
    }
    refresh();
}

/* ncurses' key as the view knows it; 0: none. */
static uint32_t key_of(int kind, wint_t key) {
    if (kind == ERR) return 0;
    if (kind == OK) return (uint32_t)key;
    switch (key) {
    case KEY_LEFT:
        return TIMELINE_LEFT;
    case KEY_RIGHT:
        return TIMELINE_RIGHT;
    case KEY_UP:
        return TIMELINE_UP;
    case KEY_DOWN:
        return TIMELINE_DOWN;
    case KEY_HOME:
        return TIMELINE_HOME;
    case KEY_END:
        return TIMELINE_END;
    case KEY_BTAB:
        return TIMELINE_BACK_TAB;
    case KEY_BACKSPACE:
        return TIMELINE_ERASE;
    case KEY_ENTER:
        return '\n';
    default:
        return 0;
    }
}

/* Whether the window has another size than ncurses thinks. Asked at each turn: SIGWINCH is the prompt's. */
static bool follow_window(void) {
    struct winsize w;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col) return false;
    if (!is_term_resized(w.ws_row, w.ws_col) || resizeterm(w.ws_row, w.ws_col) == ERR) return false;
    clearok(curscr, TRUE); /* the terminal has moved what stood there */
    return true;
}

/* Draws when something changed, waits for a key, acts; false when out of memory. */
static bool run(timeline_view *v, bool colours, const atomic_int *stop) {
    bool stay = true, changed = true;
    while (stay && !(stop && atomic_load(stop))) {
        if (changed) {
            timeline_cells cells;
            erase();
            if (!timeline_draw(v, COLS, LINES, &cells)) return false;
            show(&cells, colours);
            timeline_cells_free(&cells);
        }
        wint_t key = 0;
        int kind = get_wch(&key);
        uint32_t meaning = key_of(kind, key);
        changed = follow_window() || meaning != 0;
        if (meaning) stay = timeline_key(v, meaning);
        if (kind == ERR && !isatty(STDIN_FILENO)) return true;
    }
    return true;
}

/* Can the cursor be moved to a place? Not on terminals that are not known, nor on those that only print on ("dumb"). */
static bool moves_cursor(void) {
    TERMINAL *before = cur_term; /* Readline's */
    int found = 0;
    if (setupterm(NULL, STDOUT_FILENO, &found) == ERR) return false;
    const char *moves = tigetstr("cup");
    bool can = moves && moves != (char *)-1; /* NOLINT: -1 stands for something that is no string */
    TERMINAL *own = set_curterm(before);
    if (own != before) del_curterm(own);
    return can;
}

static status refuse_terminal(error *e) {
    const char *name = getenv("TERM");
    fail(e, STATUS_UNSUPPORTED, 705, "there is no way to draw on the terminal \"%s\"", name ? name : "");
    return fail_hint(e, "set TERM, or let :timeline --text print it");
}

status screen_timeline(const recording *r, const atomic_int *stop, error *e) {
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        fail(e, STATUS_UNSUPPORTED, 705, "the timeline needs a terminal");
        return fail_hint(e, ":timeline --text prints it");
    }
    if (!moves_cursor()) return refuse_terminal(e);
    timeline_view v;
    status s = timeline_open(&v, r, e);
    if (s) return s;
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        timeline_close(&v);
        return refuse_terminal(e);
    }
    set_term(screen);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    timeout(POLL_MS);
    bool colours = start_colours();
    v.blocks = colours;
    bool fine = run(&v, colours, stop);
    endwin();
    delscreen(screen);
    timeline_close(&v);
    return fine ? STATUS_OK : fail_memory(e, 0);
}
