/* rules.c — see rules.h. */
#include "engine/ops/rules.h"

#include "engine/core/scope.h"

tensor *rule_attrs(gradient_call *k, op_id op, tensor *const *in, int nin, const void *attrs) {
    for (int i = 0; i < nin; i++)
        if (!in[i]) return NULL;
    tensor *out = NULL;
    if (op_apply(k->c, op, in, nin, attrs, &out)) return NULL;
    return scope_add(k->c, out);
}

tensor *rule1(gradient_call *k, op_id op, tensor *x) {
    return rule_attrs(k, op, (tensor *[]){x}, 1, NULL);
}

tensor *rule2(gradient_call *k, op_id op, tensor *x, tensor *y) {
    return rule_attrs(k, op, (tensor *[]){x, y}, 2, NULL);
}

tensor *rule3(gradient_call *k, op_id op, tensor *x, tensor *y, tensor *z) {
    return rule_attrs(k, op, (tensor *[]){x, y, z}, 3, NULL);
}

tensor *rule_const(gradient_call *k, double value) {
    return scope_add(k->c, tensor_weak_real(k->c, value));
}

tensor *rule_square(gradient_call *k, tensor *x) {
    return rule2(k, OP_mul, x, x);
}

tensor *rule_share(gradient_call *k, tensor *x, tensor *y, tensor *r, tensor *g) {
    tensor *zero = rule_const(k, 0), *half = rule_const(k, 0.5);
    tensor *wins = rule2(k, OP_bits_or, rule2(k, OP_eq, r, x), rule2(k, OP_ne, x, x));
    tensor *alone = rule3(k, OP_where, wins, g, zero);
    return rule3(k, OP_where, rule2(k, OP_eq, x, y), rule2(k, OP_mul, g, half), alone);
}
