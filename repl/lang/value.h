/* value.h — what names can be bound to.
 *
 * A `value` is passed by value: a kind and one pointer. Tensors, dtypes and functions of the table need no
 * allocation; the other kinds point to reference-counted objects that never change once somebody else can see
 * them. Functions here borrow their operands; what comes through an `out` parameter or is returned belongs to
 * the caller unless "borrowed" is said. Tuples and records nest at most VALUE_MAX_DEPTH deep, so walkers may
 * recurse over them; freeing never recurses. */
#ifndef TD_LANG_VALUE_H
#define TD_LANG_VALUE_H

#include "engine/core/dtype.h"
#include "engine/core/tensor.h"
#include "engine/ops/op.h"
#include "repl/lang/symbol.h"

enum {
    VALUE_MAX_DEPTH = 100,
    VALUE_MAX_STRING = 64 << 20, /* bytes, and */
    VALUE_MAX_TUPLE = 4 << 20    /* items: what is copied well within the time that Ctrl-C may take */
};

typedef enum value_kind {
    VALUE_ABSENT, /* no value at all: an argument that was not given; programs never see it */
    VALUE_NONE,
    VALUE_TENSOR,
    VALUE_STRING,
    VALUE_TUPLE,
    VALUE_RECORD,
    VALUE_RANGE,
    VALUE_TYPE,     /* a dtype, perhaps with sizes: f32, f32[batch, 64] */
    VALUE_FUNCTION, /* a def or lambda with what it captured */
    VALUE_BUILTIN,  /* a function of the program */
    VALUE_OP,       /* a row of ops.def as a function */
    VALUE_DERIVED,  /* grad(f) and its kin */
    VALUE_PULLBACK, /* from vjp */
    VALUE_GRAPH,    /* from freeze */
    VALUE_TAPE,     /* from tape { } */
    VALUE_KIND_COUNT
} value_kind;

/* What every allocated value starts with. */
typedef struct object {
    int64_t refs;
    value_kind kind;
    int depth;           /* of nested tuples and records: 1 for a flat one */
    struct object *next; /* in the list of objects being freed */
} object;

typedef struct value {
    value_kind kind;
    dtype dtype; /* VALUE_TYPE */
    union {
        tensor *tensor;
        object *object; /* every other kind that is allocated; NULL for a VALUE_TYPE without sizes */
        struct string_object *string;
        struct tuple_object *tuple;
        struct record_object *record;
        struct range_object *range;
        struct type_object *type;
        struct function_object *function; /* repl/lang/function.h */
        const struct builtin *builtin;    /* repl/lang/builtin.h */
        const op_info *op;
        int64_t number; /* VALUE_ABSENT in patterns of freeze.c: which input or output stands here */
        struct derived_object *derived;   /* repl/lang/gradient.h */
        struct pullback_object *pullback; /* likewise */
        struct tape_object *tape;         /* likewise */
        struct frozen *graph;             /* repl/lang/freeze.h */
    };
} value;

typedef struct string_object {
    object head;
    size_t length;
    char text[]; /* NUL-terminated; UTF-8; may contain NUL */
} string_object;

typedef struct tuple_object {
    object head;
    size_t count;
    value item[];
} tuple_object;

typedef struct record_entry {
    const symbol *key;
    value value;
} record_entry;

typedef struct record_object {
    object head;
    size_t count;
    record_entry entry[]; /* in the order of writing; keys are unique */
} record_object;

typedef struct range_object {
    object head;
    int64_t begin, end; /* half open; empty when end <= begin */
} range_object;

/* The brackets of f32[batch, 64]. */
typedef enum type_dim_kind { TYPE_DIM_SIZE, TYPE_DIM_NAME, TYPE_DIM_ANY, TYPE_DIM_REST } type_dim_kind;
typedef struct type_dim {
    type_dim_kind kind;
    int64_t size;       /* TYPE_DIM_SIZE */
    const symbol *name; /* TYPE_DIM_NAME */
} type_dim;
typedef struct type_object {
    object head;
    int count;
    type_dim dim[];
} type_object;

static inline value value_none(void) {
    return (value){.kind = VALUE_NONE};
}
/* Takes over the reference to t. */
static inline value value_tensor(tensor *t) {
    return (value){.kind = VALUE_TENSOR, .tensor = t};
}
static inline value value_dtype(dtype t) {
    return (value){.kind = VALUE_TYPE, .dtype = t};
}

value value_retain(value v); /* returns v */
void value_release(value v);
/* Releases *v and makes it absent. */
void value_drop(value *v);

/* Fails with STATUS_LIMIT when it would be too long. */
status value_new_string(error *e, const char *content, size_t length, value *out);
/* Items are retained. Fails with STATUS_LIMIT when it would nest too deep or be too long. */
status value_new_tuple(error *e, const value *items, size_t count, value *out);
/* Two strings, or two tuples, one after the other. Fails likewise. */
status value_join(error *e, value x, value y, value *out);
status value_new_record(error *e, const record_entry *entries, size_t count, value *out);
status value_new_range(error *e, int64_t begin, int64_t end, value *out);
status value_new_type(error *e, dtype t, const type_dim *sizes, int count, value *out);

/* The field, borrowed; NULL when the record has none of that name. */
const value *value_field(value record, const symbol *key);
const value *value_field_text(value record, const char *key);
/* A record with one field replaced or added. Consumes the reference to *record (also on failure, when it
 * becomes absent) so that a record that nobody else holds is changed in place. */
status value_set_field(error *e, value *record, const symbol *key, value field);

/* Can it be called? */
static inline bool value_callable(value v) {
    return v.kind >= VALUE_FUNCTION && v.kind <= VALUE_GRAPH;
}
static inline bool value_is_scalar(value v) {
    return v.kind == VALUE_TENSOR && v.tensor->meta.shape.rank == 0;
}

/* "a tensor", "a string", "a function", ... */
const char *value_kind_text(value_kind kind);
/* "f32[3, 4]", "a string", "a tuple of 3", "the function mlp": for messages. Returns buffer. */
const char *value_describe(value v, char *buffer, size_t size);

/* A compact rendering on one line, for tests and messages: `f32[2] [1, 2.5]`, `(1, "a")`, `{w: 1}`. Tensors of
 * more than `elements` elements show their header only. The prompt's printing is repl/shell/print.h. */
void value_dump(value v, int64_t elements, text *out);

#endif
