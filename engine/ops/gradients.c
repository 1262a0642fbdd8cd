/* gradients.c — one function per element-wise row from its gradient column. Inside the column, x, y and z are the
 * operands, r the result, g the incoming gradient, and capital names build ops. */
#include "engine/ops/gradients.h"

#include "engine/ops/rules.h"

#define NEG(a) rule1(k, OP_neg, a)
#define SIGN(a) rule1(k, OP_sign, a)
#define EXP(a) rule1(k, OP_exp, a)
#define LOG(a) rule1(k, OP_log, a)
#define SQRT(a) rule1(k, OP_sqrt, a)
#define SIN(a) rule1(k, OP_sin, a)
#define COS(a) rule1(k, OP_cos, a)
#define TANH(a) rule1(k, OP_tanh, a)
#define ADD(a, b) rule2(k, OP_add, a, b)
#define SUB(a, b) rule2(k, OP_sub, a, b)
#define MUL(a, b) rule2(k, OP_mul, a, b)
#define MULZ(a, b) rule2(k, OP_mulz, a, b)
#define DIV(a, b) rule2(k, OP_div, a, b)
#define FLOORDIV(a, b) rule2(k, OP_floordiv, a, b)
#define POW(a, b) rule2(k, OP_pow, a, b)
#define EQ(a, b) rule2(k, OP_eq, a, b)
#define GT(a, b) rule2(k, OP_gt, a, b)
#define LT(a, b) rule2(k, OP_lt, a, b)
#define WHERE(c, a, b) rule3(k, OP_where, c, a, b)
#define SQUARE(a) rule_square(k, a)
#define SIGMOID(a) DIV(ONE, ADD(ONE, EXP(NEG(a))))
#define SOFTPLUS(a) LOG(ADD(ONE, EXP(a)))
#define SHARE(a, b, r, g) rule_share(k, a, b, r, g)
#define ZERO rule_const(k, 0)
#define ONE rule_const(k, 1)
#define TWO rule_const(k, 2)
#define HALF rule_const(k, 0.5)
#define CONST(value) rule_const(k, value)

#define INTO(i, expression)                                                                                  \
    if (k->need[i]) k->gin[i] = (expression);
/* NOGRAD beside others leaves that operand without a gradient. */
#define GRAD(a) INTO(0, a)
#define PAIR(a, b) INTO(0, a) INTO(1, b)
#define TRIPLE(a, b, c) INTO(0, a) INTO(1, b) INTO(2, c)
#define NOGRAD NULL

#define UNARY(name, class, autocast, samples, value, gradient, ...)                                          \
    void gradient_of_##name(gradient_call *k) {                                                              \
        tensor *x = k->in[0], *r = k->out[0], *g = k->g[0];                                                  \
        (void)x, (void)r, (void)g;                                                                           \
        gradient;                                                                                            \
    }
#define BINARY(name, class, autocast, samples, value, gradient, ...)                                         \
    void gradient_of_##name(gradient_call *k) {                                                              \
        tensor *x = k->in[0], *y = k->in[1], *r = k->out[0], *g = k->g[0];                                   \
        (void)x, (void)y, (void)r, (void)g;                                                                  \
        gradient;                                                                                            \
    }
#define TERNARY(name, class, autocast, samples, value, gradient, ...)                                        \
    void gradient_of_##name(gradient_call *k) {                                                              \
        tensor *x = k->in[0], *y = k->in[1], *z = k->in[2], *r = k->out[0], *g = k->g[0];                    \
        (void)x, (void)y, (void)z, (void)r, (void)g;                                                         \
        gradient;                                                                                            \
    }
#define COMPARE(...)
#define MIXED(...)
#define REDUCE(...)
#define OP(...)
#define FAULT(...)
#pragma GCC diagnostic ignored "-Wunused-value"
#include "engine/ops/ops.def"
