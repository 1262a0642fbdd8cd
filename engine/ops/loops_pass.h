/* loops_pass.h — one pass of loops.inc over the table: the loops of compute type T. */
#include "engine/ops/pass_begin.h"
#define UNARY(name, class, ...) IF_##class(UNARY_LOOP(name))
#define BINARY(name, class, ...) IF_##class(BINARY_LOOP(name, T))
#define COMPARE(name, class, ...) IF_##class(BINARY_LOOP(name, uint8_t))
#define TERNARY(name, class, ...) IF_##class(TERNARY_LOOP(name))
#define MIXED(...)
#define REDUCE(name, class, ...) IF_##class(REDUCE_LOOPS(name))
#define OP(...)
#define FAULT(...)
#include "engine/ops/ops.def"
#include "engine/ops/pass_end.h"
