/* frozen.h — a body of ops, run eagerly and frozen, must give the same bits. */
#ifndef TD_HARNESS_FROZEN_H
#define TD_HARNESS_FROZEN_H

#include "engine/engine.h"

enum { BODY_OUTPUTS = 8 };

/* Computes out[0 .. returned) (new references) from x; temporaries go to the innermost scope. A NULL among them is a
 * failure. */
typedef int (*body_fn)(context *c, tensor *const *x, tensor **out);

/* Calls with temporaries in the innermost scope; NULL passes through. */
tensor *b1(context *c, op_id op, tensor *x);
tensor *b2(context *c, op_id op, tensor *x, tensor *y);
tensor *b3(context *c, op_id op, tensor *x, tensor *y, tensor *z);
tensor *breduce(context *c, op_id op, tensor *x, int axis, bool keep); /* axis 99: all */
tensor *btranspose(context *c, tensor *x);                             /* last two axes */
tensor *breshape(context *c, tensor *x, int rank, const int64_t *sizes);
tensor *bslice(context *c, tensor *x, int axis, int64_t start, int64_t size, int64_t step);
tensor *bcast(context *c, tensor *x, dtype t);
tensor *bnumber(context *c, double value);
tensor *bkeep(tensor *x); /* a new reference, for out */

/* A tensor of dtype t with values from a fixed stream (`seed`), spread over about -3..3, integers -9..9. */
tensor *sample(context *c, dtype t, int rank, const int64_t *sizes, uint64_t seed);

/* The program of the body traced on x, optimised. NULL with the error set. */
program *freeze_body(context *c, body_fn body, tensor *const *x, int nx);

/* Bitwise equality (all NaNs are one); prints the first difference. */
bool same_bits(const tensor *a, const tensor *b);

/* Runs body on x eagerly and p on x; false (and says where) when they differ. */
bool frozen_matches(context *c, program *p, body_fn body, tensor *const *x, int nx);

#endif
