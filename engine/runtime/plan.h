/* plan.h — within the runtime: a program's steps, and a plan of them for one vector of sizes.
 *
 * Program and plan are the two halves of a frozen graph. The program has what does not depend on sizes: kernels,
 * library calls, which buffers there are and how long each is needed. The plan has the numbers: each buffer's place in
 * one block of memory, kernels with their split into tasks, library calls with tensors to hand. */
#ifndef TD_RUNTIME_PLAN_H
#define TD_RUNTIME_PLAN_H

#include "engine/device/cpu/compiler.h"
#include "engine/kernel/launch.h"
#include "engine/kernel/lower.h"
#include "engine/runtime/program.h"

enum { PLANS_KEPT = 8 };

typedef enum buffer_kind {
    BUFFER_NONE, /* no buffer: computed inside kernels, or an alias of another value */
    BUFFER_INPUT,
    BUFFER_CONST,
    BUFFER_BLOCK, /* in the plan's block */
    BUFFER_OUTPUT /* a tensor of its own at each run, because an output shows it */
} buffer_kind;

typedef struct program_buffer {
    buffer_kind kind;
    int first, last; /* steps that write it and that read it last */
} program_buffer;

/* One launch: a kernel, or a call of node `number` through the table, with a kernel as its epilogue or without. */
typedef struct program_step {
    kernel *k; /* NULL: a library call without one */
    uint32_t number;
    lower_view *operands; /* of library calls; NULL: k alone */
    kernel_source source; /* of kernels, as C */
    kernel_source cuda;   /* and as CUDA C, made when it is asked for */
    kernel_code code;     /* run is NULL until it is compiled */
    kernel *turned;       /* k for short rows (kernel_turns); NULL: none */
    kernel_source turned_source;
    kernel_code turned_code;
} program_step;

typedef struct plan_operand {
    tensor *t; /* without storage between runs */
    value_id base;
    int64_t offset; /* elements into the base's buffer */
} plan_operand;

typedef struct plan_step {
    kernel_launch launch; /* kernels */
    op_call call;         /* library calls */
    plan_operand *in, *out;
    tensor **in_tensors, **out_tensors;
    int64_t bytes, flops; /* by the cost model: what goes between caches is not counted */
} plan_step;

typedef struct plan {
    arena *memory;
    int64_t *key;    /* sizes of the graph's input symbols */
    int64_t *values; /* of all size expressions */
    uint64_t used;   /* when it ran last */
    plan_step *steps;
    int steps_made; /* whose tensors exist */
    size_t *place;  /* by value: bytes into the block */
    shape *shapes;  /* by output: sizes; by value for BUFFER_OUTPUT below */
    size_t block_bytes, scratch_at;
} plan;

struct program {
    context *c;
    graph *g;
    arena *memory;
    fusion f;
    program_step *steps;
    int step_count, kernel_count, turned_count;
    program_buffer *buffers; /* by value */
    lower_view *outputs;
    value_id *fresh; /* the values of BUFFER_OUTPUT */
    int fresh_count;
    tensor **constants; /* by node: row-major; NULL for others */
    int size_count;     /* input symbols: numbers of their expressions */
    uint32_t *size_nodes;

    plan *plans[PLANS_KEPT];
    plan *current;
    uint64_t clock;

    program_tier tier;
    code_unit *unit;             /* all kernels' C, once it was handed to the compiler */
    struct emulation *emulation; /* emulate.c; NULL: kernels run in their tiers */
    bool code_loaded;            /* steps have their code, or never will */

    /* one run at a time */
    storage block; /* of the largest plan so far; data NULL: none */
    size_t block_granted;
    const plan *bound; /* whose places in the block the tables below have */
    void **address;    /* by value: first byte of its buffer */
    storage **store;   /* by value: and the storage it is in */
    int64_t *offset;   /* by value: elements from there */
    tensor **held;     /* by value: outputs of this run, and row-major copies of inputs */
    int64_t *values;   /* scratch for sizes */
    int64_t *key;
};

/* Where output i of library call s goes. */
value_id program_result(const program *p, const program_step *s, int i);

/* The plan for the sizes in p->key and p->values, made when it is not there; NULL with the error set. */
plan *plan_get(program *p);
void plan_free(plan *pl);

/* Hands the kernels to the compiler (`now`: and waits), and takes up code that is ready. */
status program_compile(program *p, bool now);
void program_load_code(program *p);

/* Step's kernel as CUDA C; NULL for library calls and when out of memory. */
const char *program_cuda(program *p, int step);
/* From now on kernels run as emitted CUDA under the host shim, threads in an order that seed picks (for tests). */
status program_emulate(program *p, unsigned seed);
status emulation_run(program *p, int step);
void emulation_free(struct emulation *m);

#endif
