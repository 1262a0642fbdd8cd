/* shim.c — see shim.h. A fibre runs until it waits at a barrier or in a shuffle, or ends. A barrier opens when every
 * thread that has not ended is at it; a shuffle is carried out when all 16 threads of a group are in it. A fibre that has
 * ended waits to run the same thread of the next block. */
#include "engine/kernel/shim.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "engine/base/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK = 128 << 10, GROUP = 16 };

typedef enum fibre_state { UNBORN, RUNNABLE, AT_BARRIER, IN_SHUFFLE, ENDED } fibre_state;

/* Where execution goes on: `at` the first time, `back` from then on, which unlike swapcontext asks nothing of the kernel. */
typedef struct place {
    ucontext_t at;
    jmp_buf back;
    bool left;
} place;

typedef struct fibre {
    place at;
    fibre_state state;
    char value[8];
    unsigned bytes;
    int delta;
    void *sanitizer; /* what the sanitizer knows it by */
} fibre;

struct shim {
    shim_thread thread; /* first: the callbacks find the shim through `running` */
    fibre *fibres;
    char *stacks;
    int threads, most, current;
    place scheduler;
    void (*entry)(cuda_launch);
    cuda_launch launch;
    int *order;
    void *sanitizer; /* the sanitizer's, for the scheduler */
    const void *scheduler_stack;
    size_t scheduler_size;
};

/* Fibres can't be passed a pointer portably, and emitted code calls without one. */
static _Thread_local shim *running;

/* ---- switching; sanitizers want to know of stacks ---- */

/* Goes on at `to`; comes back when someone goes to `from`. */
__attribute__((noinline)) static void change(place *from, place *to) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    swapcontext(&from->at, &to->at); /* which they understand */
#else
    from->left = true;
    if (_setjmp(from->back)) return;
    if (to->left) _longjmp(to->back, 1);
    setcontext(&to->at);
#endif
}

/* `leaves`: for good. */
static void to_scheduler(shim *s, bool leaves) {
    fibre *f = &s->fibres[s->current];
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(leaves ? NULL : &f->sanitizer, s->scheduler_stack, s->scheduler_size);
    change(&f->at, &s->scheduler);
    __sanitizer_finish_switch_fiber(f->sanitizer, &s->scheduler_stack, &s->scheduler_size);
#else
    (void)leaves;
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(s->sanitizer, 0);
#endif
    change(&f->at, &s->scheduler);
#endif
}

static void to_fibre(shim *s, int i) {
    s->current = i;
    s->thread.thread = (shim_index){(unsigned)i, 0, 0};
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&s->sanitizer, s->stacks + (size_t)i * STACK, STACK);
    change(&s->scheduler, &s->fibres[i].at);
    __sanitizer_finish_switch_fiber(s->sanitizer, NULL, NULL);
#else
#if defined(__SANITIZE_THREAD__)
    s->sanitizer = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(s->fibres[i].sanitizer, 0);
#endif
    change(&s->scheduler, &s->fibres[i].at);
#endif
}

static void fibre_main(void) {
    shim *s = running;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(NULL, &s->scheduler_stack, &s->scheduler_size);
#endif
    while (s->entry) {
        s->entry(s->launch);
        s->fibres[s->current].state = ENDED;
        to_scheduler(s, false);
    }
    to_scheduler(s, true);
}

static void barrier(void) {
    shim *s = running;
    s->fibres[s->current].state = AT_BARRIER;
    to_scheduler(s, false);
}

static void shuffle(void *x, unsigned bytes, int delta) {
    shim *s = running;
    fibre *f = &s->fibres[s->current];
    memcpy(f->value, x, bytes);
    f->bytes = bytes;
    f->delta = delta;
    f->state = IN_SHUFFLE;
    to_scheduler(s, false);
    memcpy(x, f->value, bytes);
}

/* ---- life ---- */

shim *shim_new(int threads) {
    shim *s = mem_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->most = threads;
    s->fibres = mem_calloc((size_t)threads, sizeof *s->fibres);
    s->order = mem_calloc((size_t)threads, sizeof *s->order);
    s->stacks = mem_alloc_aligned(64, (size_t)threads * STACK);
    s->thread.barrier = barrier;
    s->thread.shuffle = shuffle;
    if (s->fibres && s->order && s->stacks) return s;
    shim_free(s);
    return NULL;
}

