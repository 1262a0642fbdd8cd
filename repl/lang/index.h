/* index.h — what a[..] selects: evaluated items, and the plan made of them for one shape.
 *
 * A plan is three steps: a strided box of the tensor (one `slice`), a reshape that drops the axes of integers
 * and adds those of None, and at most one picker: an index tensor (`take`) or a mask (`compress`) on an axis
 * of the reshaped box. Reading and assigning follow the same plan. */
#ifndef TD_LANG_INDEX_H
#define TD_LANG_INDEX_H

#include "repl/lang/eval.h"

/* One item of an index, evaluated. */
typedef struct index_item {
    ast_kind kind;        /* AST_SLICE, AST_ELLIPSIS, AST_NONE; anything else: v[0] is the value */
    value v[3];           /* owned; of a slice: begin, end, step; absent where not written */
    const ast_node *node; /* for messages */
} index_item;

typedef struct index_items {
    index_item *items; /* owned */
    int count;
} index_items;

status index_items_eval(session *s, const ast_node *n, index_items *out);
void index_items_free(index_items *x);

typedef struct index_plan {
    slice_attrs box; /* start, size, step of every axis */
    bool whole;      /* the box is the whole tensor */
    shape kept;      /* the box without integer axes, with the axes of None */
    bool reshaped;   /* kept differs from the box's sizes */
    tensor *picker;  /* borrowed from the items; NULL: none */
    bool mask;       /* the picker is a mask over axis .. axis + its rank - 1 */
    int axis;        /* of the picker in kept */
    span where;      /* of the picker's item */
} index_plan;

/* Fails with the item's place marked. */
status index_plan_make(session *s, const meta *m, const index_items *x, index_plan *out);
/* The box, reshaped, without the picker. */
status index_read_box(session *s, tensor *t, const index_plan *p, span where, value *out);
/* The whole selection. */
status index_read(session *s, tensor *t, const index_plan *p, span where, value *out);

#endif
