/* bench.h — what a generated test works with: a context, an arena for host arrays, and the failures so far; and the
 * calls of one op that every test makes, eagerly and with shapes alone. */
#ifndef TD_SUPPORT_BENCH_H
#define TD_SUPPORT_BENCH_H

#include "tests/support/expect.h"
#include "tests/support/samples.h"

typedef struct bench {
    context *c; /* eager, one lane */
    arena *memory;
    failures failures;
    rng rng;
    int64_t live;  /* blocks before it was opened */
    int64_t calls; /* checked calls, so that a test can see that it tested something */
} bench;

void bench_open(bench *b, uint64_t seed, int lanes);
/* Frees everything, and fails the running test when there were failures, or memory is left over. */
void bench_close(bench *b);
/* Forgets the host arrays so far. */
void bench_clear(bench *b);

/* What became of a call: an error's number, or results. */
typedef struct outcome {
    int number; /* 0: results */
    char message[400];
    int count;
    host out[MAX_OUTPUTS];
} outcome;

/* "tanh(f32[3, 4], real; axis=1)", in the arena. */
const char *bench_call_text(bench *b, const op_info *op, const host *in, int nin, const void *attrs);

/* Runs op eagerly on tensors laid out as `layouts` says (NULL: plain), and with shapes alone; a difference between the
 * two (metas, or which error) is a failure. Errors that depend on values are the eager call's alone. */
outcome bench_call(bench *b, const op_info *op, const host *in, int nin, const layout *layouts,
                   const void *attrs);

/* A call of an element-wise row held to expect_elementwise. */
void bench_check_elementwise(bench *b, const op_info *op, const host *in, int nin, const layout *layouts);

/* An operand filled by the row's word. */
host bench_operand(bench *b, const sample_operand *o, dtype t, const shape *s, temper how);

#endif
