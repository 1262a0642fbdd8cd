/* eval.h — walking the syntax tree. One file per subject: eval_stmt.c, eval_expr.c, eval_ops.c, eval_literal.c,
 * eval_index.c, eval_assign.c, call.c, call_op.c, scalar.c.
 *
 * Functions return STATUS_OK with *out a new reference, or a failure with the error set and its place marked;
 * STATUS_LEAVE is a break, continue or return on its way out. Values are borrowed unless said otherwise. */
#ifndef TD_LANG_EVAL_H
#define TD_LANG_EVAL_H

#include "repl/lang/session_impl.h"

status eval_statement(session *s, const ast_node *n, value *out); /* also an expression */
status eval_block(session *s, const ast_node *n, value *out);
status eval_expr(session *s, const ast_node *n, value *out);

/* Literals and what builds values (eval_literal.c). */
status eval_literal(session *s, const ast_node *n, value *out);
/* A tensor from elements of equal shape, stacked along a new first axis. */
status stack_values(session *s, const char *function, const value *items, size_t count, span where,
                    value *out);

/* Operators (eval_ops.c). `left` and `right` are the operands' expressions, for messages; may be NULL. */
status eval_chain(session *s, const ast_node *n, value *out);
status eval_compare(session *s, const ast_node *n, value *out);
status eval_unary(session *s, const ast_node *n, value *out);
status eval_power(session *s, const ast_node *n, value *out);
status eval_cast(session *s, const ast_node *n, value *out);
status eval_logic(session *s, const ast_node *n, value *out); /* and, or, not */
status apply_binary(session *s, ast_op op, value x, value y, span where, const ast_node *left,
                    const ast_node *right, value *out);
/* x == y as one answer, for any kinds of values. */
status values_equal(session *s, value x, value y, bool *out);

/* One op with one result, at a place of the text. */
status run_op(session *s, op_id id, tensor *const *in, int nin, const void *attrs, span where, value *out);
/* Puts the pending error of an operation on x and y (absent: it has one operand) in the words of the text. `left` and
 * `right` are their expressions; NULL: not known. */
void name_operands(session *s, value x, value y, const ast_node *left, const ast_node *right);
/* Do the shapes of the two not broadcast? */
bool operands_clash(session *s, const tensor *x, const tensor *y);

/* Indexing (eval_index.c, eval_assign.c). */
status eval_index(session *s, const ast_node *n, value *out);
status assign_target(session *s, const ast_node *target, value v);
status eval_update(session *s, const ast_node *n);
status unpack(session *s, const ast_node *target, value v);
/* Element i of axis 0. */
status tensor_row(session *s, tensor *t, int64_t i, value *out);

/* Fields and properties (eval_field.c). */
status eval_field(session *s, const ast_node *n, value *out);

/* Numbers out of tensors (scalar.c). Traced values are refused, or fixed for this specialisation, by
 * freeze.c. `what` names the number in messages: "the axis". */
status scalar_int(session *s, value v, const char *what, int64_t *out);
status scalar_dim(session *s, value v, const char *what, dim *out); /* may be a symbol while freezing */
status scalar_real(session *s, value v, const char *what, double *out);
status scalar_bool(session *s, value v, const char *what, bool *out);
status condition(session *s, const ast_node *n, bool *out); /* evaluates; rank-0 bool */
status value_from_dim(session *s, dim d, value *out);       /* a weak integer */
status value_from_bool(session *s, bool b, value *out);
status wrong_kind(session *s, const char *function, const char *name, const char *wanted, value got);

/* Calls (call.c, call_op.c). */
typedef struct arguments {
    value *pos; /* [npos] */
    int npos;
    const symbol **name; /* [nkw] */
    value *named;        /* [nkw] */
    int nkw;
    const ast_node *call; /* for messages; may be NULL */
} arguments;

status call_value(session *s, value f, const arguments *a, span where, value *out);
/* With positional arguments only. */
status call_with(session *s, value f, const value *pos, int npos, span where, value *out);
status eval_call(session *s, const ast_node *n, value *out);
status eval_pipe(session *s, const ast_node *n, value *out);
status make_function(session *s, const ast_node *n, value *out);
status call_op(session *s, const op_info *op, const arguments *a, span where, value *out);

/* Frames (call.c). */
status frame_set(session *s, const symbol *name, value v);

#endif
