/* rules.h — calls of ops inside gradient rules: results belong to the innermost scope, and a NULL operand (an earlier
 * failure, or no gradient) passes through as NULL, so that rules are plain nested expressions. */
#ifndef TD_OPS_RULES_H
#define TD_OPS_RULES_H

#include "engine/ops/apply.h"

tensor *rule1(gradient_call *k, op_id op, tensor *x);
tensor *rule2(gradient_call *k, op_id op, tensor *x, tensor *y);
tensor *rule3(gradient_call *k, op_id op, tensor *x, tensor *y, tensor *z);
tensor *rule_attrs(gradient_call *k, op_id op, tensor *const *in, int nin, const void *attrs);
/* A weak real constant. */
tensor *rule_const(gradient_call *k, double value);
/* x * x. */
tensor *rule_square(gradient_call *k, tensor *x);
/* x's share of g where r = maximum(x, y) or minimum(x, y): all of it where x is r or NaN, half at a tie. */
tensor *rule_share(gradient_call *k, tensor *x, tensor *y, tensor *r, tensor *g);

#endif
