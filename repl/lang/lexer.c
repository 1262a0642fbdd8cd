/* lexer.c — the loop over the text, words and signs, brackets and newlines. */
#include "repl/lang/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/unicode.h"
#include "repl/lang/lexer_impl.h"
#include "repl/lang/syntax_errors.h"

/* The spelling of each word and sign, and whether a statement goes on over the newline after it. */
typedef struct spelling {
    const char *word;
    uint8_t kind;
    bool goes_on;
} spelling;

static const spelling words[] = {
    {"def", TOKEN_DEF, false},
    {"for", TOKEN_FOR, false},
    {"while", TOKEN_WHILE, false},
    {"break", TOKEN_BREAK, false},
    {"continue", TOKEN_CONTINUE, false},
    {"return", TOKEN_RETURN, false},
    {"if", TOKEN_IF, false},
    {"else", TOKEN_ELSE, false},
    {"in", TOKEN_IN, true},
    {"and", TOKEN_AND, true},
    {"or", TOKEN_OR, true},
    {"not", TOKEN_NOT, true},
    {"as", TOKEN_AS, true},
    {"true", TOKEN_TRUE, false},
    {"false", TOKEN_FALSE, false},
    {"None", TOKEN_NONE, false},
    {"f64", TOKEN_DTYPE, false},
    {"f32", TOKEN_DTYPE, false},
    {"f16", TOKEN_DTYPE, false},
    {"bf16", TOKEN_DTYPE, false},
    {"i64", TOKEN_DTYPE, false},
    {"i32", TOKEN_DTYPE, false},
    {"i8", TOKEN_DTYPE, false},
    {"u8", TOKEN_DTYPE, false},
    {"bool", TOKEN_DTYPE, false},
};

/* Longer signs before their prefixes. */
static const spelling signs[] = {
    {"...", TOKEN_DOTS3, false},    {"..", TOKEN_DOTS, true},       {"**", TOKEN_POWER, true},
    {"//", TOKEN_SLASH2, true},     {"->", TOKEN_ARROW, true},      {"|>", TOKEN_PIPE, true},
    {"==", TOKEN_EQ, true},         {"!=", TOKEN_NE, true},         {"<=", TOKEN_LE, true},
    {">=", TOKEN_GE, true},         {"+=", TOKEN_ADD_ASSIGN, true}, {"-=", TOKEN_SUB_ASSIGN, true},
    {"*=", TOKEN_MUL_ASSIGN, true}, {"/=", TOKEN_DIV_ASSIGN, true}, {"(", TOKEN_LPAREN, false},
    {")", TOKEN_RPAREN, false},     {"[", TOKEN_LBRACKET, false},   {"]", TOKEN_RBRACKET, false},
    {"{", TOKEN_LBRACE, false},     {"}", TOKEN_RBRACE, false},     {",", TOKEN_COMMA, true},
    {";", TOKEN_SEMICOLON, false},  {":", TOKEN_COLON, false},      {"?", TOKEN_QUESTION, false},
    {".", TOKEN_DOT, true},         {"=", TOKEN_ASSIGN, true},      {"+", TOKEN_PLUS, true},
    {"-", TOKEN_MINUS, true},       {"~", TOKEN_TILDE, true},       {"*", TOKEN_STAR, true},
    {"/", TOKEN_SLASH, true},       {"%", TOKEN_PERCENT, true},     {"@", TOKEN_AT, true},
    {"&", TOKEN_AND_SIGN, true},    {"|", TOKEN_OR_SIGN, true},     {"<", TOKEN_LT, true},
    {">", TOKEN_GT, true},
};

enum { WORD_COUNT = sizeof words / sizeof words[0], SIGN_COUNT = sizeof signs / sizeof signs[0] };

