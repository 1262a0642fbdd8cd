/* calibration.c — see calibration.h.
 *
 * Each rate is the best of several runs: whatever else the machine does can only make a run slower. A level
 * stops after a fixed share of the time, so that a slow machine is measured less often, not for longer. */
#include "profiler/calibration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double level_seconds = 0.07, gemm_seconds = 0.2;
enum { GEMM_SIDE = 768, TRIAD_LEAST = 3 };

/* ---- memory ---- */

/* a = b + 3 c over `count` floats, cut into one range for each lane. */
typedef struct triad {
    float *a;
    const float *b, *c;
    int64_t count, pieces, repeat;
} triad;

/* Not watched by the thread sanitizer, which would make it some hundred times slower. */
__attribute__((no_sanitize("thread"))) static void triad_piece(void *user, int64_t piece, int lane) {
    (void)lane;
    const triad *t = user;
    int64_t from = t->count * piece / t->pieces, to = t->count * (piece + 1) / t->pieces;
    for (int64_t r = 0; r < t->repeat; r++) {
        float *restrict a = t->a;
        const float *restrict b = t->b, *restrict c = t->c;
        for (int64_t i = from; i < to; i++) a[i] = b[i] + 3.0f * c[i];
        __asm__ volatile("" ::: "memory"); /* the next repeat is not the same store again */
    }
}

/* Best rate over the block's first 3 * count floats, bytes per second. Several passes make one timed run when
 * the arrays are small, so that handing out tasks does not count. */
static double triad_rate(context *c, float *block, int64_t bytes) {
    int64_t count = bytes / (3 * (int64_t)sizeof(float));
    triad t = {.a = block, .b = block + count, .c = block + 2 * count, .count = count};
    t.pieces = pool_lanes(c->workers);
    t.repeat = bytes < (1 << 23) ? (1 << 23) / bytes : 1;
    double best = 0;
    uint64_t start = clock_ns();
    for (int run = 0;; run++) {
        uint64_t before = clock_ns();
        pool_run(c->workers, t.pieces, triad_piece, &t, NULL);
        double seconds = (double)(clock_ns() - before) * 1e-9;
        double rate = (double)bytes * (double)t.repeat / (seconds > 1e-9 ? seconds : 1e-9);
        if (rate > best) best = rate;
        if (run + 1 >= TRIAD_LEAST && (double)(clock_ns() - start) * 1e-9 > level_seconds) return best;
    }
}

static status measure_memory(context *c, machine_limits *m) {
    int64_t most = limits_level_bytes[LIMIT_LEVELS - 1];
    float *block = mem_alloc_aligned(4096, (size_t)most);
    if (!block) return fail_memory(&c->err, (uint64_t)most);
    memset(block, 0, (size_t)most);
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        m->memory[i].bytes = limits_level_bytes[i];
        m->memory[i].rate = triad_rate(c, block, limits_level_bytes[i]);
    }
    mem_free(block);
    /* A larger level is never faster; where a measurement says so, the smaller one was disturbed. */
    for (int i = LIMIT_LEVELS - 2; i >= 0; i--)
        if (m->memory[i].rate < m->memory[i + 1].rate) m->memory[i].rate = m->memory[i + 1].rate;
    return STATUS_OK;
}

/* ---- arithmetic ---- */

static status measure_flops(context *c, machine_limits *m) {
    shape s = {.rank = 2, .size = {GEMM_SIDE, GEMM_SIDE}};
    tensor *a = op_full(c, 0.5, &s, DT_F32), *b = a ? op_full(c, 0.25, &s, DT_F32) : NULL;
    uint64_t start = clock_ns();
    for (int run = 0; a && b; run++) {
        uint64_t before = clock_ns();
        tensor *product = op_call2(c, OP_matmul, a, b, NULL);
        double seconds = (double)(clock_ns() - before) * 1e-9;
        if (!product) break;
        tensor_release(product);
        double rate = 2.0 * GEMM_SIDE * GEMM_SIDE * GEMM_SIDE / (seconds > 1e-9 ? seconds : 1e-9);
        if (rate > m->flops) m->flops = rate;
        if (run >= 2 && (double)(clock_ns() - start) * 1e-9 > gemm_seconds) break;
    }
    tensor_release(a);
    tensor_release(b);
    return c->err.code;
}

/* The model of the processor, and "unknown" where the system does not say. */
static void processor_name(char *out, size_t size) {
    snprintf(out, size, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (!f) return;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(out, size, "%.*s", (int)size - 1, colon);
        break;
    }
    fclose(f);
}

/* Measuring must not be recorded, neither by tapes nor as events. */
status limits_measure(context *c, machine_limits *out) {
    *out = (machine_limits){.lanes = pool_lanes(c->workers)};
    processor_name(out->processor, sizeof out->processor);
    struct tape *tapes = c->tapes;
    bool listening = c->events.on;
    c->tapes = NULL;
    c->events.on = false;
    status s = measure_memory(c, out);
    if (!s) s = measure_flops(c, out);
    c->tapes = tapes;
    c->events.on = listening;
    return s;
}

/* ---- the kept file's place ---- */

/* Makes the folders of `path` one by one, for this user alone. */
static void make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* The file's path into `out`; false where neither variable says where. */
static bool limits_path(const machine_limits *m, text *out) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        text_add(out, cache);
    else if (home && home[0] == '/')
        text_printf(out, "%s/.cache", home);
    else
        return false;
    uint64_t hash = hash_bytes(m->processor, strlen(m->processor), (uint64_t)m->lanes);
    text_printf(out, "/tapedeck/limits-%016llx.json", (unsigned long long)hash);
    return !out->failed;
}

void limits_keep(const machine_limits *m) {
    text path = {0};
    if (limits_path(m, &path)) {
        make_folders(path.data);
        limits_save(path.data, m);
    }
    text_free(&path);
}

status limits_get(context *c, machine_limits *out) {
    machine_limits want = {.lanes = pool_lanes(c->workers)};
    processor_name(want.processor, sizeof want.processor);
    text path = {0};
    bool kept = limits_path(&want, &path) && limits_load(path.data, &want, out);
    text_free(&path);
    if (kept) return STATUS_OK;
    status s = limits_measure(c, out);
    if (!s) limits_keep(out);
    return s;
}
