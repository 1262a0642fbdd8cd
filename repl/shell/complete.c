/* complete.c — see complete.h. It looks at the line's text before the cursor, not at a syntax tree: a line
 * that is being typed seldom is one. */
#include "repl/shell/complete.h"

#include <stdio.h>
#include <string.h>

#include "repl/lang/function.h"
#include "repl/shell/commands.h"

static bool in_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c & 0x80);
}

const char complete_breaks[] = " \t\n\"'`@$><=;|&{(,+-*/%~)[]!^#:?";

/* Is `end` within a string? */
static bool open_quote(const char *line, size_t end) {
    char quote = '\0';
    for (size_t i = 0; i < end; i++) {
        if (quote && line[i] == '\\')
            i++;
        else if (quote && line[i] == quote)
            quote = '\0';
        else if (!quote && (line[i] == '"' || line[i] == '\''))
            quote = line[i];
        else if (!quote && line[i] == '#')
            break;
    }
    return quote != '\0';
}

/* One search for words that begin with a prefix. */
typedef struct search {
    const char *prefix;
    size_t length;
    complete_add add;
    void *user;
} search;

static void offer(const search *q, const char *word, bool call) {
    if (strncmp(word, q->prefix, q->length) == 0) q->add(q->user, word, call);
}

/* ---- commands ---- */

static void offer_commands(const search *q) {
    for (int i = 0; i < command_count; i++) {
        if (!commands[i].name) continue;
        offer(q, commands[i].name, false);
    }
}

/* What only :help knows. */
static void offer_help(const search *q) {
    offer_commands(q);
    offer(q, "functions", false);
    for (int i = 0; help_topic(i); i++) offer(q, help_topic(i), false);
}

/* ---- names ---- */

static bool offer_binding(void *user, const symbol *name, value v) {
    offer(user, name->text, value_callable(v));
    return true;
}

static bool offer_function(void *user, const session_function *f) {
    offer(user, f->name, f->signature != NULL);
    return true;
}

static const char *const words[] = {"def",   "for",  "while", "break", "continue", "return", "if",
                                    "else",  "in",   "and",   "or",    "not",      "as",     "true",
                                    "false", "None", "tape",  "f64",   "f32",      "f16",    "bf16",
                                    "i64",   "i32",  "i8",    "u8",    "bool"};

static void offer_names(shell *sh, search *q) {
    session_each(sh->session, offer_binding, q);
    session_each_function(sh->session, offer_function, q);
    error_clear(&sh->c->err);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) offer(q, words[i], false);
}

/* ---- fields and methods: `r.w`, `x.sum` ---- */

/* The words after `base.`; each candidate is the whole of it. */
typedef struct field_search {
    const search *q;
    char word[200];
    size_t base; /* length of "base." */
} field_search;

static void offer_field(field_search *f, const char *name, bool call) {
    if (strlen(name) >= sizeof f->word - f->base) return;
    snprintf(f->word + f->base, sizeof f->word - f->base, "%s", name);
    offer(f->q, f->word, call);
}

static bool offer_method(void *user, const session_function *f) {
    if (f->signature && f->signature[0] != '\0') offer_field(user, f->name, true);
    return true;
}

static void offer_fields(shell *sh, const search *q, size_t dot) {
    field_search f = {.q = q, .base = dot + 1};
    if (f.base >= sizeof f.word) return;
    memcpy(f.word, q->prefix, f.base);
    f.word[dot] = '\0';
    char *first = f.word;
    const value *v = NULL;
    for (char *part = first; part; first = part) { /* record fields, one after the other */
        char *next = strchr(part, '.');
        if (next) *next = '\0';
        v = first == f.word && part == f.word ? session_get(sh->session, part)
            : v && v->kind == VALUE_RECORD    ? value_field_text(*v, part)
                                              : NULL;
        if (next) *next = '.';
        part = next ? next + 1 : NULL;
    }
    f.word[dot] = '.';
    if (v && v->kind == VALUE_RECORD)
        for (size_t i = 0; i < v->record->count; i++)
            offer_field(&f, v->record->entry[i].key->text, value_callable(v->record->entry[i].value));
    if (!v || v->kind == VALUE_TENSOR) {
        static const char *const properties[] = {"T", "shape", "dtype", "device"};
        for (int i = 0; i < 4; i++) offer_field(&f, properties[i], false);
        session_each_function(sh->session, offer_method, &f);
    }
    if (v && v->kind == VALUE_TAPE) offer_field(&f, "grad", true);
    error_clear(&sh->c->err);
}