const char *token_kind_text(token_kind kind) {
    static const char *const texts[TOKEN_KIND_COUNT] = {
        [TOKEN_END] = "the end of the text",
        [TOKEN_FAULT] = "this",
        [TOKEN_NEWLINE] = "the end of the line",
        [TOKEN_COMMAND] = "a command",
        [TOKEN_INT] = "a number",
        [TOKEN_REAL] = "a number",
        [TOKEN_STRING] = "a string",
        [TOKEN_NAME] = "a name",
        [TOKEN_DTYPE] = "a dtype",
        [TOKEN_DEF] = "`def`",
        [TOKEN_FOR] = "`for`",
        [TOKEN_WHILE] = "`while`",
        [TOKEN_BREAK] = "`break`",
        [TOKEN_CONTINUE] = "`continue`",
        [TOKEN_RETURN] = "`return`",
        [TOKEN_IF] = "`if`",
        [TOKEN_ELSE] = "`else`",
        [TOKEN_IN] = "`in`",
        [TOKEN_AND] = "`and`",
        [TOKEN_OR] = "`or`",
        [TOKEN_NOT] = "`not`",
        [TOKEN_AS] = "`as`",
        [TOKEN_TRUE] = "`true`",
        [TOKEN_FALSE] = "`false`",
        [TOKEN_NONE] = "`None`",
        [TOKEN_LPAREN] = "`(`",
        [TOKEN_RPAREN] = "`)`",
        [TOKEN_LBRACKET] = "`[`",
        [TOKEN_RBRACKET] = "`]`",
        [TOKEN_LBRACE] = "`{`",
        [TOKEN_RBRACE] = "`}`",
        [TOKEN_COMMA] = "`,`",
        [TOKEN_SEMICOLON] = "`;`",
        [TOKEN_COLON] = "`:`",
        [TOKEN_QUESTION] = "`?`",
        [TOKEN_DOT] = "`.`",
        [TOKEN_DOTS] = "`..`",
        [TOKEN_DOTS3] = "`...`",
        [TOKEN_ARROW] = "`->`",
        [TOKEN_ASSIGN] = "`=`",
        [TOKEN_ADD_ASSIGN] = "`+=`",
        [TOKEN_SUB_ASSIGN] = "`-=`",
        [TOKEN_MUL_ASSIGN] = "`*=`",
        [TOKEN_DIV_ASSIGN] = "`/=`",
        [TOKEN_PLUS] = "`+`",
        [TOKEN_MINUS] = "`-`",
        [TOKEN_TILDE] = "`~`",
        [TOKEN_STAR] = "`*`",
        [TOKEN_POWER] = "`**`",
        [TOKEN_SLASH] = "`/`",
        [TOKEN_SLASH2] = "`//`",
        [TOKEN_PERCENT] = "`%`",
        [TOKEN_AT] = "`@`",
        [TOKEN_AND_SIGN] = "`&`",
        [TOKEN_OR_SIGN] = "`|`",
        [TOKEN_PIPE] = "`|>`",
        [TOKEN_EQ] = "`==`",
        [TOKEN_NE] = "`!=`",
        [TOKEN_LT] = "`<`",
        [TOKEN_LE] = "`<=`",
        [TOKEN_GT] = "`>`",
        [TOKEN_GE] = "`>=`",
    };
    return (unsigned)kind < TOKEN_KIND_COUNT && texts[kind] ? texts[kind] : "this";
}

static bool goes_on_after(uint8_t kind) {
    for (size_t i = 0; i < SIGN_COUNT; i++)
        if (signs[i].kind == kind) return signs[i].goes_on;
    return kind == TOKEN_IN || kind == TOKEN_AND || kind == TOKEN_OR || kind == TOKEN_NOT || kind == TOKEN_AS;
}

