/* reference.h — what every row of the op table should compute, written naively from docs and numerics.md: one element,
 * or one result, at a time, in long double, 128-bit integers and host arrays. Nothing of the engine's arithmetic is
 * used.
 *
 * An element-wise row without a reference here is still tested (tests/support/expect.h says against what); any other
 * row needs one. */
#ifndef TD_SUPPORT_REFERENCE_H
#define TD_SUPPORT_REFERENCE_H

#include "engine/ops/attrs.h"
#include "tests/support/host.h"

/* The exact result of one element for operands v[0 .. nin) of float format t, where *ulps (0 unless it is set) is how far
 * a result may be from it, in units of the compute type's last place. A comparison's is 0 or 1. */
typedef long double (*reference_real)(const long double *v, dtype t, int *ulps);
/* The same of integers: the unbounded result, to be wrapped; *fault is set where the op must raise. */
typedef wide (*reference_whole)(const wide *v, dtype t, bool *fault);

typedef struct reference {
    const char *name;
    op_kind kind;
    op_class class;
    op_autocast autocast;
    double flops_low, flops_high; /* per element: what is believable */
    /* Which operands have a gradient: "11"; "01" only the second; "" none, as everywhere off its jumps it is 0. */
    const char *gradient;
    reference_real real;   /* NULL: not of floats */
    reference_whole whole; /* NULL: not of integers */
    int fault;             /* error number where `whole` sets *fault */
} reference;

/* By name; NULL when there is none. */
const reference *reference_find(const char *name);

/* The dtype in which operands meet for a class, and whether all are weak; returns the error's number, 0 when there is
 * none. Written from language.md, "Numbers". A weak integer's value is looked at. */
int reference_meet(op_class class, const host *in, int nin, dtype *out, bool *weak);

/* ---- reductions: tests/support/reference_reduce.c ---- */

typedef struct reference_reduction {
    const char *name;
    op_class class;
    op_autocast autocast;
    bool widens;          /* small integers accumulate in i64 */
    int empty;            /* error number of an empty reduction, 0: it has a value */
    double flops;         /* of an element */
    const char *gradient; /* "1" or "" */
} reference_reduction;

const reference_reduction *reference_reduction_find(const char *name);

/* `given`, promoted by the class, reduced over the axes in `mask`: in the canonical order of numerics.md, in the compute
 * type's own arithmetic. A half is rounded once. */
host reference_reduce(arena *m, const char *name, const host *given, unsigned mask, bool keep);
/* The exact value of one output of sum or mean (long double), to check that the canonical order is accurate too. */
long double reference_exact(const char *name, const host *in, unsigned mask, int64_t output);

/* ---- other rows: tests/support/reference_ops.c ---- */

/* Computes out[0 .. nout) from promoted operands. Returns the error number, 0 when there is a result. `tolerance` (0
 * unless it is set) is how far each element may be off: for sums whose order is the library's. */
typedef int (*reference_function)(arena *m, const host *in, int nin, const void *attrs, host *out,
                                  host *tolerance);

typedef struct reference_op {
    const char *name;
    op_class class;
    op_autocast autocast;
    unsigned flags;
    const char *defaults; /* of attributes that may be left out: "axis=0" */
    const char *gradient; /* per operand; "cut": has none on purpose */
    reference_function compute;
} reference_op;

const reference_op *reference_op_find(const char *name);
/* rand and randn (reference_random.c). */
int reference_rand(arena *m, const host *in, int nin, const void *attrs, host *out, host *tolerance);
int reference_randn(arena *m, const host *in, int nin, const void *attrs, host *out, host *tolerance);

#endif
