/* test_cuda.c — emitted CUDA: run on the host under the shim against eager execution, bit for bit; compiled by NVRTC
 * where the toolkit is.
 *     ctest: timeout=900 */
#include "tests/harness/check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/embed.h"
#include "engine/kernel/shim.h"
#include "engine/runtime/plan.h"
#include "tests/harness/bodies.h"

static char folder[64];

static status in_cuda(program *p) {
    return program_emulate(p, 1);
}

static void check_all(dtype t) {
    context *c = context_new(1);
    assert_non_null(c);
    for (int b = 0; b < BODIES; b++) {
        if (!body_is_due(b, t) || (!dtype_is_float(t) && bodies[b].float_only)) continue;
        const char *failure = check_body(c, &bodies[b], t, in_cuda, t == DT_F32);
        if (failure) fail_msg("%s", failure);
    }
    context_free(c);
}

static void matches_eager_f32(void **state) {
    (void)state;
    check_all(DT_F32);
}

static void matches_eager_others(void **state) {
    (void)state;
    check_all(DT_F64);
    check_all(DT_F16);
    check_all(DT_I64);
    check_all(DT_U8);
}

/* ---- the shim itself ---- */

static shim_thread *now;
static int seen[64], total;

static void sums(cuda_launch launch) {
    (void)launch;
    unsigned me = now->thread.x;
    seen[me] = (int)me;
    now->barrier();
    if (me == 0)
        for (int i = 0; i < 64; i++) total += seen[i];
    float x = (float)me;
    for (int half = 8; half >= 1; half /= 2) {
        float y = x;
        now->shuffle(&y, sizeof y, half);
        x += y;
    }
    seen[me] = (int)x;
}

static void diverges(cuda_launch launch) {
    (void)launch;
    if (now->thread.x < 63) now->barrier();
    if (now->thread.x == 63) now->shuffle(&(float){0}, sizeof(float), 1);
}

static void shim_has_barriers_and_shuffles(void **state) {
    (void)state;
    error e = {0};
    shim *s = shim_new(64);
    now = shim_thread_of(s);
    for (unsigned seed = 0; seed < 5; seed++) {
        total = 0;
        assert_int_equal(shim_run(s, sums, (cuda_launch){0}, 1, 64, seed, &e), STATUS_OK);
        assert_int_equal(total, 63 * 32);
        for (int g = 0; g < 64; g += 16) assert_int_equal(seen[g], 16 * g + 120);
    }
    assert_int_equal(shim_run(s, diverges, (cuda_launch){0}, 1, 64, 1, &e), STATUS_VALUE);
    shim_free(s);
}

/* ---- NVRTC ---- */

typedef struct nvrtc {
    void *library;
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*destroy)(void **);
} nvrtc;

static bool open_nvrtc(nvrtc *n) {
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    for (int i = 0; i < 4 && !n->library; i++) n->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!n->library) return false;
    static const char *const functions[] = {"nvrtcCreateProgram", "nvrtcCompileProgram",
                                            "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
                                            "nvrtcDestroyProgram"};
    void *to[] = {&n->create, &n->compile, &n->log_size, &n->log, &n->destroy};
    for (int i = 0; i < 5; i++) {
        void *f = dlsym(n->library, functions[i]);
        if (!f) return false;
        memcpy(to[i], &f, sizeof f);
    }
    return true;
}

static void compile_for(const nvrtc *n, const char *source, const char *arch) {
    const char *texts[100], *names[100];
    int headers = 0;
    for (const embedded_file *f = embedded_headers; f->name && headers < 100; f++, headers++) {
        names[headers] = f->name;
        texts[headers] = f->text;
    }
    const char *const options[] = {arch, "--fmad=false", "--std=c++17"};
    void *p;
    assert_int_equal(n->create(&p, source, "kernels.cu", headers, texts, names), 0);
    if (n->compile(p, 3, options) != 0) {
        size_t size = 0;
        n->log_size(p, &size);
        char *said = malloc(size + 1);
        n->log(p, said);
        said[size] = 0;
        fprintf(stderr, "%.6000s\n", said);
        free(said);
        fail_msg("NVRTC refuses emitted CUDA");
    }
    n->destroy(&p);
}

/* All kernels of all bodies for one dtype; names are made distinct by a namespace for each program. */
static void all_kernels(context *c, dtype t, text *out) {
    text_add(out, emit_cuda_head);
    for (int b = 0; b < BODIES; b++) {
        if (!dtype_is_float(t) && bodies[b].float_only) continue;
        tensor *x[BODY_INPUTS];
        body_inputs(c, t, (int64_t[]){300, 70}, x);
        program *p = freeze_body(c, bodies[b].run, x, BODY_INPUTS);
        assert_non_null(p);
        for (int i = 0; i < program_kernel_count(p); i++) {
            const char *source = program_kernel_at(p, i).source_cuda;
            if (!source) continue;
            /* the entry is extern "C": a prefix keeps entries of different bodies apart */
            text_printf(out, "namespace b%d_%d {\n#define %s b%d_%s\n%s}\n", b, i,
                        program_kernel_at(p, i).name, b, program_kernel_at(p, i).name, source);
        }
        program_free(p);
        for (int i = 0; i < BODY_INPUTS; i++) tensor_release(x[i]);
    }
}

static void nvrtc_compiles(void **state) {
    (void)state;
    nvrtc n = {0};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sources are those of the plain build */
#endif
    if (!open_nvrtc(&n)) skip();
    context *c = context_new(1);
    static const dtype types[] = {DT_F32, DT_F16, DT_I64, DT_U8, DT_F64};
    for (int i = 0; i < 5; i++) {
        text source = {0};
        all_kernels(c, types[i], &source);
        compile_for(&n, text_str(&source), i % 2 ? "--gpu-architecture=sm_80" : "--gpu-architecture=sm_90");
        text_free(&source);
    }
    context_free(c);
}

/* The cache of compiled kernels: the one that all builds share, where CTest names it; else one of this run. */
static int open_cache(void **state) {
    (void)state;
    const char *shared = getenv("TAPEDECK_TEST_CACHE");
    strcpy(folder, "/tmp/tapedeck-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    return setenv("XDG_CACHE_HOME", shared ? shared : folder, 1);
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
        cmocka_unit_test(shim_has_barriers_and_shuffles),
        cmocka_unit_test(nvrtc_compiles),
        cmocka_unit_test(matches_eager_f32),
        cmocka_unit_test(matches_eager_others),
    };
    return cmocka_run_group_tests(tests, open_cache, remove_cache);
}