status lex_fault(lexer *x, int number, uint32_t begin, uint32_t end, const char *format, ...) {
    char message[sizeof x->list->fault.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fail(&x->list->fault, STATUS_SYNTAX, number, "%s", message);
    x->list->fault.where = (span){x->source, begin, end};
    return x->list->fault.code;
}

uint32_t lex_line(const lexer *x, uint32_t offset) {
    uint32_t line = 1;
    for (uint32_t i = 0; i < offset; i++) line += x->content[i] == '\n';
    return line;
}

/* --- growing arrays --- */

static status grow(void **items, uint32_t count, uint32_t *capacity, size_t size, error *e) {
    if (count < *capacity) return STATUS_OK;
    size_t bytes, wanted = *capacity ? (size_t)*capacity * 2 : 64;
    if (wanted > UINT32_MAX || !mem_mul(wanted, size, &bytes)) return fail_memory(e, UINT64_MAX);
    void *bigger = mem_realloc(*items, bytes);
    if (!bigger) return fail_memory(e, bytes);
    *items = bigger;
    *capacity = (uint32_t)wanted;
    return STATUS_OK;
}

static status add(lexer *x, const token *t) {
    token_list *list = x->list;
    void *items = list->items;
    if (grow(&items, list->count, &list->capacity, sizeof(token), x->e)) return x->e->code;
    list->items = items;
    list->items[list->count++] = *t;
    return STATUS_OK;
}

void token_list_free(token_list *list) {
    mem_free(list->items);
    mem_free(list->open);
    *list = (token_list){0};
}

/* --- brackets --- */

static status open_bracket(lexer *x) {
    token_list *list = x->list;
    void *open = list->open;
    if (grow(&open, list->open_count, &list->open_capacity, sizeof *list->open, x->e)) return x->e->code;
    list->open = open;
    list->open[list->open_count++] = list->count; /* the bracket is added next */
    return STATUS_OK;
}

/* Pairs the closer `t` (to be added next) with the innermost open bracket, or faults. */
static void close_bracket(lexer *x, token *t) {
    token_list *list = x->list;
    const char *spelled = token_kind_text(t->kind);
    if (list->open_count == 0) {
        lex_fault(x, E_STRAY_CLOSER, t->begin, t->end, "%s closes nothing", spelled);
        fail_hint(&list->fault, "leave it out, or open a bracket for it before");
        return;
    }
    uint32_t index = list->open[list->open_count - 1];
    token *opener = &list->items[index];
    if (opener->kind + 1 != t->kind) {
        const char *wanted = token_kind_text(opener->kind + 1);
        lex_fault(x, E_WRONG_CLOSER, t->begin, t->end, "%s can't close the %s", spelled,
                  token_kind_text(opener->kind));
        fail_operand(&list->fault, "%s was opened in line %u", token_kind_text(opener->kind),
                     (unsigned)lex_line(x, opener->begin));
        fail_hint(&list->fault, "write %s here, or close the %s before", wanted,
                  token_kind_text(opener->kind));
        return;
    }
    list->open_count--;
    opener->partner = list->count;
    t->partner = index;
}

/* Whether newlines end statements here: outside of brackets or directly within a block. */
static bool newlines_count(const lexer *x) {
    if (x->list->open_count == 0) return true;
    const token *inner = &x->list->items[x->list->open[x->list->open_count - 1]];
    return inner->kind == TOKEN_LBRACE && !inner->record;
}

/* --- blanks --- */

static uint32_t skip_blanks(const lexer *x, uint32_t at, bool newlines) {
    while (at < x->end) {
        char c = x->content[at];
        if (c == '#')
            while (at < x->end && x->content[at] != '\n') at++;
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || (newlines && c == '\n'))
            at++;
        else
            break;
    }
    return at;
}

static uint32_t skip_word(const lexer *x, uint32_t at) {
    uint32_t code;
    size_t bytes;
    while (at < x->end && (bytes = utf8_decode(x->content + at, x->end - at, &code)) > 0) {
        if (!unicode_continues_name(code)) break;
        at += (uint32_t)bytes;
    }
    return at;
}

static bool word_starts(const lexer *x, uint32_t at) {
    uint32_t code;
    return at < x->end && utf8_decode(x->content + at, x->end - at, &code) > 0 && unicode_starts_name(code);
}

/* Whether a name or string and a `:` follow at `at`, newlines aside. */
static bool record_follows(const lexer *x, uint32_t at) {
    at = skip_blanks(x, at, true);
    if (word_starts(x, at)) {
        at = skip_word(x, at);
    } else if (at < x->end && (x->content[at] == '"' || x->content[at] == '\'')) {
        char quote = x->content[at++];
        while (at < x->end && x->content[at] != quote) at += x->content[at] == '\\' ? 2 : 1;
        if (at >= x->end) return false;
        at++;
    } else {
        return false;
    }
    at = skip_blanks(x, at, true);
    return at < x->end && x->content[at] == ':';
}

/* --- tokens --- */

static void lex_word(lexer *x, token *t) {
    x->at = t->end = skip_word(x, x->at);
    size_t length = t->end - t->begin;
    char first = x->content[t->begin];
    t->kind = TOKEN_NAME;
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (words[i].word[0] == first && strlen(words[i].word) == length &&
            memcmp(words[i].word, x->content + t->begin, length) == 0)
            t->kind = words[i].kind;
}

