/* freeze_impl.h — what the evaluator asks while a trace is in progress (session.freezing). */
#ifndef TD_LANG_FREEZE_IMPL_H
#define TD_LANG_FREEZE_IMPL_H

#include "repl/lang/session_impl.h"

/* The value of a top-level name for the program being frozen, borrowed: tensors in it are stand-ins for what
 * is read at each run. NULL with the error set, or when the name is not bound. */
const value *freezing_read(session *s, const symbol *name);
/* The same for a value that a function captured. */
const value *freezing_captured(session *s, const value *capture);
/* An assignment to a top-level name, kept for the end of each run. */
status freezing_write(session *s, const symbol *name, value v);
/* The place of that name for a change in place. */
value *freezing_open(session *s, const symbol *name);

/* The number that a traced scalar is in this specialisation. Sizes are pinned by a guard; a scalar that comes
 * from outside is fixed (the trace starts again with its value known); what depends on other run-time values
 * is refused: "control flow on run-time values is not captured yet". */
status freezing_number(session *s, tensor *t, const char *what, int64_t *out);
/* True when t is computed from sizes alone: *out is the size, perhaps a symbol. */
bool freezing_dim(session *s, tensor *t, dim *out);

/* Refuses what must happen at each run and can't be part of a graph: print, assert. */
status freezing_refuse_effect(session *s, const char *function);

#endif
