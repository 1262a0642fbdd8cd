/* program.c — running a program; see program.h and plan.h.
 *
 * A run finds the plan of its sizes (usually the one before), points the buffers of inputs and results at tensors, and
 * goes through the launches. Everything that a run takes is noted in `held` and given back at its end, however it
 * ends. */
#include "engine/runtime/program.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/device/device.h"
#include "engine/runtime/plan.h"

/* ---- does it fit? ---- */

typedef struct sizes_of {
    tensor *const *in;
} sizes_of;

static int64_t size_of(void *user, int input, int axis) {
    const sizes_of *s = user;
    return s->in[input]->meta.shape.size[axis];
}

static bool differs(const program *p, int i, const tensor *t, text *why) {
    const meta *m = graph_meta(p->g, p->g->inputs[i]);
    const char *name = p->g->input_names[i];
    bool same = t->meta.dtype == m->dtype && t->meta.weak == m->weak && t->meta.shape.rank == m->shape.rank;
    for (int k = 0; same && k < m->shape.rank; k++) {
        int64_t n = t->meta.shape.size[k];
        if (dim_known(m->shape.size[k]))
            same = n == m->shape.size[k];
        else if (p->g->dims->nodes[dim_index(m->shape.size[k])].op == DIM_INPUT)
            same = n > 1;
    }
    if (same || !why) return !same;
    text_printf(why, "input %d%s%s is ", i, name[0] ? " " : "", name);
    meta_print(NULL, &t->meta, why);
    text_add(why, ", made for ");
    meta_print(p->g->dims, m, why);
    return true;
}

static void say_guard(const program *p, const dim_guard *broken, text *why) {
    static const char *const relation[] = {
        [DIM_EQ] = " = ", [DIM_NE] = " != ", [DIM_LT] = " < ", [DIM_GE] = " >= "};
    text_add(why, "made for sizes with ");
    dim_print(p->g->dims, broken->a, why);
    text_add(why, relation[broken->relation]);
    dim_print(p->g->dims, broken->b, why);
}

bool program_accepts(const program *p, tensor *const *in, int nin, text *why) {
    if (nin != p->g->input_count) {
        if (why) text_printf(why, "%d inputs, made for %d", nin, p->g->input_count);
        return false;
    }
    for (int i = 0; i < nin; i++)
        if (!tensor_concrete(in[i]) || differs(p, i, in[i], why)) return false;
    const dim_guard *broken = NULL;
    sizes_of s = {in};
    dims_evaluate(p->g->dims, size_of, &s, p->values);
    if (dims_guards_hold(p->g->dims, p->values, &broken)) return true;
    if (why) say_guard(p, broken, why);
    return false;
}

/* ---- buffers of one run ---- */

static status find_plan(program *p, tensor *const *in) {
    for (int i = 0; i < p->size_count; i++) {
        const dim_node *n = &p->g->dims->nodes[p->size_nodes[i]];
        p->key[i] = in[n->a]->meta.shape.size[n->b];
    }
    size_t bytes = (size_t)p->size_count * sizeof *p->key;
    if (!p->current || memcmp(p->current->key, p->key, bytes) != 0) {
        sizes_of s = {in};
        dims_evaluate(p->g->dims, size_of, &s, p->values);
        p->current = plan_get(p);
        if (!p->current) return p->c->err.code;
    }
    p->current->used = ++p->clock;
    return STATUS_OK;
}

/* A block that is large enough. */
static status get_block(program *p) {
    const plan *pl = p->current;
    if (p->block.data && p->block_granted >= pl->block_bytes) return STATUS_OK;
    if (p->block.data) allocator_put(p->c->memory, p->block.data, p->block_granted);
    p->bound = NULL;
    p->block.data = allocator_get(p->c->memory, pl->block_bytes, &p->block_granted);
    p->block.bytes = p->block_granted;
    return p->block.data ? STATUS_OK : allocator_failed(p->c->memory, pl->block_bytes, &p->c->err);
}

static void point_at(program *p, value_id v, tensor *t) {
    p->address[v] = tensor_data(t);
    p->store[v] = t->store;
    p->offset[v] = t->offset;
}

static status bind_inputs(program *p, tensor *const *in) {
    for (int i = 0; i < p->g->input_count; i++) {
        value_id v = p->g->inputs[i];
        tensor *t = in[i];
        if (!tensor_contiguous(t)) {
            t = p->held[v] = tensor_to_contiguous(t);
            if (!t) return p->c->err.code;
        }
        point_at(p, v, t);
    }
    return STATUS_OK;
}

