/* op.h — what an operation is: the columns of ops.def as C types, and a call of one.
 *
 * Rows become `op_info` records (ops/table.c). The path of every call, eager or traced, is op_apply
 * (ops/apply.h): promote dtypes, apply the shape rule, hand the checked `op_call` to the context's executor,
 * record on its tapes. */
#ifndef TD_OPS_OP_H
#define TD_OPS_OP_H

#include "engine/core/tensor.h"

/* Ids in table order: OP_neg, OP_add, ... */
typedef enum op_id {
#define ROW(name) OP_##name,
#include "engine/ops/rows.h"
#undef ROW
    OP_COUNT
} op_id;

enum { MAX_OUTPUTS = 4, MAX_INPUTS = 64, MAX_ATTR_BYTES = 256 };

/* How a row's inputs meet before it runs. All but CLASS_NONE promote their inputs to one dtype first. */
typedef enum op_class {
    CLASS_NONE,     /* inputs are taken as they are */
    CLASS_ALL,      /* any dtype */
    CLASS_NUMERIC,  /* bool becomes i64 */
    CLASS_FLOAT,    /* integers and bool become f32 */
    CLASS_QUOTIENT, /* as FLOAT, but integers are computed in f64 and rounded once to f32 */
    CLASS_INTEGRAL, /* integers and bool; floats are an error */
    CLASS_TRUTH     /* becomes bool (x != 0) */
} op_class;

/* Who computes the op, and how it may fuse. */
typedef enum op_kind {
    KIND_UNARY,   /* element-wise, result of the operand's dtype */
    KIND_BINARY,  /* element-wise with broadcasting */
    KIND_COMPARE, /* the same, result bool */
    KIND_TERNARY, /* (bool, x, y): element-wise with broadcasting, x and y promoted */
    KIND_MIXED,   /* (i64, f64) -> i8: element-wise with broadcasting, no promotion */
    KIND_CAST,    /* element-wise, attribute dtype */
    KIND_REDUCE,  /* attributes axes, keep; one accumulator in the canonical order */
    KIND_VIEW,    /* same elements seen otherwise: no kernel when strides can say it */
    KIND_OTHER    /* functions of its own */
} op_kind;

/* Autocast classes (numerics.md, "Mixed precision"). */
typedef enum op_autocast { AUTOCAST_KEEP, AUTOCAST_LOW, AUTOCAST_F32 } op_autocast;

enum op_flags {
    OP_RANDOM = 1,  /* draws: operands are seed and counter */
    OP_DYNAMIC = 2, /* the result's shape depends on values: eager only */
    OP_RAISES = 4,  /* may fail on values (integer division by zero): never dropped or reordered */
};

/* A list of sizes, axes or steps in attributes. 8-byte fields only, so that attribute structs have no padding
 * and compare and hash as bytes; unused entries are 0. count -1 means "all axes". */
typedef struct int_list {
    int64_t count;
    int64_t v[MAX_RANK];
} int_list;

/* A shape rule's, gradient's, kernel's view of one call. Inputs are promoted already. */
typedef struct op_call {
    context *c;
    const struct op_info *op;
    tensor *const *in;
    int nin;
    const void *attrs; /* op->attr_bytes bytes of the op's attribute struct */
    meta out[MAX_OUTPUTS];
    int nout;
    const struct gemm_epilogue *epilogue; /* device.h: of a matrix product in a frozen graph; NULL: none */
} op_call;

/* Fills call->out[0 .. nout) (nout is preset from the row). */
typedef status (*op_shape_fn)(op_call *call);
/* Computes concrete results. out[i] is either NULL, and becomes a new reference, or a row-major tensor of the
 * result's meta to be written in place (the memory plan's); op_output serves both. Operands may have any
 * strides. On failure out[i] may hold a result that was allocated; the caller releases it. */
typedef status (*op_eval_fn)(op_call *call, tensor **out);
/* out[i], allocated when it was NULL; NULL with the error set when out of memory. */
tensor *op_output(op_call *call, int i, tensor **out);

/* A gradient rule's call: from g (per output, NULL when unused) to gin (per input), both shaped like their
 * values before unbroadcasting. gin entries are owned by the innermost scope; NULL means no contribution.
 * `need[i]` says whether gin[i] is wanted. Failure shows in c->err. */
typedef struct gradient_call {
    context *c;
    const struct op_info *op;
    tensor *const *in;
    int nin;
    tensor *const *out;
    tensor *const *g;
    const void *attrs;
    const bool *need;
    tensor **gin;
} gradient_call;
typedef void (*op_gradient_fn)(gradient_call *k);

/* The cost model: arithmetic of one call. Bytes follow from the operands' sizes unless the function says
 * otherwise. */
typedef struct op_cost {
    double flops;
    double bytes; /* read + written */
} op_cost;
typedef op_cost (*op_cost_fn)(const op_call *call);

typedef struct op_info {
    const char *name, *doc;
    const char *schema;        /* "axes:axes=all keep:bool=false"; see ops/attrs.h */
    const char *samples;       /* what tests feed it; see tests/support/samples.h */
    const char *value_text;    /* the row's expression, for :help and :source; "" when it has functions */
    const char *gradient_text; /* likewise */
    op_id id;
    op_kind kind;
    op_class class;
    op_autocast autocast;
    int nin, nout; /* nin -1: one or more */
    unsigned flags;
    double flops_per_element; /* of element-wise rows and reductions */
    size_t attr_bytes;
    op_shape_fn shape;
    op_eval_fn eval;
    op_gradient_fn gradient; /* NULL: the row says that there is none */
    op_cost_fn cost;         /* NULL: from flops_per_element */
} op_info;

extern const op_info op_table[OP_COUNT];

/* The row named by `length` bytes of text; NULL when there is none. */
const op_info *op_find(const char *name, size_t length);

static inline bool op_elementwise(const op_info *op) {
    return op->kind <= KIND_CAST;
}

/* Compute types of an element-wise row's operand i and of its result when it computes in t. */
ctype op_operand_ctype(const op_info *op, ctype t, int i);
ctype op_result_ctype(const op_info *op, ctype t);
/* The compute type of a checked call (of element-wise rows and reductions). */
ctype op_call_ctype(const op_call *call);

/* The cost of a call through the row's model. */
op_cost op_cost_of(const op_call *call);

/* Executors: what op_apply does with a checked call. `out` receives nout new references. */
typedef struct executor {
    const char *name;
    status (*run)(op_call *call, tensor **out);
} executor;

/* Every problem with the table itself (blank cells, attribute structs that do not match their schema), as one
 * message per line; empty when the table is whole. Run at start-up in debug builds and by the tests. */
void op_table_check(text *problems);

#endif
