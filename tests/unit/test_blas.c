/* test_blas.c — matrix products while there is no memory for OpenBLAS or its buffers: an error at once, never a wait,
 * and the same bits as ever when there is memory again. In child processes, whose address space is limited. */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/device/cpu/blas.h"

enum { PATIENCE = 60 }; /* seconds; the child is killed after so many */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Limits the address space to what is mapped now and `more` bytes. */
static void limit(size_t more) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1) _exit(10);
    fclose(f);
    struct rlimit r;
    getrlimit(RLIMIT_AS, &r);
    r.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + more;
    if (setrlimit(RLIMIT_AS, &r) != 0) _exit(11);
}

static void unlimit(void) {
    struct rlimit r;
    getrlimit(RLIMIT_AS, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_AS, &r);
}

/* Ends the child with `code` unless x @ y fails with E901. */
static void must_be_refused(tensor *x, tensor *y, int code) {
    tensor *r = op_call2(x->c, OP_matmul, x, y, NULL);
    if (r || x->c->err.number != 901) _exit(code);
    error_clear(&x->c->err);
}

static tensor *must_work(tensor *x, tensor *y, int code) {
    tensor *r = op_call2(x->c, OP_matmul, x, y, NULL);
    if (!r) _exit(code);
    return r;
}

/* Runs body in a child; it ends with _exit(0) when all is as it should be. */
static void in_child(void (*body)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(PATIENCE);
        body();
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFSIGNALED(how)) fail_msg("ended by signal %d", WTERMSIG(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void starve(void) {
    context *c = context_new(4);
    if (!c) _exit(1);
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){64, 64}, 1);
    tensor *y = tensors_fill(c, DT_F32, 2, (int64_t[]){64, 8}, 2);
    limit(BLAS_LIBRARY_BYTES / 2);
    must_be_refused(x, y, 2);
    unlimit();
    if (!blas_library()) _exit(3);
    if (!blas_library()->sgemm) _exit(0); /* own loops need no buffers */
    limit(BLAS_BUFFER_BYTES / 2);
    must_be_refused(x, y, 4);
    unlimit();
    tensor_release(tensors_fill(c, DT_U8, 1, (int64_t[]){(int64_t)BLAS_BUFFER_BYTES + 1}, 3));
    limit(BLAS_BUFFER_BYTES / 8); /* cached memory is given back for it */
    tensor *first = must_work(x, y, 5);
    limit(BLAS_BUFFER_BYTES / 2); /* its buffer is kept */
    if (!tensors_same(first, must_work(x, y, 6))) _exit(7);
}

/* With room for one buffer, all panels run on one lane. */
static void starve_lanes(void) {
    context *c = context_new(4);
    if (!c) _exit(1);
    if (!blas_library()) _exit(2);
    if (!blas_library()->sgemm) _exit(0);
    tensor *x = tensors_fill(c, DT_F64, 2, (int64_t[]){400, 300}, 1);
    tensor *y = tensors_fill(c, DT_F64, 2, (int64_t[]){300, 500}, 2);
    limit(BLAS_BUFFER_BYTES + (16 << 20));
    tensor *one = must_work(x, y, 3);
    if (blas_begin(4)) _exit(4);
    unlimit();
    if (!blas_begin(4)) _exit(5);
    blas_end(4);
    if (!tensors_same(one, must_work(x, y, 6))) _exit(7);
}

static void test_no_memory(void **state) {
    (void)state;
    in_child(starve);
    in_child(starve_lanes);
}
#else
static void test_no_memory(void **state) { /* the sanitizers map terabytes */
    (void)state;
    skip();
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
