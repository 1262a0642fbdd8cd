/* emit_c_run.c — around the code of rows and blocks: the struct of the row at hand, where it is in memory, the whole
 * kernel, and the kernel in steps for launches whose blocks are shared by threads. */
#include <string.h>

#include "engine/kernel/emit_c.h"
#include "engine/kernel/index_map.h"

static bool maps(const kernel *k) {
    return k->phase_count == 0;
}

/* ---- the row at hand ---- */

/* Row values that live in the struct: those that other code reads, and results of reductions. */
static bool in_row(const emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    if (i->code == K_REDUCE) return true;
    return i->level == LEVEL_ROW && i->code != K_STORE && i->code != K_CONST && e->outlives[n];
}

static ctype register_type(const kernel_instr *i) {
    return dtype_compute(i->dtype);
}

void emit_c_struct(emitter *e) {
    const kernel *k = e->k;
    OUT("typedef struct k%u_row {\n", k->id);
    for (int i = 0; i < k->access_count; i++) {
        const kernel_access *a = &k->accesses[i];
        if (a->value == NO_VALUE) {
            OUT("    int64_t x%d;\n", i);
            continue;
        }
        const node *d = graph_def(e->g, a->value);
        OUT("    %s%s *x%d; /* %%%u%s%s */\n", a->store ? "" : "const ", emit_storage_type(a->dtype), i,
            a->value, d->label && d->label[0] ? " " : "", d->label ? d->label : "");
    }
    for (int i = 0; i < k->count; i++) {
        const kernel_instr *n = &k->code[i];
        if (n->slot >= 0) OUT("    %s *slot%d;\n", emit_type(register_type(n)), n->slot);
        if (n->level == LEVEL_UNIFORM && n->code != K_CONST)
            OUT("    %s u%d;\n", emit_type(register_type(n)), i);
        if (in_row(e, i)) OUT("    %s %sr%d;\n", emit_type(register_type(n)), emit_singly(e) ? "" : "*", i);
    }
    for (int i = 0; i < e->number_count; i++) OUT("    int64_t n%d;\n", i);
    if (e->cuda) OUT("    int leader;\n");
    OUT("    int64_t count%s;\n} k%u_row;\n\n", maps(k) ? "" : ", length", k->id);
}

/* Where vectors run along kept axes, row values are vectors of their own. */
static void emit_wide(emitter *e) {
    const kernel *k = e->k;
    if (k->along_inner || maps(k)) return;
    OUT("typedef struct k%u_wide {\n", k->id);
    for (int i = 0; i < k->count; i++)
        if (in_row(e, i)) OUT("    %s r%d[WIDTH];\n", emit_type(register_type(&k->code[i])), i);
    OUT("    char none;\n} k%u_wide;\n\n", k->id);
    OUT("INLINE void k%u_widen(k%u_row *w, k%u_wide *wide) {\n", k->id, k->id, k->id);
    for (int i = 0; i < k->count; i++)
        if (in_row(e, i)) OUT("    w->r%d = wide->r%d;\n", i, i);
    OUT("    (void)w, (void)wide;\n}\n\n");
}

/* One uniform instruction. */
static void emit_uniform(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    if (i->code == K_CONST) return;
    if (i->faults) {
        if (e->cuda) OUT("    if (blockIdx.x == 0 && threadIdx.x == 0)\n    ");
        OUT("    COUNT_FAULTS(a->fault[%d], (int64_t)op_%s_fault_%s(", n, op_table[i->op].name,
            ctype_name(i->compute));
        for (int m = 0; m < i->nin; m++) {
            if (m) OUT(", ");
            emit_value(e, i->in[m]);
        }
        OUT("));\n");
    }
    OUT("    w->u%d = ", n);
    if (i->code == K_LOAD) {
        if (dtype_is_half(i->dtype)) OUT("vm_%s_to_f32(", dtype_name(i->dtype));
        OUT("*(const %s *)a->buffer[%d]", emit_storage_type(i->dtype), i->access);
        if (dtype_is_half(i->dtype)) OUT(")");
    } else if (i->code == K_INDEX)
        emit_size(e, e->k->accesses[i->access].offset, "w->");
    else
        emit_expression(e, n);
    OUT(";");
    emit_note(e, n);
    OUT("\n");
}

