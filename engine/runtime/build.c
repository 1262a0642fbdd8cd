/* build.c — program_new: fusion and lowering of a graph, which buffers there are, and how long each is needed. */
#include <string.h>

#include "engine/base/memory.h"
#include "engine/runtime/plan.h"

static status out_of_memory(const program *p, size_t bytes) {
    return fail_memory(&p->c->err, bytes);
}

/* ---- steps ---- */

value_id program_result(const program *p, const program_step *s, int i) {
    return s->k ? s->k->panels : p->g->nodes[s->number].out + (value_id)i;
}

static status make_kernel(program *p, int group, program_step *s) {
    kernel turned;
    if (lower_group(&p->f, group, (uint32_t)p->kernel_count, &s->k)) return p->c->err.code;
    if (emit_c(p->g, s->k, p->memory, &s->source)) return p->c->err.code;
    uint32_t id = (uint32_t)(p->f.order_count + p->turned_count + 1);
    if (!kernel_turns(s->k, id, p->memory, &turned)) return STATUS_OK;
    p->turned_count++;
    s->turned = arena_alloc(p->memory, sizeof turned);
    if (!s->turned) return out_of_memory(p, sizeof turned);
    *s->turned = turned;
    return emit_c(p->g, s->turned, p->memory, &s->turned_source);
}

static status make_step(program *p, int group, program_step *s) {
    const fuse_group *g = &p->f.groups[group];
    s->number = g->node;
    p->kernel_count++;
    if (g->kind == FUSE_KERNEL) return make_kernel(p, group, s);
    if (g->epilogue >= 0 && make_kernel(p, g->epilogue, s)) return p->c->err.code;
    int nin = p->g->nodes[g->node].nin;
    s->operands = arena_alloc(p->memory, ((size_t)nin + 1) * sizeof *s->operands);
    if (!s->operands) return out_of_memory(p, (size_t)nin * sizeof *s->operands);
    for (int i = 0; i < nin; i++) lower_operand(&p->f, group, i, &s->operands[i]);
    return STATUS_OK;
}

static status make_steps(program *p) {
    if (fuse_graph(p->g, p->memory, &p->f)) return p->c->err.code;
    p->steps = arena_alloc(p->memory, ((size_t)p->f.order_count + 1) * sizeof *p->steps);
    p->outputs = arena_alloc(p->memory, ((size_t)p->g->output_count + 1) * sizeof *p->outputs);
    if (!p->steps || !p->outputs) return out_of_memory(p, (size_t)p->f.order_count * sizeof *p->steps);
    for (; p->step_count < p->f.order_count; p->step_count++)
        if (make_step(p, p->f.order[p->step_count], &p->steps[p->step_count])) return p->c->err.code;
    for (int i = 0; i < p->g->output_count; i++) lower_operand(&p->f, p->f.outputs, i, &p->outputs[i]);
    return STATUS_OK;
}

/* ---- buffers ---- */

static void written(program *p, value_id v, int step) {
    p->buffers[v] = (program_buffer){BUFFER_BLOCK, step, step};
}

static void read_by(program *p, value_id v, int step) {
    if (v != NO_VALUE && p->buffers[v].last < step) p->buffers[v].last = step;
}

static void call_uses(program *p, const program_step *s, int step) {
    const node *n = &p->g->nodes[s->number];
    for (int k = 0; k < n->nout; k++) written(p, program_result(p, s, k), step);
    for (int k = 0; k < n->nin; k++) read_by(p, s->operands[k].base, step);
}

static void kernel_uses(program *p, const kernel *k, int step) {
    for (int i = 0; i < k->access_count; i++) {
        const kernel_access *a = &k->accesses[i];
        if (a->store)
            written(p, a->value, step);
        else
            read_by(p, a->value, step);
    }
}

