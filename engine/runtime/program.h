/* program.h — a graph ready to run: fused kernels, a memory plan per size vector, a flat list of launches.
 *
 * program_new fuses and lowers an optimised graph (kernel/). The first run with a new size vector makes a
 * plan: sizes evaluated, buffers laid out by lifetime in one block, launches resolved; later runs with those
 * sizes look nothing up and allocate only their results. Kernels start in tier A (the tile interpreter) and
 * are swapped for compiled C (tier B) when the background compiler has it. */
#ifndef TD_RUNTIME_PROGRAM_H
#define TD_RUNTIME_PROGRAM_H

#include "engine/graph/graph.h"

typedef struct program program;

/* Takes over g. NULL-safe free. */
status program_new(context *c, graph *g, program **out);
void program_free(program *p);
const graph *program_graph(const program *p);

/* Do inputs (tensors of the graph's input order) satisfy the specialisation: dtypes, ranks, sizes of 1,
 * guards? When not, *why (may be NULL) gets a line that says what differs. */
bool program_accepts(const program *p, tensor *const *in, int nin, text *why);

/* Runs; out[0 .. graph outputs) get new references. in must be accepted. */
status program_run(program *p, tensor *const *in, int nin, tensor **out);

typedef enum program_tier { TIER_AUTO, TIER_TILES, TIER_C } program_tier;
/* TIER_TILES: interpreter only; TIER_C: compile now, in the foreground (fails without a compiler); TIER_AUTO:
 * as described above. */
status program_set_tier(program *p, program_tier tier);
/* Blocks until background compilation of p has finished or failed. */
void program_wait(program *p);

/* Writes an event for each compilation that ended since c's sink was started. Called before the sink stops. */
void program_write_compilations(context *c);

/* What was made of it, for :source, :graph and reports: kernel k computes nodes of the graph; library calls
 * count as kernels of one node. */
typedef struct program_kernel {
    uint32_t id;           /* events carry it as `kernel` */
    const char *name;      /* "k3_add_tanh_mul", "matmul" */
    const uint32_t *nodes; /* numbers in program_graph() */
    int node_count;
    const char *tier;     /* "tiles", "C", "library": what the next run will use */
    const char *source_c; /* readable C; NULL for library calls */
    const char *source_cuda;
} program_kernel;
int program_kernel_count(const program *p);
program_kernel program_kernel_at(const program *p, int i);

#endif
