/* scalar.h — the table's expressions as functions: op_tanh_f32(x), op_add_i64(x, y), op_sum_combine_f32(a, x), ...
 *
 * Everything that computes includes this: the build-time loops, emitted C and emitted CUDA (where it comes from the
 * texts embedded in the program). A row exists for the compute types of its class. */
#ifndef TD_OPS_SCALAR_H
#define TD_OPS_SCALAR_H

#include "engine/math/types.h"
#include "engine/math/basic.h"
#include "engine/math/bits.h"
#include "engine/math/cast.h"
#include "engine/math/erf.h"
#include "engine/math/exp.h"
#include "engine/math/half.h"
#include "engine/math/hyper.h"
#include "engine/math/int.h"
#include "engine/math/log.h"
#include "engine/math/order.h"
#include "engine/math/pow.h"
#include "engine/math/trig.h"

/* <stdbool.h> makes `bool` a macro, which would spoil the names vm_..._bool. */
#ifdef bool
#undef bool
typedef _Bool bool;
#endif

#define TD_JOIN(a, b) TD_JOIN_(a, b)
#define TD_JOIN_(a, b) a##_##b
#define VM(name) TD_JOIN(vm_##name, SUFFIX)

#define REAL_PASS 1
#define INTEGER_PASS 2
#define BOOL_PASS 3

#define T float
#define SUFFIX f32
#define PASS REAL_PASS
#include "engine/ops/scalar_pass.h"

#define T double
#define SUFFIX f64
#define PASS REAL_PASS
#include "engine/ops/scalar_pass.h"

#define T int64_t
#define U uint64_t
#define SUFFIX i64
#define PASS INTEGER_PASS
#include "engine/ops/scalar_pass.h"

#define T int32_t
#define U uint32_t
#define SUFFIX i32
#define PASS INTEGER_PASS
#include "engine/ops/scalar_pass.h"

#define T int8_t
#define U uint32_t
#define SUFFIX i8
#define PASS INTEGER_PASS
#include "engine/ops/scalar_pass.h"

#define T uint8_t
#define U uint32_t
#define SUFFIX u8
#define PASS INTEGER_PASS
#include "engine/ops/scalar_pass.h"

#define T uint8_t
#define U uint32_t
#define SUFFIX bool
#define PASS BOOL_PASS
#include "engine/ops/scalar_pass.h"

/* Rows of mixed types are written once. */
#define UNARY(...)
#define BINARY(...)
#define COMPARE(...)
#define TERNARY(...)
#define MIXED(name, class, autocast, samples, value, ...)                                                    \
    VM_FN int8_t op_##name##_i64(int64_t x, double y) {                                                      \
        return (int8_t)(value);                                                                              \
    }
#define REDUCE(...)
#define OP(...)
#define FAULT(...)
#include "engine/ops/ops.def"
#undef UNARY
#undef BINARY
#undef COMPARE
#undef TERNARY
#undef MIXED
#undef REDUCE
#undef OP
#undef FAULT

#endif
