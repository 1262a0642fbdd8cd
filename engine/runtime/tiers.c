/* tiers.c — from tier A to tier B: all kernels of a program are one translation unit, handed to the background
 * compiler at the first run and taken up at the first run after it is ready. */
#include <stdio.h>
#include <string.h>

#include "engine/runtime/plan.h"

static bool has_kernels(const program *p) {
    for (int i = 0; i < p->step_count; i++)
        if (p->steps[i].k) return true;
    return false;
}

status program_compile(program *p, bool now) {
    if (p->unit || p->code_loaded) return STATUS_OK;
    if (!has_kernels(p)) {
        p->code_loaded = true;
        return STATUS_OK;
    }
    code_cache *cache = code_cache_of(p->c);
    if (!cache) return p->c->err.code;
    text t = {0};
    text_add(&t, emit_c_head);
    for (int i = 0; i < p->step_count; i++) {
        if (!p->steps[i].k) continue;
        text_char(&t, '\n');
        text_add(&t, p->steps[i].source.text);
        if (p->steps[i].turned) text_add(&t, p->steps[i].turned_source.text);
    }
    if (t.failed)
        fail_memory(&p->c->err, t.length);
    else
        p->unit =
            code_unit_new(cache, t.data, now, (event){.graph = p->g->id, .where = p->c->here}, &p->c->err);
    text_free(&t);
    return p->unit ? STATUS_OK : p->c->err.code;
}

/* The address of `name` followed by `suffix`, as a function. */
static void find(const program *p, const char *name, const char *suffix, void *function) {
    char symbol[128];
    if ((size_t)snprintf(symbol, sizeof symbol, "%s%s", name, suffix) >= sizeof symbol) return;
    void *address = code_unit_symbol(p->unit, symbol);
    memcpy(function, &address, sizeof address);
}

static void load(const program *p, const kernel *k, kernel_code *out) {
    kernel_code code = {0};
    find(p, k->name, "", &code.run);
    if (k->phase_count > 0) find(p, k->name, "_step", &code.step);
    if (code.run && (code.step || k->phase_count == 0)) *out = code;
}

void program_load_code(program *p) {
    if (!p->unit || p->code_loaded || code_unit_state(p->unit) == CODE_WAITING) return;
    p->code_loaded = true;
    if (code_unit_state(p->unit) == CODE_FAILED) return;
    for (int i = 0; i < p->step_count; i++) {
        program_step *s = &p->steps[i];
        if (!s->k) continue;
        load(p, s->k, &s->code);
        if (s->turned) load(p, s->turned, &s->turned_code);
    }
}

void program_write_compilations(context *c) {
    if (c->code && c->events.on) code_cache_write_events(c->code, &c->events);
}

status program_set_tier(program *p, program_tier tier) {
    if (tier == TIER_C) {
        if (program_compile(p, true)) return p->c->err.code;
        program_wait(p);
        if (p->unit && code_unit_state(p->unit) == CODE_FAILED) {
            fail(&p->c->err, STATUS_UNSUPPORTED, 903, "kernels can't be compiled: %s",
                 code_unit_message(p->unit));
            return fail_hint(&p->c->err,
                             "install gcc or clang, or set TAPEDECK_CC; without it they are interpreted");
        }
    }
    p->tier = tier;
    return STATUS_OK;
}

void program_wait(program *p) {
    if (p->unit) code_unit_wait(p->unit);
    program_load_code(p);
}