/* The block's buffers; they stay where they are until the plan or the block changes. */
static void bind_block(program *p) {
    const plan *pl = p->current;
    if (p->bound == pl) return;
    p->bound = pl;
    for (value_id v = 0; v < p->g->value_count; v++) {
        if (p->buffers[v].kind != BUFFER_BLOCK) continue;
        p->address[v] = (char *)p->block.data + pl->place[v];
        p->store[v] = &p->block;
        p->offset[v] = (int64_t)(pl->place[v] / dtype_size(graph_meta(p->g, v)->dtype));
    }
}

static status bind_results(program *p) {
    for (int i = 0; i < p->fresh_count; i++) {
        value_id v = p->fresh[i];
        p->held[v] = tensor_new(p->c, graph_meta(p->g, v)->dtype, &p->current->shapes[v]);
        if (!p->held[v]) return p->c->err.code;
        point_at(p, v, p->held[v]);
    }
    return STATUS_OK;
}

static void let_go_of(program *p, const value_id *values, int count) {
    for (int i = 0; i < count; i++) {
        tensor_release(p->held[values[i]]);
        p->held[values[i]] = NULL;
    }
}

/* ---- launches ---- */

static char *scratch_of(const program *p) {
    return (char *)p->block.data + p->current->scratch_at;
}

static void lend_storage(const program *p, plan_operand *o, int count) {
    for (int i = 0; i < count; i++) {
        o[i].t->store = p->store[o[i].base];
        o[i].t->offset = p->offset[o[i].base] + o[i].offset;
    }
}

static void take_storage_back(plan_operand *o, int count) {
    for (int i = 0; i < count; i++) o[i].t->store = NULL;
}

/* Does the last plan run the text for short rows? */
static bool turned(const program *p, const program_step *s) {
    return p->current && p->current->steps[s - p->steps].launch.turned;
}

/* The code of kernel s; without `run`: it runs in tier A. */
static kernel_code code_of(const program *p, const program_step *s) {
    if (p->tier == TIER_TILES) return (kernel_code){0};
    return turned(p, s) ? s->turned_code : s->code;
}

/* An epilogue at work. */
typedef struct epilogue_job {
    program *p;
    plan_step *s;
    kernel_code code; /* without run: in tier A */
} epilogue_job;

static void run_epilogue(void *user, int64_t first, int64_t runs, int64_t length, int64_t step, int lane) {
    const epilogue_job *j = user;
    program *p = j->p;
    launch_part part = {first, runs, length, step};
    if (j->code.run)
        launch_part_code(p->c, &j->s->launch, j->code, &part);
    else
        launch_part_tiles(&j->s->launch, p->address, scratch_of(p), &part, lane);
}

static status call_library(program *p, plan_step *s, const gemm_epilogue *epilogue) {
    op_call *call = &s->call;
    call->epilogue = epilogue;
    lend_storage(p, s->in, call->nin);
    lend_storage(p, s->out, call->nout);
    for (int i = 0; i < call->nout; i++) s->out_tensors[i] = s->out[i].t;
    status code = call->op->eval(call, s->out_tensors);
    take_storage_back(s->in, call->nin);
    take_storage_back(s->out, call->nout);
    call->epilogue = NULL;
    return code;
}

/* A product with its epilogue on each panel. Emitted CUDA has no part in the library's product: there the epilogue is a
 * launch of its own over the whole result. */
static status call_with_epilogue(program *p, int number) {
    plan_step *s = &p->current->steps[number];
    if (p->emulation) {
        if (call_library(p, s, NULL)) return p->c->err.code;
        return emulation_run(p, number);
    }
    epilogue_job job = {.p = p, .s = s, .code = code_of(p, &p->steps[number])};
    if (job.code.run) launch_point(&s->launch, p->address);
    if (call_library(p, s, &(gemm_epilogue){run_epilogue, &job})) return p->c->err.code;
    return launch_check_faults(p->c, &s->launch);
}

static const char *tier_name(const program *p, const program_step *s) {
    if (!s->k) return "library";
    bool compiled = code_of(p, s).run != NULL;
    if (s->operands) return compiled ? "library+C" : "library+tiles";
    return compiled ? "C" : "tiles";
}

/* The event of step `number`, which began at `begin`, without its end and work. */
static event event_of(const program *p, int number, uint64_t begin) {
    const program_step *s = &p->steps[number];
    const node *n = &p->g->nodes[s->number];
    bool copies = !s->operands, product = s->operands && n->op == OP_matmul;
    for (int i = 0; copies && i < s->k->count; i++)
        copies = s->k->code[i].code == K_LOAD || s->k->code[i].code == K_STORE;
    return (event){.begin = begin,
                   .name = s->k ? s->k->name : op_table[n->op].name,
                   .tier = tier_name(p, s),
                   .where = n->where,
                   .graph = p->g->id,
                   .node = s->number,
                   .kernel = (uint32_t)number + 1,
                   .kind = copies    ? EVENT_COPY
                           : product ? EVENT_GEMM
                                     : EVENT_KERNEL};
}

