/* test_slices.c — indices and slices of axes whose size is open: a frozen function that was traced at one size gives, at
 * every other, what eager execution gives, elements or error.
 *     ctest: timeout=300 */
#include "tests/harness/check.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness/script.h"

static const char *const selections[] = {
    "x[3]",
    "x[-3]",
    "x[2:5]",
    "x[:-2]",
    "x[-4:-1]",
    "x[4:1:-1]",
    "x[-2:0:-2]",
    "x[::-2]",
    "x[::3]",
    "x[5:]",
    "x[:100]",
    "x[-100:3]",
    "x[-5::2]",
    "x[1:][2:]",
    "x[1:-1][::-1][:2]",
    "x[shape(y)[0] - 4]",
    "x[4 - shape(y)[0]]",
    "x[-shape(y)[0]]",
    "x[shape(x)[0] - 2]",
    "x[shape(x)[0] // 2]",
    "x[shape(y)[0] - 4:]",
    "x[:shape(y)[0] - 4]",
    "x[4 - shape(y)[0]:4]",
    "x[-shape(y)[0]:]",
    "x[:shape(y)[0]]",
    "x[shape(y)[0]:shape(x)[0] - 1:2]",
    "x[shape(x)[0] - 3:0:-1]",
    "x[shape(y)[0]::-1]",
    "x[:shape(y)[0] - 5:-1]",
    "x[shape(x)[0] // 2:]",
    "x[shape(x)[0] - shape(y)[0]:]",
    "{ z = x; z[1:3] = 0.5; z }",
    "{ z = x; z[shape(y)[0] - 4] = 0.5; z }",
    "{ z = x; z[-shape(y)[0]:] = 0.5; z }",
    "concat((x[:2], x[-2:]))",
    "x[:shape(y)[0]] + y[:shape(x)[0]]",
};

static const int sizes[][2] = {{6, 5}, {1, 5}, {2, 2}, {3, 7}, {4, 3},
                               {5, 4}, {9, 1}, {8, 9}, {6, 2}, {12, 6}};

enum { SIZES = sizeof sizes / sizeof *sizes };

/* What `call` shows for x and y of sizes s: the echo, or the first line of the error without its place. */
static void show(script *p, const char *call, const int s[2], char *out, size_t room) {
    char code[400];
    snprintf(code, sizeof code, "x = arange(%d) as f32; y = arange(%d) as f32; r = %s; print(r, shape(r))",
             s[0], s[1], call);
    status st = script_run(p, code);
    const char *shown = text_str(&p->out), *fault = strstr(shown, ": E");
    snprintf(out, room, "%s", st && fault ? fault + 2 : shown);
    if (st) out[strcspn(out, "\n")] = 0;
}

/* Each size is tried after a trace at each other. */
static void check(const char *selection, const char *annotation) {
    char want[600], got[600], define[300];
    for (int traced = 0; traced < SIZES; traced++) {
        script p;
        script_open(&p);
        snprintf(define, sizeof define, "e = (x, y) -> %s; f = freeze(e%s);", selection, annotation);
        if (script_run(&p, define)) fail_msg("%s: %s", define, text_str(&p.out));
        for (int i = 0; i < 4; i++) {
            const int *s = sizes[i == 0 ? traced : (traced + 3 * i) % SIZES];
            show(&p, "e(x, y)", s, want, sizeof want);
            show(&p, "f(x, y)", s, got, sizeof got);
            if (strcmp(want, got) != 0)
                fail_msg("%s%s traced at %d, %d, at %d, %d: eagerly\n%s\nfrozen\n%s", selection, annotation,
                         sizes[traced][0], sizes[traced][1], s[0], s[1], want, got);
        }
        script_close(&p);
    }
}

static void follow_the_sizes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) check(selections[i], "");
}

static void follow_the_sizes_when_traced_without(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++)
        check(selections[i], ", f32[?], f32[?]");
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(follow_the_sizes),
                                       cmocka_unit_test(follow_the_sizes_when_traced_without)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
