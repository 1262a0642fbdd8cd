/* pool.c — workers spin briefly for the next loop, then sleep on a condition variable.
 *
 * A loop is published by raising `generation`; every worker joins each generation exactly once, and the
 * caller waits until all have left it, so the job's fields are never read by a late worker. */
#include "engine/base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/memory.h"

enum { SPINS = 2000, MAX_LANES = 256 };

typedef struct worker {
    pool *owner;
    int lane;
    pthread_t thread;
} worker;

struct pool {
    int lanes, started; /* started: worker threads that exist */
    worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic uint64_t generation;
    atomic_int busy; /* workers that have not left the current generation */
    atomic_bool quit;
    /* the job */
    _Atomic int64_t next;
    int64_t count;
    pool_task task;
    void *user;
    const atomic_int *stop;
    pool_watch watch;
    void *watcher;
};

static void work(pool *p, int lane) {
    uint64_t begin = p->watch ? clock_ticks() : 0;
    bool took_part = false;
    for (;; took_part = true) {
        int64_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (i >= p->count) break;
        if (p->stop && atomic_load_explicit(p->stop, memory_order_relaxed)) break;
        p->task(p->user, i, lane);
    }
    if (p->watch && took_part) p->watch(p->watcher, lane, begin, clock_ticks());
}

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits for a generation other than `seen`; returns it. */
static uint64_t await(pool *p, uint64_t seen) {
    for (int i = 0; i < SPINS; i++) {
        uint64_t now = atomic_load_explicit(&p->generation, memory_order_acquire);
        if (now != seen) return now;
        pause_briefly();
    }
    pthread_mutex_lock(&p->lock);
    uint64_t now;
    while ((now = atomic_load_explicit(&p->generation, memory_order_acquire)) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return now;
}

static void *worker_main(void *argument) {
    worker *w = argument;
    pool *p = w->owner;
    uint64_t seen = 0;
    for (;;) {
        seen = await(p, seen);
        if (atomic_load_explicit(&p->quit, memory_order_relaxed)) return NULL;
        work(p, w->lane);
        atomic_fetch_sub_explicit(&p->busy, 1, memory_order_release);
    }
}

static void publish(pool *p) {
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static int available_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

pool *pool_new(int lanes) {
    if (lanes <= 0) lanes = available_processors();
    if (lanes > MAX_LANES) lanes = MAX_LANES;
    pool *p = mem_calloc(1, sizeof *p);
    worker *workers = mem_calloc((size_t)lanes, sizeof *workers);
    if (!p || !workers) {
        mem_free(p);
        mem_free(workers);
        return NULL;
    }
    p->workers = workers;
    p->lanes = 1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    sigset_t all, old; /* signals go to the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    for (int i = 1; i < lanes; i++) {
        workers[p->started] = (worker){.owner = p, .lane = i};
        if (pthread_create(&workers[p->started].thread, NULL, worker_main, &workers[p->started]) != 0) break;
        p->started++;
        p->lanes++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return p;
}

void pool_free(pool *p) {
    if (!p) return;
    atomic_store(&p->quit, true);
    publish(p);
    for (int i = 0; i < p->started; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
    mem_free(p->workers);
    mem_free(p);
}

void pool_set_watch(pool *p, pool_watch watch, void *user) {
    p->watch = watch;
    p->watcher = user;
}

int pool_lanes(const pool *p) {
    return p->lanes;
}

void pool_run(pool *p, int64_t count, pool_task task, void *user, const atomic_int *stop) {
    if (count <= 0) return;
    p->count = count;
    p->task = task;
    p->user = user;
    p->stop = stop;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    if (count == 1 || p->started == 0) {
        work(p, 0);
        return;
    }
    atomic_store_explicit(&p->busy, p->started, memory_order_relaxed);
    publish(p);
    work(p, 0);
    for (int spins = 0; atomic_load_explicit(&p->busy, memory_order_acquire) > 0; spins++) {
        if (spins < SPINS)
            pause_briefly();
        else
            sched_yield();
    }
}