void emit_c_open(emitter *e, dim length) {
    const kernel *k = e->k;
    OUT("INLINE void k%u_open(const kernel_args *a, k%u_row *w) {\n", k->id, k->id);
    for (int i = 0; i < e->number_count; i++) OUT("    w->n%d = a->number[%d];\n", i, i);
    if (!maps(k)) {
        OUT("    w->length = ");
        emit_size(e, length, "w->");
        OUT(";\n");
    }
    for (int i = 0; i < k->count; i++)
        if (k->code[i].slot >= 0)
            OUT("    w->slot%d = (%s *)(void *)(a->scratch + a->number[%d]);\n", k->code[i].slot,
                emit_type(register_type(&k->code[i])), e->number_count + k->code[i].slot);
    emit_c_choose(e, k->phases[0].rows, k->phases[0].row_count, 0, false);
    for (int m = 0; m < e->list_count; m++)
        if (k->code[e->list[m]].level == LEVEL_UNIFORM) emit_uniform(e, e->list[m]);
    OUT("    (void)a, (void)w;\n}\n\n");
}

/* Row number i as an index over the kept axes, and the addresses there. */
void emit_c_at(emitter *e) {
    const kernel *k = e->k;
    int last = k->kept_rank - 1;
    OUT("INLINE void k%u_at(const kernel_args *a, k%u_row *w, int64_t i, int64_t end) {\n", k->id, k->id);
    if (last > 0) OUT("    int64_t left = i;\n");
    for (int m = last; m > 0; m--) {
        OUT("    const int64_t i%d = left %% ", m);
        emit_size(e, k->kept[m], "w->");
        OUT(";\n    left /= ");
        emit_size(e, k->kept[m], "w->");
        OUT(";\n");
    }
    if (last >= 0) OUT("    const int64_t i0 = %s;\n", last > 0 ? "left" : "i");
    for (int x = 0; x < k->access_count; x++) {
        const kernel_access *c = &k->accesses[x];
        if (c->value == NO_VALUE) {
            OUT("    w->x%d = ", x);
            emit_size(e, c->offset, "w->");
        } else
            OUT("    w->x%d = (%s%s *)a->buffer[%d]", x, c->store ? "" : "const ",
                emit_storage_type(c->dtype), x);
        for (int m = 0; m <= last; m++) {
            if (c->kept[m] == 0) continue;
            OUT(" + i%d * ", m);
            emit_size(e, c->kept[m], "w->");
        }
        OUT(";\n");
    }
    if (emit_singly(e) || last < 0)
        OUT("    w->count = 1;\n");
    else {
        OUT("    w->count = end - i < %s ? end - i : %s;\n", maps(k) ? "STRETCH" : "WIDTH",
            maps(k) ? "STRETCH" : "WIDTH");
        if (last > 0) {
            OUT("    if (w->count > ");
            emit_size(e, k->kept[last], "w->");
            OUT(" - i%d) w->count = ", last);
            emit_size(e, k->kept[last], "w->");
            OUT(" - i%d;\n", last);
        }
    }
    OUT("    (void)a, (void)i, (void)end;%s\n}\n\n", last >= 0 ? " (void)i0;" : "");
}

/* ---- the kernel ---- */

bool emit_c_has_rows(emitter *e, int phase) {
    emit_c_choose(e, e->k->phases[phase].rows, e->k->phases[phase].row_count, phase, false);
    return emit_c_row_instructions(e) > 0;
}

static void call_rows(emitter *e, int phase, const char *indent) {
    if (emit_c_has_rows(e, phase)) OUT("%sk%u_rows%d(a, w);\n", indent, e->k->id, phase);
}

static void call_block(emitter *e, int phase, const char *indent, const char *result) {
    const kernel_phase *s = &e->k->phases[phase];
    OUT("%sk%u_block%d(a, w, b * BLOCK, BLOCK_END(b * BLOCK, w->length)", indent, e->k->id, phase);
    for (int m = 0; m < s->element_count; m++)
        if (e->k->code[s->elements[m]].code == K_REDUCE) OUT(result, s->elements[m]);
    OUT(");\n");
}

/* Rows side by side: a number where it is known, so that loops over them vanish. */
static const char *width_of(const emitter *e) {
    return e->k->along_inner ? "1" : "w->count";
}

static void push(emitter *e, int n, const char *indent) {
    const kernel_instr *i = &e->k->code[n];
    OUT("%sTREE_PUSH(op_%s_combine_%s, tree%d, b, x%d, %s);\n", indent, op_table[i->op].name,
        ctype_name(i->compute), n, n, width_of(e));
}

