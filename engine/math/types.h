/* types.h — the one place where the math headers adapt to the compiler that reads them.
 *
 * Everything in engine/math is compiled three ways: into the build-time loops (C), into emitted C, and into
 * emitted CUDA (NVRTC, or the host shim's C++). The functions are `static inline`, branch-free, without
 * intrinsics and without FMA, so that every one of these gives the same bits for f32 and integers, at every
 * vector width. Compile C with -ffp-contract=off -fno-math-errno -fno-trapping-math and CUDA with
 * --fmad=false.
 *
 * A function for compute type T is named vm_<name>_<T> with T one of f32 f64 i64 i32 i8 u8 bool. Op
 * expressions say VM(name)(x), where VM pastes the compute type of the loop at hand. */
#ifndef TD_MATH_TYPES_H
#define TD_MATH_TYPES_H

#if defined(__CUDACC_RTC__)
/* NVRTC has no system headers but has the math functions built in. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <math.h>
#include <stdint.h>
#endif

/* How a function of these headers is declared; define it before the first include to override. */
#ifndef VM_FN
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define VM_FN static __device__ __forceinline__
#else
#define VM_FN static inline
#endif
#endif

/* The compute types. A bool is a byte that is 0 or 1, so that loops over it vectorise. */
typedef float vm_f32;
typedef double vm_f64;
typedef int64_t vm_i64;
typedef int32_t vm_i32;
typedef int8_t vm_i8;
typedef uint8_t vm_u8;
typedef uint8_t vm_bool;

#endif
