/* scalar_pass.h — one pass of scalar.h over the table: the functions of compute type T. */
#include "engine/ops/pass_begin.h"

#define UNARY(name, class, autocast, samples, value, ...)                                                    \
    IF_##class(VM_FN T NAME(name)(T x) { return value; })
#define BINARY(name, class, autocast, samples, value, ...)                                                   \
    IF_##class(VM_FN T NAME(name)(T x, T y) { return value; })
#define COMPARE(name, class, autocast, samples, value, ...)                                                  \
    IF_##class(VM_FN uint8_t NAME(name)(T x, T y) { return (uint8_t)(value); })
#define TERNARY(name, class, autocast, samples, value, ...)                                                  \
    IF_##class(VM_FN T NAME(name)(uint8_t x, T y, T z) { return value; })
#define MIXED(...)
#define REDUCE(name, class, width, autocast, samples, first, merge, last, ...)                               \
    IF_##class(                                                                                              \
        VM_FN T TD_JOIN(op_##name##_start, SUFFIX)(void) {                                                   \
            return first;                                                                                    \
        } VM_FN T TD_JOIN(op_##name##_combine, SUFFIX)(T a, T x) {                                           \
            return merge;                                                                                    \
        } VM_FN T TD_JOIN(op_##name##_finish, SUFFIX)(T a, int64_t n) {                                      \
            (void)n;                                                                                         \
            return last;                                                                                     \
        })
#define OP(...)
#if PASS == INTEGER_PASS
#define FAULT(name, condition, ...)                                                                          \
    VM_FN uint8_t TD_JOIN(op_##name##_fault, SUFFIX)(T x, T y) {                                             \
        (void)x;                                                                                             \
        return (uint8_t)(condition);                                                                         \
    }
#else
#define FAULT(...)
#endif
#include "engine/ops/ops.def"

#include "engine/ops/pass_end.h"
