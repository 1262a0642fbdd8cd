/* loops_avx2.c — the loops compiled with -mavx2 (CMakeLists.txt). */
#define LOOP_TABLE loops_avx2
#define LOOP_TARGET "avx2"
#include "engine/ops/loops.inc"
