/* cmd_help.c — :help and :explain, from the tables of commands, functions, topics and errors. */
#include <stdlib.h>
#include <string.h>

#include "repl/shell/commands.h"
#include "repl/shell/json.h"

/* ---- topics ---- */

static const struct topic {
    const char *name, *title, *body;
} topics[] = {
#define TOPIC(name, title, body) {#name, title, body},
#include "repl/shell/topics.def"
#undef TOPIC
};
enum { TOPICS = sizeof topics / sizeof *topics };

static const struct topic *find_topic(const char *name) {
    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0) return &topics[i];
    return NULL;
}

const char *help_topic(int i) {
    return i < TOPICS ? topics[i].name : NULL;
}

/* ---- lists ---- */

enum { DOC_COLUMN = 28, FUNCTION_DOC_COLUMN = 38 };

static void pad(text *out, int count) {
    for (int i = 0; i < count; i++) text_char(out, ' ');
}

/* `body`, the first line from `column` on, in lines that end before `width` and begin at `indent`. */
static void wrap(text *out, const char *body, int column, int indent, int width) {
    for (bool first = true; *body; first = false) {
        size_t n = strcspn(body, " ");
        bool fits = first || column + 1 + (int)n <= width;
        if (!fits) {
            text_char(out, '\n');
            pad(out, column = indent);
        } else if (!first) {
            text_char(out, ' ');
            column++;
        }
        text_add_bytes(out, body, n);
        column += (int)n;
        body += n;
        while (*body == ' ') body++;
    }
    text_char(out, '\n');
}

/* Ends the line that began at `from` with what it means, beside it or, when it is long, below. */
static void add_doc(text *out, size_t from, const char *doc, int column, int width) {
    int used = (int)(out->length - from);
    if (used + 2 > column) {
        text_char(out, '\n');
        used = 0;
    }
    pad(out, column - used);
    wrap(out, doc, column, column, width);
}

static void list_commands(text *out, int width) {
    for (int i = 0; i < command_count; i++) {
        size_t from = out->length;
        if (!commands[i].name) {
            text_printf(out, "%s%s\n", i > 0 ? "\n" : "", commands[i].doc);
            continue;
        }
        text_printf(out, "  :%s %s", commands[i].name, commands[i].arguments);
        add_doc(out, from, commands[i].doc, DOC_COLUMN, width);
    }
    text_add(out, "\ntopics (:help NAME)\n");
    for (int i = 0; i < TOPICS; i++) {
        size_t from = out->length;
        text_printf(out, "  %s", topics[i].name);
        add_doc(out, from, topics[i].title, DOC_COLUMN, width);
    }
    text_char(out, '\n');
    wrap(out, "functions: :help functions lists them, :help NAME explains one", 0, 0, width);
}

static void list_commands_as_json(text *out) {
    text_add(out, "{\"commands\":[");
    for (int i = 0, listed = 0; i < command_count; i++) {
        const command *c = &commands[i];
        if (!c->name) continue;
        text_add(out, listed++ > 0 ? ",{\"name\":" : "{\"name\":");
        json_string(c->name, strlen(c->name), out);
        text_add(out, ",\"arguments\":");
        json_string(c->arguments, strlen(c->arguments), out);
        text_add(out, ",\"doc\":");
        json_string(c->doc, strlen(c->doc), out);
        text_char(out, '}');
    }
    text_add(out, "]}\n");
}

typedef struct function_lines {
    text *out;
    int width;
} function_lines;

static bool add_function_line(void *user, const session_function *f) {
    const function_lines *l = user;
    size_t from = l->out->length;
    text_printf(l->out, "  %s%s%s%s", f->name, f->signature ? "(" : "", f->signature ? f->signature : "",
                f->signature ? ")" : "");
    add_doc(l->out, from, f->doc ? f->doc : "", FUNCTION_DOC_COLUMN, l->width);
    return !l->out->failed;
}

/* ---- one function ---- */

static const char *class_text(op_autocast a) {
    return a == AUTOCAST_LOW ? "low precision" : a == AUTOCAST_F32 ? "f32" : "the widest operand's dtype";
}

