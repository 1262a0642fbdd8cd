/* stats.c — see stats.h.
 *
 * Blocks of elements are summed up by the worker pool, each around its own first element, so that the
 * squares of large equal numbers do not drown the deviation; blocks are then joined in order (Chan, Golub,
 * LeVeque, "Algorithms for computing the sample variance", 1983), so that any number of lanes gives the
 * same header. */
#include "repl/shell/stats.h"

#include <float.h>
#include <math.h>

#include "engine/math/half.h"

enum { BLOCK = 1 << 16 };

typedef struct partial {
    int64_t finite, nans, infinities;
    double min, max, mean, squares; /* squares: sum of (x - mean)^2 */
    int64_t least, most;
    double pivot, sum, sum_squares; /* of x - pivot, while the block runs */
} partial;

static void add_real(partial *p, double x) {
    if (!(fabs(x) <= DBL_MAX)) {
        p->nans += isnan(x);
        p->infinities += !isnan(x);
        return;
    }
    if (p->finite++ == 0) p->pivot = p->min = p->max = x;
    double d = x - p->pivot;
    p->sum += d;
    p->sum_squares += d * d;
    if (x < p->min) p->min = x;
    if (x > p->max) p->max = x;
}

static void add_integer(partial *p, int64_t n) {
    if (p->finite == 0) p->least = p->most = n;
    if (n < p->least) p->least = n;
    if (n > p->most) p->most = n;
    add_real(p, (double)n);
}

/* `count` elements from `at` on, `stride` apart. */
static void add_run(partial *p, dtype t, const void *at, int64_t stride, int64_t count) {
#define RUN(T, add)                                                                                          \
    for (int64_t i = 0; i < count; i++) {                                                                    \
        T x = ((const T *)at)[i * stride];                                                                   \
        add;                                                                                                 \
    }                                                                                                        \
    break
    switch (t) {
    case DT_F64:
        RUN(double, add_real(p, x));
    case DT_F32:
        RUN(float, add_real(p, (double)x));
    case DT_F16:
        RUN(uint16_t, add_real(p, (double)vm_f16_to_f32(x)));
    case DT_BF16:
        RUN(uint16_t, add_real(p, (double)vm_bf16_to_f32(x)));
    case DT_I64:
        RUN(int64_t, add_integer(p, x));
    case DT_I32:
        RUN(int32_t, add_integer(p, x));
    case DT_I8:
        RUN(int8_t, add_integer(p, x));
    case DT_U8:
    case DT_BOOL:
        RUN(uint8_t, add_integer(p, x));
    default:
        break;
    }
#undef RUN
}

typedef struct stats_job {
    const tensor *t;
    shape shape; /* t's, or one axis when it is contiguous */
    int64_t stride[MAX_RANK];
    int64_t count;
    partial *partials;
} stats_job;

/* Elements [block * BLOCK, ..) in row-major order, run by run along the last axis. */
static void stats_block(void *user, int64_t block, int lane) {
    const stats_job *job = user;
    (void)lane;
    partial *p = &job->partials[block];
    *p = (partial){0};
    int last = job->shape.rank - 1;
    int64_t index[MAX_RANK] = {0}, offset = job->t->offset, left = block * BLOCK;
    for (int a = last; a >= 0; a--) {
        index[a] = left % job->shape.size[a];
        left /= job->shape.size[a];
        offset += index[a] * job->stride[a];
    }
    int64_t todo = job->count - block * BLOCK < BLOCK ? job->count - block * BLOCK : BLOCK;
    size_t size = dtype_size(job->t->meta.dtype);
    while (todo > 0) {
        int64_t run = job->shape.size[last] - index[last];
        if (run > todo) run = todo;
        add_run(p, job->t->meta.dtype, (const char *)job->t->store->data + offset * (int64_t)size,
                job->stride[last], run);
        todo -= run;
        index[last] += run;
        offset += run * job->stride[last];
        for (int a = last; a > 0 && index[a] == job->shape.size[a]; a--) {
            offset += job->stride[a - 1] - index[a] * job->stride[a];
            index[a] = 0;
            index[a - 1]++;
        }
    }
    if (p->finite == 0) return;
    double n = (double)p->finite;
    p->mean = p->pivot + p->sum / n;
    p->squares = fmax(0, p->sum_squares - p->sum * p->sum / n);
}

static void join(partial *to, const partial *p) {
    to->nans += p->nans;
    to->infinities += p->infinities;
    if (p->finite == 0) return;
    partial old = *to;
    if (to->finite == 0) {
        *to = *p;
        to->nans = old.nans;
        to->infinities = old.infinities;
        return;
    }
    double n = (double)to->finite, m = (double)p->finite, d = p->mean - to->mean;
    to->finite += p->finite;
    to->mean += d * (m / (n + m));
    to->squares += p->squares + d * d * (n * (m / (n + m)));
    to->min = fmin(to->min, p->min);
    to->max = fmax(to->max, p->max);
    if (p->least < to->least) to->least = p->least;
    if (p->most > to->most) to->most = p->most;
}

status tensor_stats_of(context *c, const tensor *t, tensor_stats *out) {
    *out = (tensor_stats){.count = tensor_count(t)};
    if (out->count == 0) return STATUS_OK;
    stats_job job = {.t = t, .shape = t->meta.shape, .count = out->count};
    for (int a = 0; a < job.shape.rank; a++) job.stride[a] = t->stride[a];
    if (tensor_contiguous(t) || job.shape.rank == 0) {
        job.shape = (shape){.rank = 1, .size = {out->count}};
        job.stride[0] = 1;
    }
    int64_t blocks = (out->count + BLOCK - 1) / BLOCK;
    partial one;
    job.partials = blocks == 1 ? &one : mem_calloc((size_t)blocks, sizeof *job.partials);
    if (!job.partials) return fail_memory(&c->err, (uint64_t)blocks * sizeof *job.partials);
    if (blocks == 1)
        stats_block(&job, 0, 0);
    else
        pool_run(c->workers, blocks, stats_block, &job, &c->interrupt);
    partial all = {0};
    for (int64_t i = 0; i < blocks; i++) join(&all, &job.partials[i]);
    if (blocks > 1) mem_free(job.partials);
    if (context_interrupted(c)) return c->err.code;
    out->finite = all.finite;
    out->nans = all.nans;
    out->infinities = all.infinities;
    out->min = all.min;
    out->max = all.max;
    out->mean = all.mean;
    out->std = all.finite > 0 ? sqrt(all.squares / (double)all.finite) : 0;
    out->least = all.least;
    out->most = all.most;
    return STATUS_OK;
}
