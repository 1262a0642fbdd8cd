/* dtype.h — element types, their sizes, and how they meet. */
#ifndef TD_CORE_DTYPE_H
#define TD_CORE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dtype { DT_BOOL, DT_U8, DT_I8, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64, DT_COUNT } dtype;

/* The types in which arithmetic is done; halves are storage and compute in f32, rounding after every op. */
typedef enum ctype { CT_BOOL, CT_U8, CT_I8, CT_I32, CT_I64, CT_F32, CT_F64, CT_COUNT } ctype;

size_t dtype_size(dtype t); /* bytes per element; bool is one byte of 0 or 1 */
const char *dtype_name(dtype t);
bool dtype_parse(const char *name, size_t length, dtype *out); /* "f32" and the like */
bool dtype_is_float(dtype t);
bool dtype_is_half(dtype t);
bool dtype_is_integer(dtype t); /* u8 i8 i32 i64: not bool */
ctype dtype_compute(dtype t);
const char *ctype_name(ctype t); /* the suffix of the functions in engine/math: "f32", "bool", ... */
dtype ctype_dtype(ctype t);

/* The dtype in which two tensors of a and b meet (bool < i8, u8 < i32 < i64 < f16, bf16 < f32 < f64; i8 with
 * u8 gives i32). False for f16 with bf16, which have no common type. */
bool dtype_promote(dtype a, dtype b, dtype *out);

/* The dtype in which a weak scalar (`real`: it carries an f64, else an i64) meets a tensor of dtype t:
 * a weak real with an integer or bool tensor gives f32; a weak integer with a bool tensor gives i64. */
dtype dtype_meet_weak(dtype t, bool real);

#endif
