/* line.c — the prompt: Readline in its callback form, so that this loop, not Readline, waits for the
 * terminal and sees signals.
 *
 * Ctrl-C while a line is typed clears it; while a statement runs the terminal is in its normal mode and the
 * signal's handler sets the context's flag (interrupt.c). SIGINT and SIGWINCH are blocked except while
 * waiting (pselect), so none is missed. Lines are collected until the parser calls the text complete; the
 * whole statement is one entry of the history, whose file is written after each statement, so that nothing
 * is lost with the terminal.
 *
 * Readline's callbacks carry no pointer: the prompt that is being read is in `current`, another documented
 * piece of global state. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "repl/lang/parser.h"
#include "repl/shell/complete.h"
#include "repl/shell/json.h"

#define PROMPT "> "
#define CONTINUED ". "

enum { HISTORY_KEPT = 10000 };

typedef struct prompt {
    shell *sh;
    text pending;   /* lines of a statement that is not complete */
    bool ended;     /* Ctrl-D on an empty line */
    bool have_line; /* `pending` is to be looked at */
    char *history;  /* the file's path; NULL: not kept; owned */
    char **found;   /* Tab: matches, as Readline wants them */
    size_t found_count, found_capacity;
    bool found_call, no_memory;
} prompt;

static prompt *current;
static volatile sig_atomic_t resized, stopped_by;

static void on_resize(int number) {
    (void)number;
    resized = 1;
}

static void on_stop(int number) {
    stopped_by = number;
}

/* Signals that stop or end a program that reads a line: the terminal gets its normal mode back first. */
static const int stops[] = {SIGTSTP, SIGTERM, SIGHUP, SIGQUIT};
enum { STOPS = sizeof stops / sizeof *stops };

static void handle_stops(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < STOPS; i++) sigaction(stops[i], &action, NULL);
}

/* ---- completion ---- */

/* Keeps a word once; Readline frees it with free(). */
static void add_match(void *user, const char *word, bool call) {
    prompt *p = user;
    for (size_t i = 1; i < p->found_count; i++)
        if (strcmp(p->found[i], word) == 0) return;
    if (p->found_count + 2 > p->found_capacity) {
        size_t capacity = p->found_capacity ? p->found_capacity * 2 : 64;
        char **found = realloc(p->found, capacity * sizeof *found);
        if (!found) {
            p->no_memory = true;
            return;
        }
        p->found = found;
        p->found_capacity = capacity;
        if (p->found_count == 0) p->found[p->found_count++] = NULL; /* room for what all have in common */
    }
    char *copy = strdup(word);
    if (copy) p->found[p->found_count++] = copy;
    p->no_memory |= copy == NULL;
    p->found_call = call;
}

/* What all matches begin with, as Readline's first entry. */
static char *common_start(char **found, size_t count) {
    size_t length = strlen(found[1]);
    for (size_t i = 2; i < count; i++) {
        size_t n = 0;
        while (n < length && found[i][n] == found[1][n]) n++;
        length = n;
    }
    return strndup(found[1], length);
}

static char **attempt(const char *word, int start, int end) {
    prompt *p = current;
    (void)word;
    p->found = NULL;
    p->found_count = p->found_capacity = 0;
    p->no_memory = false;
    rl_completion_append_character = '\0';
    rl_attempted_completion_over = 1;
    complete_kind kind = complete_at(p->sh, rl_line_buffer, (size_t)start, (size_t)end, add_match, p);
    if (kind == COMPLETE_FILES) rl_attempted_completion_over = 0;
    if (p->found_count < 2) {
        free(p->found);
        return NULL;
    }
    p->found[0] = common_start(p->found, p->found_count);
    p->found[p->found_count] = NULL;
    if (!p->found[0] || p->no_memory) {
        for (size_t i = 0; i < p->found_count; i++) free(p->found[i]);
        free(p->found);
        return NULL;
    }
    if (p->found_count == 2) {
        if (p->found_call) rl_completion_append_character = '(';
        free(p->found[1]); /* one match stands alone, as the first entry */
        p->found[1] = NULL;
    }
    return p->found;
}

