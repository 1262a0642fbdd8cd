/* kernel.h — the kernel IR: what one launch of fused operations computes, before it is interpreted (tiles.c) or
 * written out as C (emit_c.c) or CUDA (emit_cuda.c).
 *
 * A kernel walks an iteration space of *kept* axes and then *inner* axes. For every index over the kept axes (a row)
 * it runs phases: element code for every index over the inner axes, ending in reductions, then row code on the
 * reductions' results. A softmax is three phases over rows that stay in cache: the maximum; the sum of exponentials;
 * the quotients. A kernel without inner axes is plainly element-wise: all of it is row code.
 *
 *     kernel k2_max_sub_exp_sum_div: kept [s0] inner [10], inner vectors
 *       %0 = load x[10*i0 + j0]           f32  element
 *       %1 = reduce max %0                f32  row      phase 0
 *       %2 = sub %0 %1                    f32  element  phase 1   # digits.td:7
 *
 * Instructions are in SSA form, operands first. Values of f16 and bf16 are carried as f32, rounded to their dtype
 * after every instruction. Reductions follow the canonical order of ops/loops.h whoever executes them, so that all
 * executors give the same bits.
 *
 * An element-wise kernel may be the epilogue of a matrix product: tiers A and B then run it on each panel of the product
 * right after that was computed; its rows are the elements of the product. Elsewhere it is a launch of its own. Sizes,
 * strides and offsets may be symbols: a kernel is one for all sizes. */
#ifndef TD_KERNEL_KERNEL_H
#define TD_KERNEL_KERNEL_H

#include "engine/base/arena.h"
#include "engine/graph/graph.h"

typedef enum kernel_opcode {
    K_LOAD,   /* the element of `access` */
    K_CONST,  /* `number` */
    K_SIZE,   /* `size` as an i64 */
    K_INDEX,  /* offset and strides of `access`, without a buffer, as an i64 */
    K_MAP,    /* row `op` of the table at compute type `compute` */
    K_CAST,   /* in[0], of dtype `from`, to `dtype` */
    K_REDUCE, /* row `op` with accumulator `compute` over the inner axes of in[0] */
    K_STORE   /* in[0] into the element of `access` */
} kernel_opcode;

/* How often a value changes: once a launch, once a row, with every element. */
typedef enum kernel_level { LEVEL_UNIFORM, LEVEL_ROW, LEVEL_ELEMENT } kernel_level;

/* A number of dtype `t` of a constant, as its compute type. */
typedef union kernel_number {
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    int8_t i8;
    uint8_t u8;
} kernel_number;

typedef struct kernel_instr {
    kernel_opcode code;
    kernel_level level;
    op_id op;
    ctype compute;
    dtype dtype; /* of the result; its register has dtype_compute(dtype) */
    dtype from;  /* K_CAST */
    bool faults; /* the row can raise on these operands */
    int nin;
    int in[3]; /* instructions */
    int access;
    int slot; /* K_* element values that a later phase reads again: number of the row buffer that keeps them; -1 */
    int phase; /* element level: the first phase that computes it; K_REDUCE: the phase it folds; else: the phase
                  before whose element code it runs (phase_count: after the last) */
    kernel_number number;
    dim size;
    uint32_t node; /* of the graph */
} kernel_instr;

/* Addresses of the elements of a buffer: offset + sum over kept axes k of index * kept[k] + inner likewise, in
 * elements. */
typedef struct kernel_access {
    value_id value; /* whose buffer (of aliases: the base); NO_VALUE: K_INDEX */
    dtype dtype;
    bool store;
    dim offset;
    dim kept[MAX_RANK], inner[MAX_RANK];
} kernel_access;

/* Code of one phase, as instruction numbers in order: first `rows` (uniform and row level), then `elements` for every
 * inner index, K_REDUCE included. Elements of an earlier phase are listed again: computed again, or read from their
 * slot. The last phase has rows alone. */
typedef struct kernel_phase {
    int row_count, element_count;
    int *rows, *elements;
} kernel_phase;

typedef struct kernel {
    uint32_t id;
    const char *name; /* "k3_add_tanh": a C identifier */
    int kept_rank, inner_rank;
    dim kept[MAX_RANK], inner[MAX_RANK];
    bool along_inner; /* vectors run along the inner axes (a row at a time); else along the kept axes */
    int count;
    kernel_instr *code;
    int access_count;
    kernel_access *accesses;
    int phase_count; /* phases with element code; phases[phase_count] has the row code after the last */
    kernel_phase *phases;
    int slot_count;
    uint32_t *nodes; /* of the graph, ascending; an epilogue's include the product */
    int node_count;
    value_id product; /* of an epilogue: the matrix product; else NO_VALUE */
    value_id
        panels; /* the value into whose buffer that is computed: itself, or one that the epilogue stores */
} kernel;

/* Text form. */
void kernel_print(const graph *g, const kernel *k, text *out);

/* "k3_add_tanh_mul": from the ops of the nodes, cut to fit; in the arena. */
const char *kernel_make_name(const graph *g, arena *memory, uint32_t id, const uint32_t *nodes, int count);

/* Fills in level, phase, slots, phase lists and the direction of vectors of a kernel whose code, accesses and space
 * are there; merges axes that all accesses walk as one. */
status kernel_schedule(const graph *g, kernel *k, arena *memory);

/* Rows may turn out short when it runs: then vectors had better run along the kept axes, many rows at a time, as they do
 * in *turned, which is k otherwise and gets number `id`. False: the direction is right for all sizes. */
bool kernel_turns(const kernel *k, uint32_t id, arena *memory, kernel *turned);

#endif
