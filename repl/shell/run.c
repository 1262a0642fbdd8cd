/* run.c — the program from start to exit, and the session's host: what is echoed, printed and warned of. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/io/stream.h"
#include "repl/lang/builtins_io.h"
#include "repl/shell/json.h"
#include "repl/shell/shell.h"

/* ---- the host ---- */

static status flush_json(void *user, text *out) {
    return shell_results(user, out);
}

static status on_echo(void *user, session *s, const session_echo *what) {
    shell *sh = user;
    if (sh->quiet || (sh->json && what->kind == ECHO_ASSIGN)) return STATUS_OK;
    text out = {0};
    status code;
    print_options o = shell_window(sh);
    if (sh->json) {
        const json_sink sink = {flush_json, sh};
        code = json_value(s, what->value, &sink, &out);
        text_char(&out, '\n');
    } else if (what->kind == ECHO_ASSIGN) {
        text_printf(&out, "%s: ", what->name);
        code = print_headline(s, what->value, &o, &out);
        text_char(&out, '\n');
    } else {
        code = print_value(s, what->value, &o, &out);
    }
    if (code == STATUS_OK) code = shell_results(sh, &out);
    text_free(&out);
    return code;
}

static status on_print(void *user, session *s, const value *items, size_t count) {
    shell *sh = user;
    text out = {0};
    status code = STATUS_OK;
    print_options o = shell_window(sh);
    for (size_t i = 0; i < count && code == STATUS_OK; i++) {
        if (i > 0) text_char(&out, ' ');
        code = print_plain(s, items[i], &o, &out);
    }
    text_char(&out, '\n');
    if (code == STATUS_OK) code = shell_results(sh, &out);
    text_free(&out);
    return code;
}

static status on_command(void *user, session *s, const char *line, size_t length, span where) {
    (void)s;
    return shell_command(user, line, length, where);
}

static void on_warn(void *user, session *s, span where, const char *message) {
    (void)s;
    shell_warn(user, where, message);
}

/* ---- running ---- */

static session_host host_of(shell *sh) {
    return (session_host){sh, on_echo, on_print, on_command, on_warn};
}

static status ran(shell *sh, status code) {
    if (code == STATUS_INTERRUPT) atomic_store(&sh->c->interrupt, 0);
    return code;
}

status shell_run_text(shell *sh, const char *name, const char *content, size_t length) {
    const session_host host = host_of(sh);
    return ran(sh, session_run(sh->session, name, content, length, &host));
}

status shell_run_part(shell *sh, span where) {
    const session_host host = host_of(sh);
    return ran(sh, session_run_part(sh->session, where, &host));
}

/* The whole content of a file; freed with text_free. */
static status read_whole(shell *sh, const char *path, text *out) {
    io_reader *r = io_reader_open(sh->c, path);
    if (!r) return sh->c->err.code;
    char block[4096];
    size_t got = sizeof block;
    status code = STATUS_OK;
    while (code == STATUS_OK && got == sizeof block) {
        code = io_reader_read(r, block, sizeof block, &got);
        if (code == STATUS_OK) text_add_bytes(out, block, got);
    }
    io_reader_close(r);
    if (code == STATUS_OK && out->failed) code = fail_memory(&sh->c->err, out->length);
    return code;
}

status shell_run_file(shell *sh, const char *path) {
    enum { DEEPEST = 20 };
    if (sh->nesting == DEEPEST)
        return fail(&sh->c->err, STATUS_LIMIT, 803, "`%s` is the %dth file that runs another one", path,
                    DEEPEST);
    text content = {0};
    status code = read_whole(sh, path, &content);
    sh->nesting++;
    if (code == STATUS_OK) code = shell_run_text(sh, path, text_str(&content), content.length);
    sh->nesting--;
    text_free(&content);
    return code;
}

int shell_exit_status(status code) {
    switch (code) {
    case STATUS_OK:
        return EXIT_FINE;
    case STATUS_ASSERT:
        return EXIT_ASSERT;
    case STATUS_INTERRUPT:
        return EXIT_INTERRUPT;
    default:
        return EXIT_EVALUATION;
    }
}

/* ---- the program ---- */

/* The start-up file, if there is one. What is wrong with it is shown and harms nothing else. */
static void run_init(shell *sh) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    text path = {0};
    if (config && config[0] == '/')
        text_printf(&path, "%s/tapedeck/init.td", config);
    else if (home && home[0] == '/')
        text_printf(&path, "%s/.config/tapedeck/init.td", home);
    if (!path.failed && path.length > 0 && access(path.data, R_OK) == 0) {
        sh->quiet = true;
        if (shell_run_file(sh, path.data) != STATUS_OK) shell_show_error(sh);
        error_clear(&sh->c->err);
        sh->quiet = false;
    }
    text_free(&path);
}