/* ---- history ---- */

/* Makes the folders of `path` up to its last `/`. */
static bool make_folders(char *path) {
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

static void open_history(prompt *p) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    text path = {0};
    if (state && state[0] == '/')
        text_printf(&path, "%s/tapedeck/history", state);
    else if (home && home[0] == '/')
        text_printf(&path, "%s/.local/state/tapedeck/history", home);
    using_history();
    stifle_history(HISTORY_KEPT);
    /* Time stamps between the entries let an entry have several lines. */
    history_comment_char = '#';
    history_write_timestamps = 1;
    history_multiline_entries = 1;
    if (!path.failed && path.length > 0 && make_folders(path.data)) {
        p->history = path.data;
        read_history(p->history);
        return;
    }
    text_free(&path);
}

static void remember(prompt *p, const char *statement) {
    HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
    if (!last || strcmp(last->line, statement) != 0) {
        add_history(statement);
        if (p->history && append_history(1, p->history) == ENOENT) write_history(p->history);
        last = history_get(history_base + history_length - 1);
    }
    if (last) last->data = (void *)(uintptr_t)(source_lines_typed(session_sources(p->sh->session)) + 1);
}

void line_history(text *out, int most, bool json) {
    int first = history_length > most ? history_length - most : 0;
    if (json) text_add(out, "{\"history\":[");
    for (int i = first; i < history_length; i++) {
        const HIST_ENTRY *entry = history_get(history_base + i);
        if (!entry) continue;
        if (json) {
            if (i > first) text_char(out, ',');
            json_string(entry->line, strlen(entry->line), out);
        } else {
            unsigned line = (unsigned)(uintptr_t)entry->data;
            if (line)
                text_printf(out, "%5u  ", line);
            else
                text_add(out, "       ");
            for (const char *s = entry->line; *s; s++) {
                text_char(out, *s);
                if (*s == '\n') text_add(out, "       ");
            }
            text_char(out, '\n');
        }
    }
    if (json) text_add(out, "]}\n");
}

/* ---- lines ---- */

/* Ctrl-D leaves the cursor behind the prompt, unless Readline, when it switched bracketed paste off, moved it. */
static void end_line(void) {
    const char *paste = rl_variable_value("enable-bracketed-paste");
    if (!paste || strcmp(paste, "on") != 0) putchar('\n');
}

/* Readline has a whole line, or NULL at the end of input. */
static void on_line(char *line) {
    prompt *p = current;
    rl_callback_handler_remove();         /* the terminal is in its normal mode while a statement runs */
    if (!line && p->pending.length > 0) { /* Ctrl-D within a statement drops it, as Ctrl-C does */
        end_line();
        rl_eof_found = 0; /* Readline goes by it until it is told otherwise */
        text_clear(&p->pending);
        p->have_line = true;
        return;
    }
    if (!line) {
        p->ended = true;
        return;
    }
    if (p->pending.length > 0) text_char(&p->pending, '\n');
    text_add(&p->pending, line);
    free(line);
    p->have_line = true;
}

static bool is_command(const char *s) {
    while (*s == ' ' || *s == '\t') s++;
    return *s == ':' || *s == '?';
}

static bool is_empty(const char *s) {
    return s[strspn(s, " \t\r\n")] == '\0';
}

