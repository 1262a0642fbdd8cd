/* launch.h — a kernel at known sizes: numbers in place of symbols, a split into tasks, scratch memory laid out.
 *
 * Made once a plan; running it allocates nothing. The split depends on sizes and lanes only through which lane
 * computes what, never through what is computed: rows and blocks of 1024 are whole, and results of blocks are
 * combined in their order. */
#ifndef TD_KERNEL_LAUNCH_H
#define TD_KERNEL_LAUNCH_H

#include <stdatomic.h>

#include "engine/kernel/emit.h"

typedef enum access_shape {
    ACCESS_STILL, /* one element for the whole vector */
    ACCESS_DENSE, /* neighbours over all vector axes */
    ACCESS_RUNS,  /* neighbours along the last vector axis */
    ACCESS_APART
} access_shape;

typedef struct launch_access {
    int64_t offset;                          /* elements */
    int64_t kept[MAX_RANK], inner[MAX_RANK]; /* strides, elements */
    access_shape shape;                      /* along the vector axes */
    size_t bytes;                            /* of an element */
} launch_access;

/* How a launch is shared out. */
typedef struct launch_split {
    int64_t width;                /* rows that are computed together (a vector); 1 along inner axes */
    int64_t tasks, rows_per_task; /* whole rows a task */
    bool by_blocks;               /* a vector of rows at a time, its blocks shared by the lanes */
    int64_t blocks_per_task;
} launch_split;

typedef struct kernel_launch {
    const graph *g;
    const kernel *k;
    int64_t kept[MAX_RANK], inner[MAX_RANK];
    int64_t rows, length, blocks; /* kept indices; inner indices; blocks of REDUCE_BLOCK of those */
    launch_access *accesses;
    int64_t *sizes; /* of K_SIZE instructions, by instruction */
    bool along_inner;

    launch_split split; /* tier A's */
    /* scratch memory: one piece for all lanes, then one a lane */
    size_t shared_bytes, lane_bytes;
    struct tile_layout *layout; /* tiles.c */

    /* tier B; numbers is NULL when there is no source */
    bool turned, code_inner; /* runs the kernel's text for short rows; vectors run along inner axes */
    launch_split code_split;
    size_t code_shared, code_lane, code_state,
        code_partial; /* bytes; the latter two are places in the shared piece */
    int64_t *numbers; /* kernel_args.number */
    void **pointers;  /* kernel_args.buffer */

    _Atomic int64_t *faults; /* by instruction: elements on which it must raise; NULL when none can */
} kernel_launch;

/* k at the sizes `values` (dims_evaluate), for a pool of `lanes`; allocated from memory. `source` may be NULL; `turned`
 * is the text for short rows where there is one (kernel_turns), or NULL. */
status launch_prepare(const graph *g, const kernel *k, const kernel_source *source,
                      const kernel_source *turned, const int64_t *values, int lanes, arena *memory,
                      kernel_launch *l);

/* Bytes of scratch memory for either tier. */
size_t launch_scratch(const kernel_launch *l, int lanes);

/* Runs in tier A. buffers[v] is the address of value v's buffer; scratch has launch_scratch bytes, aligned to 64. An interrupt or a fault fails. */
status launch_run_tiles(context *c, kernel_launch *l, void *const *buffers, char *scratch);

/* A kernel of a compiled translation unit. */
struct kernel_args;
typedef struct kernel_code {
    void (*run)(const struct kernel_args *a, int64_t begin, int64_t end);
    void (*step)(const struct kernel_args *a, int step, int64_t row, int64_t first,
                 int64_t last); /* may be NULL */
} kernel_code;

/* The same in tier B. */
status launch_run_code(context *c, kernel_launch *l, kernel_code code, void *const *buffers, char *scratch);

/* The epilogue of a product on some of its elements, by lane `lane`: `runs` runs of `length` neighbours, `step` apart,
 * from number `first` on. In tier B when code.run is there, after launch_point. */
typedef struct launch_part {
    int64_t first, runs, length, step;
} launch_part;
void launch_point(kernel_launch *l, void *const *buffers);
void launch_part_code(context *c, const kernel_launch *l, kernel_code code, const launch_part *part);
void launch_part_tiles(kernel_launch *l, void *const *buffers, char *scratch, const launch_part *part,
                       int lane);

/* The error of the first instruction that counted faults; STATUS_OK when none did. */
status launch_check_faults(context *c, kernel_launch *l);

/* Flops of one element of the kernel, from the table's costs: what the split goes by. */
double launch_work(const kernel_launch *l);

/* ---- within launch.c and tiles*.c ---- */

enum { MAP_WIDTH = 1024, COLUMN_WIDTH = 256 };

/* The split for vectors of `width` rows (1: along inner axes). */
launch_split launch_choose_split(const kernel_launch *l, bool along_inner, int64_t width, int lanes);
/* Numbers and scratch memory of tier B. */
status launch_prepare_code(kernel_launch *l, const kernel_source *source, const int64_t *values, int lanes,
                           arena *memory);

/* Lays out registers, accumulators and slots; sets shared_bytes and lane_bytes. */
status tiles_prepare(kernel_launch *l, arena *memory);

#endif