/* ---- keyword arguments: `sum(x, a` ---- */

/* Where the name of the call around `at` begins and ends; false when there is none. */
static bool enclosing_call(const char *line, size_t at, size_t *begin, size_t *end) {
    int depth = 0;
    while (at-- > 0) {
        if (strchr(")]}", line[at])) depth++;
        if (strchr("([{", line[at]) && depth-- == 0) {
            if (line[at] != '(') return false;
            *end = *begin = at;
            while (*begin > 0 && in_word(line[*begin - 1])) --*begin;
            return *begin < *end;
        }
    }
    return false;
}

/* "x, axis=None, *sizes": each name with `=` behind it. */
static void offer_parameters(const search *q, const char *signature) {
    int depth = 0;
    for (const char *p = signature; *p;) {
        while (*p == ' ' || *p == ',') p++;
        const char *name = p;
        while (in_word(*p)) p++;
        size_t length = (size_t)(p - name);
        char word[64];
        if (depth == 0 && length > 0 && length < sizeof word - 1) {
            snprintf(word, sizeof word, "%.*s=", (int)length, name);
            offer(q, word, false);
        }
        for (; *p && (depth > 0 || *p != ','); p++) {
            depth += strchr("([{", *p) != NULL;
            depth -= strchr(")]}", *p) != NULL;
        }
    }
}

static void offer_keywords(shell *sh, const char *line, size_t start, const search *q) {
    size_t begin, end;
    if (!enclosing_call(line, start, &begin, &end)) return;
    char name[80];
    size_t length = end - begin;
    if (length >= sizeof name) return;
    memcpy(name, line + begin, length);
    name[length] = '\0';
    const value *v = session_get(sh->session, name);
    session_function f;
    if (v && v->kind == VALUE_FUNCTION) {
        for (int i = 0; i < v->function->proto->params; i++) {
            char word[80];
            int needed = snprintf(word, sizeof word, "%s=", v->function->proto->param[i]->text);
            if (needed >= (int)sizeof word) continue;
            offer(q, word, false);
        }
    } else if (!v && session_find_function(sh->session, name, &f) && f.signature) {
        offer_parameters(q, f.signature);
    }
}

/* ---- all of it ---- */

/* The command whose argument the cursor is in: its name's length, 0 when it is none. */
static size_t command_length(const char *line, size_t start) {
    if (line[0] != ':') return 0;
    size_t n = strcspn(line + 1, " \t");
    return n + 1 < start ? n : 0;
}

complete_kind complete_at(shell *sh, const char *line, size_t start, size_t end, complete_add add,
                          void *user) {
    search q = {line + start, end - start, add, user};
    if (start == 1 && line[0] == ':') {
        offer_commands(&q);
        return COMPLETE_NAMES;
    }
    size_t command_name = command_length(line, start);
    if (command_name > 0 &&
        (strncmp(line + 1, "run", command_name) == 0 || strncmp(line + 1, "load", command_name) == 0))
        return COMPLETE_FILES;
    if (open_quote(line, start)) return COMPLETE_FILES;
    if (command_name > 0 && strncmp(line + 1, "help", command_name) == 0) offer_help(&q);
    if (memchr(q.prefix, '.', q.length)) {
        size_t dot = q.length;
        while (q.prefix[dot - 1] != '.') dot--;
        offer_fields(sh, &q, dot - 1);
        return COMPLETE_NAMES;
    }
    offer_keywords(sh, line, start, &q);
    offer_names(sh, &q);
    return COMPLETE_NAMES;
}
