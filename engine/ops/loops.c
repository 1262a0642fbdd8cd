/* loops.c — the choice of a loop table, the faults of integer rows, and what reductions accumulate in. */
#include "engine/ops/loops.h"

#include <string.h>

#include "engine/ops/scalar.h"

extern const loop_table loops_portable;
#if defined(__x86_64__)
extern const loop_table loops_avx2;
#endif

const loop_table *loops_named(const char *target) {
#if defined(__x86_64__)
    if (strcmp(target, "avx2") == 0) return __builtin_cpu_supports("avx2") ? &loops_avx2 : NULL;
#endif
    return strcmp(target, "portable") == 0 ? &loops_portable : NULL;
}

const loop_table *loops(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return &loops_avx2;
#endif
    return &loops_portable;
}

#define FAULT_LOOP(name, T, S)                                                                               \
    static int64_t fault_##name##_##S(const void *const *in, const int *step, int64_t n) {                   \
        const T *x = in[0], *y = in[1];                                                                      \
        int64_t faults = 0;                                                                                  \
        for (int64_t i = 0; i < n; i++) faults += op_##name##_fault_##S(x[i * step[0]], y[i * step[1]]);     \
        return faults;                                                                                       \
    }
#define UNARY(...)
#define BINARY(...)
#define COMPARE(...)
#define TERNARY(...)
#define MIXED(...)
#define REDUCE(...)
#define OP(...)
#define FAULT(name, ...)                                                                                     \
    FAULT_LOOP(name, int64_t, i64)                                                                           \
    FAULT_LOOP(name, int32_t, i32) FAULT_LOOP(name, int8_t, i8) FAULT_LOOP(name, uint8_t, u8)
#include "engine/ops/ops.def"
#undef FAULT

const fault_fn op_faults[OP_COUNT][CT_COUNT] = {
#define FAULT(name, ...)                                                                                     \
    [OP_##name] = {[CT_I64] = fault_##name##_i64,                                                            \
                   [CT_I32] = fault_##name##_i32,                                                            \
                   [CT_I8] = fault_##name##_i8,                                                              \
                   [CT_U8] = fault_##name##_u8},
#include "engine/ops/ops.def"
#undef FAULT
};

const op_fault op_fault_info[OP_COUNT] = {
#define FAULT(name, condition, number, message, hint) [OP_##name] = {number, message, hint},
#include "engine/ops/ops.def"
#undef FAULT
};
#undef UNARY
#undef BINARY
#undef COMPARE
#undef TERNARY
#undef MIXED
#undef REDUCE
#undef OP

/* Which reductions accumulate integers in i64. */
static const bool widens[OP_COUNT] = {
#define WIDE true
#define SAME false
#define UNARY(...)
#define BINARY(...)
#define COMPARE(...)
#define TERNARY(...)
#define MIXED(...)
#define REDUCE(name, class, width, ...) [OP_##name] = width,
#define OP(...)
#define FAULT(...)
#include "engine/ops/ops.def"
};

ctype op_reduce_ctype(const op_info *op, dtype t) {
    if (widens[op->id] && !dtype_is_float(t)) return CT_I64;
    return dtype_compute(t);
}

dtype op_reduce_result(const op_info *op, dtype t) {
    return dtype_is_half(t) ? t : ctype_dtype(op_reduce_ctype(op, t));
}
