/* samples.h — the samples column of ops.def, read.
 *
 * An element-wise row or a reduction has one word per operand ("real nonzero"): shapes, dtypes and attributes are up to
 * the test. Other rows list cases, "OPERANDS; ATTRIBUTES" separated by "|": an operand is a word with a shape
 * ("real[3, 4]", "index<5>[4]"); without one it takes any shape. generate.h explains the words. */
#ifndef TD_SUPPORT_SAMPLES_H
#define TD_SUPPORT_SAMPLES_H

#include "engine/ops/op.h"
#include "tests/support/generate.h"

enum { MAX_SAMPLE_OPERANDS = 8, MAX_SAMPLE_CASES = 12 };

typedef struct sample_operand {
    char word[16];
    int64_t bound; /* index<bound> */
    bool shaped;
    shape shape;
} sample_operand;

typedef struct sample_case {
    sample_operand in[MAX_SAMPLE_OPERANDS];
    int nin;
    char attrs[128];
} sample_case;

/* Reads op's cases; returns how many, or -1 with a line in `problems`. */
int samples_read(const op_info *op, sample_case cases[MAX_SAMPLE_CASES], text *problems);

/* May the word be of dtype t for this row? (`integer` wants integers and bools, `index` signed or small integers,
 * `bool` of a condition bool alone.) */
bool sample_takes(const op_info *op, const sample_operand *o, int operand, dtype t);
/* Does the word say a dtype by itself (bool conditions, indices, seeds)? */
bool sample_fixed(const op_info *op, const sample_operand *o, int operand, dtype *t);

/* The rows that a test runs over: all, or the one that the environment variable TAPEDECK_ROW names (scripts/mutate-ops
 * sets it). */
bool sample_row_wanted(const op_info *op);

#endif
