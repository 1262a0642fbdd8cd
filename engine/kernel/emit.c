/* emit.c — see emit.h: names, types, numbers and expressions, the same in C and in CUDA. */
#include "engine/kernel/emit.h"

#include <math.h>

#include "engine/kernel/fuse.h"

const char *emit_type(ctype t) {
    static const char *const name[] = {
        [CT_BOOL] = "uint8_t", [CT_U8] = "uint8_t", [CT_I8] = "int8_t", [CT_I32] = "int32_t",
        [CT_I64] = "int64_t",  [CT_F32] = "float",  [CT_F64] = "double"};
    return name[t];
}

const char *emit_storage_type(dtype t) {
    return dtype_is_half(t) ? "uint16_t" : emit_type(dtype_compute(t));
}

static void real_literal(text *out, double x, bool is_float) {
    const char *suffix = is_float ? "f" : "";
    if (isnan(x)) {
        text_printf(out, "vm_nan_%s()", is_float ? "f32" : "f64");
        return;
    }
    if (isinf(x)) {
        text_printf(out, "%svm_inf_%s()", x < 0 ? "-" : "", is_float ? "f32" : "f64");
        return;
    }
    size_t start = out->length;
    text_printf(out, is_float ? "%.9g" : "%.17g", x);
    bool point = false;
    for (size_t i = start; i < out->length; i++) point |= out->data[i] == '.' || out->data[i] == 'e';
    text_printf(out, "%s%s", point ? "" : ".0", suffix);
}

void emit_literal(text *out, ctype t, kernel_number n) {
    switch (t) {
    case CT_F64:
        real_literal(out, n.f64, false);
        break;
    case CT_F32:
        real_literal(out, (double)n.f32, true);
        break;
    case CT_I64:
        if (n.i64 == INT64_MIN)
            text_add(out, "(-9223372036854775807LL - 1)");
        else
            text_printf(out, "(int64_t)%lldLL", (long long)n.i64);
        break;
    case CT_I32:
        if (n.i32 == INT32_MIN)
            text_add(out, "(-2147483647 - 1)");
        else
            text_printf(out, "%d", (int)n.i32);
        break;
    case CT_I8:
        text_printf(out, "(int8_t)%d", n.i8);
        break;
    default:
        text_printf(out, "(uint8_t)%u", n.u8);
        break;
    }
}

int emit_number(emitter *e, dim d) {
    for (int i = 0; i < e->number_count; i++)
        if (e->numbers[i] == d) return i;
    e->numbers[e->number_count] = d;
    return e->number_count++;
}

void emit_size(emitter *e, dim d, const char *prefix) {
    if (dim_known(d))
        text_printf(&e->out, "%lld", (long long)d);
    else
        text_printf(&e->out, "%sn%d", prefix, emit_number(e, d));
}

bool emit_local(const emitter *e, int n) {
    for (int i = 0; i < e->list_count; i++)
        if (e->list[i] == n) return true;
    return false;
}

void emit_value(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    if (i->code == K_CONST)
        emit_literal(&e->out, dtype_compute(i->dtype), i->number);
    else if (i->level == LEVEL_UNIFORM)
        text_printf(&e->out, "w->u%d", n);
    else if (i->code != K_REDUCE && emit_local(e, n))
        text_printf(&e->out, "r%d", n);
    else
        text_printf(&e->out, emit_singly(e) ? "w->r%d" : "w->r%d[c]", n);
}

/* A conversion between compute types, or to a half, which rounds once. */
static void cast(emitter *e, const kernel_instr *i) {
    const char *from = ctype_name(dtype_compute(i->from)), *to = dtype_name(i->dtype);
    if (!dtype_is_half(i->dtype)) {
        text_printf(&e->out, "vm_cast_%s_%s(", from, to);
        emit_value(e, i->in[0]);
        text_char(&e->out, ')');
        return;
    }
    ctype c = dtype_compute(i->from);
    bool narrow = c == CT_I8 || c == CT_U8 || c == CT_BOOL, wide = c == CT_I64 || c == CT_I32;
    if (c == CT_F32 || narrow)
        text_printf(&e->out, "vm_round_%s(", to);
    else
        text_printf(&e->out, "vm_%s_to_f32(vm_f64_to_%s(", to, to);
    if (narrow) text_printf(&e->out, "vm_cast_%s_f32(", from);
    if (wide) text_printf(&e->out, "vm_cast_%s_f64(", from);
    emit_value(e, i->in[0]);
    if (narrow || wide) text_char(&e->out, ')');
    text_add(&e->out, c == CT_F32 || narrow ? ")" : "))");
}

