/* emit.h — kernels as source text.
 *
 * Sizes and strides that are symbols become numbers that the launch passes; what is known is written down. A kernel's
 * text is a struct for the row at hand, and functions: its pointers, its row code between phases, the element code of
 * each phase, blocks, and the whole. Comments name the nodes that the lines compute. */
#ifndef TD_KERNEL_EMIT_H
#define TD_KERNEL_EMIT_H

#include "engine/kernel/kernel.h"

typedef struct kernel_source {
    const char *text; /* without the includes */
    dim *
        numbers; /* kernel_args.number[0 .. number_count); then come the offsets of slots, and of partials by the
                         order of reductions in the code */
    int number_count;
} kernel_source;

/* C for the system's compiler; in the arena. */
status emit_c(const graph *g, const kernel *k, arena *memory, kernel_source *out);
/* CUDA C, for NVRTC (and as C for the host shim, host_shim.h): the entry has the kernel's name and takes a
 * cuda_launch (prelude.h). The bits are those of the other tiers, except for f64 functions that the device's library
 * computes. */
status emit_cuda(const graph *g, const kernel *k, arena *memory, kernel_source *out);
extern const char emit_cuda_head[];
/* What stands above the kernels of a translation unit. */
extern const char emit_c_head[];

/* ---- what the emitters share (emit.c) ---- */

typedef struct emitter {
    const graph *g;
    const kernel *k;
    text out;
    dim *numbers;
    int number_count;
    const int *list; /* the code being written: instructions in it are locals */
    int list_count, phase;
    bool elements;  /* it is element code */
    bool cuda;      /* each thread has one row: row values are scalars, addresses those of the row itself */
    bool *outlives; /* by instruction: a row value that other code than its own reads */
} emitter;

status emit_open(emitter *e, const graph *g, const kernel *k, arena *memory);

const char *emit_type(ctype t);         /* "float" */
const char *emit_storage_type(dtype t); /* "uint16_t" for halves */
void emit_literal(text *out, ctype t, kernel_number n);
/* A size: digits, or `prefix`n3. */
void emit_size(emitter *e, dim d, const char *prefix);
int emit_number(emitter *e, dim d);
/* How the current code names instruction n's value. */
void emit_value(emitter *e, int n);
/* The value that instruction n computes, as an expression (K_MAP, K_CAST, K_SIZE, K_CONST). */
void emit_expression(emitter *e, int n);
/* `in`, of dtype `from`, as compute type `to` of a reduction. */
void emit_converted(emitter *e, int in, dtype from, ctype to);
/* "x3[j * w->n2]": the element of an access. */
void emit_element(emitter *e, int access);
/* A comment with what instruction n is in the program. */
void emit_note(emitter *e, int n);
/* Are row values scalars (a row at a time)? Else vectors. */
static inline bool emit_singly(const emitter *e) {
    return e->cuda || e->k->along_inner;
}
/* Is instruction n in the current list? */
bool emit_local(const emitter *e, int n);

#endif
