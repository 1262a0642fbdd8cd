/* blas.c — see blas.h. */
#include "engine/device/cpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Process-wide, like the library itself. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static blas library = {.core = ""};

/* The kernels for this processor, by what it can execute; NULL leaves the choice to the library. */
static const char *core_type(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return NULL;
}

/* Sets a variable for as long as the library starts; true when it was not set before. */
static bool set_for_now(const char *name, const char *value) {
    return value && !getenv(name) && setenv(name, value, 1) == 0;
}

/* POSIX's way of turning dlsym's object pointer into a function pointer. */
#define SYMBOL(handle, name, target) (*(void **)(void *)&(target) = dlsym(handle, name))

static void load(void) {
    bool core = set_for_now("OPENBLAS_CORETYPE", core_type());
    bool threads = set_for_now("OPENBLAS_NUM_THREADS", "1");
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (core) unsetenv("OPENBLAS_CORETYPE");
    if (threads) unsetenv("OPENBLAS_NUM_THREADS");
    if (!handle) return;
    void (*set_threads)(int) = NULL;
    char *(*core_name)(void) = NULL;
    blas found = {.core = "unknown"};
    SYMBOL(handle, "cblas_sgemm", found.sgemm);
    SYMBOL(handle, "cblas_dgemm", found.dgemm);
    SYMBOL(handle, "openblas_set_num_threads", set_threads);
    SYMBOL(handle, "openblas_get_corename", core_name);
    if (!found.sgemm || !found.dgemm || !set_threads) {
        dlclose(handle);
        return;
    }
    set_threads(1);
    if (core_name) found.core = core_name();
    /* built for the processors with AVX-512; an unknown core is taken to have them */
    static const char *const without[] = {"Prescott",   "Core2",       "Penryn",    "Nehalem",
                                          "Barcelona",  "Bobcat",      "Bulldozer", "Sandybridge",
                                          "Piledriver", "Steamroller", "Excavator", "Haswell",
                                          "Zen",        "Atom",        "Dunnington"};
    found.small_kernels = true;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(found.core, without[i]) == 0) found.small_kernels = false;
    library = found;
}

const blas *blas_library(void) {
    pthread_once(&once, load);
    return &library;
}
