/* elementwise.c — eager element-wise rows: broadcasting, tiles and threads around the loops of loops.h.
 *
 * Axes that all operands step through alike are merged first. An operand is then read in place when it is row-major
 * over the merged axes or along the last one, as one value when it does not move, and else gathered into a tile. Halves
 * pass through f32 tiles and are rounded on the way out. */
#include "engine/ops/elementwise.h"

#include <string.h>

#include "engine/ops/families.h"
#include "engine/ops/loops.h"

enum { MAX_OPERANDS = 3, CHUNK = 16 * TILE, PARALLEL_FROM = 4 * CHUNK, LONG_ROW = 256 };

typedef enum reading { READ_WHOLE, READ_VALUE, READ_ROW, READ_GATHER } reading;

typedef struct operand {
    const char *data;
    size_t bytes; /* of an element in memory */
    int64_t stride[MAX_RANK];
    reading how;
    cast_fn widen; /* from a half to f32, or NULL */
    float value;   /* a widened READ_VALUE */
} operand;

typedef struct walk {
    int rank, nin;
    int64_t size[MAX_RANK], count;
    operand in[MAX_OPERANDS];
    char *out;
    size_t out_bytes;
    cast_fn narrow; /* from f32 to a half, or NULL */
    bool by_rows;   /* tiles do not cross rows of the last axis */
    tile_fn run;
    void *user;
    const atomic_int *stop;
} walk;

/* Merges axis i into i + 1 wherever every operand steps through both as through one. */
static void merge_axes(walk *w) {
    int rank = 0;
    for (int i = 0; i < w->rank; i++) {
        bool merge = rank > 0;
        for (int k = 0; merge && k < w->nin; k++)
            merge = w->in[k].stride[rank - 1] == w->in[k].stride[i] * w->size[i];
        if (w->size[i] == 1) continue;
        if (!merge) rank++;
        w->size[rank - 1] = merge ? w->size[rank - 1] * w->size[i] : w->size[i];
        for (int k = 0; k < w->nin; k++) w->in[k].stride[rank - 1] = w->in[k].stride[i];
    }
    w->rank = rank;
}

static reading how_to_read(const walk *w, const operand *in) {
    int last = w->rank - 1;
    bool still = true;
    for (int i = 0; i < w->rank; i++) still = still && in->stride[i] == 0;
    if (still) return READ_VALUE;
    if (w->rank == 1 && in->stride[0] == 1) return READ_WHOLE;
    int64_t step = 1;
    bool whole = true;
    for (int i = last; i >= 0; step *= w->size[i--]) whole = whole && in->stride[i] == step;
    if (whole) return READ_WHOLE;
    return w->by_rows && in->stride[last] <= 1 && in->stride[last] >= 0 ? READ_ROW : READ_GATHER;
}

/* The element offset of row-major index `at`. */
static int64_t offset_of(const walk *w, const operand *in, int64_t at) {
    int64_t offset = 0;
    for (int i = w->rank - 1; i >= 0; i--) {
        offset += at % w->size[i] * in->stride[i];
        at /= w->size[i];
    }
    return offset;
}

/* Copies n elements from row-major index `at` on into a dense tile. */
static void gather(const walk *w, const operand *in, int64_t at, int64_t n, void *tile) {
    int64_t index[MAX_RANK], left = at;
    for (int i = w->rank - 1; i >= 0; i--) {
        index[i] = left % w->size[i];
        left /= w->size[i];
    }
    int64_t offset = offset_of(w, in, at);
    int last = w->rank - 1;
    for (int64_t done = 0; done < n;) {
        int64_t run = w->size[last] - index[last];
        if (run > n - done) run = n - done;
        int64_t stride = in->stride[last];
        switch (in->bytes) {
#define COPY(type)                                                                                           \
    for (int64_t i = 0; i < run; i++)                                                                        \
    ((type *)tile)[done + i] = ((const type *)(const void *)in->data)[offset + i * stride]
        case 1:
            COPY(uint8_t);
            break;
        case 2:
            COPY(uint16_t);
            break;
        case 4:
            COPY(uint32_t);
            break;
        default:
            COPY(uint64_t);
            break;
#undef COPY
        }
        done += run;
        offset += run * stride;
        index[last] += run;
        for (int i = last; i > 0 && index[i] == w->size[i]; i--) {
            index[i] = 0;
            offset += in->stride[i - 1] - w->size[i] * in->stride[i];
            index[i - 1]++;
        }
    }
}