static void write_event(const program *p, int number, event e) {
    const plan_step *ps = &p->current->steps[number];
    e.end = clock_ticks();
    e.bytes = ps->bytes;
    e.flops = ps->flops;
    event_write(&p->c->events, e);
}

static status launch(program *p, int number) {
    plan_step *s = &p->current->steps[number];
    if (!p->steps[number].k) return call_library(p, s, NULL);
    if (p->steps[number].operands) return call_with_epilogue(p, number);
    if (p->emulation) return emulation_run(p, number);
    kernel_code code = code_of(p, &p->steps[number]);
    if (code.run) return launch_run_code(p->c, &s->launch, code, p->address, scratch_of(p));
    return launch_run_tiles(p->c, &s->launch, p->address, scratch_of(p));
}

static status launch_all(program *p) {
    context *c = p->c;
    for (int i = 0; i < p->step_count; i++) {
        event e = {0};
        if (context_interrupted(c)) return c->err.code;
        if (c->events.on) event_label(&c->events, e = event_of(p, i, clock_ticks()));
        if (launch(p, i)) {
            if (!c->err.where.source) c->err.where = p->g->nodes[p->steps[i].number].where;
            return c->err.code;
        }
        if (c->events.on) write_event(p, i, e);
    }
    return STATUS_OK;
}

/* ---- results ---- */

static status make_outputs(program *p, tensor *const *in, tensor **out) {
    const plan *pl = p->current;
    for (int i = 0; i < p->g->output_count; i++) {
        const lower_view *v = &p->outputs[i];
        const node *n = graph_def(p->g, v->base);
        tensor *base = p->held[v->base];
        if (!base) base = n->kind == NODE_CONST ? p->constants[p->g->values[v->base].node] : in[n->input];
        int64_t stride[MAX_RANK] = {0};
        const shape *s = &pl->shapes[p->g->outputs[i]];
        for (int k = 0; k < s->rank; k++) stride[k] = dim_value(v->stride[k], pl->values);
        out[i] = tensor_view(base, s, stride, base->offset + dim_value(v->offset, pl->values));
        if (!out[i]) {
            while (i-- > 0) {
                tensor_release(out[i]);
                out[i] = NULL;
            }
            return p->c->err.code;
        }
        out[i]->meta.weak = graph_meta(p->g, p->g->outputs[i])->weak;
    }
    return STATUS_OK;
}

/* The run as a whole, around its launches. */
static void write_run(const program *p, uint64_t begin) {
    event_write(&p->c->events, (event){.begin = begin,
                                       .end = clock_ticks(),
                                       .name = p->g->name,
                                       .tier = "graph",
                                       .where = p->c->here,
                                       .graph = p->g->id,
                                       .kind = EVENT_SPAN});
}

status program_run(program *p, tensor *const *in, int nin, tensor **out) {
    uint64_t begin = p->c->events.on ? clock_ticks() : 0;
    (void)nin;
    for (int i = 0; i < p->g->output_count; i++) out[i] = NULL;
    if (!p->code_loaded && p->tier != TIER_TILES) {
        if (!p->unit && program_compile(p, false)) return p->c->err.code;
        program_load_code(p);
    }
    status code = find_plan(p, in);
    if (!code) code = get_block(p);
    if (!code) code = bind_inputs(p, in);
    if (!code) bind_block(p);
    if (!code) code = bind_results(p);
    if (!code) code = launch_all(p);
    if (!code) code = make_outputs(p, in, out);
    let_go_of(p, p->g->inputs, p->g->input_count);
    let_go_of(p, p->fresh, p->fresh_count);
    if (p->c->events.on) write_run(p, begin);
    return code;
}

/* ---- what it is made of ---- */

int program_kernel_count(const program *p) {
    return p->step_count;
}

program_kernel program_kernel_at(const program *p, int i) {
    const program_step *s = &p->steps[i];
    program_kernel k = {.id = (uint32_t)i + 1};
    k.name = s->k ? s->k->name : op_table[p->g->nodes[s->number].op].name;
    k.nodes = s->k ? s->k->nodes : &s->number;
    k.node_count = s->k ? s->k->node_count : 1;
    k.tier = tier_name(p, s);
    k.source_c = !s->k ? NULL : turned(p, s) ? s->turned_source.text : s->source.text;
    k.source_cuda = program_cuda((program *)(uintptr_t)p, i); /* made at the first question */
    return k;
}
