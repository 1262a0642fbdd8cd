/* compiler.c — see compiler.h: the queue, its thread, and the units. A unit is shared by its owner and the queue; the
 * last of them frees it. */
#include "engine/device/cpu/compiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/device/cpu/blas.h"
#include "engine/device/cpu/code_store.h"
#include "engine/ops/loops.h"

struct code_unit {
    code_cache *cache;
    int refs; /* under the cache's lock */
    char *source;
    void *library;
    bool cached;
    bool hopeless; /* the store can't be used at all: the message says what follows from that */
    event what;    /* of its compilation */
    _Atomic code_state state;
    char message[STORE_MESSAGE];
    code_unit *next; /* in the queue */
};

enum { ENDED_KEPT = 64 };

struct code_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running, quit;
    code_unit *first, *last; /* waiting */
    code_unit *busy;
    code_store store; /* used under `store_lock` */
    pthread_mutex_t store_lock;
    char notice[STORE_MESSAGE + 200]; /* on the first failure */
    bool noticed;
    event ended[ENDED_KEPT]; /* the last compilations, as a ring */
    uint64_t ended_count;
};

/* The widest vectors that this processor has. */
static const char *widest_target(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "avx512";
#endif
    return loops()->target;
}

code_cache *code_cache_of(context *c) {
    if (c->code) return c->code;
    code_cache *cache = mem_calloc(1, sizeof *cache);
    if (!cache || !store_init(&cache->store, widest_target())) {
        mem_free(cache);
        fail_memory(&c->err, sizeof *cache);
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
    pthread_mutex_init(&cache->store_lock, NULL);
    pthread_cond_init(&cache->changed, NULL);
    c->code = cache;
    return cache;
}

/* ---- units ---- */

static void drop(code_unit *u) { /* under the lock */
    if (--u->refs > 0) return;
    if (u->library) dlclose(u->library);
    mem_free(u->source);
    mem_free(u);
}

/* Why kernels stay interpreted, and what can be done about it. */
static void write_notice(code_unit *u) { /* under the lock */
    code_cache *cache = u->cache;
    if (u->hopeless)
        snprintf(cache->notice, sizeof cache->notice, "%s", u->message);
    else
        snprintf(
            cache->notice, sizeof cache->notice,
            "%s: kernels are interpreted, at lower speed; TAPEDECK_CC names another compiler, XDG_CACHE_HOME "
            "another folder for what it makes",
            u->message);
}

static void finish(code_unit *u, code_state state) { /* under the lock */
    code_cache *cache = u->cache;
    if (state == CODE_FAILED && !cache->notice[0]) write_notice(u);
    if (u->what.begin) cache->ended[cache->ended_count++ % ENDED_KEPT] = u->what;
    atomic_store_explicit(&u->state, state, memory_order_release);
    pthread_cond_broadcast(&cache->changed);
}

static void compile(code_unit *u) {
    code_cache *cache = u->cache;
    u->what.begin = clock_ticks();
    pthread_mutex_lock(&cache->store_lock);
    u->library = store_load(&cache->store, u->source, &u->cached, u->message);
    u->hopeless = cache->store.why[0] != 0;
    pthread_mutex_unlock(&cache->store_lock);
    u->what.end = clock_ticks();
    u->what.tier = u->cached ? "cache" : u->library ? "cc" : "failed";
}

static void *work(void *argument) {
    code_cache *cache = argument;
    pthread_mutex_lock(&cache->lock);
    for (;;) {
        while (!cache->quit && !cache->first) pthread_cond_wait(&cache->changed, &cache->lock);
        if (cache->quit) break;
        code_unit *u = cache->busy = cache->first;
        cache->first = u->next;
        if (!cache->first) cache->last = NULL;
        bool wanted = u->refs > 1; /* else its owner has let it go */
        if (wanted) {
            pthread_mutex_unlock(&cache->lock);
            compile(u);
            pthread_mutex_lock(&cache->lock);
        }
        cache->busy = NULL;
        finish(u, u->library ? CODE_READY : CODE_FAILED);
        drop(u);
    }
    pthread_mutex_unlock(&cache->lock);
    return NULL;
}

/* Starts the thread, with all signals left to the others; under the lock. */
static bool start(code_cache *cache) {
    if (cache->running) return true;
    /* Loading it changes the environment, which the thread reads when it starts the compiler. */
    if (!blas_library()) return false;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    cache->running = pthread_create(&cache->thread, NULL, work, cache) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return cache->running;
}

code_unit *code_unit_new(code_cache *cache, const char *source, bool now, event about, error *e) {
    code_unit *u = mem_calloc(1, sizeof *u);
    if (u) u->source = mem_copy_text(source, strlen(source));
    if (!u || !u->source) {
        mem_free(u);
        fail_memory(e, strlen(source));
        return NULL;
    }
    u->cache = cache;
    u->refs = 1;
    u->what = (event){.name = "compile", .graph = about.graph, .where = about.where, .kind = EVENT_COMPILE};
    atomic_init(&u->state, CODE_WAITING);
    pthread_mutex_lock(&cache->lock);
    bool queued = !now && start(cache);
    if (queued) {
        u->refs++;
        if (cache->last)
            cache->last->next = u;
        else
            cache->first = u;
        cache->last = u;
        pthread_cond_broadcast(&cache->changed);
    }
    pthread_mutex_unlock(&cache->lock);
    if (queued) return u;
    compile(u);
    pthread_mutex_lock(&cache->lock);
    finish(u, u->library ? CODE_READY : CODE_FAILED);
    pthread_mutex_unlock(&cache->lock);
    return u;
}

void code_unit_release(code_unit *u) {
    if (!u) return;
    code_cache *cache = u->cache;
    pthread_mutex_lock(&cache->lock);
    drop(u);
    pthread_mutex_unlock(&cache->lock);
}

code_state code_unit_state(const code_unit *u) {
    return atomic_load_explicit(&u->state, memory_order_acquire);
}

void code_unit_wait(code_unit *u) {
    code_cache *cache = u->cache;
    pthread_mutex_lock(&cache->lock);
    while (code_unit_state(u) == CODE_WAITING) pthread_cond_wait(&cache->changed, &cache->lock);
    pthread_mutex_unlock(&cache->lock);
}

const char *code_unit_message(const code_unit *u) {
    return u->message;
}

bool code_unit_cached(const code_unit *u) {
    return u->cached;
}

void *code_unit_symbol(const code_unit *u, const char *name) {
    return dlsym(u->library, name);
}

void code_cache_write_events(code_cache *cache, event_sink *s) {
    pthread_mutex_lock(&cache->lock);
    uint64_t count = cache->ended_count, kept = count < ENDED_KEPT ? count : ENDED_KEPT;
    for (uint64_t i = count - kept; i < count; i++) {
        event e = cache->ended[i % ENDED_KEPT];
        e.lane = s->lanes;
        if (e.end >= s->begin.ticks) event_write(s, e);
    }
    pthread_mutex_unlock(&cache->lock);
}

const char *code_cache_notice(code_cache *cache) {
    pthread_mutex_lock(&cache->lock);
    bool there = cache->notice[0] && !cache->noticed;
    if (there) cache->noticed = true;
    pthread_mutex_unlock(&cache->lock);
    return there ? cache->notice : NULL;
}

void code_cache_free(code_cache *cache) {
    if (!cache) return;
    pthread_mutex_lock(&cache->lock);
    cache->quit = true;
    int child = atomic_load(&cache->store.child);
    if (child > 0) kill(-child, SIGKILL); /* the compiler leads a process group of its own */
    pthread_cond_broadcast(&cache->changed);
    pthread_mutex_unlock(&cache->lock);
    if (cache->running) pthread_join(cache->thread, NULL);
    pthread_mutex_lock(&cache->lock);
    for (code_unit *u = cache->first, *next; u; u = next) {
        next = u->next;
        drop(u);
    }
    pthread_mutex_unlock(&cache->lock);
    store_close(&cache->store);
    pthread_cond_destroy(&cache->changed);
    pthread_mutex_destroy(&cache->store_lock);
    pthread_mutex_destroy(&cache->lock);
    mem_free(cache);
}