static status find_buffers(program *p) {
    const graph *g = p->g;
    p->buffers = arena_alloc(p->memory, (g->value_count + 1u) * sizeof *p->buffers);
    p->constants = arena_alloc(p->memory, (g->node_count + 1u) * sizeof(tensor *));
    p->fresh = arena_alloc(p->memory, ((size_t)g->output_count + 1) * sizeof *p->fresh);
    if (!p->buffers || !p->constants || !p->fresh)
        return out_of_memory(p, g->value_count * sizeof *p->buffers);
    for (uint32_t i = 0; i < g->node_count; i++) {
        const node *n = &g->nodes[i];
        if (n->kind == NODE_INPUT) p->buffers[n->out].kind = BUFFER_INPUT;
        if (n->kind != NODE_CONST) continue;
        p->buffers[n->out].kind = BUFFER_CONST;
        p->constants[i] = tensor_to_contiguous(n->constant);
        if (!p->constants[i]) return p->c->err.code;
    }
    for (int i = 0; i < p->step_count; i++) {
        const program_step *s = &p->steps[i];
        if (s->operands) call_uses(p, s, i);
        if (s->k) kernel_uses(p, s->k, i);
    }
    for (int i = 0; i < g->output_count; i++) {
        program_buffer *b = &p->buffers[p->outputs[i].base];
        if (b->kind != BUFFER_BLOCK) continue;
        b->kind = BUFFER_OUTPUT;
        p->fresh[p->fresh_count++] = p->outputs[i].base;
    }
    return STATUS_OK;
}

/* ---- what a run needs ---- */

static status find_sizes(program *p) {
    const dims *t = p->g->dims;
    p->size_nodes = arena_alloc(p->memory, (t->count + 1u) * sizeof *p->size_nodes);
    if (!p->size_nodes) return out_of_memory(p, t->count * sizeof *p->size_nodes);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->nodes[i].op == DIM_INPUT) p->size_nodes[p->size_count++] = i;
    return STATUS_OK;
}

static status make_tables(program *p) {
    size_t values = p->g->value_count + 1u;
    p->address = arena_alloc(p->memory, values * sizeof *p->address);
    p->store = arena_alloc(p->memory, values * sizeof *p->store);
    p->offset = arena_alloc(p->memory, values * sizeof *p->offset);
    p->held = arena_alloc(p->memory, values * sizeof *p->held);
    p->values = arena_alloc(p->memory, (p->g->dims->count + 1u) * sizeof *p->values);
    p->key = arena_alloc(p->memory, ((size_t)p->size_count + 1) * sizeof *p->key);
    if (!p->address || !p->store || !p->offset || !p->held || !p->values || !p->key)
        return out_of_memory(p, values * 8);
    for (uint32_t i = 0; i < p->g->node_count; i++) {
        if (!p->constants[i]) continue;
        value_id v = p->g->nodes[i].out;
        p->address[v] = tensor_data(p->constants[i]);
        p->store[v] = p->constants[i]->store;
        p->offset[v] = p->constants[i]->offset;
    }
    p->block.refs = 1; /* ours: never given back by a tensor */
    return STATUS_OK;
}

status program_new(context *c, graph *g, program **out) {
    *out = NULL;
    program *p = mem_calloc(1, sizeof *p);
    if (!p) {
        graph_free(g);
        return fail_memory(&c->err, sizeof *p);
    }
    p->c = c;
    p->g = g;
    p->memory = arena_new();
    status code = p->memory ? STATUS_OK : out_of_memory(p, sizeof *p);
    if (!code) code = make_steps(p);
    if (!code) code = find_buffers(p);
    if (!code) code = find_sizes(p);
    if (!code) code = make_tables(p);
    if (code)
        program_free(p);
    else
        *out = p;
    return code;
}

void program_free(program *p) {
    if (!p) return;
    event_sink_keep_names(&p->c->events, p->g->id);
    code_unit_release(p->unit);
    emulation_free(p->emulation);
    for (int i = 0; i < PLANS_KEPT; i++) plan_free(p->plans[i]);
    for (uint32_t i = 0; p->constants && i < p->g->node_count; i++) tensor_release(p->constants[i]);
    if (p->block.data) allocator_put(p->c->memory, p->block.data, p->block_granted);
    arena_free(p->memory);
    graph_free(p->g);
    mem_free(p);
}

const graph *program_graph(const program *p) {
    return p->g;
}