/* Runs what was typed once it is complete. */
static void take_line(prompt *p) {
    shell *sh = p->sh;
    p->have_line = false;
    if (p->pending.failed) {
        fputs("there is no memory for this line\n", stderr);
        text_clear(&p->pending);
        return;
    }
    const char *typed = text_str(&p->pending);
    bool one_line = !strchr(typed, '\n');
    if (!(one_line && is_command(typed)) && parse_complete(typed, p->pending.length) == PARSE_INCOMPLETE)
        return;
    if (!is_empty(typed)) {
        remember(p, typed);
        status code = shell_run_text(sh, NULL, typed, p->pending.length);
        if (code != STATUS_OK && !sh->leaving) shell_show_error(sh);
        error_clear(&sh->c->err);
        atomic_store(&sh->c->interrupt, 0);
    }
    text_clear(&p->pending);
}

/* ---- waiting ---- */

static void show_prompt(prompt *p) {
    fflush(stdout);
    rl_callback_handler_install(p->pending.length > 0 ? CONTINUED : PROMPT, on_line);
}

/* Ctrl-C at the prompt: the line, and what was typed before it of the same statement, is dropped. */
static void drop_line(prompt *p) {
    atomic_store(&p->sh->c->interrupt, 0);
    rl_free_line_state();
    rl_callback_sigcleanup();
    rl_callback_handler_remove();
    fputs("^C\n", stdout);
    text_clear(&p->pending);
    show_prompt(p);
}

/* Lets the signal do what it does to other programs. Comes back when that was a stop, after it. */
static void stop_for(int number) {
    sigset_t one, before;
    rl_deprep_term_function();
    handle_stops(SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    handle_stops(on_stop);
    rl_prep_term_function(1);
    rl_forced_update_display();
}

/* Waits for input with signals let in; false when there can be no more. */
static bool wait_for_input(prompt *p, const sigset_t *outside) {
    fd_set set;
    for (;;) {
        if (atomic_load(&p->sh->c->interrupt)) drop_line(p);
        if (resized) {
            resized = 0;
            rl_resize_terminal();
        }
        if (stopped_by) {
            int number = stopped_by;
            stopped_by = 0;
            stop_for(number);
        }
        FD_ZERO(&set);
        FD_SET(STDIN_FILENO, &set);
        if (pselect(STDIN_FILENO + 1, &set, NULL, NULL, NULL, outside) > 0) return true;
        if (errno != EINTR) return false;
    }
}

static void set_up_readline(void) {
    rl_readline_name = "tapedeck"; /* for conditions in ~/.inputrc */
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_attempted_completion_function = attempt;
    rl_completer_word_break_characters = complete_breaks;
    rl_basic_word_break_characters = complete_breaks;
    rl_completer_quote_characters = "\"'";
    rl_sort_completion_matches = 1;
    /* Restarts what a statement waits for; pselect returns all the same. */
    struct sigaction action = {.sa_handler = on_resize, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGWINCH, &action, NULL);
}

int line_loop(shell *sh) {
    prompt p = {.sh = sh};
    sigset_t ours, outside;
    current = &p;
    set_up_readline();
    open_history(&p);
    printf("tapedeck " TAPEDECK_VERSION ", %d threads. :help lists the commands, Ctrl-D leaves.\n",
           pool_lanes(sh->c->workers));
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGWINCH);
    for (int i = 0; i < STOPS; i++) sigaddset(&ours, stops[i]);
    while (!p.ended && !sh->leaving) {
        sigprocmask(SIG_BLOCK, &ours, &outside);
        handle_stops(on_stop);
        show_prompt(&p);
        while (!p.have_line && !p.ended)
            if (wait_for_input(&p, &outside))
                rl_callback_read_char();
            else
                p.ended = true;
        handle_stops(SIG_DFL);
        sigprocmask(SIG_SETMASK, &outside, NULL);
        if (p.have_line) take_line(&p);
    }
    rl_callback_handler_remove();
    if (p.ended) end_line();
    if (p.history) history_truncate_file(p.history, HISTORY_KEPT);
    mem_free(p.history);
    text_free(&p.pending);
    clear_history();
    current = NULL;
    shell_flush(sh);
    return sh->leaving ? sh->leaving_status : EXIT_FINE;
}