static status lex_sign(lexer *x, token *t) {
    if (lex_mistaken_operator(x)) return STATUS_OK;
    const spelling *found = NULL;
    for (size_t i = 0; i < SIGN_COUNT && !found; i++) {
        if (signs[i].word[0] != lex_peek(x, 0)) continue;
        size_t length = strlen(signs[i].word);
        if (x->end - x->at >= length && memcmp(signs[i].word, x->content + x->at, length) == 0)
            found = &signs[i];
    }
    if (!found) {
        lex_mistaken_character(x);
        return STATUS_OK;
    }
    t->kind = found->kind;
    x->at = t->end = x->at + (uint32_t)strlen(found->word);
    if (t->kind == TOKEN_LBRACE) t->record = record_follows(x, x->at);
    if (t->kind == TOKEN_LPAREN || t->kind == TOKEN_LBRACKET || t->kind == TOKEN_LBRACE)
        return open_bracket(x);
    if (t->kind == TOKEN_RPAREN || t->kind == TOKEN_RBRACKET || t->kind == TOKEN_RBRACE) close_bracket(x, t);
    return STATUS_OK;
}

/* A command takes the rest of its line, blanks at the end left out. */
static void lex_command(lexer *x, token *t) {
    while (x->at < x->end && x->content[x->at] != '\n') x->at++;
    t->kind = TOKEN_COMMAND;
    t->end = x->at;
    while (strchr(" \t\r", x->content[t->end - 1])) t->end--;
}

/* Whether a statement may start here: the first token of a line at depth 0. */
static bool line_starts(const lexer *x) {
    const token_list *list = x->list;
    return list->open_count == 0 && (list->count == 0 || list->items[list->count - 1].kind == TOKEN_NEWLINE);
}

static status lex_one(lexer *x, token *t) {
    char c = lex_peek(x, 0), next = lex_peek(x, 1);
    if ((c == ':' || c == '?') && line_starts(x)) return lex_command(x, t), STATUS_OK;
    if ((c >= '0' && c <= '9') || (c == '.' && next >= '0' && next <= '9')) return lex_number(x, t);
    if (c == '"' || c == '\'') return lex_string(x, t);
    if (word_starts(x, x->at)) return lex_word(x, t), STATUS_OK;
    return lex_sign(x, t);
}

/* Skips blanks and newlines; adds a TOKEN_NEWLINE where one of them ends a statement. */
static status lex_blanks(lexer *x, bool *spaced) {
    uint32_t start = x->at;
    x->at = skip_blanks(x, x->at, false);
    uint32_t newline = x->at;
    x->at = skip_blanks(x, x->at, true);
    *spaced = x->at > start;
    token_list *list = x->list;
    uint8_t last = list->count ? list->items[list->count - 1].kind : TOKEN_NEWLINE;
    if (x->at == newline || !newlines_count(x) || last == TOKEN_NEWLINE || goes_on_after(last))
        return STATUS_OK;
    return add(x, &(token){.kind = TOKEN_NEWLINE, .begin = newline, .end = newline + 1});
}

status lex(token_list *list, const char *content, uint32_t begin, uint32_t end, uint32_t source,
           arena *memory, error *e) {
    lexer x = {.content = content,
               .at = begin,
               .end = end,
               .source = source,
               .memory = memory,
               .list = list,
               .e = e};
    if (end - begin >= 3 && memcmp(content + begin, "\xef\xbb\xbf", 3) == 0)
        x.at += 3; /* a byte order mark */
    for (;;) {
        token t = {.kind = TOKEN_END};
        if (lex_blanks(&x, &t.spaced)) return e->code;
        if (x.at >= x.end) break;
        t.begin = t.end = x.at;
        if (lex_one(&x, &t)) return e->code;
        if (list->fault.code) {
            t.kind = TOKEN_FAULT;
            t.begin = list->fault.where.begin;
            t.end = list->fault.where.end;
        }
        if (add(&x, &t)) return e->code;
        if (list->fault.code) break;
    }
    return add(&x, &(token){.kind = TOKEN_END, .begin = end, .end = end, .spaced = true});
}
