/* leaves.h — structures of tensors: tuples and records seen as a row of leaves in order.
 *
 * A parameter is a leaf that is a float tensor and not a weak scalar. Nesting is bounded (VALUE_MAX_DEPTH), so
 * these functions recurse. */
#ifndef TD_LANG_LEAVES_H
#define TD_LANG_LEAVES_H

#include "repl/lang/session_impl.h"

/* Called for each leaf in order; *out is a new reference to what takes its place. */
typedef status (*leaf_fn)(session *s, void *user, value leaf, value *out);
/* The structure with every leaf replaced. */
status leaves_map(session *s, value v, leaf_fn fn, void *user, value *out);

/* Called for each leaf in order. */
typedef status (*visit_fn)(session *s, void *user, value leaf);
status leaves_each(session *s, value v, visit_fn fn, void *user);

/* Do two values have the same tuples, records and keys? Leaves are not compared. */
bool leaves_alike(value a, value b);

/* Where leaf number `leaf` stands in v, appended: ".w1", "[0].b", "" for v itself. */
void leaf_path(value v, size_t leaf, text *out);

/* Tensors in a growing row; the row holds references. */
typedef struct tensor_list {
    tensor **items;
    size_t count, capacity;
} tensor_list;
status tensor_list_add(session *s, tensor_list *l, tensor *t); /* retains t */
void tensor_list_free(tensor_list *l);

static inline bool leaf_is_parameter(value v) {
    return v.kind == VALUE_TENSOR && dtype_is_float(v.tensor->meta.dtype) && !v.tensor->meta.weak;
}

#endif
