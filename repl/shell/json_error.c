/* json_error.c — errors and warnings as JSON, for programs that run this one; the form is in json.h. */
#include <string.h>

#include "repl/shell/json.h"

static void add_text(const char *key, const char *s, text *out) {
    text_printf(out, ",\"%s\":", key);
    json_string(s, strlen(s), out);
}

/* ,"file":"net.td","line":3,"column":5; nothing when there is no place. */
static void add_place(const source_table *sources, span where, text *out) {
    if (!where.source) return;
    source_place at = source_locate(sources, where.source, where.begin);
    add_text("file", source_title(sources, where.source), out);
    text_printf(out, ",\"line\":%u,\"column\":%u", at.line, at.column);
}

static void add_operands(const char *lines, text *out) {
    text_add(out, ",\"operands\":[");
    for (bool first = true; *lines; first = false) {
        size_t length = strcspn(lines, "\n");
        if (!first) text_char(out, ',');
        json_string(lines, length, out);
        lines += length + (lines[length] == '\n');
    }
    text_char(out, ']');
}

static void add_calls(const source_table *sources, const error *e, text *out) {
    text_add(out, ",\"calls\":[");
    for (uint32_t i = 0; i < e->call_count; i++) {
        const error_call *c = &e->calls[i];
        if (i) text_char(out, ',');
        if (i == ERROR_CALLS_INNER && e->calls_left_out)
            text_printf(out, "{\"left_out\":%u},", e->calls_left_out);
        text_add(out, "{\"function\":");
        json_string(c->name, strlen(c->name), out);
        add_place(sources, c->where, out);
        text_printf(out, ",\"times\":%u}", c->times);
    }
    text_char(out, ']');
}

void json_error(const source_table *sources, const error *e, text *out) {
    text_printf(out, "{\"error\":{\"number\":%d,\"class\":\"%s\"", e->number, status_name(e->code));
    add_text("message", e->message, out);
    add_place(sources, e->where, out);
    add_operands(e->operands, out);
    add_calls(sources, e, out);
    if (e->hint[0]) add_text("hint", e->hint, out);
    text_add(out, "}}\n");
}

void json_warning(const source_table *sources, span where, const char *message, text *out) {
    text_add(out, "{\"warning\":{\"message\":");
    json_string(message, strlen(message), out);
    add_place(sources, where, out);
    text_add(out, "}}\n");
}
