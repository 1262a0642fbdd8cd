/* int.h — integer arithmetic that never traps and never has undefined behaviour.
 *
 * Overflow wraps, through unsigned arithmetic. Division follows Python: `//` floors, `%` takes the divisor's
 * sign; INT_MIN // -1 wraps to INT_MIN and INT_MIN % -1 is 0. A zero divisor and a negative exponent give 0
 * here: the caller has looked for them and raised its error. On bool, maximum and minimum are `or` and `and`.
 */
#ifndef TD_MATH_INT_H
#define TD_MATH_INT_H

#include "engine/math/types.h"

/* T: the compute type, S: its suffix, U: an unsigned type at least as wide as T and as int. */
#define VM_INT_COMMON(T, S, U, LOWEST, HIGHEST)                                                              \
    VM_FN T vm_lowest_##S(void) {                                                                            \
        return LOWEST;                                                                                       \
    }                                                                                                        \
    VM_FN T vm_highest_##S(void) {                                                                           \
        return HIGHEST;                                                                                      \
    }                                                                                                        \
    VM_FN T vm_add_##S(T x, T y) {                                                                           \
        return (T)((U)x + (U)y);                                                                             \
    }                                                                                                        \
    VM_FN T vm_sub_##S(T x, T y) {                                                                           \
        return (T)((U)x - (U)y);                                                                             \
    }                                                                                                        \
    VM_FN T vm_mul_##S(T x, T y) {                                                                           \
        return (T)((U)x * (U)y);                                                                             \
    }                                                                                                        \
    VM_FN T vm_mulz_##S(T g, T d) {                                                                          \
        return (T)((U)g * (U)d);                                                                             \
    }                                                                                                        \
    VM_FN T vm_neg_##S(T x) {                                                                                \
        return (T)((U)0 - (U)x);                                                                             \
    }                                                                                                        \
    VM_FN T vm_not_##S(T x) {                                                                                \
        return (T) ~(U)x;                                                                                    \
    }                                                                                                        \
    VM_FN T vm_maximum_##S(T x, T y) {                                                                       \
        return x > y ? x : y;                                                                                \
    }                                                                                                        \
    VM_FN T vm_minimum_##S(T x, T y) {                                                                       \
        return x < y ? x : y;                                                                                \
    }                                                                                                        \
    VM_FN T vm_relu_##S(T x) {                                                                               \
        return x > 0 ? x : (T)0;                                                                             \
    }                                                                                                        \
    /* x^n by squaring, for n >= 0. */                                                                       \
    VM_FN T vm_power_##S(T x, U n) {                                                                         \
        U base = (U)x, r = 1u;                                                                               \
        for (; n; n >>= 1, base *= base) r = n & 1u ? r * base : r;                                          \
        return (T)r;                                                                                         \
    }

#define VM_INT_SIGNED(T, S, U, LOWEST, HIGHEST)                                                              \
    VM_INT_COMMON(T, S, U, LOWEST, HIGHEST)                                                                  \
    VM_FN vm_bool vm_is_negative_##S(T x) {                                                                  \
        return x < 0;                                                                                        \
    }                                                                                                        \
    VM_FN T vm_abs_##S(T x) {                                                                                \
        return x < 0 ? vm_neg_##S(x) : x;                                                                    \
    }                                                                                                        \
    VM_FN T vm_sign_##S(T x) {                                                                               \
        return (T)((x > 0) - (x < 0));                                                                       \
    }                                                                                                        \
    VM_FN T vm_pow_##S(T x, T n) {                                                                           \
        return n < 0 ? (T)0 : vm_power_##S(x, (U)n);                                                         \
    }                                                                                                        \
    /* Divides by 1 in place of 0 and -1, and repairs the result: no trap. */                                \
    VM_FN T vm_floordiv_##S(T x, T y) {                                                                      \
        T d = ((y == 0) | (y == -1)) ? (T)1 : y;                                                             \
        T q = (T)(x / d), r = (T)(x % d);                                                                    \
        q = (T)(q - ((r != 0) & ((r < 0) != (d < 0))));                                                      \
        q = y == -1 ? vm_neg_##S(x) : q;                                                                     \
        return y == 0 ? (T)0 : q;                                                                            \
    }                                                                                                        \
    VM_FN T vm_mod_##S(T x, T y) {                                                                           \
        T d = ((y == 0) | (y == -1)) ? (T)1 : y;                                                             \
        T r = (T)(x % d);                                                                                    \
        return ((r != 0) & ((r < 0) != (d < 0))) ? (T)(r + d) : r;                                           \
    }

#define VM_INT_UNSIGNED(T, S, U, LOWEST, HIGHEST)                                                            \
    VM_INT_COMMON(T, S, U, LOWEST, HIGHEST)                                                                  \
    VM_FN vm_bool vm_is_negative_##S(T x) {                                                                  \
        return (vm_bool)((void)x, 0);                                                                        \
    }                                                                                                        \
    VM_FN T vm_abs_##S(T x) {                                                                                \
        return x;                                                                                            \
    }                                                                                                        \
    VM_FN T vm_sign_##S(T x) {                                                                               \
        return (T)(x > 0);                                                                                   \
    }                                                                                                        \
    VM_FN T vm_pow_##S(T x, T n) {                                                                           \
        return vm_power_##S(x, (U)n);                                                                        \
    }                                                                                                        \
    VM_FN T vm_floordiv_##S(T x, T y) {                                                                      \
        T q = (T)(x / (y == 0 ? (T)1 : y));                                                                  \
        return y == 0 ? (T)0 : q;                                                                            \
    }                                                                                                        \
    VM_FN T vm_mod_##S(T x, T y) {                                                                           \
        return (T)(x % (y == 0 ? (T)1 : y));                                                                 \
    }

VM_INT_SIGNED(vm_i64, i64, uint64_t, (-9223372036854775807LL - 1), 9223372036854775807LL)
VM_INT_SIGNED(vm_i32, i32, uint32_t, (-2147483647 - 1), 2147483647)
VM_INT_SIGNED(vm_i8, i8, uint32_t, -128, 127)
VM_INT_UNSIGNED(vm_u8, u8, uint32_t, 0, 255)

VM_FN vm_bool vm_lowest_bool(void) {
    return 0;
}
VM_FN vm_bool vm_highest_bool(void) {
    return 1;
}
VM_FN vm_bool vm_is_negative_bool(vm_bool x) {
    return (vm_bool)((void)x, 0);
}
VM_FN vm_bool vm_abs_bool(vm_bool x) {
    return x;
}
VM_FN vm_bool vm_sign_bool(vm_bool x) {
    return x;
}
VM_FN vm_bool vm_relu_bool(vm_bool x) {
    return x;
}
VM_FN vm_bool vm_mulz_bool(vm_bool x, vm_bool y) {
    return x & y;
}
VM_FN vm_bool vm_maximum_bool(vm_bool x, vm_bool y) {
    return x | y;
}
VM_FN vm_bool vm_minimum_bool(vm_bool x, vm_bool y) {
    return x & y;
}
VM_FN vm_bool vm_not_bool(vm_bool x) {
    return x ^ 1u;
}

#undef VM_INT_COMMON
#undef VM_INT_SIGNED
#undef VM_INT_UNSIGNED

#endif