/* `args`: a tuple of strings. */
static status bind_args(shell *sh) {
    const shell_options *o = sh->options;
    error *e = &sh->c->err;
    value *items = mem_calloc((size_t)o->arg_count + 1, sizeof *items), tuple = {0};
    status code = items ? STATUS_OK : fail_memory(e, (uint64_t)o->arg_count * sizeof *items);
    for (int i = 0; i < o->arg_count && code == STATUS_OK; i++)
        code = value_new_string(e, o->args[i], strlen(o->args[i]), &items[i]);
    if (code == STATUS_OK) code = value_new_tuple(e, items, (size_t)o->arg_count, &tuple);
    if (code == STATUS_OK) code = session_set(sh->session, "args", tuple);
    value_release(tuple);
    for (int i = 0; items && i < o->arg_count; i++) value_release(items[i]);
    mem_free(items);
    return code;
}

/* -e's, then the file or standard input; the first failure ends it. */
static status run_batch(shell *sh) {
    const shell_options *o = sh->options;
    status code = STATUS_OK;
    for (int i = 0; i < o->statement_count && code == STATUS_OK && !sh->leaving; i++)
        code = shell_run_text(sh, "-e", o->statements[i], strlen(o->statements[i]));
    if (code != STATUS_OK || sh->leaving || (!o->file && o->statement_count > 0)) return code;
    if (!o->file || strcmp(o->file, "-") == 0) {
        text content = {0};
        code = read_whole(sh, "/dev/stdin", &content);
        if (code == STATUS_OK)
            code = shell_run_text(sh, "standard input", text_str(&content), content.length);
        text_free(&content);
        return code;
    }
    return shell_run_file(sh, o->file);
}

static int batch(shell *sh) {
    status code = sh->options->arg_count > 0 || sh->options->file ? bind_args(sh) : STATUS_OK;
    if (code == STATUS_OK) code = run_batch(sh);
    if (code == STATUS_OK) code = shell_flush(sh);
    if (code == STATUS_OK || sh->leaving) return sh->leaving ? sh->leaving_status : EXIT_FINE;
    bool quiet = sh->output_errno == EPIPE; /* whoever read the results has gone */
    if (!quiet) shell_show_error(sh);
    int number = sh->c->err.number;
    bool missing = (number == 601 || number == 602) && sh->nesting == 0 && sh->c->err.where.source == 0;
    return missing ? EXIT_USAGE : shell_exit_status(code);
}

static bool wants_colour(int fd) {
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(none && none[0] != '\0') && term && strcmp(term, "dumb") != 0;
}

status shell_open(shell *sh) {
    sh->c = context_new(sh->options->threads);
    if (!sh->c) return STATUS_MEMORY;
    allocator_set_limit(sh->c->memory, sh->options->memory);
    sh->session = session_new(sh->c);
    return sh->session ? session_add_builtins(sh->session, builtins_io) : sh->c->err.code;
}

void shell_close(shell *sh) {
    if (sh->pictures_free) sh->pictures_free(sh);
    session_free(sh->session);
    context_free(sh->c);
}

static int open_and_run(shell *sh) {
    int result = EXIT_FINE;
    if (shell_open(sh)) {
        fprintf(stderr, "tapedeck: can't start: %s\n", sh->c ? sh->c->err.message : "not enough memory");
        result = EXIT_EVALUATION;
    } else {
        interrupt_install(sh->c, sh->interactive);
        if (!sh->options->no_init) run_init(sh);
        result = sh->leaving ? sh->leaving_status : sh->interactive ? line_loop(sh) : batch(sh);
        interrupt_remove();
    }
    shell_close(sh);
    return result;
}

int shell_main(int argc, char **argv) {
    shell_options options;
    text problem = {0};
    int result = EXIT_USAGE;
    setlocale(LC_CTYPE, ""); /* for Readline; numbers are read and written the same in every locale */
    if (!options_parse(argc, argv, &options, &problem)) {
        fprintf(stderr, "tapedeck: %s\n%s", text_str(&problem), options_usage);
    } else if (options.help || options.version) {
        bool written = fputs(options.help ? options_usage : "tapedeck " TAPEDECK_VERSION "\n", stdout) >= 0;
        result = written && fflush(stdout) == 0 ? EXIT_FINE : EXIT_EVALUATION;
    } else {
        shell sh = {.options = &options, .json = options.json};
        sh.interactive = !options.file && options.statement_count == 0 && isatty(STDIN_FILENO);
        sh.colour_out = wants_colour(STDOUT_FILENO);
        sh.colour_err = wants_colour(STDERR_FILENO);
        result = open_and_run(&sh);
    }
    text_free(&problem);
    options_free(&options);
    return result;
}
