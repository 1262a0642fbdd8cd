/* tiles.h — within the tile interpreter: its scratch layout (tiles_layout.c), its instructions (tiles.c), and how they
 * are driven over rows, blocks and lanes (tiles_run.c). */
#ifndef TD_KERNEL_TILES_H
#define TD_KERNEL_TILES_H

#include "engine/kernel/launch.h"
#include "engine/ops/loops.h"

/* Where the register of the n-th instruction of a list is, in bytes from the lane's scratch. */
typedef struct tile_list {
    const int *code;
    int count;
    size_t *at;
    int *direct; /* the K_STORE whose memory the n-th instruction may compute into; -1 */
} tile_list;

typedef struct tile_reduce {
    int instr;
    const reduce_fns *fns;
    size_t bytes; /* of an accumulator */
    size_t acc,
        tree; /* in the lane's scratch: 16 vectors of accumulators; a vector for each level of the tree */
    size_t partial; /* in the shared scratch: a vector for each block (split launches) */
} tile_reduce;

typedef struct tile_layout {
    int64_t vector;             /* elements of a register */
    tile_list *rows, *elements; /* by phase */
    tile_reduce *reduces;
    int *first_reduce; /* of each phase, in reduces; phase_count + 1 entries */
    size_t *
        keep; /* by instruction: uniform values, row values and results of reductions, in the lane's scratch */
    size_t *slot;       /* by slot: in the lane's scratch, or in the shared one (split launches) */
    size_t spare[2];    /* registers for conversions */
    size_t snapshot;    /* of the registers, in the shared scratch (split launches) */
    size_t regs, bases; /* tile_reg by instruction; int64_t by access */
    int levels;         /* of the trees */
} tile_layout;

typedef struct tile_reg {
    void *data;
    int step; /* 1: a vector; 0: one value */
} tile_reg;

/* One lane at work. */
typedef struct tile_lane {
    kernel_launch *l;
    const kernel *k;
    const tile_layout *layout;
    const loop_table *loops;
    void *const *buffers;
    char *scratch, *shared;
    tile_reg *regs;
    int64_t *base;      /* by access: element offset of the current row or rows, vector position excluded */
    int64_t row, width; /* first row and number of rows */
    int64_t index[MAX_RANK]; /* where the vector starts, over the vector axes */
    int64_t other[MAX_RANK]; /* along kept axes: the inner index */
    int64_t position;        /* the inner index, counted row-major */
    int phase;
} tile_lane;

/* Executes a list over n elements of the vector. */
void tiles_execute(tile_lane *t, const tile_list *list, int64_t n);

/* The element that an access has at the lane's first row (and inner index 0, where vectors run along kept axes), and
 * whether n elements from there on along the vector are neighbours. */
int64_t tiles_first(tile_lane *t, int access);
bool tiles_neighbours(const tile_lane *t, int access, int64_t n);

/* Decomposes a row-major index. */
void tiles_index(int64_t at, const int64_t *size, int rank, int64_t *index);

#endif
