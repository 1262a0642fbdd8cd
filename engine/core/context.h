/* context.h — one engine: everything that is not in a tensor. Two contexts in one process share nothing.
 *
 * A context belongs to one thread. Its parts are owned here and used by the modules named beside them. */
#ifndef TD_CORE_CONTEXT_H
#define TD_CORE_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "engine/base/event.h"
#include "engine/base/pool.h"
#include "engine/base/status.h"
#include "engine/core/alloc.h"
#include "engine/core/dim.h"

typedef struct tensor tensor;
struct op_call;

/* Temporaries of a gradient rule or a composition; see core/scope.h. */
typedef struct scope {
    struct scope *outer;
    tensor **items;
    size_t count, capacity;
} scope;

typedef struct context {
    error err;            /* the failure being reported; see base/status.h */
    atomic_int interrupt; /* set to 1 by a signal handler; polled by kernels, loops and the evaluator */
    span here;            /* the source text being evaluated: copied into graph nodes, events and errors */

    pool *workers;
    allocator *memory;
    event_sink events;

    const struct executor *executor; /* ops/op.h: eager, tracing or shapes only */
    struct trace *trace;             /* graph/trace.h: the trace in progress, or NULL */
    dims *dims;                      /* its symbols, or NULL: eager */
    struct tape *tapes;              /* autograd/tape.h: innermost first */
    /* How they hear of a call that succeeded (op_apply calls it while tapes is not NULL). */
    status (*record)(const struct op_call *call, tensor *const *out);
    const tensor *differentiating; /* the result whose gradient rule runs now (autograd/reverse.c), or NULL */
    scope *scope;                  /* innermost */
    const struct device *device;   /* device/device.h: where kernels run */

    tensor *seed, *counter; /* random stream: rank-0 i64 (ops/random.c) */
    uint64_t next_id;       /* of tensors */
    tensor *free_tensors;   /* recycled structs */
    uint32_t next_graph;    /* ids of graphs, from 1 */
    struct code_cache
        *code; /* device/cpu/compiler.h: background compiler and its cache; NULL until first used */
} context;

/* A context with `threads` lanes (0: one per processor), executing eagerly on the CPU. NULL when out of
 * memory. Defined in runtime/context.c, which wires the rooms together. */
context *context_new(int threads);
void context_free(context *c); /* tensors of the context must have been released */

/* Gives recycled memory back to the system. */
void context_trim(context *c);

/* True (and the error set) when an interrupt is pending. */
bool context_interrupted(context *c);

#endif
