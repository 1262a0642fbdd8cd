/* script.c — see script.h. */
#include "tests/harness/script.h"

#include <string.h>

#include "tests/harness/check.h"

static void add_values(script *p, const value *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i) text_char(&p->out, ' ');
        if (items[i].kind == VALUE_STRING)
            text_add_bytes(&p->out, items[i].string->text, items[i].string->length);
        else
            value_dump(items[i], 64, &p->out);
    }
    text_char(&p->out, '\n');
}

static status echo(void *user, session *s, const session_echo *what) {
    script *p = user;
    (void)s;
    if (what->kind == ECHO_ASSIGN) {
        text_printf(&p->out, "%s = ", what->name);
        value_dump(what->value, -1, &p->out);
        text_char(&p->out, '\n');
        return STATUS_OK;
    }
    add_values(p, &what->value, 1);
    return STATUS_OK;
}

static status print(void *user, session *s, const value *items, size_t count) {
    (void)s;
    add_values(user, items, count);
    return STATUS_OK;
}

static void warn(void *user, session *s, span where, const char *message) {
    script *p = user;
    (void)s;
    (void)where;
    text_printf(&p->out, "warning: %s\n", message);
}

void script_open(script *p) {
    *p = (script){.c = context_new(1)};
    assert_non_null(p->c);
    p->s = session_new(p->c);
    if (!p->s) fail_msg("no session: E%d %s", p->c->err.number, p->c->err.message);
}

void script_close(script *p) {
    session_free(p->s);
    context_free(p->c);
    text_free(&p->out);
}

status script_run(script *p, const char *code) {
    session_host host = {.user = p, .echo = echo, .print = print, .warn = warn};
    text_clear(&p->out);
    status st = session_run(p->s, NULL, code, strlen(code), &host);
    if (st) session_render_error(p->s, 0, &p->out);
    return st;
}

void script_expect(const char *code, const char *expected) {
    script p;
    script_open(&p);
    script_run(&p, code);
    while (p.out.length && p.out.data[p.out.length - 1] == '\n') p.out.data[--p.out.length] = '\0';
    if (strcmp(text_str(&p.out), expected) != 0)
        print_error("program:\n%s\nshows:\n%s\nexpected:\n%s\n", code, text_str(&p.out), expected);
    assert_string_equal(text_str(&p.out), expected);
    script_close(&p);
}

void script_expect_error(const char *code, int number, const char *contains) {
    script p;
    script_open(&p);
    status st = script_run(&p, code);
    if (st == STATUS_OK || p.c->err.number != number || !strstr(text_str(&p.out), contains))
        print_error("program:\n%s\nshows:\n%s\nexpected E%d with \"%s\"\n", code, text_str(&p.out), number,
                    contains);
    assert_int_not_equal(st, STATUS_OK);
    assert_int_equal(p.c->err.number, number);
    assert_non_null(strstr(text_str(&p.out), contains));
    script_close(&p);
}
