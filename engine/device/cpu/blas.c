/* blas.c — see blas.h. */
#include "engine/device/cpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_CALLS = 512 }; /* at once, of all contexts; more than the builds of the library have buffers */

/* Process-wide, like the library itself; under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded; /* or looked for in vain */
static blas library = {.core = ""};
static int buffers, calls; /* that the library keeps, and that may run now */

/* How the library takes a buffer and puts it back for the next call; its builds have the two names in common. */
static void *(*take_buffer)(int);
static void (*put_buffer)(void *);

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

/* Could so much be mapped now? Asked in the way that the limits count what the library maps. */
static bool has_room(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    munmap(p, bytes);
    return true;
}

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
    SYMBOL(handle, "blas_memory_alloc", take_buffer);
    SYMBOL(handle, "blas_memory_free", put_buffer);
    if (!found.sgemm || !found.dgemm || !set_threads || !take_buffer || !put_buffer) {
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
    pthread_mutex_lock(&lock);
    if (!loaded && has_room(BLAS_LIBRARY_BYTES)) {
        load();
        loaded = true;
    }
    const blas *b = loaded ? &library : NULL;
    pthread_mutex_unlock(&lock);
    return b;
}

/* Has the library map the buffers of `count` calls, by taking that many at once; false: no room. Under the lock. */
static bool keep_buffers(int count) {
    void *taken[MOST_CALLS];
    if (count > MOST_CALLS || !has_room((size_t)count * BLAS_BUFFER_BYTES)) return false;
    int got = 0;
    while (got < count && (taken[got] = take_buffer(0))) got++;
    for (int i = 0; i < got; i++) put_buffer(taken[i]);
    if (got > buffers) buffers = got;
    return got == count;
}

bool blas_begin(int count) {
    pthread_mutex_lock(&lock);
    bool ready = calls + count <= buffers || keep_buffers(calls + count);
    if (ready) calls += count;
    pthread_mutex_unlock(&lock);
    return ready;
}

void blas_end(int count) {
    pthread_mutex_lock(&lock);
    calls -= count;
    pthread_mutex_unlock(&lock);
}
