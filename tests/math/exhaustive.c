/* exhaustive.c — checks every f32 bit pattern of every one-argument f32 function of engine/math.
 *
 * Built and run by scripts/check-math. For each function it walks all 2^32 inputs in blocks, through a loop
 * that the compiler vectorises as it does the engine's loops, and compares with the f64 function of libm,
 * whose own error is below 2^-28 of an f32 ulp-unit. The error is measured in ulps of the reference: |result
 * - exact| / ulp(exact). Prints a table, and exits 1 when a function exceeds its bound.
 *
 * usage: exhaustive [--threads N] [--stride N] [NAME...] */
#include "engine/math/basic.h"
#include "engine/math/erf.h"
#include "engine/math/exp.h"
#include "engine/math/half.h"
#include "engine/math/hyper.h"
#include "engine/math/log.h"
#include "engine/math/trig.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

/* glibc declares its vector functions under -ffast-math only, which must not touch this file; so they are declared
 * here. */
#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define VECTOR __attribute__((simd("notinbranch"))) double
VECTOR exp(double), exp2(double), expm1(double), log(double), log2(double), log1p(double);
VECTOR sin(double), cos(double), tan(double), asin(double), acos(double), atan(double);
VECTOR sinh(double), cosh(double), tanh(double), erf(double), erfc(double);
#endif

#include "tests/math/functions.h"
#include "tests/math/ulps.h"

#define LOOP(name, ref, bound)                                                                               \
    static void loop_##name(const float *restrict in, float *restrict out) {                                 \
        for (int i = 0; i < BLOCK; i++) out[i] = vm_##name##_f32(in[i]);                                     \
    }                                                                                                        \
    static double scalar_##name(double x) {                                                                  \
        return ref(x);                                                                                       \
    }                                                                                                        \
    static void exact_##name(const float *restrict in, double *restrict out) {                               \
        _Pragma("omp simd") for (int i = 0; i < BLOCK; i++) out[i] = ref((double)in[i]);                     \
    }
MATH_F32(LOOP)

typedef struct function {
    const char *name;
    void (*loop)(const float *restrict in, float *restrict out);
    void (*exact)(const float *restrict in, double *restrict out);
    double (*reference)(double);
    double bound;
} function;

#define ENTRY(name, ref, bound) {#name, loop_##name, exact_##name, scalar_##name, bound},
static const function functions[] = {MATH_F32(ENTRY)};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

typedef struct worker {
    const function *f;
    uint64_t first, last, step; /* blocks */
    double worst, seconds;
    float where;
    uint64_t rounded; /* how many results are the correctly rounded ones */
    uint64_t count;
} worker;

/* The errors of a block in ulps of the nearest f32 of `exact`. Where the result is that nearest f32 (or both are
 * NaN) at most 1/2; where it is wrong all the same (-0 for +0),
 * huge; where only one is a NaN or infinite, NaN. At a power of 2 an error may be half of what
 * `ulps` says, which the caller allows for. Returns how many results are the nearest f32. */
static uint64_t quick_errors(const float *restrict out, const double *restrict exact,
                             double *restrict error) {
    uint32_t rounded = 0;
    for (int i = 0; i < BLOCK; i++) {
        float nearest = (float)exact[i];
        uint32_t e = vm_bits_f32(nearest) & 0x7f800000u, least = 24u << 23;
        double per_ulp =
            e > least ? (double)vm_from_bits_f32((277u << 23) - (e > least ? e : least)) : 0x1p149;
        double far = vm_abs_f64((double)out[i] - exact[i]) * per_ulp;
        int same =
            (vm_bits_f32(out[i]) == vm_bits_f32(nearest)) | ((out[i] != out[i]) & (nearest != nearest));
        double right = far <= 0.5 ? far : 0.0, wrong = far <= 0.5 ? 1e300 : far;
        error[i] = same ? right : wrong;
        rounded += (uint32_t)same;
    }
    return rounded;
}

static void *work(void *argument) {
    worker *w = argument;
    static _Thread_local float in[BLOCK], out[BLOCK];
    static _Thread_local double exact[BLOCK], error[BLOCK];
    for (uint64_t block = w->first; block < w->last; block += w->step) {
        for (uint32_t i = 0; i < BLOCK; i++) in[i] = vm_from_bits_f32((uint32_t)(block * BLOCK + i));
        w->f->loop(in, out);
        w->f->exact(in, exact);
        w->rounded += quick_errors(out, exact, error);
        w->count += BLOCK;
        for (int i = 0; i < BLOCK; i++) {
            double most = w->worst > 0.5 ? w->worst : 0.5;
            if (error[i] <= 0.5 ? error[i] <= w->worst || w->worst > 0.5 : error[i] * 2.0 <= most) continue;
            double e = ulps((double)out[i], w->f->reference((double)in[i]), 24);
            if (e > w->worst) w->worst = e, w->where = in[i];
        }
    }
    return NULL;
}

/* Checks one function on `threads` threads; returns its worst error. */
static double check(const function *f, int threads, uint64_t stride) {
    enum { MOST = 64 };
    pthread_t ids[MOST];
    worker workers[MOST];
    uint64_t blocks = (UINT64_C(1) << 32) / BLOCK;
    int started = 0;
    for (int t = 0; t < threads && t < MOST; t++) {
        workers[t] =
            (worker){f, (uint64_t)t * stride, blocks, stride * (uint64_t)threads, 0.0, 0.0, 0.0f, 0, 0};
        if (pthread_create(&ids[t], NULL, work, &workers[t])) break;
        started++;
    }
    if (started < threads) {
        fprintf(stderr, "exhaustive: could not start %d threads\n", threads);
        exit(2);
    }
    worker all = {0};
    for (int t = 0; t < started; t++) {
        pthread_join(ids[t], NULL);
        if (workers[t].worst > all.worst) all.worst = workers[t].worst, all.where = workers[t].where;
        all.rounded += workers[t].rounded;
        all.count += workers[t].count;
    }
    printf("| %-10s | %8.4f | %16a | %14.8g | %7.3f%% | %5.1f | %s\n", f->name, all.worst, (double)all.where,
           (double)all.where, 100.0 * (double)all.rounded / (double)all.count, f->bound,
           all.worst <= f->bound ? "ok |" : "TOO LARGE |");
    fflush(stdout);
    return all.worst;
}

int main(int argc, char **argv) {
    int threads = 2, first = 1;
    uint64_t stride = 1;
    while (first + 1 < argc && argv[first][0] == '-') {
        if (!strcmp(argv[first], "--threads"))
            threads = atoi(argv[first + 1]);
        else if (!strcmp(argv[first], "--stride"))
            stride = strtoull(argv[first + 1], NULL, 10);
        else
            break;
        first += 2;
    }
    if (threads < 1 || threads > 64 || stride < 1 || (first < argc && argv[first][0] == '-')) {
        fprintf(stderr, "usage: exhaustive [--threads N] [--stride N] [NAME...]\n");
        return 2;
    }
    int bad = 0, done = 0;
    printf("| function   | max ulps | at               |                | rounded  | bound |    |\n");
    printf("|------------|----------|------------------|----------------|----------|-------|----|\n");
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        int wanted = first >= argc;
        for (int a = first; a < argc; a++) wanted |= !strcmp(argv[a], functions[i].name);
        if (!wanted) continue;
        done++;
        bad += !(check(&functions[i], threads, stride) <= functions[i].bound);
    }
    if (!done) {
        fprintf(stderr, "exhaustive: no such function: %s\n", argv[first]);
        return 2;
    }
    return bad ? 1 : 0;
}
