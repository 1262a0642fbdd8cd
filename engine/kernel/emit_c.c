/* emit_c.c — a kernel as C (tier B): the same phases, blocks and lanes as the tile interpreter, the loops fused and
 * left to the compiler's vectoriser. */
#include "engine/kernel/emit_c.h"

const char emit_c_head[] = "#include \"engine/ops/scalar.h\"\n#include \"engine/kernel/prelude.h\"\n";

/* ---- code ---- */

static void load(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    if (dtype_is_half(i->dtype)) OUT("vm_%s_to_f32(", dtype_name(i->dtype));
    emit_element(e, i->access);
    if (dtype_is_half(i->dtype)) OUT(")");
}

static void store(emitter *e, int n, const char *indent) {
    const kernel_instr *i = &e->k->code[n];
    OUT("%s%s", indent, e->cuda && i->level != LEVEL_ELEMENT ? "if (w->leader) " : "");
    emit_element(e, i->access);
    OUT(" = ");
    if (dtype_is_half(i->dtype)) OUT("vm_f32_to_%s(", dtype_name(i->dtype));
    emit_value(e, i->in[0]);
    OUT(dtype_is_half(i->dtype) ? ");\n" : ";\n");
}

static void reduce(emitter *e, int n, const char *indent) {
    const kernel_instr *i = &e->k->code[n];
    const char *at = emit_singly(e) ? "lane" : "c", *op = op_table[i->op].name, *t = ctype_name(i->compute);
    OUT("%sacc%d[%s] = op_%s_combine_%s(acc%d[%s], ", indent, n, at, op, t, n, at);
    emit_converted(e, i->in[0], i->from, i->compute);
    OUT(");");
    emit_note(e, n);
    OUT("\n");
}

static void slot(emitter *e, int n) {
    OUT("w->slot%d[%s]", e->k->code[n].slot, emit_singly(e) ? "j" : "j * WIDTH + c");
}

static void fault(emitter *e, int n, const char *indent) {
    const kernel_instr *i = &e->k->code[n];
    OUT("%s%sfaults%d[0] += op_%s_fault_%s(", indent,
        e->cuda && i->level != LEVEL_ELEMENT ? "if (w->leader) " : "", n, op_table[i->op].name,
        ctype_name(i->compute));
    for (int k = 0; k < i->nin; k++) {
        if (k) OUT(", ");
        emit_value(e, i->in[k]);
    }
    OUT(");\n");
}

static void instruction(emitter *e, int n, const char *indent) {
    const kernel_instr *i = &e->k->code[n];
    if (i->code == K_CONST) return;
    if (i->code == K_STORE) {
        store(e, n, indent);
        return;
    }
    if (i->code == K_REDUCE) {
        reduce(e, n, indent);
        return;
    }
    if (i->faults && i->phase == e->phase) fault(e, n, indent);
    OUT("%sconst %s r%d = ", indent, emit_type(dtype_compute(i->dtype)), n);
    bool kept = i->slot >= 0 && i->phase < e->phase;
    if (kept)
        slot(e, n);
    else if (i->code == K_LOAD)
        load(e, n);
    else if (i->code == K_INDEX)
        emit_element(e, i->access);
    else
        emit_expression(e, n);
    OUT(";");
    emit_note(e, n);
    OUT("\n");
    if (i->slot >= 0 && !kept) {
        OUT("%s", indent);
        slot(e, n);
        OUT(" = r%d;\n", n);
    }
    if (i->level == LEVEL_ROW && e->outlives[n])
        OUT(emit_singly(e) ? "%sw->r%d = r%d;\n" : "%sw->r%d[c] = r%d;\n", indent, n, n);
}

void emit_c_choose(emitter *e, const int *list, int count, int phase, bool elements) {
    e->list = list;
    e->list_count = count;
    e->phase = phase;
    e->elements = elements;
}

/* ---- functions ---- */

/* Faulting instructions of the current list, as declarations, parameters, arguments or additions. */
void emit_c_each_fault(emitter *e, const char *format) {
    for (int m = 0; m < e->list_count; m++) {
        const kernel_instr *i = &e->k->code[e->list[m]];
        if (!i->faults || i->phase != e->phase || i->level == LEVEL_UNIFORM) continue;
        int n = e->list[m];
        OUT(format, n, n);
    }
}

