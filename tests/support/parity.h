/* parity.h — programs run in every executor must give the same bits: eagerly with one, two and three lanes; with shapes
 * alone the same metas; traced, optimised and run by each tier with one, two and three lanes, at the traced sizes and at
 * others that the guards accept. All NaNs are one. */
#ifndef TD_SUPPORT_PARITY_H
#define TD_SUPPORT_PARITY_H

#include "tests/support/bench.h"
#include "tests/support/prog.h"

enum { PARITY_LANES = 3, PARITY_BATCH = 160 };

typedef struct parity {
    bench b;                                                  /* its context has one lane */
    context *lanes[PARITY_LANES];                             /* with 1, 2 and 3 lanes; [0] is the bench's */
    int64_t programs, tiles, compiled, cuda, resized, errors; /* runs that were compared */
    bool quiet;   /* counts failures without describing them (shrinking) */
    bool compile; /* also runs emitted code: compilers take their time, so not every program can, */
    bool compile_everywhere; /* and mostly with one number of lanes alone */
    int64_t batches;
    int64_t epilogues; /* of matrix products, in what was frozen */
} parity;

void parity_open(parity *p, uint64_t seed);
void parity_close(parity *p);

/* Everything above for n programs, traced as one graph (so that a compiler runs once). A program that fails eagerly must
 * fail with the same error everywhere. */
void parity_check(parity *p, const prog *progs, int n);

/* Does the single program fail any comparison? Reports nothing. */
bool parity_fails(parity *p, const prog *one);

/* The smallest program that still fails which dropping steps, outputs, inputs and gradients leads to. */
prog parity_shrink(parity *lab, const prog *failing);

#endif
