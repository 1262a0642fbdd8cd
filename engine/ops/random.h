/* random.h — the random stream of a context.
 *
 * Philox 4x32-10 (engine/math/philox.h) keyed by a 64-bit seed turns a 64-bit counter into a block of four 32-bit
 * words. A draw of n elements at counter k, row-major, takes its elements from the blocks k, k + 1, ...:
 *
 *     rand             4 to a block: word i mod 4 of block k + i / 4
 *     rand in f64      2 to a block: words 2 (i mod 2) and the next
 *     randn            2 to a block: the pair of vm_normal_pair
 *
 * and advances the counter by the number of blocks. Halves: rand keeps the top 11 (f16) or 8 (bf16) bits of a word, so
 * that the result is below 1; randn rounds the f32 normal. */
#ifndef TD_OPS_RANDOM_H
#define TD_OPS_RANDOM_H

#include "engine/ops/op.h"

/* Where the counters of draws with key= begin, so that they are apart from the stream of any seed. */
#define RANDOM_KEYED (INT64_C(1) << 62)

/* How far a draw by OP_rand or OP_randn of this shape and dtype moves the counter. */
dim random_advance(context *c, op_id op, const shape *s, dtype t);

/* Starts the stream of a seed over. */
status random_seed(context *c, int64_t seed);

/* Draws by OP_rand or OP_randn. key NULL: from c's stream, which moves on (through ops, so that traces see it; a
 * failed draw leaves it as it was); else from the stream of that seed (rank-0 i64) at RANDOM_KEYED. A new reference;
 * NULL with the error set. */
tensor *random_draw(context *c, op_id op, const shape *s, dtype t, tensor *key);

#endif
