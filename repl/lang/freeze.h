/* freeze.h — frozen graphs as values: what the language's `freeze` makes, and what the viewers ask of it.
 *
 * A frozen value keeps the function it was made of, and one specialisation per combination of dtypes, ranks,
 * sizes of 1 and known scalars that it was called with. A specialisation is made by running the function once
 * with stand-ins (graph/trace.h), optimising the graph and making a program of it. A call looks for one whose
 * conditions hold, and makes a new one when there is none. */
#ifndef TD_LANG_FREEZE_H
#define TD_LANG_FREEZE_H

#include "repl/lang/eval.h"

typedef struct frozen frozen;

extern const builtin freeze_builtin;

/* freeze(..), whose argument is not evaluated. */
status eval_freeze(session *s, const ast_node *call, value *out);
status frozen_call(session *s, frozen *f, const arguments *a, span where, value *out);

/* ---- for :why, :graph, :source, :profile ---- */

/* "mlp", or the beginning of the text of what has no name (yet). */
const char *frozen_name(const frozen *f);
/* Tells that a name was given to it. */
void frozen_assigned(frozen *f, const symbol *name);
int frozen_count(const frozen *f); /* specialisations, oldest first */
/* The one that ran last (made last, if none ran); -1 when there is none yet. */
int frozen_current(const frozen *f);
program *frozen_program(const frozen *f, int i);
/* The graph as it was traced, before any pass. */
const graph *frozen_traced(const frozen *f, int i);
/* What each specialisation holds for, what was baked into it and what made it necessary, line by line. */
void frozen_why(const frozen *f, text *out);

#endif