/* The result of reduction n from its tree of blocks, into the row. */
static void finish(emitter *e, int n, const char *indent) {
    const kernel_instr *i = &e->k->code[n];
    const char *op = op_table[i->op].name, *t = ctype_name(i->compute);
    OUT("%sTREE_TOTAL(op_%s_combine_%s, op_%s_start_%s, tree%d, blocks, x%d, %s);\n", indent, op, t, op, t, n,
        n, width_of(e));
    OUT(e->k->along_inner ? "%sw->r%d = " : "%sfor (int64_t c = 0; c < w->count; c++) w->r%d[c] = ", indent,
        n);
    if (dtype_is_half(i->dtype)) OUT("vm_round_%s(", dtype_name(i->dtype));
    OUT("op_%s_finish_%s(x%d[%s], w->length)", op, t, n, e->k->along_inner ? "0" : "c");
    OUT(dtype_is_half(i->dtype) ? ");\n" : ";\n");
}

static void each_reduce_do(emitter *e, int phase, void (*what)(emitter *, int, const char *),
                           const char *indent) {
    const kernel_phase *s = &e->k->phases[phase];
    for (int m = 0; m < s->element_count; m++)
        if (e->k->code[s->elements[m]].code == K_REDUCE) what(e, s->elements[m], indent);
}

static void declare_trees(emitter *e, int phase) {
    bool inner = e->k->along_inner;
    emit_c_each_reduce(
        e, phase, inner ? "            %s tree%d[LEVELS][1];\n" : "            %s tree%d[LEVELS][WIDTH];\n");
    emit_c_each_reduce(e, phase, inner ? "            %s x%d[1];\n" : "            %s x%d[WIDTH];\n");
}

/* Rows [begin, end), each through all phases. */
static void emit_run(emitter *e) {
    const kernel *k = e->k;
    OUT("void %s(const kernel_args *a, int64_t begin, int64_t end) {\n    k%u_row row, *w = &row;\n", k->name,
        k->id);
    if (!k->along_inner && !maps(k)) OUT("    k%u_wide wide;\n    k%u_widen(w, &wide);\n", k->id, k->id);
    OUT("    k%u_open(a, w);\n", k->id);
    OUT("    for (; begin < end && !*a->stop; begin += w->count) {\n");
    OUT("        k%u_at(a, w, begin, end);\n", k->id);
    for (int p = 0; p < k->phase_count; p++) {
        call_rows(e, p, "        ");
        OUT("        { /* phase %d */\n            const int64_t blocks = (w->length + BLOCK - 1) / BLOCK;\n",
            p);
        declare_trees(e, p);
        OUT("            for (int64_t b = 0; b < blocks && !*a->stop; b++) {\n");
        call_block(e, p, "                ", ", x%d");
        each_reduce_do(e, p, push, "                ");
        OUT("            }\n");
        each_reduce_do(e, p, finish, "            ");
        OUT("        }\n");
    }
    call_rows(e, k->phase_count, "        ");
    OUT("    }\n}\n\n");
}

static int reduce_number(const kernel *k, int n) {
    int r = 0;
    for (int i = 0; i < n; i++) r += k->code[i].code == K_REDUCE;
    return r;
}

static void partial(emitter *e, int n, const char *indent) {
    const kernel *k = e->k;
    const char *t = emit_type(k->code[n].compute);
    OUT("%s%s *part%d = (%s *)(void *)(a->partial + a->number[%d]);\n", indent, t, n, t,
        e->number_count + k->slot_count + reduce_number(k, n));
}

static void take_partial(emitter *e, int n, const char *indent) {
    OUT("%sfor (int64_t c = 0; c < %s; c++) x%d[c] = part%d[b * %s + c];\n", indent, width_of(e), n, n,
        e->k->along_inner ? "1" : "WIDTH");
    push(e, n, indent);
}

/* One row (or WIDTH of them) in steps: 0 opens it; 1 + 2 p computes blocks [first, last) of phase p; 2 + 2 p combines
 * them. Between calls the row is in a->state. */