void shim_free(shim *s) {
    if (!s) return;
    s->entry = NULL;
    for (int i = 0; s->fibres && i < s->most; i++) {
        if (s->fibres[i].state == ENDED) to_fibre(s, i);
#if defined(__SANITIZE_THREAD__)
        if (s->fibres[i].sanitizer) __tsan_destroy_fiber(s->fibres[i].sanitizer);
#endif
    }
    mem_free(s->fibres);
    mem_free(s->order);
    mem_free(s->stacks);
    mem_free(s);
}

shim_thread *shim_thread_of(shim *s) {
    return &s->thread;
}

/* ---- a block ---- */

/* Threads in an order of their own for each seed. */
static void shuffle_order(shim *s, unsigned seed) {
    for (int i = 0; i < s->threads; i++) s->order[i] = i;
    for (int i = s->threads - 1; seed && i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)(seed >> 8) % (i + 1), swap = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = swap;
    }
}

/* A function of its own, since getcontext is one of those that return twice. */
__attribute__((noinline)) static void make_fibre(fibre *f, char *stack) {
#if defined(__SANITIZE_THREAD__)
    if (f->sanitizer) __tsan_destroy_fiber(f->sanitizer);
    f->sanitizer = __tsan_create_fiber(0);
#endif
    f->at.left = false;
    getcontext(&f->at.at);
    f->at.at.uc_stack.ss_sp = stack;
    f->at.at.uc_stack.ss_size = STACK;
    f->at.at.uc_link = NULL;
    makecontext(&f->at.at, fibre_main, 0);
}

/* Fibres that the last block left waiting, because it could not go on, begin anew. */
static void start_block(shim *s) {
    for (int i = 0; i < s->threads; i++) {
        fibre *f = &s->fibres[i];
        if (f->state != ENDED) make_fibre(f, s->stacks + (size_t)i * STACK);
        f->state = RUNNABLE;
    }
}

/* Carries out the shuffles of groups that are complete. */
static bool release_shuffles(shim *s) {
    bool any = false;
    for (int g = 0; g < s->threads; g += GROUP) {
        int in = 0;
        char old[GROUP][8];
        for (int i = g; i < g + GROUP && i < s->threads; i++) in += s->fibres[i].state == IN_SHUFFLE;
        if (in < GROUP) continue;
        for (int i = 0; i < GROUP; i++) memcpy(old[i], s->fibres[g + i].value, sizeof old[i]);
        for (int i = 0; i < GROUP; i++) {
            fibre *f = &s->fibres[g + i];
            if (i + f->delta < GROUP) memcpy(f->value, old[i + f->delta], f->bytes);
            f->state = RUNNABLE;
        }
        any = true;
    }
    return any;
}

static bool release_barrier(shim *s) {
    int at = 0, live = 0;
    for (int i = 0; i < s->threads; i++) {
        live += s->fibres[i].state != ENDED;
        at += s->fibres[i].state == AT_BARRIER;
    }
    if (at == 0 || at < live) return false;
    for (int i = 0; i < s->threads; i++)
        if (s->fibres[i].state == AT_BARRIER) s->fibres[i].state = RUNNABLE;
    return true;
}

static bool run_block(shim *s) {
    start_block(s);
    for (;;) {
        bool ran = false, live = false;
        for (int n = 0; n < s->threads; n++) {
            int i = s->order[n];
            if (s->fibres[i].state == RUNNABLE) {
                to_fibre(s, i);
                ran = true;
            }
            live |= s->fibres[i].state != ENDED;
        }
        if (!live) return true;
        if (!release_shuffles(s) && !release_barrier(s) && !ran) return false;
    }
}

status shim_run(shim *s, void (*entry)(cuda_launch), cuda_launch launch, int grid, int threads, unsigned seed,
                error *e) {
    if (threads > s->most)
        return fail(e, STATUS_LIMIT, 0, "%d threads in a block of at most %d", threads, s->most);
    shim *outer = running;
    running = s;
    s->threads = threads;
    s->entry = entry;
    s->launch = launch;
    s->thread.block_size = (shim_index){(unsigned)threads, 1, 1};
    s->thread.grid_size = (shim_index){(unsigned)grid, 1, 1};
    shuffle_order(s, seed);
    bool good = true;
    for (int b = 0; b < grid && good; b++) {
        s->thread.block = (shim_index){(unsigned)b, 0, 0};
        good = run_block(s);
    }
    running = outer;
    return good ? STATUS_OK : fail(e, STATUS_VALUE, 0, "the threads of a block wait for each other for ever");
}
