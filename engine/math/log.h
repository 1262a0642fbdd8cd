/* log.h — log, log2 and log1p.
 *
 * x = 2^k m with m in [sqrt(1/2), sqrt(2)) taken from the bit pattern, f = m - 1, and minimax polynomials for
 * (log(1+f) - f + f^2/2) / f^3 and for log2(1+f) / f - 1, so that f enters the result unrounded. log1p
 * carries the rounding error of 1 + x along (as in Kahan's note on log1p, and in Tang, ACM TOMS 16(4), 1990).
 */
#ifndef TD_MATH_LOG_H
#define TD_MATH_LOG_H

#include "engine/math/exp.h"

/* log(2^k (1 + f)). */
VM_FN float vm_log_core_f32(float f, float k) {
    float p = -0x1.38b91ap-4f;
    p = p * f + 0x1.055c6ep-3f;
    p = p * f + -0x1.0d850ap-3f;
    p = p * f + 0x1.22da08p-3f;
    p = p * f + -0x1.547262p-3f;
    p = p * f + 0x1.99a01p-3f;
    p = p * f + -0x1.000226p-2f;
    p = p * f + 0x1.555554p-2f;
    float tail = k * VM_LN2_LO_F32 + f * f * (f * p - 0.5f);
    return k * VM_LN2_HI_F32 + (f + tail);
}

/* The values outside (0, inf) of a logarithm that is r inside: -inf at 0, inf at inf, else NaN. At 0 and inf
 * r is finite there; a set mask makes a NaN of any r. */
VM_FN float vm_log_edges_f32(float x, float r) {
    r += vm_keep_f32(x == 0.0f, -vm_inf_f32());
    r += vm_keep_f32(x == vm_inf_f32(), vm_inf_f32());
    return vm_spoil_f32(!(x >= 0.0f), r);
}

/* Splits x > 0 (denormals are first multiplied by 2^23): returns k, and f by pointer. */
VM_FN float vm_log_split_f32(float x, float *f) {
    uint32_t tiny = vm_mask_less(vm_bits_f32(x), 0x00800000u);
    uint32_t u = vm_bits_f32(x * vm_from_bits_f32(0x3f800000u + (tiny & (23u << 23))));
    int32_t k = (int32_t)(u - 0x3f3504f3u) >> 23;
    *f = vm_from_bits_f32(u - ((uint32_t)k << 23)) - 1.0f;
    return (float)(k - (int32_t)(tiny & 23u));
}

VM_FN float vm_log_f32(float x) {
    float f, k = vm_log_split_f32(x, &f);
    return vm_log_edges_f32(x, vm_log_core_f32(f, k));
}

VM_FN float vm_log2_f32(float x) {
    float f, k = vm_log_split_f32(x, &f);
    float p = -0x1.c25b8ap-4f;
    p = p * f + 0x1.7d4976p-3f;
    p = p * f + -0x1.874bbep-3f;
    p = p * f + 0x1.a3059ep-3f;
    p = p * f + -0x1.eabc88p-3f;
    p = p * f + 0x1.277de8p-2f;
    p = p * f + -0x1.715a4p-2f;
    p = p * f + 0x1.ec7092p-2f;
    p = p * f + -0x1.715472p-1f;
    p = p * f + 0x1.c551dap-2f;
    return vm_log_edges_f32(x, k + (f + f * p));
}

VM_FN float vm_log1p_f32(float x) {
    float w = 1.0f + x;
    float lost = vm_keep_f32(x < vm_inf_f32(), x - (w - 1.0f)); /* what rounding took from 1 + x */
    uint32_t u = vm_bits_f32(w);
    int32_t k = (int32_t)(u - 0x3f3504f3u) >> 23;
    uint32_t shift = (uint32_t)k << 23;
    int32_t scale = (int32_t)(0x3f800000u - shift); /* 2^-k, or 0 for k = 128, where nothing was lost */
    float scaled = lost * vm_from_bits_f32((uint32_t)(scale > 0 ? scale : 0));
    float f = (vm_from_bits_f32(u - shift) - 1.0f) + scaled;
    return vm_copysign_f32(vm_log_edges_f32(w, vm_log_core_f32(f, (float)k)), x);
}

VM_FN double vm_log_f64(double x) {
    return log(x);
}
VM_FN double vm_log2_f64(double x) {
    return log2(x);
}
VM_FN double vm_log1p_f64(double x) {
    return log1p(x);
}

#endif
