/* trace.c — see trace.h. The tracing executor, and the bookkeeping of what came in from outside. */
#include "engine/graph/trace.h"

#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"

enum { LARGEST_KNOWN = 4096 }; /* elements of a `full` or `arange` that become a constant */

struct trace {
    context *c;
    graph *g;
    const executor *before; /* the executor to restore, which also computes what is known */
    dims *dims_before;
    map constants; /* id of a concrete tensor -> value + 1 */
    tensor **kept; /* outside tensors, retained so that ids stay theirs */
    size_t kept_count, kept_capacity;
    tensor *seed, *counter; /* the context's, while stand-ins take their place */
};

static status run_traced(op_call *call, tensor **out);
static const executor executor_trace = {.name = "trace", .run = run_traced};

trace *trace_begin(context *c, const char *name) {
    if (c->trace) {
        fail(&c->err, STATUS_FREEZE, 510, "freezing inside freezing");
        return NULL;
    }
    trace *t = mem_calloc(1, sizeof *t);
    if (!t) {
        fail_memory(&c->err, sizeof *t);
        return NULL;
    }
    t->c = c;
    t->g = graph_new(c, name);
    if (!t->g) {
        mem_free(t);
        return NULL;
    }
    t->before = c->executor;
    t->dims_before = c->dims;
    c->executor = &executor_trace;
    c->dims = t->g->dims;
    c->trace = t;
    return t;
}

static tensor *stand_in_for(trace *t, value_id v) {
    tensor *r = tensor_new_abstract(t->c, graph_meta(t->g, v));
    if (!r) return NULL;
    r->trace = t;
    r->value = v;
    return r;
}

/* Out-of-memory inside the symbol table shows here. */
static bool dims_broken(trace *t) {
    if (!t->g->dims->failed) return false;
    fail_memory(&t->c->err, sizeof(dim_node));
    return true;
}

tensor *trace_input_meta(trace *t, const meta *given, const char *name, const char *const *names) {
    meta m = *given;
    for (int i = 0; i < m.shape.rank; i++)
        if (m.shape.size[i] == -1)
            m.shape.size[i] =
                dims_symbol(t->g->dims, t->g->input_count, i, DIM_UNKNOWN, names ? names[i] : NULL);
    value_id v;
    if (dims_broken(t) || graph_add_input(t->g, &m, name, &v)) return NULL;
    return stand_in_for(t, v);
}

tensor *trace_input(trace *t, const tensor *example, const char *name) {
    meta m = example->meta;
    for (int i = 0; i < m.shape.rank; i++)
        if (m.shape.size[i] > 1)
            m.shape.size[i] = dims_symbol(t->g->dims, t->g->input_count, i, m.shape.size[i], NULL);
    value_id v;
    if (dims_broken(t) || graph_add_input(t->g, &m, name, &v)) return NULL;
    return stand_in_for(t, v);
}

static status keep(trace *t, tensor *x) {
    if (t->kept_count == t->kept_capacity) {
        size_t capacity = t->kept_capacity ? 2 * t->kept_capacity : 16;
        tensor **grown = mem_realloc(t->kept, capacity * sizeof *grown);
        if (!grown) return fail_memory(&t->c->err, capacity * sizeof *grown);
        t->kept = grown;
        t->kept_capacity = capacity;
    }
    t->kept[t->kept_count++] = tensor_retain(x);
    return STATUS_OK;
}

int trace_inputs(const trace *t) {
    return t->g->input_count;
}

void trace_label(trace *t, const tensor *x, const char *name) {
    if (x->trace != t) return;
    node *n = graph_def(t->g, x->value);
    if (!n->label && n->kind == NODE_OP) n->label = arena_text(t->g->memory, name, strlen(name));
}

const graph *trace_graph(const trace *t) {
    return t->g;
}

/* The value of a tensor in the graph: a traced one's own, or a constant. */
static status value_of(trace *t, tensor *x, value_id *out) {
    context *c = t->c;
    uintptr_t known;
    if (x->trace == t) {
        *out = x->value;
        return STATUS_OK;
    }
    if (!tensor_concrete(x)) {
        fail(&c->err, STATUS_FREEZE, 511, "a value of another frozen program is used here");
        return fail_hint(&c->err, "pass it as an argument");
    }
    if (map_get(&t->constants, x->id, &known)) {
        *out = (value_id)(known - 1);
        return STATUS_OK;
    }
    if (keep(t, x) || graph_add_const(t->g, x, c->here, out)) return c->err.code;
    return map_put(&t->constants, x->id, (uintptr_t)*out + 1) ? STATUS_OK : fail_memory(&c->err, 64);
}

