/* scope.h — who owns the temporaries of an expression of ops.
 *
 * scope_open .. scope_close bracket a computation; scope_add hands a new reference to the innermost scope and
 * returns the same pointer (NULL passes through), so that `scope_add(c, f(c, scope_add(c, g(c, x))))` leaks
 * nothing whichever call fails. What must survive is retained by its user before the scope closes. */
#ifndef TD_CORE_SCOPE_H
#define TD_CORE_SCOPE_H

#include "engine/core/tensor.h"

void scope_open(context *c, scope *s);
void scope_close(context *c, scope *s); /* releases everything added; s must be the innermost */
tensor *scope_add(context *c, tensor *t);

#endif
