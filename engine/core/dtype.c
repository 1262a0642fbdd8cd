/* dtype.c — see dtype.h. */
#include "engine/core/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t size;
    ctype compute;
} info[DT_COUNT] = {
    [DT_BOOL] = {"bool", 1, CT_BOOL}, [DT_U8] = {"u8", 1, CT_U8},    [DT_I8] = {"i8", 1, CT_I8},
    [DT_I32] = {"i32", 4, CT_I32},    [DT_I64] = {"i64", 8, CT_I64}, [DT_F16] = {"f16", 2, CT_F32},
    [DT_BF16] = {"bf16", 2, CT_F32},  [DT_F32] = {"f32", 4, CT_F32}, [DT_F64] = {"f64", 8, CT_F64},
};

static const dtype of_compute[CT_COUNT] = {
    [CT_BOOL] = DT_BOOL, [CT_U8] = DT_U8,   [CT_I8] = DT_I8,   [CT_I32] = DT_I32,
    [CT_I64] = DT_I64,   [CT_F32] = DT_F32, [CT_F64] = DT_F64,
};

size_t dtype_size(dtype t) {
    return info[t].size;
}

const char *dtype_name(dtype t) {
    return info[t].name;
}

bool dtype_parse(const char *name, size_t length, dtype *out) {
    for (int t = 0; t < DT_COUNT; t++) {
        if (strlen(info[t].name) != length || memcmp(info[t].name, name, length) != 0) continue;
        *out = (dtype)t;
        return true;
    }
    return false;
}

bool dtype_is_float(dtype t) {
    return t >= DT_F16;
}

bool dtype_is_half(dtype t) {
    return t == DT_F16 || t == DT_BF16;
}

bool dtype_is_integer(dtype t) {
    return t >= DT_U8 && t <= DT_I64;
}

ctype dtype_compute(dtype t) {
    return info[t].compute;
}

const char *ctype_name(ctype t) {
    return info[of_compute[t]].name;
}

dtype ctype_dtype(ctype t) {
    return of_compute[t];
}

bool dtype_promote(dtype a, dtype b, dtype *out) {
    dtype low = a < b ? a : b, high = a < b ? b : a;
    if (low == DT_F16 && high == DT_BF16) return false;
    *out = low == DT_U8 && high == DT_I8 ? DT_I32 : high;
    return true;
}

dtype dtype_meet_weak(dtype t, bool real) {
    if (dtype_is_float(t)) return t;
    if (real) return DT_F32;
    return t == DT_BOOL ? DT_I64 : t;
}
