/* attrs.h — attribute structs and the schema strings that describe them.
 *
 * A schema is a list of fields "name:type" or "name:type=default", separated by spaces; the struct of the op
 * has the same fields in the same order, every one a multiple of 8 bytes: int, size, axis, bool, dtype
 * int64_t   (a size may be a symbol; an axis may be negative until checked) real double ints, axes, shape
 * int_list  (axes: count -1 is "all"; a shape's entries may be symbols) From the schema come keyword
 * arguments, help, IR text, defaults and hashing. */
#ifndef TD_OPS_ATTRS_H
#define TD_OPS_ATTRS_H

#include "engine/ops/op.h"

typedef enum attr_type {
    ATTR_INT,
    ATTR_SIZE,
    ATTR_AXIS,
    ATTR_BOOL,
    ATTR_DTYPE,
    ATTR_REAL,
    ATTR_INTS,
    ATTR_AXES,
    ATTR_SHAPE
} attr_type;

typedef struct attr_field {
    char name[16];
    attr_type type;
    size_t offset;    /* bytes into the struct */
    bool has_default; /* with its value below */
    int64_t fallback; /* ints, bools, dtypes; reals as bits; axes: -1 is all */
} attr_field;

enum { MAX_ATTRS = 4 };

/* Parses op's schema into fields; returns their number. Schemas are ours, so malformed ones are a bug
 * (assert). */
int attrs_fields(const op_info *op, attr_field fields[MAX_ATTRS]);
/* Bytes of a field of this type. */
size_t attr_type_bytes(attr_type t);
/* Fills a struct (op->attr_bytes bytes, zeroed first) with defaults. */
void attrs_defaults(const op_info *op, void *attrs);
/* " axis=1 keep=true", fields in order, appended to out. */
void attrs_print(const op_info *op, const dims *t, const void *attrs, text *out);
/* Parses text like "axis=1 shape=(2, 3)" over the defaults (IR text, tests). */
status attrs_parse(const op_info *op, const char *s, void *attrs, error *e);

/* The structs. */
typedef struct {
    int64_t unused; /* ops without attributes pass NULL; this only fills a column */
} no_attrs;
typedef struct {
    int_list axes;
    int64_t keep;
} reduce_attrs;
typedef struct {
    int64_t dtype, weak;
} cast_attrs;
typedef struct {
    int_list shape;
} shape_attrs; /* reshape, expand */
typedef struct {
    int_list axes;
} transpose_attrs;
typedef struct {
    int_list start, size, step;
} slice_attrs; /* slice, update: start in 0..n, step may be negative */
typedef struct {
    int64_t dtype;
} dtype_attrs; /* fit */
typedef struct {
    int64_t axis;
} axis_attrs; /* concat, take, take_add, gather, scatter_add, compress */
typedef struct {
    int64_t axis, keep;
} argmax_attrs;
typedef struct {
    int64_t classes, dtype;
} one_hot_attrs;
typedef struct {
    int_list shape;
    int64_t dtype;
} full_attrs; /* full, rand, randn */
typedef struct {
    double start, step;
    int64_t count, dtype;
} arange_attrs;
typedef struct {
    int64_t size;
} extent_attrs;

#endif
