/* index.c — see index.h. Read into i64 and checked once, so that the loops that move elements need no test. */
#include "engine/ops/index.h"

#include "engine/ops/attrs.h"
#include "engine/ops/loops.h"
#include "engine/ops/support.h"

status index_dtype(op_call *call, int i) {
    context *c = call->c;
    dtype t = call->in[i]->meta.dtype;
    if (dtype_is_integer(t)) return STATUS_OK;
    fail(&c->err, STATUS_INDEX, 305, "%s by %s: an index is an integer", call->op->name, dtype_name(t));
    if (t == DT_BOOL) return fail_hint(&c->err, "x[mask] keeps the elements where a bool tensor holds");
    return fail_hint(&c->err, "use // for a whole quotient, or cast: i as i64");
}

static status out_of_range(op_call *call, const tensor *index, int64_t at, int64_t value, int64_t size,
                           bool wrap) {
    context *c = call->c;
    const shape *s = &index->meta.shape;
    int64_t position[MAX_RANK];
    for (int i = s->rank - 1; i >= 0; i--) {
        position[i] = at % s->size[i];
        at /= s->size[i];
    }
    text p = {0};
    for (int i = 0; i < s->rank; i++) text_printf(&p, i ? ", %lld" : "%lld", (long long)position[i]);
    if (s->rank)
        fail(&c->err, STATUS_INDEX, 306, "index %lld at [%s] is out of range for size %lld", (long long)value,
             text_str(&p), (long long)size);
    else
        fail(&c->err, STATUS_INDEX, 306, "index %lld is out of range for size %lld", (long long)value,
             (long long)size);
    text_free(&p);
    if (size == 0) return fail_hint(&c->err, "there is nothing to pick from");
    if (!wrap) return fail_hint(&c->err, "indices go from 0 to %lld", (long long)size - 1);
    return fail_hint(&c->err, "indices go from 0 to %lld, or -%lld to -1 from the end", (long long)size - 1,
                     (long long)size);
}

status index_axis(op_call *call, int *axis) {
    const axis_attrs *a = call->attrs;
    const shape *x = &call->in[0]->meta.shape;
    if (x->rank == 0) {
        fail(&call->c->err, STATUS_INDEX, 301, "%s from a scalar, which has no axes", call->op->name);
        return call->c->err.code;
    }
    return shape_axis(call->c->dims, x, a->axis, axis, &call->c->err);
}

status index_misfit(op_call *call, const char *what) {
    fail(&call->c->err, STATUS_SHAPE, 117, "%s: %s", call->op->name, what);
    return support_operands(call);
}

enum { READ_ELEMENTS = 32768 };

typedef struct reading {
    const char *from;
    dtype t;
    int64_t *at, n, size;
    bool wrap;
    _Atomic int64_t bad; /* the first one that is out of range; n when none is */
} reading;

static void note_bad(reading *r, int64_t j) {
    int64_t first = atomic_load_explicit(&r->bad, memory_order_relaxed);
    while (j < first && !atomic_compare_exchange_weak(&r->bad, &first, j)) continue;
}

static void read_task(void *user, int64_t task, int lane) {
    (void)lane;
    reading *r = user;
    int64_t begin = task * READ_ELEMENTS, end = begin + READ_ELEMENTS < r->n ? begin + READ_ELEMENTS : r->n;
    loops()->cast[r->t][DT_I64](r->from + begin * (int64_t)dtype_size(r->t), r->at + begin, end - begin);
    for (int64_t j = begin; j < end; j++) {
        if (r->wrap && r->at[j] < 0) r->at[j] += r->size;
        if (r->at[j] >= 0 && r->at[j] < r->size) continue;
        note_bad(r, j);
        return;
    }
}

/* Fills index from the same elements of `given`, row-major. */
static status read_index(op_call *call, const tensor *given, tensor *index, int64_t size, bool wrap) {
    context *c = call->c;
    int64_t n = tensor_count(index), value;
    reading r = {tensor_data(given), given->meta.dtype, tensor_data(index), n, size, wrap, n};
    pool_run(c->workers, (n + READ_ELEMENTS - 1) / READ_ELEMENTS, read_task, &r, &c->interrupt);
    if (context_interrupted(c)) return c->err.code;
    if (r.bad == n) return STATUS_OK;
    loops()->cast[r.t][DT_I64](r.from + r.bad * (int64_t)dtype_size(r.t), &value, 1);
    return out_of_range(call, index, r.bad, value, size, wrap);
}

tensor *index_checked(op_call *call, int i, int64_t size, bool wrap) {
    tensor *packed = tensor_to_contiguous(call->in[i]);
    tensor *index = packed ? tensor_new(call->c, DT_I64, &packed->meta.shape) : NULL;
    if (index && read_index(call, packed, index, size, wrap)) {
        tensor_release(index);
        index = NULL;
    }
    tensor_release(packed);
    return index;
}