/* Is everything that this call needs known now? */
static bool is_known(const op_call *call) {
    for (int i = 0; i < call->nin; i++)
        if (!tensor_concrete(call->in[i])) return false;
    for (int i = 0; i < call->nout; i++)
        if (!shape_known(&call->out[i].shape)) return false;
    if (call->op->id == OP_full || call->op->id == OP_arange)
        return shape_count(NULL, &call->out[0].shape) <= LARGEST_KNOWN;
    return call->op->id != OP_extent || dim_known(((const extent_attrs *)call->attrs)->size);
}

/* The first draw from the stream makes its seed and counter inputs of the graph. */
static status trace_stream(trace *t) {
    context *c = t->c;
    tensor *seed = trace_input(t, c->seed, "seed"),
           *counter = seed ? trace_input(t, c->counter, "counter") : NULL;
    if (!counter) {
        tensor_release(seed);
        return c->err.code;
    }
    t->g->seed_input = t->g->input_count - 2;
    t->g->counter_input = t->g->input_count - 1;
    t->seed = c->seed;
    t->counter = c->counter;
    c->seed = seed;
    c->counter = counter;
    return STATUS_OK;
}

static status add_results(trace *t, const op_call *call, const value_id *in, tensor **out) {
    context *c = t->c;
    node *n;
    if (dims_broken(t) ||
        graph_add_op(t->g, call->op->id, in, call->nin, call->attrs, call->out, call->nout, c->here, &n))
        return c->err.code;
    const tensor *forward = c->differentiating;
    n->backward = forward != NULL;
    if (forward && forward->trace == t) n->forward = t->g->values[forward->value].node;
    value_id first = n->out;
    for (int i = 0; i < call->nout; i++) {
        out[i] = stand_in_for(t, first + (value_id)i);
        if (out[i]) continue;
        while (i-- > 0) {
            tensor_release(out[i]);
            out[i] = NULL;
        }
        return c->err.code;
    }
    return STATUS_OK;
}

static status run_traced(op_call *call, tensor **out) {
    context *c = call->c;
    trace *t = c->trace;
    tensor *in[MAX_INPUTS] = {0};
    value_id values[MAX_INPUTS];
    for (int i = 0; i < call->nin; i++) in[i] = call->in[i];
    if (call->op->flags & OP_RANDOM && in[1] == c->counter && tensor_concrete(in[1])) {
        if (trace_stream(t)) return c->err.code;
        in[0] = c->seed;
        in[1] = c->counter;
        call->in = in;
    }
    if (is_known(call)) return t->before->run(call, out);
    if (call->op->flags & OP_DYNAMIC) {
        fail(&c->err, STATUS_FREEZE, 512,
             "the shape of this %s depends on values, which are not known while freezing", call->op->name);
        return fail_hint(&c->err, "keep the shape: where(mask, x, 0) instead of x[mask]");
    }
    for (int i = 0; i < call->nin; i++)
        if (value_of(t, in[i], &values[i])) return c->err.code;
    return add_results(t, call, values, out);
}

/* Puts the context back as it was and frees the trace, but not its graph. */
static void leave(trace *t) {
    context *c = t->c;
    c->executor = t->before;
    c->dims = t->dims_before;
    c->trace = NULL;
    if (t->seed) {
        tensor_release(c->seed);
        tensor_release(c->counter);
        c->seed = t->seed;
        c->counter = t->counter;
    }
    for (size_t i = 0; i < t->kept_count; i++) tensor_release(t->kept[i]);
    mem_free(t->kept);
    map_free(&t->constants);
    mem_free(t);
}

void trace_abandon(trace *t) {
    graph_free(t->g);
    leave(t);
}

status trace_end(trace *t, tensor *const *outputs, int count, graph **out) {
    context *c = t->c;
    graph *g = t->g;
    value_id *values = mem_alloc(((size_t)count + 1) * sizeof *values);
    status code = values ? STATUS_OK : fail_memory(&c->err, (uint64_t)count * sizeof *values);
    for (int i = 0; !code && i < count; i++) code = value_of(t, outputs[i], &values[i]);
    if (!code && t->seed) code = value_of(t, c->counter, &values[count++]);
    if (!code && dims_broken(t)) code = c->err.code;
    if (!code) code = graph_set_outputs(g, values, count);
    mem_free(values);
    leave(t);
    if (code)
        graph_free(g);
    else
        *out = g;
    return code;
}