static void emit_steps(emitter *e) {
    const kernel *k = e->k;
    OUT("typedef struct k%u_state {\n    k%u_row row;\n", k->id, k->id);
    if (!k->along_inner) OUT("    k%u_wide wide;\n", k->id);
    OUT("} k%u_state;\nconst int64_t %s_state = sizeof(k%u_state);\n\n", k->id, k->name, k->id);
    OUT("SELDOM void %s_step(const kernel_args *a, int step, int64_t begin, int64_t first, int64_t last) {\n",
        k->name);
    OUT("    k%u_state *s = (k%u_state *)(void *)a->state;\n    k%u_row *w = &s->row;\n", k->id, k->id,
        k->id);
    OUT("    const int64_t blocks = step ? (w->length + BLOCK - 1) / BLOCK : 0;\n");
    OUT("    switch (step) {\n    case 0:\n");
    if (!k->along_inner) OUT("        k%u_widen(w, &s->wide);\n", k->id);
    OUT("        k%u_open(a, w);\n        k%u_at(a, w, begin, last);\n", k->id, k->id);
    call_rows(e, 0, "        ");
    OUT("        break;\n");
    for (int p = 0; p < k->phase_count; p++) {
        OUT("    case %d: {\n", 1 + 2 * p);
        each_reduce_do(e, p, partial, "        ");
        OUT("        for (int64_t b = first; b < last && !*a->stop; b++)\n");
        call_block(e, p, "            ", k->along_inner ? ", part%d + b" : ", part%d + b * WIDTH");
        OUT("        break;\n    }\n    case %d: {\n", 2 + 2 * p);
        each_reduce_do(e, p, partial, "        ");
        declare_trees(e, p);
        OUT("        for (int64_t b = 0; b < blocks; b++) {\n");
        each_reduce_do(e, p, take_partial, "            ");
        OUT("        }\n");
        each_reduce_do(e, p, finish, "        ");
        call_rows(e, p + 1, "        ");
        OUT("        break;\n    }\n");
    }
    OUT("    }\n    (void)first, (void)blocks;\n}\n\n");
}

void emit_c_title(emitter *e, bool on_panels) {
    text whole = {0};
    kernel shown = *e->k;
    if (!on_panels) shown.product = NO_VALUE;
    kernel_print(e->g, &shown, &whole);
    const char *s = text_str(&whole), *name = "kernel ";
    OUT("/* ");
    text_add_bytes(&e->out, s + strlen(name),
                   whole.length > strlen(name) ? strcspn(s, "\n") - strlen(name) : 0);
    OUT(" */\n");
    text_free(&whole);
}

dim emit_c_length(emitter *e) {
    const kernel *k = e->k;
    dim n = 1;
    for (int i = 0; i < k->inner_rank; i++) n = dim_mul(e->g->dims, n, k->inner[i]);
    if (!dim_known(n)) emit_number(e, n);
    for (int i = 0; i < k->count; i++) {
        if (k->code[i].code == K_SIZE && !dim_known(k->code[i].size)) emit_number(e, k->code[i].size);
        if (k->code[i].code == K_INDEX && !dim_known(k->accesses[k->code[i].access].offset))
            emit_number(e, k->accesses[k->code[i].access].offset);
    }
    return n;
}

status emit_c(const graph *g, const kernel *k, arena *memory, kernel_source *out) {
    emitter em, *e = &em;
    if (emit_open(e, g, k, memory)) return g->c->err.code;
    text body = {0}, at = {0}, all = {0};
    for (int p = 0; p <= k->phase_count; p++) {
        emit_c_rows(e, p);
        if (p == k->phase_count) break;
        emit_c_element(e, p);
        emit_c_block(e, p);
    }
    body = e->out;
    e->out = (text){0};
    emit_c_at(e);
    at = e->out;
    e->out = (text){0};
    dim length = emit_c_length(e);
    emit_c_title(e, true);
    emit_c_struct(e);
    emit_wide(e);
    emit_c_open(e, length);
    text_add(&e->out, text_str(&at));
    text_add(&e->out, text_str(&body));
    emit_run(e);
    if (!maps(k)) emit_steps(e);
    all = e->out;
    bool failed = all.failed || body.failed || at.failed;
    if (!failed) out->text = arena_text(memory, text_str(&all), all.length);
    out->numbers = e->numbers;
    out->number_count = e->number_count;
    text_free(&body);
    text_free(&at);
    text_free(&all);
    return failed || !out->text ? fail_memory(&g->c->err, 4096) : STATUS_OK;
}
