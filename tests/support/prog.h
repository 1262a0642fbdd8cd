/* prog.h — small programs over the op table, as data: what the parity tests run in every executor.
 *
 * Values are numbered: the inputs, then the results of each step in order. A program is run by calling op_apply step by
 * step, so the same function serves eager execution, shapes alone and tracing; with `gradients` it also
 * differentiates, by every float input, the sum of the squares of its float outputs. Sizes in a step's attributes may be
 * bound to sizes of inputs, so that they are symbols in a trace. */
#ifndef TD_SUPPORT_PROG_H
#define TD_SUPPORT_PROG_H

#include "engine/ops/attrs.h"
#include "engine/ops/loops.h"
#include "tests/support/host.h"

enum {
    PROG_OPERANDS = 8,
    PROG_STEPS = 24,
    PROG_INPUTS = 24,
    PROG_VALUES = PROG_INPUTS + PROG_STEPS,
    PROG_RESULTS = PROG_VALUES + PROG_INPUTS
};

typedef struct prog_step {
    op_id op;
    int nin, in[PROG_OPERANDS];
    _Alignas(8) char attrs[MAX_ATTR_BYTES];
} prog_step;

typedef struct prog {
    int nin, count, output_count; /* inputs, steps, outputs */
    host in[PROG_INPUTS];
    layout layouts[PROG_INPUTS];
    prog_step step[PROG_STEPS];
    int output[PROG_VALUES];
    bool gradients;
    bool bound; /* sizes in attributes that equal a size of an input are that size */
} prog;

/* A program of one step on the given inputs. */
prog prog_of_call(const op_info *op, const host *in, int nin, const layout *layouts, const void *attrs);

/* Runs p in the context's executor. out gets *nout new references; on failure none. */
status prog_run(context *c, const prog *p, tensor *const *in, tensor **out, int *nout);

/* As text, a line a value. */
void prog_print(const prog *p, text *out);

#endif
