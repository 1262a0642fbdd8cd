/* cast.h — vm_cast_<from>_<to> for every ordered pair of the compute types.
 *
 * Float to integer truncates and saturates, NaN gives 0; the input is brought into range before it is
 * converted, so no conversion is undefined. Integers narrow by wrapping. Anything to bool is x != 0 (NaN is
 * true). f64 to f32 rounds to nearest even and overflows to infinity. */
#ifndef TD_MATH_CAST_H
#define TD_MATH_CAST_H

#include "engine/math/bits.h"

/* From integer type F (suffix f) to each type: C's own conversions are the ones we want. */
#define VM_CAST_INTEGER(F, f)                                                                                \
    VM_FN vm_f32 vm_cast_##f##_f32(F x) {                                                                    \
        return (vm_f32)x;                                                                                    \
    }                                                                                                        \
    VM_FN vm_f64 vm_cast_##f##_f64(F x) {                                                                    \
        return (vm_f64)x;                                                                                    \
    }                                                                                                        \
    VM_FN vm_i64 vm_cast_##f##_i64(F x) {                                                                    \
        return (vm_i64)x;                                                                                    \
    }                                                                                                        \
    VM_FN vm_i32 vm_cast_##f##_i32(F x) {                                                                    \
        return (vm_i32)x;                                                                                    \
    }                                                                                                        \
    VM_FN vm_i8 vm_cast_##f##_i8(F x) {                                                                      \
        return (vm_i8)x;                                                                                     \
    }                                                                                                        \
    VM_FN vm_u8 vm_cast_##f##_u8(F x) {                                                                      \
        return (vm_u8)x;                                                                                     \
    }                                                                                                        \
    VM_FN vm_bool vm_cast_##f##_bool(F x) {                                                                  \
        return x != 0;                                                                                       \
    }

VM_CAST_INTEGER(vm_i64, i64)
VM_CAST_INTEGER(vm_i32, i32)
VM_CAST_INTEGER(vm_i8, i8)
VM_CAST_INTEGER(vm_u8, u8)
VM_CAST_INTEGER(vm_bool, bool)

/* From float type F to integer type T, which saturates to LOW below and to HIGH from END = HIGH + 1 on. VIA
 * is the signed type that the hardware converts to. */
#define VM_CAST_SATURATE(F, f, T, t, VIA, LOW, HIGH, END)                                                    \
    VM_FN T vm_cast_##f##_##t(F x) {                                                                         \
        F inside = ((x >= (F)(LOW)) & (x < (F)(END))) ? x : (F)0;                                            \
        T r = (T)(VIA)inside;                                                                                \
        r = x >= (F)(END) ? (T)(HIGH) : r;                                                                   \
        return x < (F)(LOW) ? (T)(LOW) : r;                                                                  \
    }

#define VM_CAST_FLOAT(F, f)                                                                                  \
    VM_FN vm_f32 vm_cast_##f##_f32(F x) {                                                                    \
        return (vm_f32)x;                                                                                    \
    }                                                                                                        \
    VM_FN vm_f64 vm_cast_##f##_f64(F x) {                                                                    \
        return (vm_f64)x;                                                                                    \
    }                                                                                                        \
    VM_CAST_SATURATE(F, f, vm_i64, i64, int64_t, (-9223372036854775807LL - 1), 9223372036854775807LL,        \
                     0x1p63)                                                                                 \
    VM_CAST_SATURATE(F, f, vm_i32, i32, int32_t, -2147483647 - 1, 2147483647, 0x1p31)                        \
    VM_CAST_SATURATE(F, f, vm_i8, i8, int32_t, -128, 127, 128)                                               \
    VM_CAST_SATURATE(F, f, vm_u8, u8, int32_t, 0, 255, 256)                                                  \
    VM_FN vm_bool vm_cast_##f##_bool(F x) {                                                                  \
        return x != (F)0;                                                                                    \
    }

VM_CAST_FLOAT(vm_f32, f32)
VM_CAST_FLOAT(vm_f64, f64)

#undef VM_CAST_INTEGER
#undef VM_CAST_SATURATE
#undef VM_CAST_FLOAT

#endif
