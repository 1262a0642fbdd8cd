/* tape_impl.h — the inside of a tape, shared by recording (tape.c) and the walk back (reverse.c). */
#ifndef TD_AUTOGRAD_TAPE_IMPL_H
#define TD_AUTOGRAD_TAPE_IMPL_H

#include "engine/autograd/tape.h"
#include "engine/base/arena.h"
#include "engine/base/map.h"

typedef struct tape_entry {
    const op_info *op;
    const void *attrs; /* in the tape's arena */
    size_t first;      /* operands, then results, in tape.tensors from here on */
    int nin, nout;
    span where;
} tape_entry;

struct tape {
    context *c;
    tape *outer; /* while on the stack */
    tape_entry *entries;
    size_t entry_count, entry_capacity;
    tensor **tensors; /* retained */
    size_t tensor_count, tensor_capacity;
    tensor **watched; /* retained */
    size_t watched_count, watched_capacity;
    arena *attrs;
    map known; /* ids of tensors that were watched or depend on one */
    bool watch_all;
};

/* The context's `record` function while tapes are on the stack. */
status tapes_record(const op_call *call, tensor *const *out);

#endif
