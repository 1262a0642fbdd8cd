/* pass_begin.h — for one pass over ops.def with compute type T, suffix SUFFIX and kind PASS: IF_<class>(text) keeps the
 * text when rows of that class exist for T. pass_end.h undoes it. */
#if PASS == REAL_PASS
#define IF_ALL(...) __VA_ARGS__
#define IF_NUMERIC(...) __VA_ARGS__
#define IF_FLOAT(...) __VA_ARGS__
#define IF_QUOTIENT(...) __VA_ARGS__
#define IF_INTEGRAL(...)
#define IF_TRUTH(...)
#elif PASS == INTEGER_PASS
#define IF_ALL(...) __VA_ARGS__
#define IF_NUMERIC(...) __VA_ARGS__
#define IF_FLOAT(...)
#define IF_QUOTIENT(...)
#define IF_INTEGRAL(...) __VA_ARGS__
#define IF_TRUTH(...)
#else
#define IF_ALL(...) __VA_ARGS__
#define IF_NUMERIC(...)
#define IF_FLOAT(...)
#define IF_QUOTIENT(...)
#define IF_INTEGRAL(...) __VA_ARGS__
#define IF_TRUTH(...) __VA_ARGS__
#endif
#define NAME(name) TD_JOIN(op_##name, SUFFIX)