int emit_c_row_instructions(const emitter *e) {
    int n = 0;
    for (int m = 0; m < e->list_count; m++) n += e->k->code[e->list[m]].level != LEVEL_UNIFORM;
    return n;
}

void emit_c_rows(emitter *e, int phase) {
    const kernel *k = e->k;
    emit_c_choose(e, k->phases[phase].rows, k->phases[phase].row_count, phase, false);
    if (!emit_c_row_instructions(e)) return;
    OUT("PART void k%u_rows%d(const kernel_args *a, k%u_row *row) {\n", k->id, phase, k->id);
    if (emit_singly(e))
        OUT("    k%u_row *w = row;\n", k->id);
    else
        OUT("    const k%u_row here = *row, *w = &here;\n", k->id);
    emit_c_each_fault(e, "    int64_t faults%d[1] = {0};\n");
    if (!emit_singly(e)) OUT("    EACH for (int64_t c = 0; c < w->count; c++) {\n");
    for (int m = 0; m < e->list_count; m++)
        if (k->code[e->list[m]].level != LEVEL_UNIFORM)
            instruction(e, e->list[m], emit_singly(e) ? "    " : "        ");
    if (!emit_singly(e)) OUT("    }\n");
    emit_c_each_fault(e, "    COUNT_FAULTS(a->fault[%d], faults%d[0]);\n");
    OUT("    (void)a;\n}\n\n");
}

static void inner_indices(emitter *e, const char *format) {
    if (e->k->inner_rank > 1)
        for (int i = 0; i < e->k->inner_rank; i++) OUT(format, i, i);
}

/* j0, j1, ... from j: "j_ = ..." in the order last to first. */
void emit_c_unravel(emitter *e, const char *from, const char *indent) {
    const kernel *k = e->k;
    if (k->inner_rank < 2) return;
    OUT("%sint64_t left = %s", indent, from);
    for (int i = k->inner_rank - 1; i > 0; i--) {
        OUT(";\n%sconst int64_t j%d = left %% ", indent, i);
        emit_size(e, k->inner[i], "w->");
        OUT(";\n%sleft /= ", indent);
        emit_size(e, k->inner[i], "w->");
    }
    OUT(";\n%sconst int64_t j0 = left;\n", indent);
}

void emit_c_each_reduce(emitter *e, int phase, const char *format) {
    const kernel_phase *s = &e->k->phases[phase];
    for (int m = 0; m < s->element_count; m++) {
        const kernel_instr *i = &e->k->code[s->elements[m]];
        if (i->code == K_REDUCE) OUT(format, emit_type(i->compute), s->elements[m]);
    }
}

void emit_c_element(emitter *e, int phase) {
    const kernel *k = e->k;
    emit_c_choose(e, k->phases[phase].elements, k->phases[phase].element_count, phase, true);
    OUT("INLINE void k%u_element%d(const k%u_row *w, %s, int64_t j", k->id, phase, k->id,
        emit_singly(e) ? "int lane" : "int64_t c");
    inner_indices(e, ", int64_t j%d");
    emit_c_each_reduce(e, phase, ", %s *acc%d");
    emit_c_each_fault(e, ", int64_t *faults%d");
    OUT(") {\n");
    for (int m = 0; m < e->list_count; m++) instruction(e, e->list[m], "    ");
    OUT("    (void)w, (void)j, (void)%s;\n}\n\n", emit_singly(e) ? "lane" : "c");
}

void emit_c_call_element(emitter *e, int phase, const char *arguments, const char *lane) {
    OUT("k%u_element%d(w, %s", e->k->id, phase, arguments);
    inner_indices(e, ", j%d");
    const kernel_phase *s = &e->k->phases[phase];
    for (int m = 0; m < s->element_count; m++)
        if (e->k->code[s->elements[m]].code == K_REDUCE) OUT(", acc%d%s", s->elements[m], lane);
    emit_c_each_fault(e, ", faults%d");
    OUT(");\n");
}

