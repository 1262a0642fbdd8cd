/* arguments.c — options taken off a command's arguments. They stand before or after what the command is about,
 * which may be any text of the language, so nothing is looked for in the middle. */
#include <string.h>

#include "repl/shell/commands.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void trim(option_args *a) {
    while (a->length && is_blank(a->rest[0])) a->rest++, a->length--;
    while (a->length && is_blank(a->rest[a->length - 1])) a->length--;
}

/* Bytes of the word at s: to a blank, or, quoted, to the closing quote. */
static size_t word_length(const char *s, size_t length) {
    if (length && (s[0] == '"' || s[0] == '\'')) {
        const char *end = memchr(s + 1, s[0], length - 1);
        return end ? (size_t)(end - s) + 1 : length;
    }
    size_t n = 0;
    while (n < length && !is_blank(s[n])) n++;
    return n;
}

/* The option's text at byte `at` of the rest: its bytes with its value, 0 when it does not stand there. *given and
 * *given_length get the value's. */
static size_t option_at(const option_args *a, size_t at, const command_option *o, const char **given,
                        size_t *given_length) {
    size_t n = strlen(o->name), left = a->length - at;
    const char *s = a->rest + at;
    *given_length = 0;
    if (left < n || memcmp(s, o->name, n) != 0 || (at && !is_blank(s[-1])) || (left > n && !is_blank(s[n])))
        return 0;
    if (!o->valued) return n;
    while (n < left && is_blank(s[n])) n++;
    *given = s + n;
    *given_length = word_length(s + n, left - n);
    return n + *given_length;
}

static status take(shell *sh, command_option *o, const char *word, size_t length) {
    error *e = &sh->c->err;
    if (o->given) return fail(e, STATUS_VALUE, 805, "%s is given twice", o->name);
    o->given = true;
    if (!o->valued) return STATUS_OK;
    if (length >= 2 && (word[0] == '"' || word[0] == '\'') && word[length - 1] == word[0])
        word++, length -= 2;
    if (!length) return fail(e, STATUS_VALUE, 805, "%s needs a value", o->name);
    o->value = mem_copy_text(word, length);
    return o->value ? STATUS_OK : fail_memory(e, length);
}

/* Takes one option from the beginning or the end of the rest; false when there is none. */
static bool take_one(shell *sh, command_option *o, option_args *a, status *s) {
    const char *word = NULL;
    size_t bytes, n = option_at(a, 0, o, &word, &bytes);
    if (n) {
        *s = take(sh, o, word, bytes);
        a->rest += n;
        a->length -= n;
        return true;
    }
    for (size_t at = a->length; at-- > 0;) {
        n = option_at(a, at, o, &word, &bytes);
        if (!n || at + n != a->length) continue;
        *s = take(sh, o, word, bytes);
        a->length = at;
        return true;
    }
    return false;
}

status command_options(shell *sh, const char *args, command_option *options, int count, option_args *out) {
    status s = STATUS_OK;
    *out = (option_args){args, strlen(args)};
    for (bool taken = true; taken && !s;) {
        taken = false;
        trim(out);
        for (int i = 0; i < count && !s && !taken; i++) taken = take_one(sh, &options[i], out, &s);
    }
    if (!s && out->length > 2 && memcmp(out->rest, "--", 2) == 0 && out->rest[2] >= 'a' &&
        out->rest[2] <= 'z')
        s = fail(&sh->c->err, STATUS_VALUE, 805, "there is no option %.*s",
                 (int)word_length(out->rest, out->length), out->rest);
    for (int i = 0; i < count; i++)
        if (sh->json && strcmp(options[i].name, "--json") == 0) options[i].given = true;
    return s;
}

void command_options_free(command_option *options, int count) {
    for (int i = 0; i < count; i++) {
        mem_free(options[i].value);
        options[i].value = NULL;
    }
}

status command_split(shell *sh, const char *args, command_args *a) {
    command_option o[] = {{.name = "--json"}, {.name = "--out", .valued = true}};
    option_args rest;
    *a = (command_args){.rest = args};
    status s = command_options(sh, args, o, 2, &rest);
    a->json = o[0].given;
    a->rest = rest.rest;
    a->length = rest.length;
    if (!s) {
        a->out = o[1].value;
        o[1].value = NULL;
    }
    command_options_free(o, 2);
    return s;
}

void command_args_free(command_args *a) {
    mem_free(a->out);
    a->out = NULL;
}
