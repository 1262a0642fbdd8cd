/* dim.h — sizes that may be symbols.
 *
 * A `dim` is a size. In eager execution it is a plain non-negative number. While tracing, a size of an input
 * may be a symbol, and sizes computed from it are hash-consed expressions in the trace's `dims` table; those
 * are encoded as numbers below DIM_SYMBOLS, so that shape rules are written once with dim_add, dim_mul,
 * dim_same and serve both.
 *
 * Every decision that looks at a symbol (are these two sizes equal? is this one smaller?) is answered from
 * the symbol's value in the traced call (its hint) and recorded as a guard: the specialised graph holds for
 * all sizes that keep its guards. Symbols are never 0 or 1 (those are specialised on), and a symbol written
 * `?` without an example has no hint: then equality is assumed and recorded, anything else is refused. */
#ifndef TD_CORE_DIM_H
#define TD_CORE_DIM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/status.h"
#include "engine/base/text.h"

typedef int64_t dim;

#define DIM_SYMBOLS (INT64_MIN / 2) /* dims below this are expressions */
#define DIM_UNKNOWN INT64_MIN       /* the hint of a symbol that has none */

typedef enum dim_op { DIM_INPUT, DIM_CONST, DIM_ADD, DIM_MUL, DIM_DIV /* floor */ } dim_op;

typedef struct dim_node {
    dim_op op;
    dim a, b;      /* operands; DIM_INPUT: a is the input's number, b its axis; DIM_CONST: a */
    int64_t hint;  /* the value in the traced call, DIM_UNKNOWN when there is none */
    char name[24]; /* of a DIM_INPUT: "batch"; may be empty */
} dim_node;

typedef enum dim_relation { DIM_EQ, DIM_NE, DIM_LT, DIM_GE } dim_relation;

typedef struct dim_guard {
    dim a, b;
    dim_relation relation;
    span where; /* what asked */
} dim_guard;

/* The symbols, expressions and guards of one trace. */
typedef struct dims {
    dim_node *nodes;
    uint32_t count, capacity;
    dim_guard *guards;
    uint32_t guard_count, guard_capacity;
    span here;   /* copied into new guards */
    bool failed; /* an allocation failed: results are meaningless, the caller reports it */
} dims;

static inline bool dim_known(dim d) {
    return d >= DIM_SYMBOLS;
}

dims *dims_new(void); /* NULL when out of memory */
void dims_free(dims *t);

/* A new symbol for axis `axis` of input number `input`. `hint` is its value now, or DIM_UNKNOWN. */
dim dims_symbol(dims *t, int input, int axis, int64_t hint, const char *name);

/* Arithmetic; `t` may be NULL when both are known. Overflow gives -1 in *eager* arithmetic (callers check).
 */
dim dim_add(dims *t, dim a, dim b);
dim dim_sub(dims *t, dim a, dim b);
dim dim_mul(dims *t, dim a, dim b);
dim dim_div(dims *t, dim a, dim b); /* floor division, b > 0 */

/* Decisions, recorded as guards where a symbol takes part and the answer could be another at other sizes. A size without
 * a hint is taken to be large; of two such the first is not less. */
bool dim_same(dims *t, dim a, dim b);
bool dim_less(dims *t, dim a, dim b);

/* The value of d in the traced call: d itself when known, else its hint, or DIM_UNKNOWN. Records nothing. */
int64_t dim_hint(const dims *t, dim d);
/* The same for estimates, such as costs: an unknown size counts as 1. */
double dim_estimate(const dims *t, dim d);
/* The value of d as a number that the program reads: known, or the hint pinned with an equality guard;
 * false when it has no hint. */
bool dim_pin(dims *t, dim d, int64_t *out);

/* Evaluates every node into values[0 .. t->count) given the input shapes' sizes through `size_of(user, input,
 * axis)`; dim_value then reads one. Used by the launch prologue. */
void dims_evaluate(const dims *t, int64_t (*size_of)(void *user, int input, int axis), void *user,
                   int64_t *values);
static inline dim dim_of_node(uint32_t index) {
    return INT64_MIN + (int64_t)index;
}
static inline uint32_t dim_index(dim d) {
    return (uint32_t)(d - INT64_MIN);
}
static inline int64_t dim_value(dim d, const int64_t *values) {
    return dim_known(d) ? d : values[dim_index(d)];
}
/* True when every guard holds; else the first broken one through *broken (which may be NULL). */
bool dims_guards_hold(const dims *t, const int64_t *values, const dim_guard **broken);

/* "64", "batch", "s0", "(s0 * 4)" appended to out. */
void dim_print(const dims *t, dim d, text *out);

#endif
