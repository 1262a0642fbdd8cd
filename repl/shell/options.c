/* options.c — see options.h. */
#include "repl/shell/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

const char options_usage[] =
    "usage: tapedeck [OPTIONS] [FILE.td [ARGS]]\n"
    "\n"
    "Runs FILE.td, or standard input when it is no terminal, or opens a prompt.\n"
    "\n"
    "  -e STATEMENTS   run them first (may be repeated); without FILE.td nothing else is run\n"
    "  --json          print each echoed value as one JSON object a line; errors too, to standard error\n"
    "  --threads N     compute on N threads (default: one per processor)\n"
    "  --memory SIZE   give tensors at most so many bytes, or KiB, MiB or GiB with K, M or G behind: 4G\n"
    "  --no-init       skip the start-up file ${XDG_CONFIG_HOME:-~/.config}/tapedeck/init.td\n"
    "  --help          this text; :help at the prompt explains the commands and functions\n"
    "  --version       the version\n"
    "\n"
    "ARGS are in the tuple `args`. Exit status: 0 fine, 1 an evaluation error, 2 wrong usage,\n"
    "3 a failed assert, 130 interrupted.\n";

/* The value of an option that takes one: behind `=`, or the next word. */
static const char *option_value(int argc, char **argv, int *i, const char *name, text *problem) {
    size_t length = strlen(name);
    if (argv[*i][length] == '=') return argv[*i] + length + 1;
    if (*i + 1 < argc) return argv[++*i];
    text_printf(problem, "%s needs a value", name);
    return NULL;
}

static bool is_option(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == '=');
}

static bool parse_threads(const char *s, int *out, text *problem) {
    char *end;
    long n = strtol(s, &end, 10);
    if (*s == '\0' || *end != '\0' || n < 1 || n > 1024) {
        text_printf(problem, "--threads takes a number from 1 to 1024, not `%s`", s);
        return false;
    }
    *out = (int)n;
    return true;
}

static bool parse_memory(const char *s, size_t *out, text *problem) {
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(s, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    size_t scale = unit ? (size_t)1024 << 10 * (unit - units) : 1;
    if (*s >= '0' && *s <= '9' && !errno && n > 0 && !end[unit != NULL] && mem_mul((size_t)n, scale, out))
        return true;
    text_printf(problem,
                "--memory takes a number of bytes, or of KiB, MiB or GiB as in 500M and 4G, not `%s`", s);
    return false;
}

static bool parse_option(int argc, char **argv, int *i, shell_options *o, text *problem) {
    const char *word = argv[*i], *value;
    if (strcmp(word, "--json") == 0) return o->json = true;
    if (strcmp(word, "--no-init") == 0) return o->no_init = true;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return o->help = true;
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return o->version = true;
    if (is_option(word, "--threads")) {
        value = option_value(argc, argv, i, "--threads", problem);
        return value && parse_threads(value, &o->threads, problem);
    }
    if (is_option(word, "--memory")) {
        value = option_value(argc, argv, i, "--memory", problem);
        return value && parse_memory(value, &o->memory, problem);
    }
    if (strcmp(word, "-e") == 0) {
        value = option_value(argc, argv, i, "-e", problem);
        if (value) o->statements[o->statement_count++] = value;
        return value != NULL;
    }
    text_printf(problem, "there is no option `%s`", word);
    return false;
}

bool options_parse(int argc, char **argv, shell_options *o, text *problem) {
    *o = (shell_options){0};
    o->statements = mem_calloc((size_t)argc + 1, sizeof *o->statements);
    if (!o->statements) {
        text_add(problem, "out of memory");
        return false;
    }
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (!parse_option(argc, argv, &i, o, problem)) return false;
    }
    if (i < argc) o->file = argv[i++];
    o->args = argv + i;
    o->arg_count = i < argc ? argc - i : 0;
    return true;
}

void options_free(shell_options *o) {
    mem_free(o->statements);
    o->statements = NULL;
}