/* The loop over a block's elements where vectors run along the inner axes: whole groups of lanes, then the rest. */
static void loop_inner(emitter *e, int phase) {
    const kernel *k = e->k;
    OUT("    int64_t j = begin;\n");
    OUT("    for (; j + LANES <= end; j += LANES) {\n");
    int last = k->inner_rank - 1;
    if (k->inner_rank > 1) {
        char j[8] = {'j', (char)('0' + last), 0};
        emit_c_unravel(e, "j", "        ");
        OUT("        if (%s + LANES <= ", j);
        emit_size(e, k->inner[last], "w->");
        OUT(") {\n            EACH for (int lane = 0; lane < LANES; lane++)\n                ");
        OUT("k%u_element%d(w, lane, j + lane", k->id, phase);
        for (int i = 0; i < last; i++) OUT(", j%d", i);
        OUT(", %s + lane", j);
        const kernel_phase *s = &k->phases[phase];
        for (int m = 0; m < s->element_count; m++)
            if (k->code[s->elements[m]].code == K_REDUCE) OUT(", acc%d", s->elements[m]);
        emit_c_each_fault(e, ", faults%d");
        OUT(");\n            continue;\n        }\n");
        OUT("        for (int lane = 0; lane < LANES; lane++) {\n");
        emit_c_unravel(e, "j + lane", "            ");
        OUT("            ");
        emit_c_call_element(e, phase, "lane, j + lane", "");
        OUT("        }\n    }\n    for (int lane = 0; j < end; j++, lane++) {\n");
        emit_c_unravel(e, "j", "        ");
        OUT("        ");
        emit_c_call_element(e, phase, "lane, j", "");
        OUT("    }\n");
        return;
    }
    OUT("        EACH for (int lane = 0; lane < LANES; lane++) ");
    emit_c_call_element(e, phase, "lane, j + lane", "");
    OUT("    }\n    for (int lane = 0; j < end; j++, lane++) ");
    emit_c_call_element(e, phase, "lane, j", "");
}

static void loop_kept(emitter *e, int phase) {
    OUT("    for (int64_t j = begin; j < end; j++) {\n");
    emit_c_unravel(e, "j", "        ");
    OUT("        EACH for (int64_t c = 0; c < w->count; c++) ");
    emit_c_call_element(e, phase, "c, j", "[j % LANES]");
    OUT("    }\n");
}

/* Accumulators are [LANES] along inner axes and [LANES][WIDTH] along kept ones. */
void emit_c_block(emitter *e, int phase) {
    const kernel *k = e->k;
    const kernel_phase *s = &k->phases[phase];
    emit_c_choose(e, s->elements, s->element_count, phase, true);
    OUT("APART void k%u_block%d(const kernel_args *a, const k%u_row *row, int64_t begin, int64_t end", k->id,
        phase, k->id);
    emit_c_each_reduce(e, phase, ", %s *out%d");
    OUT(") {\n    const k%u_row here = *row, *w = &here;\n", k->id);
    emit_c_each_reduce(e, phase, k->along_inner ? "    %s acc%d[LANES];\n" : "    %s acc%d[LANES][WIDTH];\n");
    for (int m = 0; m < s->element_count; m++) {
        const kernel_instr *i = &k->code[s->elements[m]];
        if (i->code != K_REDUCE) continue;
        OUT("    for (int l = 0; l < LANES; l++)%s acc%d%s = op_%s_start_%s();\n",
            k->along_inner ? "" : "\n        for (int64_t c = 0; c < w->count; c++)", s->elements[m],
            k->along_inner ? "[l]" : "[l][c]", op_table[i->op].name, ctype_name(i->compute));
    }
    emit_c_each_fault(e, "    int64_t faults%d[1] = {0};\n");
    if (k->along_inner)
        loop_inner(e, phase);
    else
        loop_kept(e, phase);
    for (int m = 0; m < s->element_count; m++) {
        int n = s->elements[m];
        const kernel_instr *i = &k->code[n];
        if (i->code != K_REDUCE) continue;
        const char *op = op_table[i->op].name, *t = ctype_name(i->compute);
        if (k->along_inner)
            OUT("    FOLD_LANES(op_%s_combine_%s, acc%d);\n    out%d[0] = acc%d[0];\n", op, t, n, n, n);
        else
            OUT("    FOLD(op_%s_combine_%s, acc%d, w->count);\n    for (int64_t c = 0; c < w->count; c++) "
                "out%d[c] = acc%d[0][c];\n",
                op, t, n, n, n);
    }
    emit_c_each_fault(e, "    COUNT_FAULTS(a->fault[%d], faults%d[0]);\n");
    OUT("    (void)a;\n}\n\n");
}
