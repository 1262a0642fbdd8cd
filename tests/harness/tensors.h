/* tensors.h — operands for tests of ops: filled from a seed, in every dtype and memory layout, and compared by bits. */
#ifndef TD_HARNESS_TENSORS_H
#define TD_HARNESS_TENSORS_H

#include "engine/engine.h"

/* The same elements in different memory: row-major, with the axes stored in reverse order, with gaps between elements,
 * and backwards. */
enum { LAYOUT_PLAIN, LAYOUT_REVERSED_AXES, LAYOUT_GAPS, LAYOUT_BACKWARDS, LAYOUT_COUNT };

/* A tensor of small numbers (integers in every dtype; also fractions where it is a float), the same for the same seed.
 * Ends the test when out of memory. */
tensor *tensors_fill(context *c, dtype t, int rank, const int64_t *size, uint64_t seed);

/* The elements of x in another layout; a new reference. */
tensor *tensors_layout(tensor *x, int layout);

/* Same meta, and the same bits in every element (all NaNs are one). */
bool tensors_same(tensor *a, tensor *b);

/* Fails the test unless x is an ok tensor; prints the context's error. Returns x. */
tensor *tensors_ok(context *c, tensor *x);

/* Fails the test unless x is NULL with the error `number`; clears it. */
void tensors_refused(context *c, tensor *x, int number);

/* Compares the gradients of an op's first result by each of its f64 operands with central differences, and the gradients
 * of those gradients (summed with weights), too. */
void tensors_check_gradient(context *c, op_id op, tensor *const *in, int nin, const void *attrs);

#endif