void emit_expression(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    if (i->code == K_CONST)
        emit_literal(&e->out, dtype_compute(i->dtype), i->number);
    else if (i->code == K_SIZE)
        emit_size(e, i->size, "w->");
    else if (i->code == K_CAST)
        cast(e, i);
    else {
        if (dtype_is_half(i->dtype)) text_printf(&e->out, "vm_round_%s(", dtype_name(i->dtype));
        text_printf(&e->out, "op_%s_%s(", op_table[i->op].name, ctype_name(i->compute));
        for (int k = 0; k < i->nin; k++) {
            if (k) text_add(&e->out, ", ");
            emit_value(e, i->in[k]);
        }
        text_add(&e->out, dtype_is_half(i->dtype) ? "))" : ")");
    }
}

void emit_converted(emitter *e, int in, dtype from, ctype to) {
    ctype have = dtype_compute(from);
    if (have != to) text_printf(&e->out, "vm_cast_%s_%s(", ctype_name(have), ctype_name(to));
    emit_value(e, in);
    if (have != to) text_char(&e->out, ')');
}

static void add_term(emitter *e, bool *any, const char *index, dim stride) {
    if (stride == 0) return;
    if (*any) text_add(&e->out, " + ");
    *any = true;
    text_add(&e->out, index);
    if (stride == 1) return;
    text_add(&e->out, " * ");
    emit_size(e, stride, "w->");
}

void emit_element(emitter *e, int access) {
    const kernel_access *a = &e->k->accesses[access];
    bool any = false;
    if (a->value != NO_VALUE)
        text_printf(&e->out, "w->x%d[", access);
    else
        text_printf(&e->out, "(w->x%d + ", access);
    if (!e->cuda && !e->k->along_inner && e->k->kept_rank > 0)
        add_term(e, &any, "c", a->kept[e->k->kept_rank - 1]);
    for (int i = 0; e->elements && i < e->k->inner_rank; i++) {
        char index[8] = {'j', (char)('0' + i), 0};
        add_term(e, &any, e->k->inner_rank == 1 ? "j" : index, a->inner[i]);
    }
    if (!any) text_char(&e->out, '0');
    text_char(&e->out, a->value != NO_VALUE ? ']' : ')');
}

void emit_note(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    const node *d = &e->g->nodes[i->node];
    text_printf(&e->out, " /* %%%u", d->out);
    if (d->label && d->label[0]) text_printf(&e->out, " %s", d->label);
    if (d->kind == NODE_OP) text_printf(&e->out, " %s", op_table[d->op].name);
    if (d->backward) text_add(&e->out, " backward");
    if (d->where.source) text_printf(&e->out, " @%u:%u", d->where.source, d->where.begin);
    text_add(&e->out, " */");
}

static void note_reader(emitter *e, const int *list, int count, const int *own, int own_count) {
    for (int i = 0; i < count; i++) {
        const kernel_instr *n = &e->k->code[list[i]];
        for (int j = 0; j < n->nin; j++) {
            bool mine = false;
            for (int m = 0; m < own_count; m++) mine |= own[m] == n->in[j];
            if (!mine) e->outlives[n->in[j]] = true;
        }
    }
}

status emit_open(emitter *e, const graph *g, const kernel *k, arena *memory) {
    *e = (emitter){.g = g, .k = k};
    size_t numbers = (size_t)k->access_count * (2 * MAX_RANK + 1) + (size_t)k->count + 2 * MAX_RANK + 2;
    e->numbers = arena_alloc(memory, numbers * sizeof *e->numbers);
    e->outlives = arena_alloc(memory, (size_t)k->count + 1);
    if (!e->numbers || !e->outlives) return fail_memory(&g->c->err, numbers * sizeof *e->numbers);
    for (int p = 0; p <= k->phase_count; p++) {
        const kernel_phase *s = &k->phases[p];
        note_reader(e, s->rows, s->row_count, s->rows, s->row_count);
        note_reader(e, s->elements, s->element_count, s->elements, s->element_count);
    }
    return STATUS_OK;
}
