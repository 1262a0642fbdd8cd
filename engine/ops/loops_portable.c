/* loops_portable.c — the loops for the compiler's baseline target. */
#define LOOP_TABLE loops_portable
#define LOOP_TARGET "portable"
#include "engine/ops/loops.inc"
