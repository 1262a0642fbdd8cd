/* table.c — the rows of ops.def as op_info records, and the check that no cell is blank. */
#include "engine/ops/op.h"

#include <string.h>

#include "engine/ops/attrs.h"
#include "engine/ops/families.h"
#include "engine/ops/gradients.h"
#include "engine/ops/loops.h"
#include "engine/ops/support.h"

/* The gradient cell: a function, or NULL where the row says that there is none. */
#define no_gradient NULL
#define CELL_NOGRAD CELL_NULL
#define CELL_GRAD(...) CELL_SELF
#define CELL_PAIR(...) CELL_SELF
#define CELL_TRIPLE(...) CELL_SELF
#define CELL_NULL(f) NULL
#define CELL_SELF(f) f

const op_info op_table[OP_COUNT] = {
#define ELEMENTWISE(name_, class_, autocast_, samples_, kind_, nin_, value_, gradient_, function_, flops_,   \
                    doc_)                                                                                    \
    [OP_##name_] = {                                                                                         \
        .name = #name_,                                                                                      \
        .doc = doc_,                                                                                         \
        .schema = "",                                                                                        \
        .samples = samples_,                                                                                 \
        .value_text = value_,                                                                                \
        .gradient_text = gradient_,                                                                          \
        .id = OP_##name_,                                                                                    \
        .kind = kind_,                                                                                       \
        .class = CLASS_##class_,                                                                             \
        .autocast = AUTOCAST_##autocast_,                                                                    \
        .nin = nin_,                                                                                         \
        .nout = 1,                                                                                           \
        .flops_per_element = flops_,                                                                         \
        .shape = elementwise_shape,                                                                          \
        .eval = elementwise_eval,                                                                            \
        .gradient = function_,                                                                               \
    },
