/* emit_c.h — within the C emitter: emit_c.c writes the code of rows, elements and blocks, emit_c_run.c what is around
 * it. */
#ifndef TD_KERNEL_EMIT_C_H
#define TD_KERNEL_EMIT_C_H

#include "engine/kernel/emit.h"

#define OUT(...) text_printf(&e->out, __VA_ARGS__)

/* Makes `list` the current code. */
void emit_c_choose(emitter *e, const int *list, int count, int phase, bool elements);
/* Instructions of the current list that belong to rows (uniform ones are computed in k1_open). */
int emit_c_row_instructions(const emitter *e);
/* `format` with the type and the number of each reduction of a phase. */
void emit_c_each_reduce(emitter *e, int phase, const char *format);

/* The functions k1_rows0 (when there is row code), k1_element0 and k1_block0 of a phase. */
void emit_c_rows(emitter *e, int phase);
void emit_c_element(emitter *e, int phase);
void emit_c_block(emitter *e, int phase);

#endif
