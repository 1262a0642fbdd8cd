/* slope.h — derivatives by differences: is the gradient that a tape gives the slope of the value?
 *
 * For a call y = op(x...), L = sum(w * y) with weights w of y's shape. First order: the tape's gradient of L by every
 * float operand, and by w, against central differences of L in f64. Second order: with v weights of the gradients'
 * shapes, the gradient of G = sum(v * dL/dx) (through a tape around the first) against differences of G. Where two step
 * sizes disagree there is a kink or a jump, and nothing is compared. */
#ifndef TD_SUPPORT_SLOPE_H
#define TD_SUPPORT_SLOPE_H

#include "tests/support/bench.h"

typedef struct slope_count {
    int64_t compared, skipped; /* elements */
} slope_count;

/* Checks both orders of a call whose float operands are f64; failures go to the bench. `cut`: the row's gradients are 0
 * on purpose (stop_grad). */
slope_count slope_check(bench *b, const op_info *op, const host *in, int nin, const void *attrs, bool cut);

/* Gradients of sum(w * op(in)) by every float operand (in order) and by w, as hosts; false when the call fails. `w` NULL:
 * made here, of the result's shape, from the bench's numbers. */
bool slope_gradients(bench *b, const op_info *op, const host *in, int nin, const void *attrs, host *w,
                     host *out, int *nout);

#endif
