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
/* Has the phase any? Makes its rows the current code. */
bool emit_c_has_rows(emitter *e, int phase);
/* `format` with the type and the number of each reduction of a phase. */
void emit_c_each_reduce(emitter *e, int phase, const char *format);

/* `format` with the number of each of its faulting instructions, twice. */
void emit_c_each_fault(emitter *e, const char *format);
/* "const int64_t j0 = ...": the inner index number `from`; nothing to do for one inner axis. */
void emit_c_unravel(emitter *e, const char *from, const char *indent);
/* k1_element0(w, ARGUMENTS, ...) with `lane` after each accumulator. */
void emit_c_call_element(emitter *e, int phase, const char *arguments, const char *lane);

/* The struct k1_row; k1_open, which fills what is the same for all rows; k1_at, which points it at a row. open comes
 * last, when all numbers are known. */
void emit_c_struct(emitter *e);
void emit_c_open(emitter *e, dim length);
void emit_c_at(emitter *e);
/* The kernel's space, as a comment; `on_panels`: an epilogue runs on the panels of its product, not on its own. */
void emit_c_title(emitter *e, bool on_panels);
/* The product of the inner sizes; notes it and what else only k1_open uses among the numbers. */
dim emit_c_length(emitter *e);

/* The functions k1_rows0 (when there is row code), k1_element0 and k1_block0 of a phase. */
void emit_c_rows(emitter *e, int phase);
void emit_c_element(emitter *e, int phase);
void emit_c_block(emitter *e, int phase);

#endif
