/* eager.c — see eager.h. With a listener on the event sink, each op leaves one event. */
#include "engine/runtime/eager.h"

static event event_of(const op_call *call, uint64_t begin) {
    return (event){
        .begin = begin, .name = call->op->name, .tier = "eager", .where = call->c->here, .kind = EVENT_OP};
}

static void write_event(const op_call *call, event e) {
    op_cost cost = op_cost_of(call);
    e.end = clock_ticks();
    e.bytes = (int64_t)cost.bytes;
    e.flops = (int64_t)cost.flops;
    event_write(&call->c->events, e);
}

static status run_eager(op_call *call, tensor **out) {
    context *c = call->c;
    for (int i = 0; i < call->nin; i++) {
        if (tensor_concrete(call->in[i])) continue;
        fail(&c->err, STATUS_VALUE, 398, "%s of a value that exists only while freezing", call->op->name);
        return fail_hint(&c->err, "don't keep values of a frozen function outside of it");
    }
    event e;
    if (c->events.on) event_label(&c->events, e = event_of(call, clock_ticks()));
    if (call->op->eval(call, out)) {
        for (int i = 0; i < call->nout; i++) { /* what was allocated before the failure */
            tensor_release(out[i]);
            out[i] = NULL;
        }
        return c->err.code;
    }
    if (c->events.on) write_event(call, e);
    return STATUS_OK;
}

static status run_shapes(op_call *call, tensor **out) {
    for (int i = 0; i < call->nout; i++) {
        out[i] = tensor_new_abstract(call->c, &call->out[i]);
        if (out[i]) continue;
        while (i-- > 0) {
            tensor_release(out[i]);
            out[i] = NULL;
        }
        return call->c->err.code;
    }
    return STATUS_OK;
}

const executor executor_eager = {.name = "eager", .run = run_eager};
const executor executor_shapes = {.name = "shapes", .run = run_shapes};
