/* test_shell.c — the whole program in this process: the command line, and each allocation of a session failing once.
 * ctest: timeout=600 */
#include "tests/harness/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/shell/commands.h"
#include "tests/harness/files.h"

/* Runs the program with these words behind --no-init and --threads; what it prints goes to the file `out`. */
static int run(const char *const *words, int count) {
    char *argv[24] = {"tapedeck", "--no-init", "--threads", "1"};
    assert_true(count < 19);
    for (int i = 0; i < count; i++) argv[4 + i] = (char *)(uintptr_t)words[i];
    fflush(stdout);
    fflush(stderr);
    int old_out = dup(STDOUT_FILENO), old_err = dup(STDERR_FILENO);
    int to = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(old_out >= 0 && old_err >= 0 && to >= 0);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    int result = shell_main(4 + count, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(old_out, STDOUT_FILENO);
    dup2(old_err, STDERR_FILENO);
    close(old_out);
    close(old_err);
    close(to);
    return result;
}

/* A session that goes through everything that prints, loads and explains. */
static const char *const everything[] = {
    "-e", "x = [[1, 2.5], [nan, 4]]\nx\n(1, \"a\", x)\nr = {w: x, s: \"t\"}\nr",
    "-e", "def f(a, b=2) = sum(a * b)\nf\ngrad(f)([1.0, 2.0])\nprint(x, \"text\", r)",
    "-e", ":vars\n:vars --json\n:undo\n:redo\n:mem --json\n:threads\n:help\n:help tanh",
    "-e", ":help functions\n:explain E606\n:clear\n:history",
    "-e", "save(x, \"m.npy.gz\"); load(\"m.npy.gz\")",
    "-e", "save({a: (\"u\", \"v\"), b: [1, 2]}, \"t.csv\"); load(\"t.csv\")",
    "-e", ":quit 5"};
enum { WORDS = sizeof everything / sizeof *everything };

/* What was shown, with each number as one digit: times differ from run to run. */
static char *shown_without_numbers(void) {
    char *shown = files_read("out", NULL), *to = shown;
    for (const char *from = shown; *from; from++) {
        bool digit = *from >= '0' && *from <= '9', again = to > shown && to[-1] == '#';
        if (digit && again) continue;
        *to++ = digit ? '#' : *from;
    }
    *to = '\0';
    return shown;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    int64_t live = mem_live();
    assert_int_equal(run(everything, WORDS), 5);
    assert_int_equal(mem_live(), live);
    char *whole = shown_without_numbers();
    int64_t begin = mem_count();
    run(everything, WORDS);
    int64_t total = mem_count() - begin, step = total / 700 + 1;
    int failures = 0, absorbed = 0;
    for (int64_t n = 1; n <= total; n += step) {
        mem_fail_after(n);
        int result = run(everything, WORDS);
        mem_fail_after(0);
        if (mem_live() != live) fail_msg("%d fails and %d blocks are left", (int)n, (int)(mem_live() - live));
        char *shown = shown_without_numbers();
        bool told = strstr(shown, "memory") || strstr(shown, "can't start");
        size_t same = 0;
        while (shown[same] && shown[same] == whole[same]) same++;
        if (result == 5 && shown[same] != whole[same])
            fail_msg("allocation %d fails and nobody tells, byte %d: %.300s", (int)n, (int)same,
                     shown + same);
        if (result == 5)
            absorbed++; /* a cache that does without */
        else if ((result != EXIT_EVALUATION && result != EXIT_USAGE) || !told)
            fail_msg("allocation %d fails: status %d, shows %s", (int)n, result, shown);
        else
            failures++;
        free(shown);
    }
    free(whole);
    print_message("%d allocations; of those that failed %d were errors, %d did no harm\n", (int)total,
                  failures, absorbed);
    assert_true(failures > 10 * absorbed && failures > 300);
}

static void the_command_line(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *words[4];
        const char *shows;
    } cases[] = {
        {0, {"-e", "1 + 1"}, "2\n"},
        {0, {"--json", "-e", "1 + 1"}, "{\"dtype\":\"i64\",\"shape\":[],\"data\":[2]}\n"},
        {0, {"--version"}, "tapedeck "},
        {0, {"--help"}, "usage: tapedeck"},
        {2, {"--what"}, "tapedeck: there is no option `--what`\nusage"},
        {2, {"-e"}, "tapedeck: -e needs a value\n"},
        {2, {"--threads=0"}, "tapedeck: --threads takes a number"},
        {2, {"no such file"}, "E601 file: can't open `no such file`"},
        {1, {"-e", "nonsense"}, "-e:1: E201"},
        {3, {"-e", "assert(false)"}, "-e:1: E2"},
        {7, {"-e", ":quit 7"}, ""},
        {1, {"-e", ":quit now"}, "-e:1: E805"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = 0;
        while (count < 4 && cases[i].words[count]) count++;
        int result = run(cases[i].words, count);
        char *shown = files_read("out", NULL);
        if (result != cases[i].status || strncmp(shown, cases[i].shows, strlen(cases[i].shows)) != 0)
            fail_msg("%s: status %d, shows %s", cases[i].words[0], result, shown);
        free(shown);
    }
}

static void arguments_of_commands(void **state) {
    (void)state;
    static const struct {
        const char *given, *rest, *out;
        bool json;
    } cases[] = {
        {"", "", NULL, false},
        {"--json", "", NULL, true},
        {"f(x) --json", "f(x)", NULL, true},
        {"--json f(x)", "f(x)", NULL, true},
        {"f(--json)", "f(--json)", NULL, false},
        {"g --out a.svg", "g", "a.svg", false},
        {"--out \"a b.svg\" g --json", "g", "a b.svg", true},
        {"x --out 'q r' ", "x", "q r", false},
        {"x--out y", "x--out y", NULL, false},
        {"\"--out y\"", "\"--out y\"", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        context *c = context_new(1);
        shell sh = {.c = c};
        command_args a;
        assert_int_equal(command_split(&sh, cases[i].given, &a), STATUS_OK);
        if (a.length != strlen(cases[i].rest) || memcmp(a.rest, cases[i].rest, a.length) != 0)
            fail_msg("`%s` leaves `%.*s`", cases[i].given, (int)a.length, a.rest);
        assert_int_equal(a.json, cases[i].json);
        if (cases[i].out)
            assert_string_equal(a.out, cases[i].out);
        else
            assert_null(a.out);
        command_args_free(&a);
        context_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_line),
        cmocka_unit_test(arguments_of_commands),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
