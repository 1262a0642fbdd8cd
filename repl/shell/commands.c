/* commands.c — from a line that starts with `:` or `?` to a command's function. */
#include "repl/shell/commands.h"

#include <string.h>

#include "engine/base/distance.h"

const command commands[] = {
#define GROUP(title) {NULL, NULL, title, NULL},
#define COMMAND(name, arguments, doc, function) {#name, arguments, doc, function},
#include "repl/shell/commands.def"
#undef COMMAND
#undef GROUP
};
const int command_count = sizeof commands / sizeof *commands;

const command *command_find(const char *name, size_t length) {
    for (int i = 0; i < command_count; i++)
        if (commands[i].name && strlen(commands[i].name) == length &&
            memcmp(commands[i].name, name, length) == 0)
            return &commands[i];
    return NULL;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Short forms, as other prompts have them. */
static const struct {
    const char *name, *command;
} short_forms[] = {{"h", "help"}, {"q", "quit"}, {"exit", "quit"}, {"load", "run"}, {"u", "undo"}};

static const command *find_with_short_forms(const char *name, size_t length) {
    const command *found = command_find(name, length);
    for (size_t i = 0; !found && i < sizeof short_forms / sizeof *short_forms; i++)
        if (strlen(short_forms[i].name) == length && memcmp(short_forms[i].name, name, length) == 0)
            found = command_find(short_forms[i].command, strlen(short_forms[i].command));
    return found;
}

/* One that begins alike, else the one that is fewest slips away; NULL. */
static const command *nearest_command(const char *name, size_t length) {
    const command *near = NULL;
    int best = name_slips(length) + 1;
    for (int i = 0; i < command_count && length > 0; i++) {
        const char *known = commands[i].name;
        if (!known) continue;
        if (strncmp(known, name, length < 3 ? length : 3) == 0) return &commands[i];
        int slips = name_distance(name, length, known, strlen(known), best);
        if (slips < best) best = slips, near = &commands[i];
    }
    return near;
}

static status unknown_command(shell *sh, const char *name, size_t length) {
    const command *near = nearest_command(name, length);
    if (!length) {
        fail(&sh->c->err, STATUS_NAME, 804, "the name of a command stands right behind the `:`");
        return fail_hint(&sh->c->err, "write, say, :vars; :help lists the commands");
    }
    fail(&sh->c->err, STATUS_NAME, 804, "there is no command `:%.*s`", (int)(length < 60 ? length : 60),
         name);
    if (near) return fail_hint(&sh->c->err, "did you mean :%s? :help lists the commands", near->name);
    return fail_hint(&sh->c->err, ":help lists the commands");
}

status command_usage(shell *sh, const char *name) {
    const command *c = command_find(name, strlen(name));
    fail(&sh->c->err, STATUS_VALUE, 805, "`:%s` can't make sense of its arguments", name);
    return fail_hint(&sh->c->err, ":%s%s%s %s", name, c->arguments[0] ? " " : "", c->arguments, c->doc);
}

status shell_command(shell *sh, const char *line, size_t length, span where) {
    error_clear(&sh->c->err);
    char *copy = mem_copy_text(line, length);
    if (!copy) return fail_memory(&sh->c->err, length + 1);
    while (length > 0 && is_blank(copy[length - 1])) copy[--length] = '\0';
    char *name = copy + 1;
    const command *c;
    char *args = name;
    if (copy[0] == '?') {
        c = command_find("help", 4);
    } else {
        size_t n = strcspn(name, " \t\r");
        c = find_with_short_forms(name, n);
        args = name + n;
        if (!c) unknown_command(sh, name, n);
    }
    while (is_blank(*args)) args++;
    if (c) {
        const char *outer_text = sh->command_text;
        span outer_where = sh->command_where;
        sh->command_text = copy;
        sh->command_where = where;
        c->run(sh, args);
        sh->command_text = outer_text;
        sh->command_where = outer_where;
    }
    mem_free(copy);
    return sh->c->err.code;
}

char *command_path(shell *sh, const char *s, size_t length) {
    if (length >= 2 && (s[0] == '"' || s[0] == '\'') && s[length - 1] == s[0]) s++, length -= 2;
    char *path = length > 0 ? mem_copy_text(s, length) : NULL;
    if (length == 0)
        fail(&sh->c->err, STATUS_VALUE, 805, "the name of a file is missing");
    else if (!path)
        fail_memory(&sh->c->err, length + 1);
    return path;
}

span command_place(const shell *sh, const char *part, size_t length) {
    span where = sh->command_where;
    where.begin += (uint32_t)(part - sh->command_text);
    where.end = where.begin + (uint32_t)length;
    return where;
}

status command_evaluate(shell *sh, const char *expression, size_t length, value *out) {
    return session_evaluate(sh->session, command_place(sh, expression, length), out);
}
