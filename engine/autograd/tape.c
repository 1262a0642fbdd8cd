/* tape.c — recording, and which tensors a tape knows.
 *
 * Entries are kept in order; the tape retains operands and results, so that identities stay unique while it lives. */
#include "engine/autograd/tape.h"

#include <string.h>

#include "engine/autograd/tape_impl.h"
#include "engine/base/memory.h"

tape *tape_new(context *c) {
    tape *t = mem_calloc(1, sizeof *t);
    if (!t) {
        fail_memory(&c->err, sizeof *t);
        return NULL;
    }
    t->c = c;
    return t;
}

static void free_entry(tape *t, tape_entry *e) {
    for (int i = 0; i < e->nin + e->nout; i++) tensor_release(t->tensors[e->first + (size_t)i]);
}

void tape_free(tape *t) {
    if (!t) return;
    for (size_t i = t->entry_count; i-- > 0;) free_entry(t, &t->entries[i]);
    for (size_t i = 0; i < t->watched_count; i++) tensor_release(t->watched[i]);
    mem_free(t->entries);
    mem_free(t->tensors);
    mem_free(t->watched);
    arena_free(t->attrs);
    map_free(&t->known);
    mem_free(t);
}

void tape_push(context *c, tape *t) {
    t->outer = c->tapes;
    c->tapes = t;
    c->record = tapes_record;
}

void tape_pop(context *c, tape *t) {
    c->tapes = t->outer;
    t->outer = NULL;
}

static status watch(tape *t, tensor *x) {
    error *e = &t->c->err;
    if (map_has(&t->known, x->id)) return STATUS_OK;
    if (t->watched_count == t->watched_capacity) {
        size_t capacity = t->watched_capacity ? 2 * t->watched_capacity : 8;
        tensor **grown = mem_realloc(t->watched, capacity * sizeof *grown);
        if (!grown) return fail_memory(e, capacity * sizeof *grown);
        t->watched = grown;
        t->watched_capacity = capacity;
    }
    if (!map_put(&t->known, x->id, 1)) return fail_memory(e, t->known.capacity * 32);
    t->watched[t->watched_count++] = tensor_retain(x);
    return STATUS_OK;
}

status tape_watch(tape *t, tensor *x) {
    if (dtype_is_float(x->meta.dtype)) return watch(t, x);
    fail(&t->c->err, STATUS_GRAD, 401, "a gradient by an %s is not defined: it can't change by a little",
         dtype_name(x->meta.dtype));
    return fail_hint(&t->c->err, x->meta.weak ? "write a real, such as 3.0" : "cast it first: x as f32");
}

void tape_watch_all(tape *t) {
    t->watch_all = true;
}

bool tape_knows(const tape *t, const tensor *x) {
    return map_has(&t->known, x->id);
}

int64_t tape_length(const tape *t) {
    return (int64_t)t->entry_count;
}

/* Room for one more entry with `tensors` tensors. */
static bool reserve(tape *t, size_t tensors) {
    if (t->entry_count == t->entry_capacity) {
        size_t capacity = t->entry_capacity ? 2 * t->entry_capacity : 32;
        tape_entry *grown = mem_realloc(t->entries, capacity * sizeof *grown);
        if (!grown) return false;
        t->entries = grown;
        t->entry_capacity = capacity;
    }
    if (t->tensor_count + tensors > t->tensor_capacity) {
        size_t capacity = t->tensor_capacity ? 2 * t->tensor_capacity : 128;
        if (capacity < t->tensor_count + tensors) capacity = t->tensor_count + tensors;
        tensor **grown = mem_realloc(t->tensors, capacity * sizeof *grown);
        if (!grown) return false;
        t->tensors = grown;
        t->tensor_capacity = capacity;
    }
    return true;
}

static const void *keep_attrs(tape *t, const op_call *call, bool *failed) {
    if (call->op->attr_bytes == 0) return NULL;
    if (!t->attrs) t->attrs = arena_new();
    void *copy = t->attrs ? arena_alloc(t->attrs, call->op->attr_bytes) : NULL;
    *failed = !copy;
    return copy ? memcpy(copy, call->attrs, call->op->attr_bytes) : NULL;
}

status tape_record(tape *t, const op_call *call, tensor *const *out) {
    error *e = &t->c->err;
    bool depends = false, failed = false;
    if (!call->op->gradient) return STATUS_OK;
    for (int i = 0; i < call->nin; i++) {
        if (t->watch_all && dtype_is_float(call->in[i]->meta.dtype) && watch(t, call->in[i])) return e->code;
        depends = depends || tape_knows(t, call->in[i]);
    }
    if (!depends) return STATUS_OK;
    const void *attrs = keep_attrs(t, call, &failed);
    if (failed || !reserve(t, (size_t)call->nin + (size_t)call->nout))
        return fail_memory(e, sizeof(tape_entry));
    for (int i = 0; i < call->nout; i++) {
        if (!dtype_is_float(out[i]->meta.dtype)) continue;
        if (!map_put(&t->known, out[i]->id, 1)) return fail_memory(e, t->known.capacity * 32);
    }
    tape_entry *n = &t->entries[t->entry_count++];
    *n = (tape_entry){.op = call->op,
                      .attrs = attrs,
                      .first = t->tensor_count,
                      .nin = call->nin,
                      .nout = call->nout,
                      .where = t->c->here};
    for (int i = 0; i < call->nin; i++) t->tensors[t->tensor_count++] = tensor_retain(call->in[i]);
    for (int i = 0; i < call->nout; i++) t->tensors[t->tensor_count++] = tensor_retain(out[i]);
    return STATUS_OK;
}

status tapes_record(const op_call *call, tensor *const *out) {
    for (tape *t = call->c->tapes; t; t = t->outer)
        if (tape_record(t, call, out)) return call->c->err.code;
    return STATUS_OK;
}
