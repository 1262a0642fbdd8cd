/* session_impl.h — what a session consists of, for the files of the evaluator. */
#ifndef TD_LANG_SESSION_IMPL_H
#define TD_LANG_SESSION_IMPL_H

#include "repl/lang/function.h"
#include "repl/lang/session.h"

/* What a symbol is bound to. `user` is the top-level binding; `base` what the language itself has under that
 * name: a builtin, a function of the prelude, a row of ops.def, a constant. */
typedef struct binding {
    value user, base;
    const char *signature, *doc; /* of the base; may be NULL */
    uint64_t stamp;              /* the statement that last saved `user` in the journal */
    bool warned;                 /* shadowing was mentioned */
    bool listed;                 /* stands in `order` */
} binding;

/* One binding's value before a statement (or, in the redo list, after it). */
typedef struct change {
    const symbol *name;
    value value; /* owned; absent: it was not bound */
} change;

/* What one statement changed. */
typedef struct transaction {
    change *changes;
    size_t count, capacity;
    tensor *seed, *counter; /* owned; the random stream */
} transaction;

typedef struct bindings {
    binding *items; /* [capacity] by symbol index */
    size_t capacity;
    const symbol **order; /* names in the order of first binding */
    size_t order_count, order_capacity;
    uint64_t stamp;      /* number of the running statement; 0 before the first */
    bool running;        /* a statement runs: changes go to the journal */
    transaction journal; /* of the running statement */
    transaction *done;   /* ring-less list, oldest first: at most SESSION_UNDO */
    size_t done_count;
    transaction *undone; /* latest undone last */
    size_t undone_count;
} bindings;

/* A running function. */
typedef struct frame {
    struct frame *outer; /* the caller's */
    const function_object *function;
    value self;    /* the same, borrowed */
    local *locals; /* [count] */
    size_t count, capacity;
    local few[6]; /* `locals` while they fit */
} frame;

/* A builtin's signature, parsed. */
typedef struct signature {
    int params;
    int rest; /* the parameter that collects; -1: none */
    const symbol *param[BUILTIN_MAX_PARAMS];
} signature;

/* A row of ops.def as a function: its attributes under the names by which they are passed. */
typedef struct op_signature {
    int count;
    attr_field field[MAX_ATTRS];
    const symbol *name[MAX_ATTRS];
} op_signature;

/* Names that the evaluator itself knows. */
#define KNOWN_SYMBOLS(X)                                                                                     \
    X(T)                                                                                                     \
    X(shape)                                                                                                 \
    X(dtype)                                                                                                 \
    X(device) X(grad) X(freeze) X(axis) X(axes) X(dim) X(keep) X(keepdims) X(keepdim) X(wrt) X(Out) X(to)
typedef struct known_symbols {
#define X(name) const symbol *name;
    KNOWN_SYMBOLS(X)
#undef X
    const symbol *underscore;
} known_symbols;

/* Statements that leave their place travel as this status through everything in between. */
#define STATUS_LEAVE ((status)STATUS_COUNT)
typedef enum leaving { LEAVE_NOTHING, LEAVE_BREAK, LEAVE_CONTINUE, LEAVE_RETURN } leaving;

struct session {
    context *c;
    source_table *sources;
    symbol_table symbols;
    known_symbols known;
    bindings env;
    const session_host *host; /* of the running session_run, or NULL */

    ast *tree;          /* whose node is being evaluated; borrowed */
    frame *frame;       /* innermost; NULL at top level */
    bool in_prelude;    /* the text being evaluated is the prelude's */
    int calls;          /* nesting of function calls */
    uintptr_t stack;    /* address below which the machine's stack must not grow */
    const char *blamed; /* the parameter that the pending error of a builtin is about, or NULL */
    leaving leave;      /* why STATUS_LEAVE travels */
    value returned;     /* the value of `return` meanwhile */

    const ast_node *assigned_call; /* the call whose value is about to be assigned to a name, or NULL */
    const symbol *assigned_name;

    map prototypes;              /* ast_node address -> prototype, owned */
    map signatures;              /* builtin address -> signature, owned */
    op_signature *op_signatures; /* [OP_COUNT] */
    tensor *truth[2];            /* false, true */

    value outputs[SESSION_OUTPUTS]; /* number n at (n - 1) % SESSION_OUTPUTS */
    int output_count;

    struct freezing *freezing; /* repl/lang/freeze_impl.h: the trace in progress, or NULL */

    text signature_text, doc_text; /* of the function that was described last */
};

/* ---- bindings (bindings.c) ---- */
status bindings_room(session *s, const symbol *name); /* so that the next functions can't fail */
binding *bindings_at(session *s, const symbol *name); /* NULL: nothing is known of it */
status bindings_set(session *s, const symbol *name, value v);
/* The place of a user binding for a change in place: what was there is saved first, the caller moves it out
 * and back. NULL with the error set. */
value *bindings_open(session *s, const symbol *name);
void bindings_begin(session *s);
void bindings_commit(session *s);   /* keeps the statement's changes, as an undo step */
void bindings_rollback(session *s); /* takes them back */
void bindings_free(session *s);

/* ---- errors (session.c, names.c) ---- */
/* Marks the pending error's place, unless it has one; returns `st`. */
status error_at(session *s, span where, status st);
/* STATUS_NAME with suggestions. */
status unknown_name(session *s, const ast_node *name);
status unknown_field(session *s, value v, const ast_node *n, bool called);

/* Fails when a function call would nest too deep, and polls for Ctrl-C. */
status check_stack(session *s, span where);

/* The value of a name where evaluation stands, borrowed; NULL when there is none. */
const value *lookup(session *s, uint64_t hash);

/* What is behind C function calls: parse signatures, add base names. */
status add_base(session *s, const char *name, value v, const char *parameters, const char *doc);
status load_prelude(session *s);
status session_parse(session *s, const char *name, const char *content, size_t length, ast **out);
void op_signature_text(const op_info *op, text *out); /* "x, axis=all" */

#endif