/* Computes n results from row-major index `at` on; n <= TILE unless everything is read in place. */
static void run_tile(walk *w, int64_t at, int64_t n) {
    _Alignas(64) char tiles[MAX_OPERANDS][TILE * 8], wide[MAX_OPERANDS][TILE * 4], result[TILE * 4];
    const void *in[MAX_OPERANDS];
    int step[MAX_OPERANDS];
    for (int k = 0; k < w->nin; k++) {
        operand *o = &w->in[k];
        step[k] = o->how != READ_VALUE;
        in[k] = o->data;
        if (o->how == READ_VALUE) {
            if (o->widen) in[k] = &o->value;
            continue;
        }
        if (o->how == READ_WHOLE) in[k] = o->data + at * (int64_t)o->bytes;
        if (o->how == READ_ROW) {
            in[k] = o->data + offset_of(w, o, at) * (int64_t)o->bytes;
            step[k] = o->stride[w->rank - 1] != 0;
        }
        if (o->how == READ_GATHER) {
            gather(w, o, at, n, tiles[k]);
            in[k] = tiles[k];
        }
        if (o->widen) {
            o->widen(in[k], wide[k], step[k] ? n : 1);
            in[k] = wide[k];
        }
    }
    char *out = w->out + at * (int64_t)w->out_bytes;
    w->run(w->user, in, step, w->narrow ? result : out, n);
    if (w->narrow) w->narrow(result, out, n);
}

/* Results [begin, end). */
static void run_range(walk *w, int64_t begin, int64_t end, bool in_place) {
    int64_t row = w->rank ? w->size[w->rank - 1] : 1;
    for (int64_t at = begin; at < end;) {
        if (atomic_load_explicit(w->stop, memory_order_relaxed)) return;
        int64_t n = end - at, limit = in_place ? CHUNK : TILE;
        if (n > limit) n = limit;
        if (w->by_rows && n > row - at % row) n = row - at % row;
        run_tile(w, at, n);
        at += n;
    }
}

typedef struct job {
    walk *w;
    bool in_place;
} job;

static void run_chunk(void *user, int64_t task, int lane) {
    (void)lane;
    job *j = user;
    int64_t begin = task * CHUNK, end = begin + CHUNK;
    run_range(j->w, begin, end < j->w->count ? end : j->w->count, j->in_place);
}

static void run_walk(context *c, walk *w) {
    bool in_place = !w->narrow;
    for (int k = 0; k < w->nin; k++) {
        operand *o = &w->in[k];
        o->how = how_to_read(w, o);
        if (o->how == READ_VALUE && o->widen) o->widen(o->data, &o->value, 1);
        if (o->how == READ_GATHER || (o->widen && o->how != READ_VALUE)) in_place = false;
    }
    if (w->count < PARALLEL_FROM)
        run_range(w, 0, w->count, in_place);
    else
        pool_run(c->workers, (w->count + CHUNK - 1) / CHUNK, run_chunk, &(job){w, in_place}, &c->interrupt);
}

status elementwise_walk(context *c, tensor *const *in, int nin, const dtype *as, tensor *out, tile_fn run,
                        void *user) {
    walk w = {.rank = out->meta.shape.rank, .nin = nin, .run = run, .user = user, .stop = &c->interrupt};
    w.out = tensor_data(out);
    w.out_bytes = dtype_size(out->meta.dtype);
    w.count = tensor_count(out);
    if (w.count == 0) return STATUS_OK;
    memcpy(w.size, out->meta.shape.size, sizeof w.size);
    for (int k = 0; k < nin; k++) {
        operand *o = &w.in[k];
        int skip = w.rank - in[k]->meta.shape.rank;
        for (int i = skip; i < w.rank; i++)
            o->stride[i] = in[k]->meta.shape.size[i - skip] == 1 ? 0 : in[k]->stride[i - skip];
        o->data = tensor_data(in[k]);
        o->bytes = dtype_size(in[k]->meta.dtype);
        if (as[k] != in[k]->meta.dtype) o->widen = loops()->cast[in[k]->meta.dtype][as[k]];
    }
    if (as[nin] != out->meta.dtype) w.narrow = loops()->cast[as[nin]][out->meta.dtype];
    merge_axes(&w);
    w.by_rows = w.rank > 1 && w.size[w.rank - 1] >= LONG_ROW;
    run_walk(c, &w);
    return context_interrupted(c) ? c->err.code : STATUS_OK;
}

