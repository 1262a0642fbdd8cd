/* lower.h — from the groups of fuse.h to kernels. */
#ifndef TD_KERNEL_LOWER_H
#define TD_KERNEL_LOWER_H

#include "engine/kernel/fuse.h"

/* The kernel of group `group` of f, scheduled, in f->memory. */
status lower_group(fusion *f, int group, uint32_t id, kernel **out);

/* What an operand of a library call or an output is: a strided view of a buffer. */
typedef struct lower_view {
    value_id base;
    shape shape;
    dim stride[MAX_RANK], offset; /* in elements */
} lower_view;

/* Operand `operand` of library or output group `group`. */
void lower_operand(const fusion *f, int group, int operand, lower_view *out);

#endif
