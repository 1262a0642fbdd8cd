/* operand_names.c — errors of operations in the words of the text: what the engine calls left and right gets the name
 * that the program has for it. */
#include <stdio.h>
#include <string.h>

#include "repl/lang/eval.h"

/* The text of an expression when it is short, else `otherwise`. */
static void operand_name(session *s, const ast_node *n, const char *otherwise, char name[32]) {
    size_t length;
    const char *content = n ? source_text(s->sources, n->where.source, &length) : NULL;
    size_t bytes = n ? n->where.end - n->where.begin : 0;
    snprintf(name, 32, "%s", otherwise);
    if (!content || bytes >= 20 || n->where.end > length) return;
    if (memchr(content + n->where.begin, '\n', bytes)) return;
    snprintf(name, 32, "%.*s", (int)bytes, content + n->where.begin);
}

/* Appends a line with "left axis" and "right axis" put in the words of the text. */
static void add_line(text *out, const char *line, size_t length, const char *const names[2]) {
    static const char *const sides[2] = {"left", "right"};
    if (out->length) text_char(out, '\n');
    for (size_t i = 0; i < length;) {
        bool replaced = false;
        for (int k = 0; k < 2 && !replaced; k++) {
            size_t n = strlen(sides[k]);
            if (length - i > n + 5 && !memcmp(line + i, sides[k], n) && !memcmp(line + i + n, " axis", 5)) {
                text_add(out, names[k]);
                i += n;
                replaced = true;
            }
        }
        if (!replaced) text_char(out, line[i++]);
    }
}

/* Whether the text of an operand takes [..] or .T behind it: a name, a call, something in brackets. */
static bool is_primary(const char *s) {
    int depth = 0;
    for (; *s; s++) {
        depth += *s == '(' || *s == '[' || *s == '{';
        depth -= *s == ')' || *s == ']' || *s == '}';
        if (depth == 0 && strchr(" -+~*/%@<>=!&|,\"'", *s)) return false;
    }
    return true;
}

/* The hint with the words left and right, where they stand for the operands, put in the words of the text. */
static void name_in_hint(char hint[400], const char *const names[2]) {
    static const char *const sides[2] = {"left", "right"};
    static const char *const unnamed[2] = {"the left operand", "the right operand"};
    text out = {0};
    for (const char *at = hint; *at;) {
        const char *name = NULL;
        size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        for (int k = 0; k < 2; k++)
            if (word == strlen(sides[k]) && !memcmp(at, sides[k], word))
                name = strcmp(names[k], sides[k]) ? names[k] : unnamed[k];
        if (name)
            text_printf(&out, is_primary(name) ? "%s" : "(%s)", name);
        else
            text_add_bytes(&out, at, word ? word : 1);
        at += word ? word : 1;
    }
    if (!out.failed) snprintf(hint, 400, "%s", text_str(&out));
    text_free(&out);
}

static const char *operand_text(session *s, value v, char buffer[120]) {
    return v.kind == VALUE_TENSOR ? meta_text(s->c->dims, &v.tensor->meta, buffer, 120)
                                  : value_describe(v, buffer, 120);
}

/* Puts operand lines in the words of the text: first what each operand was, by name; then the rest. */
static void name_in_lines(session *s, value x, value y, const char *const names[2]) {
    error *e = &s->c->err;
    char da[120], db[120];
    text out = {0};
    text_printf(&out, "%s %s", names[0], operand_text(s, x, da));
    if (y.kind != VALUE_ABSENT) text_printf(&out, "   %s %s", names[1], operand_text(s, y, db));
    for (const char *line = e->operands; *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "operand ", 8) != 0) add_line(&out, line, length, names);
        line += length + (line[length] == '\n');
    }
    if (!out.failed) snprintf(e->operands, sizeof e->operands, "%s", text_str(&out));
    text_free(&out);
}

__attribute__((noinline)) void name_operands(session *s, value x, value y, const ast_node *left,
                                             const ast_node *right) {
    error *e = &s->c->err;
    if (e->code == STATUS_MEMORY || e->code == STATUS_INTERRUPT) return;
    char a[32] = "left", b[32] = "right";
    if (!s->in_prelude) {
        operand_name(s, left, "left", a);
        operand_name(s, right, "right", b);
        name_in_lines(s, x, y, (const char *[]){a, b});
    }
    name_in_hint(e->hint, (const char *[]){a, b});
}

bool operands_clash(session *s, const tensor *x, const tensor *y) {
    error quiet = {0};
    shape met;
    return shape_broadcast(s->c->dims, &x->meta.shape, &y->meta.shape, &met, &quiet) != STATUS_OK;
}