typedef struct row_run {
    loop_fn loop;
    fault_fn fault;
    _Atomic int64_t faults;
} row_run;

static void run_row(void *user, const void *const *in, const int *step, void *out, int64_t n) {
    row_run *r = user;
    if (r->fault) {
        int64_t faults = r->fault(in, step, n);
        if (faults) atomic_fetch_add_explicit(&r->faults, faults, memory_order_relaxed);
    }
    r->loop(in, step, out, n);
}

static status raise(context *c, const op_info *op, int64_t faults) {
    const op_fault *f = &op_fault_info[op->id];
    fail(&c->err, STATUS_VALUE, f->number, "%s (%lld element%s)", f->message, (long long)faults,
         faults == 1 ? "" : "s");
    return fail_hint(&c->err, "%s", f->hint);
}

/* The common case without any machinery: few elements, operands row-major of the result's shape or single values, no
 * halves. False when it is another case. */
static bool run_directly(const op_call *call, row_run *r, tensor *out) {
    const void *in[MAX_OPERANDS];
    int step[MAX_OPERANDS];
    int64_t count = tensor_count(out);
    if (count >= CHUNK || count == 0 || dtype_is_half(out->meta.dtype)) return false;
    for (int k = 0; k < call->nin; k++) {
        const tensor *x = call->in[k];
        if (dtype_is_half(x->meta.dtype) || !tensor_contiguous(x)) return false;
        bool same = memcmp(&x->meta.shape, &out->meta.shape, sizeof x->meta.shape) == 0;
        if (!same && tensor_count(x) != 1) return false;
        step[k] = same;
        in[k] = tensor_data(x);
    }
    run_row(r, in, step, tensor_data(out), count);
    return true;
}

status elementwise_eval(op_call *call, tensor **out) {
    context *c = call->c;
    const op_info *op = call->op;
    ctype t = op_call_ctype(call);
    row_run r = {.loop = loops()->elementwise[op->id][t], .fault = op_faults[op->id][t]};
    bool ours = !out[0];
    if (!op_output(call, 0, out)) return c->err.code;
    status code = STATUS_OK;
    if (!run_directly(call, &r, out[0])) {
        dtype as[MAX_OPERANDS + 1];
        for (int k = 0; k < call->nin; k++) as[k] = ctype_dtype(op_operand_ctype(op, t, k));
        as[call->nin] = ctype_dtype(op_result_ctype(op, t));
        code = elementwise_walk(c, call->in, call->nin, as, out[0], run_row, &r);
    }
    if (!code && r.faults) code = raise(c, op, r.faults);
    if (code && ours) {
        tensor_release(out[0]);
        out[0] = NULL;
    }
    return code;
}

status elementwise_shape(op_call *call) {
    context *c = call->c;
    meta *m = &call->out[0];
    *m = call->in[call->nin - 1]->meta;
    m->dtype = ctype_dtype(op_result_ctype(call->op, op_call_ctype(call)));
    if (dtype_is_half(call->in[call->nin - 1]->meta.dtype) && m->dtype == DT_F32)
        m->dtype = call->in[call->nin - 1]->meta.dtype;
    if (call->op->kind == KIND_COMPARE) m->weak = false;
    for (int i = call->nin - 2; i >= 0; i--) {
        if (shape_broadcast(c->dims, &call->in[i]->meta.shape, &m->shape, &m->shape, &c->err))
            return c->err.code;
        if (call->op->kind == KIND_TERNARY && i == 0) break;
        m->weak = m->weak && call->in[i]->meta.weak;
    }
    return STATUS_OK;
}
