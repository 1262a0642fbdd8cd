/* fuse.h — which nodes run together: the partition of an optimised graph into kernels and library calls.
 *
 * Nodes are visited last to first, so that a node's readers are placed before it. Each reader *demands* a value
 * through an index map (index_map.h). A value is then either computed inside the kernels that demand it, or written
 * to a buffer by one of them, or by a kernel of its own:
 *   - views turn demands on themselves into demands on their operand;
 *   - element-wise ops go into their one reading kernel; cheap ones into several;
 *   - a reduction goes into its reading kernel when the kernel's space is its own (rows of a softmax), or gives the
 *     kernel its inner axes;
 *   - kernels that read one value over one space are joined, unless something in between needs one before the other.
 * What a library call or the caller reads gets a buffer, and so does what would be computed too often. An element-wise
 * kernel that reads a matrix product one for one is the product's epilogue: the two run together, panel by panel. */
#ifndef TD_KERNEL_FUSE_H
#define TD_KERNEL_FUSE_H

#include "engine/kernel/index_map.h"
#include "engine/kernel/kernel.h"

typedef enum fuse_kind { FUSE_KERNEL, FUSE_LIBRARY, FUSE_OUTPUTS } fuse_kind;

/* Group `group` reads `value` at `map`: computed there (`inlined`), or loaded from its buffer. */
typedef struct fuse_demand {
    value_id value;
    int group;   /* through fuse_find */
    int operand; /* of a library call or the graph's outputs: which one; kernels: 0 */
    bool inlined, dead;
    index_map map; /* from the group's space; from the operand's own axes for libraries and outputs */
    struct fuse_demand *operand_demands[3];
    struct fuse_demand *same; /* the equal demand of the group that this one was merged into */
    struct fuse_demand *next_of_value, *next_in_group;
    int instr; /* lower.c: the instruction that has its value */
} fuse_demand;

typedef struct fuse_stored {
    value_id value;
    fuse_demand *demand; /* the inlined demand that computes it; libraries: NULL */
    struct fuse_stored *next;
} fuse_stored;

typedef struct fuse_raise {
    uint32_t node;
    struct fuse_raise *next;
} fuse_raise;

typedef struct fuse_group {
    fuse_kind kind;
    int parent; /* itself, or the group that it was merged into */
    int axes;   /* of the space */
    dim size[MAX_RANK];
    unsigned inner; /* mask of inner axes, meaningful once `split` */
    bool split;
    uint32_t node; /* FUSE_LIBRARY; kernels: the last node */
    int product;   /* kernels: the matrix product whose epilogue this is; -1 */
    int epilogue;  /* libraries: the kernel that is; -1 */
    fuse_demand *demands;
    int demand_count;
    fuse_stored *stored;
    fuse_raise *raises;
    uint32_t visited; /* stamp of the last search that came here */
} fuse_group;

typedef struct fuse_value {
    fuse_demand *demands;
    int owner;        /* the group that writes its buffer; -1: none (inlined, an input, a constant) */
    bool buffer;      /* has a buffer: an input, a constant, a library's result, or stored by a kernel */
    bool must;        /* its operand's alias needs the buffer row-major */
    value_id alias;   /* shares the row-major buffer of this value (a reshape); NO_VALUE */
    value_id aliases; /* first value whose buffer is this one's, and the next in that list */
    value_id next_alias;
    double repeated; /* flops that have already been multiplied by computing it in several kernels */
} fuse_value;

typedef struct fusion {
    const graph *g;
    arena *memory;
    fuse_value *values;   /* by value_id */
    int *group_of;        /* by node: the group of library nodes and of nodes that raise; -1 */
    uint32_t *next_raise; /* by node: the next node that can raise, or UINT32_MAX */
    fuse_group *groups;
    int group_count;
    int *stack; /* of searches: one entry per group */
    uint32_t stamp;
    int outputs; /* the group of the graph's outputs */
    int *order;  /* kernels and libraries in the order in which they can run */
    int order_count;
} fusion;

/* Partitions g; everything is allocated from `memory`. */
status fuse_graph(const graph *g, arena *memory, fusion *f);

/* The group that `group` is now part of. */
int fuse_find(const fusion *f, int group);
/* What runs `group`: the group that it is part of, or the matrix product whose epilogue that is. */
int fuse_unit(const fusion *f, int group);
/* The demand that stands for d after merging. */
fuse_demand *fuse_same(fuse_demand *d);
/* The value whose buffer v shares (v itself when it is no alias). */
value_id fuse_base(const fusion *f, value_id v);

/* Can this node raise on values inside a kernel (integer division by zero)? */
bool fuse_faults(const graph *g, const node *n);
/* The compute type of an element-wise node. */
ctype fuse_ctype(const graph *g, const node *n);

/* ---- within fuse*.c ---- */

/* Group `from` must run before `to` (or they are the same). */
bool fuse_reaches(fusion *f, int from, int to);
/* Joins kernels that read v over one space, where nothing forbids it. */
void fuse_merge_readers(fusion *f, value_id v);
/* A new group around node `number`. */
int fuse_new_group(fusion *f, fuse_kind kind, uint32_t number);
/* The demand of `group` for v at map, added when it is not there; NULL with the error set when out of memory. */
fuse_demand *fuse_want(fusion *f, value_id v, int group, int operand, const index_map *map);
/* Sorts the groups into f->order. */
status fuse_order(fusion *f);

enum { FUSE_MAX_DEMANDS = 150 }; /* values that one kernel computes or loads */

#endif
