/* value_dump.c — values as text on one line: for messages, and in full for tests. */
#include <stdio.h>

#include "engine/base/number.h"
#include "repl/lang/builtin.h"
#include "repl/lang/function.h"
#include "repl/lang/value.h"

const char *value_kind_text(value_kind kind) {
    static const char *const names[VALUE_KIND_COUNT] = {
        [VALUE_ABSENT] = "nothing",      [VALUE_NONE] = "None",
        [VALUE_TENSOR] = "a tensor",     [VALUE_STRING] = "a string",
        [VALUE_TUPLE] = "a tuple",       [VALUE_RECORD] = "a record",
        [VALUE_RANGE] = "a range",       [VALUE_TYPE] = "a dtype",
        [VALUE_FUNCTION] = "a function", [VALUE_BUILTIN] = "a function",
        [VALUE_OP] = "a function",       [VALUE_DERIVED] = "a function",
        [VALUE_PULLBACK] = "a pullback", [VALUE_GRAPH] = "a frozen graph",
        [VALUE_TAPE] = "a tape",
    };
    return (unsigned)kind < VALUE_KIND_COUNT ? names[kind] : "nothing";
}

static const dims *dims_of(const tensor *t) {
    return t->c->dims;
}

const char *value_describe(value v, char *buffer, size_t size) {
    const char *name = NULL;
    switch (v.kind) {
    case VALUE_TENSOR:
        if (v.tensor->meta.weak) return v.tensor->meta.dtype == DT_F64 ? "a real" : "an integer";
        return meta_text(dims_of(v.tensor), &v.tensor->meta, buffer, size);
    case VALUE_TUPLE:
        snprintf(buffer, size, "a tuple of %zu", v.tuple->count);
        return buffer;
    case VALUE_RECORD:
        snprintf(buffer, size, "a record of %zu", v.record->count);
        return buffer;
    case VALUE_FUNCTION:
        name = v.function->proto->name ? v.function->proto->name->text : NULL;
        break;
    case VALUE_BUILTIN:
        name = v.builtin->name;
        break;
    case VALUE_OP:
        name = v.op->name;
        break;
    default:
        break;
    }
    if (name)
        snprintf(buffer, size, "the function %s", name);
    else
        snprintf(buffer, size, "%s", value_kind_text(v.kind));
    return buffer;
}

static void add_real(text *out, double x, dtype t) {
    char buffer[NUMBER_MAX];
    number_format f = t == DT_F64    ? NUMBER_F64
                      : t == DT_F16  ? NUMBER_F16
                      : t == DT_BF16 ? NUMBER_BF16
                                     : NUMBER_F32;
    number_print(buffer, x, f);
    text_add(out, buffer);
}

static void add_element(text *out, const tensor *t, int64_t i) {
    dtype d = t->meta.dtype;
    if (d == DT_BOOL)
        text_add(out, tensor_get_int(t, i) ? "true" : "false");
    else if (dtype_is_float(d))
        add_real(out, tensor_get_real(t, i), d);
    else
        text_printf(out, "%lld", (long long)tensor_get_int(t, i));
}

/* Elements from *at on, bracketed by axis; ranks are at most MAX_RANK. */
static void add_elements(text *out, const tensor *t, int axis, int64_t *at) {
    if (axis == t->meta.shape.rank) {
        add_element(out, t, (*at)++);
        return;
    }
    text_char(out, '[');
    for (dim i = 0; i < t->meta.shape.size[axis]; i++) {
        if (i) text_add(out, ", ");
        add_elements(out, t, axis + 1, at);
    }
    text_char(out, ']');
}

static void dump_tensor(tensor *t, int64_t elements, text *out) {
    char buffer[160];
    bool scalar = t->meta.shape.rank == 0;
    if (!tensor_concrete(t)) {
        text_printf(out, "traced %s", meta_text(dims_of(t), &t->meta, buffer, sizeof buffer));
        return;
    }
    if (!scalar || !t->meta.weak) {
        bool plain =
            scalar && (t->meta.dtype == DT_BOOL || t->meta.dtype == DT_F32 || t->meta.dtype == DT_I64);
        if (!plain) text_add(out, meta_text(NULL, &t->meta, buffer, sizeof buffer));
        if (!plain) text_char(out, ' ');
    }
    if (tensor_count(t) > elements) {
        text_add(out, "...");
        return;
    }
    int64_t at = 0;
    add_elements(out, t, 0, &at);
}

static void dump_type(value v, text *out) {
    text_add(out, dtype_name(v.dtype));
    if (!v.type) return;
    text_char(out, '[');
    for (int i = 0; i < v.type->count; i++) {
        const type_dim *d = &v.type->dim[i];
        if (i) text_add(out, ", ");
        if (d->kind == TYPE_DIM_SIZE)
            text_printf(out, "%lld", (long long)d->size);
        else
            text_add(out, d->kind == TYPE_DIM_NAME ? d->name->text : d->kind == TYPE_DIM_ANY ? "?" : "...");
    }
    text_char(out, ']');
}

void value_dump(value v, int64_t elements, text *out) {
    char buffer[160];
    switch (v.kind) {
    case VALUE_TENSOR:
        dump_tensor(v.tensor, elements, out);
        break;
    case VALUE_STRING:
        text_char(out, '"');
        text_add_bytes(out, v.string->text, v.string->length);
        text_char(out, '"');
        break;
    case VALUE_TUPLE:
        text_char(out, '(');
        for (size_t i = 0; i < v.tuple->count; i++) {
            if (i) text_add(out, ", ");
            value_dump(v.tuple->item[i], elements, out);
        }
        text_add(out, v.tuple->count == 1 ? ",)" : ")");
        break;
    case VALUE_RECORD:
        text_char(out, '{');
        for (size_t i = 0; i < v.record->count; i++) {
            text_printf(out, "%s%s: ", i ? ", " : "", v.record->entry[i].key->text);
            value_dump(v.record->entry[i].value, elements, out);
        }
        text_char(out, '}');
        break;
    case VALUE_RANGE:
        text_printf(out, "%lld..%lld", (long long)v.range->begin, (long long)v.range->end);
        break;
    case VALUE_TYPE:
        dump_type(v, out);
        break;
    case VALUE_NONE:
        text_add(out, "None");
        break;
    default:
        text_printf(out, "<%s>", value_describe(v, buffer, sizeof buffer));
        break;
    }
}
