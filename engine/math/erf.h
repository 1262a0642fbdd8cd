/* erf.h — erf, erfc, and the exact gelu that is made of erfc.
 *
 * erf in f32: x + x P(x^2) below 1, else 1 - exp(-Q(x)). erfc falls to the smallest denormal and needs
 * exp(-x^2) with more bits than f32 has, so it is computed in f64 and rounded once: exp(x^2) erfc(x) as a
 * polynomial in (x - 3) / (x + 3) (the map of Shepherd and Laframboise, Math. Comp. 36(153), 1981). */
#ifndef TD_MATH_ERF_H
#define TD_MATH_ERF_H

#include "engine/math/exp.h"

VM_FN float vm_erf_f32(float x) {
    float a = vm_abs_f32(x), z = a * a;
    float p = 0x1.4997c2p-14f;
    p = p * z + -0x1.a409c6p-11f;
    p = p * z + 0x1.5408a6p-8f;
    p = p * z + -0x1.b7f97cp-6f;
    p = p * z + 0x1.ce2cfep-4f;
    p = p * z + -0x1.81273ep-2f;
    p = p * z + 0x1.06eba8p-3f;
    float near0 = a + a * p;
    uint32_t u = vm_bits_f32(a), far_from = 0x3f800000u, most = 0x40800000u; /* 1, 4 */
    float c = vm_from_bits_f32(u < most ? u : most);
    float q = 0x1.204c82p-16f;
    q = q * c + -0x1.904ba6p-12f;
    q = q * c + 0x1.fc3134p-9f;
    q = q * c + -0x1.8d26aep-6f;
    q = q * c + 0x1.b54268p-4f;
    q = q * c + 0x1.451054p-1f;
    q = q * c + 0x1.20f0bap+0f;
    q = q * c + 0x1.1b511ap-16f;
    float t = q * -VM_LOG2E_F32 + (VM_ROUNDER_F32 + 127.0f);
    float n = t - (VM_ROUNDER_F32 + 127.0f);
    float r = (-q - n * VM_LN2_HI_F32) - n * VM_LN2_LO_F32;
    float scale = vm_from_bits_f32(vm_bits_f32(t) << 23);
    float far = 1.0f - scale * (1.0f + vm_expm1_core_f32(r));
    float y = vm_select_f32(u < far_from, near0, far);
    return vm_spoil_f32(x != x, vm_copysign_f32(y, x));
}

/* 2^w for -1000 < w < 1000, relative error 2^-34. */
VM_FN double vm_exp2_core_f64(double w) {
    double t = w + (VM_ROUNDER_F64 + 1023.0);
    double r = w - (t - (VM_ROUNDER_F64 + 1023.0));
    double p = 0x1.fe179886762d6p-17;
    p = p * r + 0x1.446a203d6ae45p-13;
    p = p * r + 0x1.5d8a707a698b9p-10;
    p = p * r + 0x1.3b29dc40123d3p-7;
    p = p * r + 0x1.c6b08aaf3636bp-5;
    p = p * r + 0x1.ebfbe0a4c09e2p-3;
    p = p * r + 0x1.62e42ff1162a0p-1;
    p = p * r + 0x1.ffffffffabb69p-1;
    return p * vm_from_bits_f64(vm_bits_f64(t) << 52);
}

/* erfc of |x| <= 25 to f32 accuracy: relative error 2^-29 down to the smallest f32 denormal, and positive but
 * below it beyond. */
VM_FN double vm_erfc_core_f64(double x) {
    double a = vm_abs_f64(x);
    double u = (a - 3.0) / (a + 3.0);
    double p = 0x1.d49f15aa3dd40p-15;
    p = p * u + 0x1.e27a458b840bbp-16;
    p = p * u + -0x1.37c179fa677aap-11;
    p = p * u + 0x1.774729e118258p-11;
    p = p * u + 0x1.17c496912b268p-8;
    p = p * u + -0x1.8facd9634cf78p-6;
    p = p * u + 0x1.258b18a837125p-4;
    p = p * u + -0x1.336fe729f7264p-3;
    p = p * u + 0x1.f6ff1fc4426cap-3;
    p = p * u + -0x1.4e102bdde757cp-2;
    p = p * u + 0x1.6e9827d4dc79fp-3;
    double right = p * vm_exp2_core_f64(a * a * -0x1.71547652b82fep+0);
    int left = x < 0.0;
    return vm_keep_f64(left, 2.0) + vm_select_f64(left, -right, right);
}

/* x with its magnitude at most `limit`; NaN gives +-limit. */
VM_FN float vm_limit_f32(float x, float limit) {
    uint32_t u = vm_bits_f32(x) & 0x7fffffffu, most = vm_bits_f32(limit);
    return vm_copysign_f32(vm_from_bits_f32(u < most ? u : most), x);
}

VM_FN float vm_erfc_f32(float x) {
    float y = (float)vm_erfc_core_f64((double)vm_limit_f32(x, 25.0f));
    return vm_spoil_f32(x != x, y);
}

/* x/2 erfc(-x/sqrt 2): right in the left tail too, where 1 + erf would cancel. */
VM_FN float vm_gelu_f32(float x) {
    float c = vm_limit_f32(x, 25.0f); /* beyond, erfc is 2 or gives a product below every f32 */
    float y = (float)(0.5 * (double)c * vm_erfc_core_f64((double)c * -0x1.6a09e667f3bcdp-1));
    return vm_select_f32(x <= 25.0f, y, x);
}

VM_FN double vm_erf_f64(double x) {
    return erf(x);
}
VM_FN double vm_erfc_f64(double x) {
    return erfc(x);
}
VM_FN double vm_gelu_f64(double x) {
    double y = 0.5 * x * erfc(x * -0x1.6a09e667f3bcdp-1);
    return x == -vm_inf_f64() ? -0.0 : y;
}

#endif
