/* check.h — what a unit test includes first: cmocka with the headers that it wants before it. cmocka's macro `fail`
 * gives way to the engine's function of that name; a test that must fail says fail_msg("..."). */
#ifndef TD_HARNESS_CHECK_H
#define TD_HARNESS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail
#undef fail_msg
#define fail_msg(...)                                                                                        \
    do {                                                                                                     \
        print_error(__VA_ARGS__);                                                                            \
        print_error("\n");                                                                                   \
        _fail(__FILE__, __LINE__);                                                                           \
    } while (0)

/* ThreadSanitizer looks for races and is ten times slower: there, tests that generate many cases take one in CASE_STEP. */
#if defined(__SANITIZE_THREAD__)
enum { CASE_STEP = 5 };
#else
enum { CASE_STEP = 1 };
#endif

#endif
