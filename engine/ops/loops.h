/* loops.h — the element loops: every element-wise row, cast and reduction step for every compute type,
 * compiled once for the portable and once for the AVX2 target (loops.inc) with the same bits, chosen at start
 * by CPUID.
 *
 * They are what eager ops, the tile interpreter and (through the same inline functions of ops/scalar.h)
 * emitted code have in common. All pointers are to compute types except where a dtype is named; n counts
 * elements. */
#ifndef TD_OPS_LOOPS_H
#define TD_OPS_LOOPS_H

#include "engine/ops/op.h"

enum { REDUCE_LANES = 16, REDUCE_BLOCK = 1024, TILE = 1024 };

/* out[i] = f(in[0][i], in[1][i], ...). step[k] is 1 (a vector) or 0 (one value for all i). Operands and
 * result may be the same memory. Ternary and mixed rows want step 1 everywhere except that `where` takes any.
 */
typedef void (*loop_fn)(const void *const *in, const int *step, void *out, int64_t n);

/* Number of i at which an integer row must raise (division by zero); same operands as the row. */
typedef int64_t (*fault_fn)(const void *const *in, const int *step, int64_t n);

/* out[i] = convert(in[i]) between two dtypes (halves included); in and out do not overlap. */
typedef void (*cast_fn)(const void *in, void *out, int64_t n);

/* One reduction in accumulator type A (see op_reduce_ctype). The canonical order of one output's elements x[0
 * .. n): blocks of REDUCE_BLOCK; in a block, element i goes to lane i mod REDUCE_LANES in order of i; lanes
 * fold by halves (16 to 8 to 4 to 2 to 1, acc[j] = combine(acc[j], acc[j + half])); block results combine as
 * a binary counter: equal-sized neighbours first, the leftovers at the end from the smallest (newest) up,
 * combine(older, newer); then finish. */
typedef struct reduce_fns {
    void (*start)(void *acc, int64_t n); /* acc[i] = the neutral value */
    void (*lanes)(void *acc, const void *x,
                  int64_t n); /* acc[i mod 16] = combine(acc[i mod 16], x[i]), acc has 16 */
    void (*columns)(void *acc, const void *x,
                    int64_t n); /* acc[i] = combine(acc[i], x[i]): column sums, folds, trees */
    void (*finish)(void *acc, int64_t n,
                   int64_t count); /* acc[i] = finish(acc[i]) over `count` elements each */
} reduce_fns;

typedef struct loop_table {
    const char *target; /* "portable", "avx2" */
    loop_fn elementwise[OP_COUNT][CT_COUNT];
    reduce_fns reduce[OP_COUNT][CT_COUNT]; /* by accumulator type */
    cast_fn cast[DT_COUNT][DT_COUNT];
    /* Rounds f32 values through a half type in place: what happens after every op on halves. */
    void (*round_f16)(float *x, int64_t n);
    void (*round_bf16)(float *x, int64_t n);
} loop_table;

/* The table for this processor. */
const loop_table *loops(void);
/* A table by name ("portable", "avx2"); NULL when this build or processor lacks it. For tests. */
const loop_table *loops_named(const char *target);

extern const fault_fn op_faults[OP_COUNT][CT_COUNT]; /* NULL: never raises */
typedef struct op_fault {
    int number; /* error number */
    const char *message, *hint;
} op_fault;
extern const op_fault op_fault_info[OP_COUNT];

/* A reduction's accumulator for elements of dtype t, and the dtype of its result (elements are converted to
 * the accumulator type first; a half result is rounded once at the end): sum widens integers to i64, halves
 * accumulate in f32. */
ctype op_reduce_ctype(const op_info *op, dtype t);
dtype op_reduce_result(const op_info *op, dtype t);

#endif