static void describe_op(const op_info *op, text *out) {
    if (op_elementwise(op) && op->value_text[0]) text_printf(out, "  value:     %s\n", op->value_text);
    if (strchr(op->gradient_text, '(') ||
        strcmp(op->gradient_text, "NOGRAD") == 0) /* else a function's name */
        text_printf(out, "  gradient:  %s\n", op->gradient_text);
    text_printf(out, "  precision: %s inside precision(..)\n", class_text(op->autocast));
}

static void describe_function(const session_function *f, text *out) {
    if (f->signature)
        text_printf(out, "%s(%s)\n", f->name, f->signature);
    else
        text_printf(out, "%s\n", f->name);
    if (f->doc && f->doc[0]) text_printf(out, "  %s\n", f->doc);
    const op_info *op = f->value.kind == VALUE_OP ? f->value.op : op_find(f->name, strlen(f->name));
    if (op) describe_op(op, out);
}

static status describe_binding(shell *sh, const char *name, value v, text *out) {
    print_options o = shell_window(sh);
    text_printf(out, "%s: ", name);
    status code = print_headline(sh->session, v, &o, out);
    text_char(out, '\n');
    return code;
}

/* ---- :explain ---- */

static const struct {
    int number;
    const char *name, *body;
} explanations[] = {
#define ERROR(number, name, body) {number, name, body},
#include "engine/base/errors.def"
#undef ERROR
};

static status explain(shell *sh, int number) {
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
        if (explanations[i].number != number) continue;
        text out = {0};
        text_printf(&out, "E%d: %s\n", number, explanations[i].name);
        print_options o = shell_window(sh);
        pad(&out, 2);
        wrap(&out, explanations[i].body, 2, 2, o.width < 100 ? o.width : 100);
        status code = shell_results(sh, &out);
        text_free(&out);
        return code;
    }
    return fail(&sh->c->err, STATUS_VALUE, 806, "there is nothing to explain about E%d", number);
}

status cmd_explain(shell *sh, const char *args) {
    if (*args == '\0') {
        if (sh->last_error != 0) return explain(sh, sh->last_error);
        return fail(&sh->c->err, STATUS_VALUE, 806, "there was no error yet");
    }
    const char *digits = args + (*args == 'E' || *args == 'e');
    char *end;
    long number = strtol(digits, &end, 10);
    if (end == digits || *end != '\0' || number < 1 || number > 999) return command_usage(sh, "explain");
    return explain(sh, (int)number);
}

/* ---- :help ---- */

static status help_on(shell *sh, const char *name, text *out) {
    const char *bare = *name == ':' ? name + 1 : name;
    const command *c = command_find(bare, strlen(bare));
    session_function f;
    const struct topic *topic = find_topic(name);
    const value *bound = session_get(sh->session, name);
    bool any = false;
    if (bound && describe_binding(sh, name, *bound, out)) return sh->c->err.code;
    any |= bound != NULL;
    if (*name != ':' && session_find_function(sh->session, name, &f)) {
        describe_function(&f, out);
        any = true;
    }
    if (sh->c->err.code != STATUS_OK) return sh->c->err.code;
    if (c) {
        text_printf(out, ":%s%s%s\n  %s\n", c->name, c->arguments[0] ? " " : "", c->arguments, c->doc);
        any = true;
    }
    if (topic) {
        text_printf(out, "%s\n%s", topic->title, topic->body);
        any = true;
    }
    if (strcmp(name, "functions") == 0) {
        function_lines lines = {out, shell_window(sh).width};
        status code = session_each_function(sh->session, add_function_line, &lines);
        if (code != STATUS_OK) return code;
        any = true;
    }
    if (any) return STATUS_OK;
    fail(&sh->c->err, STATUS_NAME, 807, "there is no help on `%.60s`", name);
    return fail_hint(&sh->c->err, ":help lists commands and topics, :help functions the functions");
}

status cmd_help(shell *sh, const char *args) {
    if ((args[0] == 'E' || args[0] == 'e') && args[1] >= '0' && args[1] <= '9') return cmd_explain(sh, args);
    text out = {0};
    status code = STATUS_OK;
    if (strcmp(args, "--json") == 0 || (*args == '\0' && sh->json))
        list_commands_as_json(&out);
    else if (*args == '\0')
        list_commands(&out, shell_window(sh).width);
    else
        code = help_on(sh, args, &out);
    if (code == STATUS_OK) code = shell_results(sh, &out);
    text_free(&out);
    return code;
}
