/* emulate.c — a program's kernels as emitted CUDA, run on the host under the shim: how the CUDA emitter is checked
 * where there is no GPU. Slow; for tests. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/kernel/cuda_grid.h"
#include "engine/kernel/shim.h"
#include "engine/runtime/plan.h"

enum { THREADS = 64, GRID = 3 };

struct emulation {
    code_unit *unit;
    shim *shim;
    void (**entries)(cuda_launch); /* by step */
    unsigned seed;                 /* of the next launch's order of threads */
};

void emulation_free(struct emulation *m) {
    if (!m) return;
    code_unit_release(m->unit);
    shim_free(m->shim);
    mem_free(m->entries);
    mem_free(m);
}

const char *program_cuda(program *p, int step) {
    program_step *s = &p->steps[step];
    if (!s->k) return NULL;
    if (!s->cuda.text && emit_cuda(p->g, s->k, p->memory, &s->cuda)) error_clear(&p->c->err);
    return s->cuda.text;
}

static status compile(program *p, struct emulation *m) {
    code_cache *cache = code_cache_of(p->c);
    if (!cache) return p->c->err.code;
    text t = {0};
    text_add(&t, "#define TD_HOST_SHIM 1\n");
    text_add(&t, emit_cuda_head);
    for (int i = 0; i < p->step_count; i++)
        if (p->steps[i].k && program_cuda(p, i)) text_add(&t, p->steps[i].cuda.text);
    if (t.failed)
        fail_memory(&p->c->err, t.length);
    else
        m->unit = code_unit_new(cache, t.data, true, (event){.graph = p->g->id}, &p->c->err);
    text_free(&t);
    if (!m->unit) return p->c->err.code;
    if (code_unit_state(m->unit) != CODE_READY)
        return fail(&p->c->err, STATUS_UNSUPPORTED, 903, "emitted CUDA: %s", code_unit_message(m->unit));
    shim_thread **thread = code_unit_symbol(m->unit, "td_shim");
    *thread = shim_thread_of(m->shim);
    for (int i = 0; i < p->step_count; i++) {
        if (!p->steps[i].k) continue;
        void *entry = code_unit_symbol(m->unit, p->steps[i].k->name);
        memcpy(&m->entries[i], &entry, sizeof entry);
    }
    return STATUS_OK;
}

status program_emulate(program *p, unsigned seed) {
    struct emulation *m = mem_calloc(1, sizeof *m);
    if (!m) return fail_memory(&p->c->err, sizeof *m);
    m->seed = seed;
    m->shim = shim_new(THREADS);
    m->entries = mem_calloc((size_t)p->step_count + 1, sizeof *m->entries);
    if (!m->shim || !m->entries || compile(p, m)) {
        if (!p->c->err.code) fail_memory(&p->c->err, THREADS * 1024);
        emulation_free(m);
        return p->c->err.code;
    }
    emulation_free(p->emulation);
    p->emulation = m;
    return STATUS_OK;
}

status emulation_run(program *p, int step) {
    struct emulation *m = p->emulation;
    const program_step *s = &p->steps[step];
    const kernel *k = s->k;
    kernel_launch *l = &p->current->steps[step].launch;
    cuda_grid g;
    if (cuda_grid_make(l, &s->cuda, p->current->values, GRID, THREADS, &g)) return p->c->err.code;
    void **pointers = mem_calloc((size_t)k->access_count + 1, sizeof *pointers);
    char *scratch = mem_alloc_aligned(64, g.scratch_bytes + 64),
         *partial = mem_alloc_aligned(64, g.partial_bytes + 64);
    status code = STATUS_OK;
    if (pointers && scratch && partial) {
        for (int i = 0; i < k->access_count; i++) {
            value_id v = k->accesses[i].value;
            if (v != NO_VALUE)
                pointers[i] = (char *)p->address[v] + l->accesses[i].offset * (int64_t)l->accesses[i].bytes;
        }
        cuda_launch launch = {.rows = l->rows, .teams = g.teams};
        launch.args = (kernel_args){.buffer = pointers,
                                    .number = g.numbers,
                                    .scratch = scratch,
                                    .partial = partial,
                                    .fault = (int64_t *)(uintptr_t)l->faults};
        if (l->rows > 0)
            code = shim_run(m->shim, m->entries[step], launch, g.blocks, g.threads, m->seed++, &p->c->err);
        if (!code) code = launch_check_faults(p->c, l);
    } else
        code = fail_memory(&p->c->err, g.scratch_bytes);
    mem_free(pointers);
    mem_free(scratch);
    mem_free(partial);
    mem_free(g.numbers);
    return code;
}
