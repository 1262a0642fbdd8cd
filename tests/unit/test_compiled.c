/* test_compiled.c — compiled kernels (tier B) against eager execution, bit for bit; the cache of compiled code.
 *     ctest: labels=threads timeout=900 */
#include "tests/harness/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/device/cpu/compiler.h"
#include "tests/harness/bodies.h"

static char folder[64]; /* $XDG_CACHE_HOME of this test */

static void check_all(int lanes, dtype t) {
    context *c = context_new(lanes);
    assert_non_null(c);
    for (int b = 0; b < BODIES; b++) {
        if (!body_is_due(b, t) || (!dtype_is_float(t) && bodies[b].float_only)) continue;
        const char *failure = check_body(c, &bodies[b], t, in_c, t == DT_F32 && lanes == 2);
        if (failure) fail_msg("%s", failure);
    }
    assert_int_equal(allocator_used(c->memory) / 4096, 0);
    context_free(c);
}

/* Kernels go to the cache that all builds share, where CTest names it: a sanitizer build then compiles none again. */
static void use_cache(const char *path) {
    if (path) setenv("XDG_CACHE_HOME", path, 1);
}

static void matches_eager_f32(void **state) {
    (void)state;
    use_cache(getenv("TAPEDECK_TEST_CACHE"));
    check_all(2, DT_F32);
    check_all(1, DT_F32);
}

static void matches_eager_others(void **state) {
    (void)state;
    use_cache(getenv("TAPEDECK_TEST_CACHE"));
    check_all(1, DT_F64);
    check_all(2, DT_F16);
    check_all(1, DT_BF16);
    check_all(2, DT_I64);
    check_all(1, DT_I8);
    check_all(1, DT_U8);
}

/* ---- the cache ---- */

static const char source[] = "int answer(void) { return 42; }\n";

static void check_answer(code_unit *u, bool cached) {
    assert_non_null(u);
    if (code_unit_state(u) != CODE_READY) fail_msg("%s", code_unit_message(u));
    int (*answer)(void);
    void *address = code_unit_symbol(u, "answer");
    memcpy(&answer, &address, sizeof answer);
    assert_int_equal(answer(), 42);
    assert_null(code_unit_symbol(u, "question"));
    assert_int_equal(code_unit_cached(u), cached);
    code_unit_release(u);
}

static code_unit *compile(context *c, const char *code, bool now) {
    return code_unit_new(code_cache_of(c), code, now, (event){0}, &c->err);
}

static void compiles_once(void **state) {
    (void)state;
    context *c = context_new(1);
    check_answer(compile(c, source, true), false);
    check_answer(compile(c, source, true), true);
    code_unit *u = compile(c, source, false);
    code_unit_wait(u);
    check_answer(u, true);
    context_free(c);
    c = context_new(1);
    check_answer(compile(c, source, true), true);
    assert_null(code_cache_notice(c->code));
    context_free(c);
}

/* Damages every library in the cache: the first cut short, the next with a changed byte, the next emptied. */
static int damage_libraries(void) {
    char path[400];
    snprintf(path, sizeof path, "%s/tapedeck", folder);
    DIR *d = opendir(path);
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (!strstr(e->d_name, ".so")) continue;
        snprintf(path, sizeof path, "%s/tapedeck/%s", folder, e->d_name);
        if (count % 3 == 0) assert_int_equal(truncate(path, 5000), 0);
        if (count % 3 == 2) assert_int_equal(truncate(path, 0), 0);
        if (count++ % 3 != 1) continue;
        FILE *f = fopen(path, "r+");
        fseek(f, 700, SEEK_SET);
        fputc('x', f);
        fclose(f);
    }
    closedir(d);
    return count;
}

static void replaces_damaged_libraries(void **state) {
    (void)state;
    context *c = context_new(1);
    static const char *const texts[] = {source, "int answer(void) { return 40 + 2; }\n",
                                        "int answer(void) { return 43 - 1; }\n"};
    for (int i = 0; i < 3; i++) code_unit_release(compile(c, texts[i], true));
    assert_true(damage_libraries() >= 3);
    for (int i = 0; i < 3; i++) check_answer(compile(c, texts[i], true), false);
    context_free(c);
}

/* The notice has `part`, and TAPEDECK_CC as a way on; it comes once. */
static void check_notice(context *c, const char *part) {
    const char *notice = code_cache_notice(c->code);
    assert_non_null(notice);
    assert_non_null(strstr(notice, part));
    assert_non_null(strstr(notice, "TAPEDECK_CC"));
    assert_null(code_cache_notice(c->code));
}

static void explains_failures(void **state) {
    (void)state;
    context *c = context_new(1);
    code_unit *u = compile(c, "int broken(void) { return undeclared; }\n", false);
    code_unit_wait(u);
    assert_int_equal(code_unit_state(u), CODE_FAILED);
    assert_non_null(strstr(code_unit_message(u), "undeclared"));
    code_unit_release(u);
    check_notice(c, "undeclared");
    check_answer(compile(c, "int answer(void) { return 6 * 7; }\n", true), false);
    context_free(c);
}

