/* order.h — comparing an integer with a float exactly, without rounding either.
 *
 * An i64 may lie between two doubles and a double between two integers, so neither converts into the other.
 * Every narrower pair (i32 with f32, ...) widens to this one without loss. */
#ifndef TD_MATH_ORDER_H
#define TD_MATH_ORDER_H

#include "engine/math/types.h"

/* -1, 0 or 1 as x is less than, equal to or greater than y; 2 when y is NaN. */
VM_FN int vm_order_i64_f64(int64_t x, double y) {
    double inside = ((y >= -0x1p63) & (y < 0x1p63)) ? y : 0.0;
    int64_t whole = (int64_t)inside; /* toward zero, exact */
    double part = inside - (double)whole;
    int r = (x > whole) - (x < whole);
    r = r == 0 ? (part < 0.0) - (part > 0.0) : r;
    r = y >= 0x1p63 ? -1 : r;
    r = y < -0x1p63 ? 1 : r;
    return y != y ? 2 : r;
}

#endif
