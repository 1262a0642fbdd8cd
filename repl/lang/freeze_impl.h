/* freeze_impl.h — inside of freeze: specialisations, the trace in progress, and what the evaluator asks while one
 * is (session.freezing).
 *
 * A *pattern* is a value with placeholders (VALUE_ABSENT with a number) where tensors come in or go out. What
 * is left in it is static: a specialisation holds only for values that have the same there. */
#ifndef TD_LANG_FREEZE_IMPL_H
#define TD_LANG_FREEZE_IMPL_H

#include "repl/lang/freeze.h"
#include "repl/lang/leaves.h"

/* A scalar that had to be known: argument `arg` (-1: none) or the top-level or keyword name, and its leaf. */
typedef struct known_leaf {
    int arg;
    const symbol *name;
    size_t leaf;
    span where;    /* what asked */
    char what[48]; /* "the condition" */
} known_leaf;

/* A top-level name that the program reads or assigns. */
typedef struct global_use {
    const symbol *name;
    bool read, unbound; /* the pattern holds; the name was not bound by the user */
    bool written;
    value pattern;
    value now; /* while tracing: its value in the program; afterwards: the pattern of what is assigned */
} global_use;

/* A tensor that a function captured: the same at each run. */
typedef struct fixed_use {
    tensor *tensor;
    int input;
} fixed_use;

typedef struct special {
    program *program;
    graph *traced;
    int npos, nkw;
    value *args; /* [npos + nkw] patterns */
    const symbol **kw;
    global_use *globals;
    size_t global_count, global_capacity;
    fixed_use *fixed;
    size_t fixed_count, fixed_capacity;
    value result; /* pattern */
    int inputs, outputs;
    tensor **in, **out; /* [inputs], [outputs]: for the run */
    text why;
} special;

struct frozen {
    object head;
    char name[48];
    bool named;         /* else `name` is a text, to be replaced by the name that it is given */
    value f;            /* what is called; of an expression: a function without parameters whose body it is */
    bool expression;    /* its free names are inputs */
    bool top_level;     /* an expression that was frozen outside of functions */
    special **specials; /* oldest first */
    int count, capacity, current;
    known_leaf *known;
    size_t known_count, known_capacity;
};

/* Where an input of the trace came from. */
typedef struct input_origin {
    known_leaf leaf;
    bool knowable; /* a scalar that could be fixed instead */
} input_origin;

/* A captured value and its stand-in. */
typedef struct captured_use {
    const value *place;
    value original, now; /* owned */
} captured_use;

typedef struct freezing {
    frozen *f;
    special *sp;
    trace *trace;
    input_origin *origins; /* [origin_count] by input number */
    size_t origin_count, origin_capacity;
    captured_use *captures;
    size_t capture_count, capture_capacity;
} freezing;

enum { E_FREEZE_AGAIN = 599 }; /* never shown: the trace starts again with one more leaf known */

/* ---- freeze_trace.c, freeze_run.c, freeze_why.c ---- */

/* Runs the frozen function on stand-ins of the arguments, or of tensors of `types` (NULL: none), as many as `a` has
 * arguments. *out is a specialisation with its graph, patterns and program. */
status freeze_trace(session *s, frozen *f, const arguments *a, const value *types, special **out);
void special_free(special *sp);
/* Runs the function or expression itself. */
status freeze_run_original(session *s, frozen *f, const arguments *a, span where, value *out);
/* Writes what special `sp` of f holds for; `reason`: why it was made. */
void freeze_explain(session *s, const frozen *f, special *sp, const char *reason);
/* Room for one more item in a growing array; NULL with the error set. */
void *freeze_grow(session *s, void *items, size_t count, size_t *capacity, size_t bytes);

/* ---- what the evaluator asks (freeze_trace.c, freeze_known.c) ---- */

/* The value of a top-level name for the program being frozen, borrowed: tensors in it are stand-ins for what
 * is read at each run. NULL with the error set, or when the user has not bound the name. */
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
