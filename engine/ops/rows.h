/* rows.h — includes the table with every kind of row mapped to ROW(name), for lists in table order. */
#define UNARY(name, ...) ROW(name)
#define BINARY(name, ...) ROW(name)
#define COMPARE(name, ...) ROW(name)
#define TERNARY(name, ...) ROW(name)
#define MIXED(name, ...) ROW(name)
#define REDUCE(name, ...) ROW(name)
#define OP(name, ...) ROW(name)
#define FAULT(...)
#include "engine/ops/ops.def"
#undef UNARY
#undef BINARY
#undef COMPARE
#undef TERNARY
#undef MIXED
#undef REDUCE
#undef OP
#undef FAULT
