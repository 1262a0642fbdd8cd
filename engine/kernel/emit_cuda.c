/* emit_cuda.c — a kernel as CUDA C.
 *
 * Element-wise kernels have a thread for each element, in a grid-stride loop. Kernels with inner axes keep the
 * canonical order of reductions: where elements along the inner axes are neighbours, 16 threads have a lane each of a
 * block of 1024 elements, and fold by shuffles; else one thread has all lanes of a block, and its neighbours the
 * neighbouring rows. Several such teams share a row's blocks; their results go through memory, and every thread
 * combines them in order. Row code is computed by all threads of a row, written by one. The text keeps to what C and
 * CUDA C++ have in common, so that the host shim can run it. */
#include "engine/kernel/emit_c.h"

const char emit_cuda_head[] = "#include \"engine/ops/scalar.h\"\n#include \"engine/kernel/prelude.h\"\n";

static int reduce_number(const kernel *k, int n) {
    int r = 0;
    for (int i = 0; i < n; i++) r += k->code[i].code == K_REDUCE;
    return r;
}

static void call_rows(emitter *e, int phase) {
    if (emit_c_has_rows(e, phase)) OUT("            k%u_rows%d(a, w);\n", e->k->id, phase);
}

static void each_reduce_do(emitter *e, int phase, void (*what)(emitter *, int)) {
    const kernel_phase *s = &e->k->phases[phase];
    for (int m = 0; m < s->element_count; m++)
        if (e->k->code[s->elements[m]].code == K_REDUCE) what(e, s->elements[m]);
}

static void declare_partial(emitter *e, int n) {
    const char *t = emit_type(e->k->code[n].compute);
    OUT("    %s *part%d = (%s *)(void *)(a->partial + a->number[%d]) + place * blocks;\n", t, n, t,
        e->number_count + e->k->slot_count + reduce_number(e->k, n));
}

static void declare_accumulators(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    const char *op = op_table[i->op].name, *t = ctype_name(i->compute);
    OUT("                %s acc%d[%s];\n", emit_type(i->compute), n, e->k->along_inner ? "1" : "LANES");
    OUT("                for (int l = 0; l < %s; l++) acc%d[l] = op_%s_start_%s();\n",
        e->k->along_inner ? "1" : "LANES", n, op, t);
}

static void fold(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    const char *op = op_table[i->op].name, *t = ctype_name(i->compute);
    if (e->k->along_inner) {
        OUT("                for (int half = LANES / 2; half >= 1; half /= 2)\n");
        OUT("                    acc%d[0] = op_%s_combine_%s(acc%d[0], shuffle_%s(acc%d[0], half));\n", n, op,
            t, n, t, n);
        OUT("                if (lane == 0) part%d[b] = acc%d[0];\n", n, n);
    } else
        OUT("                FOLD_LANES(op_%s_combine_%s, acc%d);\n                part%d[b] = acc%d[0];\n",
            op, t, n, n, n);
}

static void combine(emitter *e, int n) {
    const kernel_instr *i = &e->k->code[n];
    const char *op = op_table[i->op].name, *t = ctype_name(i->compute), *type = emit_type(i->compute);
    OUT("            {\n                %s tree[LEVELS][1], x[1];\n", type);
    OUT("                for (int64_t b = 0; b < blocks; b++) {\n                    x[0] = part%d[b];\n", n);
    OUT("                    TREE_PUSH(op_%s_combine_%s, tree, b, x, 1);\n                }\n", op, t);
    OUT("                TREE_TOTAL(op_%s_combine_%s, op_%s_start_%s, tree, blocks, x, 1);\n", op, t, op, t);
    OUT("                w->r%d = ", n);
    if (dtype_is_half(i->dtype)) OUT("vm_round_%s(", dtype_name(i->dtype));
    OUT("op_%s_finish_%s(x[0], w->length)%s;\n            }\n", op, t, dtype_is_half(i->dtype) ? ")" : "");
}

