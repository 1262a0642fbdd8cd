/* assign_tensor.h — the elements that an index selects, replaced. */
#ifndef TD_LANG_ASSIGN_TENSOR_H
#define TD_LANG_ASSIGN_TENSOR_H

#include "repl/lang/index.h"

/* *t (a tensor, owned) becomes a tensor whose selected elements are v, broadcast and cast to its dtype. On
 * failure *t is as it was. */
status assign_elements(session *s, value *t, const index_items *x, value v, span where);

#endif
