/* test_render.c — pictures through Graphviz in a child process: the files, the time limit, the interrupt, what
 * is said when it fails, and that no child is left behind.
 *
 *     ctest: timeout=120 */
#include "tests/harness/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "viz/render.h"

static char folder[] = "/tmp/test_render_XXXXXX";

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *contents(const char *path, size_t *length) {
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    char *data = mem_calloc(1, 1 << 20);
    *length = fread(data, 1, (1 << 20) - 1, f);
    fclose(f);
    return data;
}

/* Files in the folder: temporary ones must not stay. */
static int files(void) {
    char command[300];
    int count = -1;
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *p = popen(command, "r");
    if (p && fscanf(p, "%d", &count) != 1) count = -1;
    if (p) pclose(p);
    return count;
}

static void assert_no_child(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static const char *const dot = "digraph { a -> b [label=\"größe\"]; b -> c }";

static void knows_formats_by_name(void **state) {
    (void)state;
    assert_string_equal(render_format("a.svg"), "svg");
    assert_string_equal(render_format("/x.y/a.PNG"), "png");
    assert_string_equal(render_format("a.b.pdf"), "pdf");
    assert_string_equal(render_format("a.dot"), "dot");
    assert_string_equal(render_format("a.gv"), "dot");
    assert_null(render_format("svg"));
    assert_null(render_format("a.svg/b"));
    assert_null(render_format("a.jpeg2"));
    assert_null(render_format(""));
}

static void draws_pictures(void **state) {
    (void)state;
    const struct {
        const char *name, *begin;
    } cases[] = {{"g.svg", "<?xml"}, {"g.png", "\x89PNG"}, {"g.pdf", "%PDF"}, {"g.dot", "digraph {"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error e = {0};
        size_t length;
        status s = render_file(dot, in_folder(cases[i].name), NULL, &e);
        if (s) print_message("%s\n", e.message);
        assert_int_equal(s, STATUS_OK);
        char *data = contents(in_folder(cases[i].name), &length);
        assert_non_null(data);
        assert_true(length > strlen(cases[i].begin));
        assert_memory_equal(data, cases[i].begin, strlen(cases[i].begin));
        if (i == 0) assert_non_null(strstr(data, "größe"));
        if (i == 0) assert_non_null(strstr(data, "</svg>"));
        mem_free(data);
        unlink(in_folder(cases[i].name));
    }
    assert_int_equal(files(), 0);
    assert_no_child();
}

/* A dense graph, which takes Graphviz very long. */
static text endless_graph(void) {
    text out = {0};
    text_add(&out, "digraph {\n");
    for (int i = 0; i < 1500; i++)
        for (int k = 1; k <= 6; k++)
            text_printf(&out, "n%d -> n%d;\n", i,
                        i + (int)(hash_u64((uint64_t)i * 8 + (uint64_t)k) % (uint64_t)(1500 - i)) + 1);
    text_add(&out, "}\n");
    return out;
}

static void stops_at_the_time_limit(void **state) {
    (void)state;
    text endless = endless_graph();
    error e = {0};
    assert_int_equal(replace_file(in_folder("old.svg"), "old", 3, &e), STATUS_OK);
    render_options o = {.seconds = 0.5};
    uint64_t begin = clock_ns();
    assert_int_equal(render_file(text_str(&endless), in_folder("old.svg"), &o, &e), STATUS_LIMIT);
    double seconds = (double)(clock_ns() - begin) * 1e-9;
    assert_true(seconds >= 0.5 && seconds < 5);
    assert_non_null(strstr(e.message, "0.5 seconds"));
    assert_true(e.hint[0] != 0);
    assert_no_child();
    /* The old picture is as it was, and nothing lies beside it. */
    size_t length;
    char *data = contents(in_folder("old.svg"), &length);
    assert_int_equal(length, 3);
    assert_memory_equal(data, "old", 3);
    mem_free(data);
    assert_int_equal(files(), 1);
    unlink(in_folder("old.svg"));

    atomic_int stop = 1;
    o = (render_options){.stop = &stop};
    error_clear(&e);
    begin = clock_ns();
    assert_int_equal(render_file(text_str(&endless), in_folder("a.svg"), &o, &e), STATUS_INTERRUPT);
    assert_true((double)(clock_ns() - begin) * 1e-9 < 0.5);
    assert_no_child();
    assert_int_equal(files(), 0);
    text_free(&endless);
}

static void says_what_went_wrong(void **state) {
    (void)state;
    error e = {0};
    assert_int_equal(render_file(dot, in_folder("g.jpg"), NULL, &e), STATUS_VALUE);
    assert_non_null(strstr(e.message, "g.jpg"));
    error_clear(&e);
    assert_int_equal(render_file(dot, "/nowhere/at/all.svg", NULL, &e), STATUS_IO);
    assert_non_null(strstr(e.message, "/nowhere/at/all.svg"));
    error_clear(&e);
    assert_int_equal(render_file("this is not dot {", in_folder("g.svg"), NULL, &e), STATUS_IO);
    assert_non_null(strstr(e.message, "syntax error"));
    assert_int_equal(files(), 0);
    assert_no_child();
}

static void keeps_links_and_rights(void **state) {
    (void)state;
    error e = {0};
    char target[256];
    snprintf(target, sizeof target, "%s", in_folder("target.svg"));
    assert_int_equal(replace_file(target, "x", 1, &e), STATUS_OK);
    assert_int_equal(chmod(target, 0640), 0);
    assert_int_equal(symlink("target.svg", in_folder("link.svg")), 0);
    assert_int_equal(render_file(dot, in_folder("link.svg"), NULL, &e), STATUS_OK);
    struct stat s;
    assert_int_equal(lstat(in_folder("link.svg"), &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_int_equal(stat(target, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
    assert_true(s.st_size > 100);
    assert_int_equal(render_file(dot, "/dev/null", NULL, &e),
                     STATUS_VALUE); /* no format: nothing is replaced */
    assert_int_equal(stat("/dev/null", &s), 0);
    assert_true(S_ISCHR(s.st_mode));
    unlink(in_folder("link.svg"));
    unlink(target);
}

static void survives_running_out_of_memory(void **state) {
    (void)state;
    int64_t live = mem_live();
    status s = STATUS_MEMORY;
    for (int64_t after = 1; s; after++) {
        error e = {0};
        mem_fail_after(after);
        s = render_file(dot, in_folder("m.svg"), NULL, &e);
        mem_fail_after(0);
        if (s) assert_int_equal(s, STATUS_MEMORY);
        assert_int_equal(files(), s ? 0 : 1);
        assert_int_equal(mem_live(), live);
    }
    unlink(in_folder("m.svg"));
    assert_no_child();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_formats_by_name),   cmocka_unit_test(draws_pictures),
        cmocka_unit_test(stops_at_the_time_limit), cmocka_unit_test(says_what_went_wrong),
        cmocka_unit_test(keeps_links_and_rights),  cmocka_unit_test(survives_running_out_of_memory),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