#define UNARY(name, class, autocast, samples, value, gradient, flops, doc)                                   \
    ELEMENTWISE(name, class, autocast, samples, KIND_UNARY, 1, #value, #gradient,                            \
                CELL_##gradient(gradient_of_##name), flops, doc)
#define BINARY(name, class, autocast, samples, value, gradient, flops, doc)                                  \
    ELEMENTWISE(name, class, autocast, samples, KIND_BINARY, 2, #value, #gradient,                           \
                CELL_##gradient(gradient_of_##name), flops, doc)
#define COMPARE(name, class, autocast, samples, value, flops, doc)                                           \
    ELEMENTWISE(name, class, autocast, samples, KIND_COMPARE, 2, #value, "", NULL, flops, doc)
#define TERNARY(name, class, autocast, samples, value, gradient, flops, doc)                                 \
    ELEMENTWISE(name, class, autocast, samples, KIND_TERNARY, 3, #value, #gradient,                          \
                CELL_##gradient(gradient_of_##name), flops, doc)
#define MIXED(name, class, autocast, samples, value, flops, doc)                                             \
    ELEMENTWISE(name, class, autocast, samples, KIND_MIXED, 2, #value, "", NULL, flops, doc)
#define REDUCE(name_, class_, width, autocast_, samples_, first, merge, last, gradient_, flops, doc_)        \
    [OP_##name_] = {                                                                                         \
        .name = #name_,                                                                                      \
        .doc = doc_,                                                                                         \
        .schema = "axes:axes=all keep:bool=false",                                                           \
        .samples = samples_,                                                                                 \
        .value_text = "a = " #merge,                                                                         \
        .gradient_text = #gradient_,                                                                         \
        .id = OP_##name_,                                                                                    \
        .kind = KIND_REDUCE,                                                                                 \
        .class = CLASS_##class_,                                                                             \
        .autocast = AUTOCAST_##autocast_,                                                                    \
        .nin = 1,                                                                                            \
        .nout = 1,                                                                                           \
        .flops_per_element = flops,                                                                          \
        .attr_bytes = sizeof(reduce_attrs),                                                                  \
        .shape = reduce_shape,                                                                               \
        .eval = reduce_eval,                                                                                 \
        .gradient = gradient_,                                                                               \
        .cost = reduce_cost,                                                                                 \
    },
#define OP(name_, nin_, nout_, kind_, schema_, attrs_, class_, autocast_, flags_, samples_, gradient_, doc_) \
    [OP_##name_] = {                                                                                         \
        .name = #name_,                                                                                      \
        .doc = doc_,                                                                                         \
        .schema = schema_,                                                                                   \
        .samples = samples_,                                                                                 \
        .value_text = "",                                                                                    \
        .gradient_text = #gradient_,                                                                         \
        .id = OP_##name_,                                                                                    \
        .kind = KIND_##kind_,                                                                                \
        .class = CLASS_##class_,                                                                             \
        .autocast = AUTOCAST_##autocast_,                                                                    \
        .nin = nin_,                                                                                         \
        .nout = nout_,                                                                                       \
        .flags = flags_,                                                                                     \
        .attr_bytes = sizeof(schema_) > 1 ? sizeof(attrs_) : 0,                                              \
        .shape = name_##_shape,                                                                              \
        .eval = name_##_eval,                                                                                \
        .gradient = gradient_,                                                                               \
        .cost = name_##_cost,                                                                                \
    },
#define FAULT(...)
#include "engine/ops/ops.def"
};

const op_info *op_find(const char *name, size_t length) {
    for (int i = 0; i < OP_COUNT; i++)
        if (strlen(op_table[i].name) == length && memcmp(op_table[i].name, name, length) == 0)
            return &op_table[i];
    return NULL;
}

ctype op_operand_ctype(const op_info *op, ctype t, int i) {
    if (op->kind == KIND_TERNARY && i == 0) return CT_BOOL;
    if (op->kind == KIND_MIXED) return i == 0 ? CT_I64 : CT_F64;
    return t;
}

ctype op_result_ctype(const op_info *op, ctype t) {
    if (op->kind == KIND_COMPARE) return CT_BOOL;
    return op->kind == KIND_MIXED ? CT_I8 : t;
}

ctype op_call_ctype(const op_call *call) {
    const op_info *op = call->op;
    if (op->kind == KIND_REDUCE) return op_reduce_ctype(op, call->in[0]->meta.dtype);
    return dtype_compute(call->in[op->kind == KIND_TERNARY ? 1 : 0]->meta.dtype);
}

op_cost op_cost_of(const op_call *call) {
    if (call->op->cost) return call->op->cost(call);
    double flops = 0;
    for (int i = 0; i < call->nout; i++)
        flops += support_elements(call->c, &call->out[i]) * call->op->flops_per_element;
    return support_cost(call, flops);
}

tensor *op_output(op_call *call, int i, tensor **out) {
    if (!out[i]) out[i] = tensor_new(call->c, call->out[i].dtype, &call->out[i].shape);
    if (out[i]) out[i]->meta.weak = call->out[i].weak;
    return out[i];
}

void op_table_check(text *problems) {
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        if (!op->name || op->id != (op_id)i) {
            text_printf(problems, "row %d has no name or a wrong id\n", i);
            continue;
        }
        if (!op->doc || !op->doc[0]) text_printf(problems, "%s: no doc\n", op->name);
        if (!op->samples || !op->samples[0]) text_printf(problems, "%s: no samples\n", op->name);
        if (!op->shape || !op->eval) text_printf(problems, "%s: no shape rule or kernel\n", op->name);
        if (op_elementwise(op) && op->kind != KIND_CAST && op->flops_per_element <= 0)
            text_printf(problems, "%s: no cost\n", op->name);
        if (!op_elementwise(op) && !op->cost) text_printf(problems, "%s: no cost\n", op->name);
        if (op->kind == KIND_REDUCE && op->class == CLASS_QUOTIENT && op_reduce_ctype(op, DT_I32) == CT_I64)
            text_printf(problems, "%s: widens integers, and its class leaves none\n", op->name);
        attr_field fields[MAX_ATTRS];
        int n = attrs_fields(op, fields);
        size_t bytes = n ? fields[n - 1].offset + attr_type_bytes(fields[n - 1].type) : 0;
        if (bytes != op->attr_bytes)
            text_printf(problems, "%s: schema describes %zu bytes, the struct has %zu\n", op->name, bytes,
                        op->attr_bytes);
    }
}
