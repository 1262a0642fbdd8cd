/* context.c — opens and closes an engine. */
#include "engine/core/context.h"

#include "engine/base/memory.h"
#include "engine/core/tensor.h"
#include "engine/device/cpu/compiler.h"
#include "engine/device/device.h"
#include "engine/runtime/eager.h"

context *context_new(int threads) {
    context *c = mem_calloc(1, sizeof *c);
    if (!c) return NULL;
    c->workers = pool_new(threads);
    c->memory = allocator_new();
    c->executor = &executor_eager;
    c->device = &device_cpu;
    if (c->workers && c->memory) {
        c->seed = tensor_scalar_i64(c, 0);
        c->counter = tensor_scalar_i64(c, 0);
    }
    if (c->seed && c->counter) return c;
    context_free(c);
    return NULL;
}

void context_trim(context *c) {
    for (tensor *t = c->free_tensors; t;) {
        tensor *next = t->next_free;
        mem_free(t);
        t = next;
    }
    c->free_tensors = NULL;
    if (c->memory) allocator_trim(c->memory);
}

void context_free(context *c) {
    if (!c) return;
    code_cache_free(c->code);
    tensor_release(c->seed);
    tensor_release(c->counter);
    event_sink_free(&c->events);
    pool_free(c->workers);
    context_trim(c);
    allocator_free(c->memory);
    mem_free(c);
}

bool context_interrupted(context *c) {
    if (!atomic_load_explicit(&c->interrupt, memory_order_relaxed)) return false;
    fail(&c->err, STATUS_INTERRUPT, 902, "interrupted");
    return true;
}
