/* eager.h — the executor that computes at once. */
#ifndef TD_RUNTIME_EAGER_H
#define TD_RUNTIME_EAGER_H

#include "engine/ops/op.h"

extern const executor executor_eager;
/* Results without elements: what an expression's shapes would be. Operands may be concrete or abstract. */
extern const executor executor_shapes;

#endif