/* The threads of one phase of a row: each team its blocks, then all the combination. */
static void emit_phase(emitter *e, int p) {
    const kernel *k = e->k;
    const kernel_phase *s = &k->phases[p];
    emit_c_choose(e, s->elements, s->element_count, p, true);
    OUT("        if (active)\n            for (int64_t b = team; b < blocks; b += teams) { /* phase %d */\n",
        p);
    OUT("                const int64_t end = BLOCK_END(b * BLOCK, w->length);\n");
    each_reduce_do(e, p, declare_accumulators);
    emit_c_each_fault(e, "                int64_t faults%d[1] = {0};\n");
    OUT("                for (int64_t j = b * BLOCK%s; j < end; j += %s) {\n",
        k->along_inner ? " + lane" : "", k->along_inner ? "LANES" : "1");
    emit_c_unravel(e, "j", "                    ");
    OUT("                    ");
    emit_c_call_element(e, p, k->along_inner ? "0, j" : "(int)(j % LANES), j", "");
    OUT("                }\n");
    each_reduce_do(e, p, fold);
    emit_c_each_fault(e, "                COUNT_FAULTS(a->fault[%d], faults%d[0]);\n");
    OUT("            }\n        __syncthreads();\n        if (active) {\n");
    each_reduce_do(e, p, combine);
    call_rows(e, p + 1);
    OUT("        }\n");
}

static void emit_places(emitter *e) {
    const kernel *k = e->k;
    OUT("    const int teams = launch.teams, thread = (int)threadIdx.x;\n");
    if (k->along_inner) {
        OUT("    const int lane = thread %% LANES, team = thread / LANES %% teams, spot = thread / (LANES * "
            "teams);\n");
        OUT("    const int together = (int)blockDim.x / (LANES * teams);\n");
    } else {
        OUT("    const int together = (int)blockDim.x / teams, lane = 0, team = thread / together, spot = "
            "thread %% together;\n");
    }
    OUT("    const int64_t blocks = (w->length + BLOCK - 1) / BLOCK, place = (int64_t)blockIdx.x * together "
        "+ spot;\n");
    for (int p = 0; p < k->phase_count; p++) each_reduce_do(e, p, declare_partial);
    for (int i = 0; i < k->count; i++)
        if (k->code[i].slot >= 0) OUT("    w->slot%d += place * w->length;\n", k->code[i].slot);
    OUT("    w->leader = lane == 0 && team == 0;\n");
}

static void emit_entry(emitter *e) {
    const kernel *k = e->k;
    OUT("ENTRY %s(cuda_launch launch) {\n    const kernel_args *a = &launch.args;\n", k->name);
    OUT("    k%u_row row, *w = &row;\n    k%u_open(a, w);\n", k->id, k->id);
    if (k->phase_count == 0) {
        OUT("    w->leader = 1;\n");
        OUT("    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < launch.rows; i += "
            "(int64_t)gridDim.x * blockDim.x) {\n");
        OUT("        k%u_at(a, w, i, launch.rows);\n", k->id);
        call_rows(e, 0);
        OUT("    }\n}\n\n");
        return;
    }
    emit_places(e);
    OUT("    for (int64_t first = (int64_t)blockIdx.x * together; first < launch.rows; first += "
        "(int64_t)gridDim.x * together) {\n");
    OUT("        const int active = first + spot < launch.rows;\n        if (active) {\n");
    OUT("            k%u_at(a, w, first + spot, launch.rows);\n", k->id);
    call_rows(e, 0);
    OUT("        }\n");
    for (int p = 0; p < k->phase_count; p++) emit_phase(e, p);
    OUT("        __syncthreads(); /* before the next row's blocks take the place of this one's */\n    "
        "}\n}\n\n");
}

status emit_cuda(const graph *g, const kernel *k, arena *memory, kernel_source *out) {
    emitter em, *e = &em;
    if (emit_open(e, g, k, memory)) return g->c->err.code;
    e->cuda = true;
    for (int p = 0; p <= k->phase_count; p++) {
        emit_c_rows(e, p);
        if (p < k->phase_count) emit_c_element(e, p);
    }
    text body = e->out;
    e->out = (text){0};
    emit_c_at(e);
    text at = e->out;
    e->out = (text){0};
    dim length = emit_c_length(e);
    emit_c_title(e, false);
    emit_c_struct(e);
    emit_c_open(e, length);
    text_add(&e->out, text_str(&at));
    text_add(&e->out, text_str(&body));
    emit_entry(e);
    bool failed = e->out.failed || body.failed || at.failed;
    out->text = failed ? NULL : arena_text(memory, text_str(&e->out), e->out.length);
    out->numbers = e->numbers;
    out->number_count = e->number_count;
    text_free(&body);
    text_free(&at);
    text_free(&e->out);
    return out->text ? STATUS_OK : fail_memory(&g->c->err, 4096);
}
