/* test_ops_programs.c — random programs over the op table in every executor (tests/support/parity.h), with their
 * gradients. Of a batch that fails, each program is tried alone, made small, and shown with its number; then
 * TAPEDECK_PROGRAM=NUMBER runs that one. TAPEDECK_PROGRAMS=COUNT tries more of them.
 * ctest: labels=threads timeout=600 */
#include "tests/harness/check.h"

#include <stdlib.h>

#include "tests/support/random_prog.h"

enum {
    BATCH = 16,
    PROGRAMS = 320 / CASE_STEP / BATCH * BATCH,
    COMPILED = 32
}; /* the first ones are compiled, too */

/* Looks for the program of the batch that fails alone, and shows it at its smallest. */
static void show_smallest(parity *lab, const prog *progs, uint64_t first) {
    for (int k = 0; k < BATCH; k++) {
        if (!parity_fails(lab, &progs[k])) continue;
        prog small = parity_shrink(lab, &progs[k]);
        text shown = {0};
        prog_print(&small, &shown);
        print_error("program %llu fails; at its smallest:\n%s",
                    (unsigned long long)first + (unsigned long long)k, text_str(&shown));
        text_free(&shown);
        parity_check(lab, &small, 1);
        return;
    }
}

static void random_programs(void **state) {
    (void)state;
    const char *only = getenv("TAPEDECK_PROGRAM"), *many = getenv("TAPEDECK_PROGRAMS");
    uint64_t begin = only ? strtoull(only, NULL, 10) : 0;
    uint64_t end = only ? begin + 1 : many ? strtoull(many, NULL, 10) : PROGRAMS;
    parity lab;
    parity_open(&lab, 21);
    prog *progs = test_calloc(BATCH, sizeof *progs);
    for (uint64_t at = begin; at < end && !lab.b.failures.count; at += BATCH) {
        int n = (int)(end - at < BATCH ? end - at : BATCH);
        for (int k = 0; k < n; k++) progs[k] = random_prog(lab.b.c, lab.b.memory, at + (uint64_t)k);
        lab.quiet = n > 1;
        lab.compile = only || at < COMPILED;
        parity_check(&lab, progs, n);
        lab.quiet = false;
        if (lab.b.failures.count && n == BATCH) show_smallest(&lab, progs, at);
        bench_clear(&lab.b);
    }
    print_message("    %lld programs; compared in tiles %lld, in emitted C %lld, in emitted CUDA %lld, at "
                  "other sizes %lld; errors %lld; epilogues of products %lld\n",
                  (long long)lab.programs, (long long)lab.tiles, (long long)lab.compiled, (long long)lab.cuda,
                  (long long)lab.resized, (long long)lab.errors, (long long)lab.epilogues);
    if (!only && !many) assert_true(lab.epilogues > 0);
    test_free(progs);
    parity_close(&lab);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    if (getenv("TAPEDECK_ROW")) return 0; /* that asks for the tests of one row */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
