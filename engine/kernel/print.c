/* print.c — the text form of kernels, and their names. */
#include <string.h>

#include "engine/kernel/kernel.h"

const char *kernel_make_name(const graph *g, arena *memory, uint32_t id, const uint32_t *nodes, int count) {
    enum { LONGEST = 60 };
    text t = {0};
    text_printf(&t, "k%u", id);
    for (int i = 0; i < count; i++) {
        const node *n = &g->nodes[nodes[i]];
        const op_info *op = &op_table[n->op];
        if (op->kind == KIND_VIEW && count > 1) continue;
        if (t.length + strlen(op->name) + 1 > LONGEST) break;
        text_printf(&t, "_%s", op->name);
    }
    char *name = t.failed ? NULL : arena_text(memory, text_str(&t), t.length);
    text_free(&t);
    return name;
}

static void print_sizes(const graph *g, const dim *size, int rank, text *out) {
    text_char(out, '[');
    for (int i = 0; i < rank; i++) {
        if (i) text_add(out, ", ");
        dim_print(g->dims, size[i], out);
    }
    text_char(out, ']');
}

static void print_terms(const graph *g, const dim *stride, int rank, char letter, bool *any, text *out) {
    for (int i = 0; i < rank; i++) {
        if (stride[i] == 0) continue;
        if (*any) text_add(out, " + ");
        *any = true;
        if (stride[i] != 1) {
            dim_print(g->dims, stride[i], out);
            text_char(out, '*');
        }
        text_printf(out, "%c%d", letter, i);
    }
}

static void print_access(const graph *g, const kernel *k, const kernel_access *a, text *out) {
    bool any = false;
    if (a->value == NO_VALUE)
        text_char(out, '(');
    else
        text_printf(out, "v%u[", a->value);
    print_terms(g, a->kept, k->kept_rank, 'i', &any, out);
    print_terms(g, a->inner, k->inner_rank, 'j', &any, out);
    if (a->offset != 0 || !any) {
        if (any) text_add(out, " + ");
        dim_print(g->dims, a->offset, out);
    }
    text_char(out, a->value == NO_VALUE ? ')' : ']');
}

static void print_number(const kernel_instr *i, text *out) {
    switch (dtype_compute(i->dtype)) {
    case CT_F64:
        text_printf(out, "%.17g", i->number.f64);
        break;
    case CT_F32:
        text_printf(out, "%.9g", (double)i->number.f32);
        break;
    case CT_I64:
        text_printf(out, "%lld", (long long)i->number.i64);
        break;
    case CT_I32:
        text_printf(out, "%d", (int)i->number.i32);
        break;
    case CT_I8:
        text_printf(out, "%d", i->number.i8);
        break;
    default:
        text_printf(out, "%u", i->number.u8);
        break;
    }
}

static void print_instr(const graph *g, const kernel *k, int n, text *out) {
    static const char *const word[] = {"load", "const", "size", "index", "", "cast", "reduce", "store"};
    static const char *const level[] = {"uniform", "row", "element"};
    const kernel_instr *i = &k->code[n];
    text_printf(out, "  %%%d = %s", n, i->code == K_MAP ? op_table[i->op].name : word[i->code]);
    if (i->code == K_REDUCE) text_printf(out, " %s", op_table[i->op].name);
    for (int j = 0; j < i->nin; j++) text_printf(out, " %%%d", i->in[j]);
    if (i->access >= 0) {
        text_char(out, ' ');
        print_access(g, k, &k->accesses[i->access], out);
    }
    if (i->code == K_CONST) {
        text_char(out, ' ');
        print_number(i, out);
    }
    if (i->code == K_SIZE) {
        text_char(out, ' ');
        dim_print(g->dims, i->size, out);
    }
    text_printf(out, " : %s  %s phase %d", dtype_name(i->dtype), level[i->level], i->phase);
    if (i->slot >= 0) text_printf(out, " slot %d", i->slot);
    text_char(out, '\n');
}

void kernel_print(const graph *g, const kernel *k, text *out) {
    text_printf(out, "kernel %s: kept ", k->name);
    print_sizes(g, k->kept, k->kept_rank, out);
    text_add(out, " inner ");
    print_sizes(g, k->inner, k->inner_rank, out);
    text_printf(out, ", vectors along %s", k->along_inner ? "inner" : "kept");
    if (k->product != NO_VALUE) text_printf(out, ", on panels of %%%u", k->product);
    text_char(out, '\n');
    for (int i = 0; i < k->count; i++) print_instr(g, k, i, out);
    for (int p = 0; p <= k->phase_count; p++) {
        const kernel_phase *phase = &k->phases[p];
        text_printf(out, "  phase %d: rows", p);
        for (int i = 0; i < phase->row_count; i++) text_printf(out, " %%%d", phase->rows[i]);
        if (p < k->phase_count) text_add(out, "; elements");
        for (int i = 0; i < phase->element_count; i++) text_printf(out, " %%%d", phase->elements[i]);
        text_char(out, '\n');
    }
}