/* A program whose kernels can't be compiled runs all the same. */
static void runs_interpreted(context *c) {
    tensor *x[BODY_INPUTS];
    body_inputs(c, DT_F32, body_sizes[4], x);
    program *p = freeze_body(c, bodies[0].run, x, BODY_INPUTS);
    assert_non_null(p);
    assert_int_equal(program_set_tier(p, TIER_C), STATUS_UNSUPPORTED);
    error_clear(&c->err);
    for (int run = 0; run < 2; run++) assert_true(frozen_matches(c, p, bodies[0].run, x, BODY_INPUTS));
    assert_string_equal(program_kernel_at(p, 0).tier, "tiles");
    for (int i = 0; i < BODY_INPUTS; i++) tensor_release(x[i]);
    program_free(p);
}

static void works_without_compiler(void **state) {
    (void)state;
    setenv("TAPEDECK_CC", "/nowhere/cc", 1);
    context *c = context_new(1);
    runs_interpreted(c);
    check_notice(c, "/nowhere/cc");
    context_free(c);
    setenv("TAPEDECK_CC", "false", 1);
    c = context_new(1);
    runs_interpreted(c);
    check_notice(c, "the C compiler (false) failed: kernels are interpreted");
    context_free(c);
    setenv("TAPEDECK_CC", "true", 1); /* makes nothing */
    c = context_new(1);
    runs_interpreted(c);
    check_notice(c, "kernels are interpreted");
    context_free(c);
    unsetenv("TAPEDECK_CC");
}

/* A folder that others could write to is not used; one that can't be written to neither. Kernels are compiled all the
 * same, in a folder that is removed again. */
static void refuses_unsafe_folders(void **state) {
    (void)state;
    char path[128], unsafe[140];
    snprintf(path, sizeof path, "%s/other", folder);
    snprintf(unsafe, sizeof unsafe, "%s/tapedeck", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mkdir(unsafe, 0700), 0);
    setenv("XDG_CACHE_HOME", path, 1);
    setenv("TMPDIR", folder, 1);
    static const mode_t modes[] = {0777, 0500};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chmod(unsafe, modes[i]), 0);
        if (i == 1 && access(unsafe, W_OK) == 0) continue; /* root may write everywhere */
        context *c = context_new(1);
        check_answer(compile(c, source, true), false);
        context_free(c);
        assert_int_equal(rmdir(unsafe), 0); /* still empty */
        assert_int_equal(mkdir(unsafe, 0700), 0);
    }
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("TMPDIR");
}

static void swaps_in_the_background(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x[BODY_INPUTS];
    body_inputs(c, DT_F32, body_sizes[4], x);
    program *p = freeze_body(c, bodies[1].run, x, BODY_INPUTS);
    assert_non_null(p);
    assert_string_equal(program_kernel_at(p, 0).tier, "tiles");
    assert_true(frozen_matches(c, p, bodies[1].run, x, BODY_INPUTS));
    program_wait(p);
    assert_string_equal(program_kernel_at(p, 0).tier, "C");
    assert_true(frozen_matches(c, p, bodies[1].run, x, BODY_INPUTS));
    program_set_tier(p, TIER_TILES);
    assert_string_equal(program_kernel_at(p, 0).tier, "tiles");
    assert_non_null(strstr(program_kernel_at(p, 0).source_c, "op_exp_f32"));
    program_free(p);
    p = freeze_body(c, bodies[2].run, x, BODY_INPUTS); /* freed while the compiler may still run */
    assert_true(frozen_matches(c, p, bodies[2].run, x, BODY_INPUTS));
    program_free(p);
    for (int i = 0; i < BODY_INPUTS; i++) tensor_release(x[i]);
    context_free(c);
}

/* Rows whose length is open have two texts, one for rows that turn out short; both are compiled, one program runs either. */
static void short_rows_are_compiled(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{64, 10}, {64, 100}, {33, 31}, {31, 31}, {5000, 7}};
    context *c = context_new(2);
    tensor *x[BODY_INPUTS];
    body_fn softmax = bodies[1].run;
    body_inputs(c, DT_F32, sizes[0], x);
    program *p = freeze_body(c, softmax, x, BODY_INPUTS);
    assert_non_null(p);
    assert_int_equal(program_set_tier(p, TIER_C), STATUS_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int k = 0; k < BODY_INPUTS; k++) tensor_release(x[k]);
        body_inputs(c, DT_F32, sizes[i], x);
        assert_true(frozen_matches(c, p, softmax, x, BODY_INPUTS));
        bool is_short = sizes[i][0] >= 32 && sizes[i][1] < 32;
        program_kernel k = program_kernel_at(p, 0);
        assert_string_equal(k.tier, "C");
        assert_int_equal(strstr(k.source_c, "_short") != NULL, is_short);
    }
    program_free(p);
    for (int k = 0; k < BODY_INPUTS; k++) tensor_release(x[k]);
    context_free(c);
}

static int open_cache(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tapedeck-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int remove_cache(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_once),           cmocka_unit_test(replaces_damaged_libraries),
        cmocka_unit_test(explains_failures),       cmocka_unit_test(works_without_compiler),
        cmocka_unit_test(refuses_unsafe_folders),  cmocka_unit_test(swaps_in_the_background),
        cmocka_unit_test(short_rows_are_compiled), cmocka_unit_test(matches_eager_f32),
        cmocka_unit_test(matches_eager_others),
    };
    return cmocka_run_group_tests(tests, open_cache, remove_cache);
}
