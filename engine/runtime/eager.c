/* eager.c — see eager.h. With a listener on the event sink, each op leaves one event. */
#include "engine/runtime/eager.h"

static void write_event(const op_call *call, uint64_t begin) {
    op_cost cost = op_cost_of(call);
    event_write(&call->c->events, (event){.begin = begin,
                                          .end = clock_ticks(),
                                          .name = call->op->name,
                                          .tier = "eager",
                                          .where = call->c->here,
                                          .kind = EVENT_OP,
                                          .bytes = (int64_t)cost.bytes,
                                          .flops = (int64_t)cost.flops});
}

static status run_eager(op_call *call, tensor **out) {
    context *c = call->c;
    for (int i = 0; i < call->nin; i++) {
        if (tensor_concrete(call->in[i])) continue;
        fail(&c->err, STATUS_VALUE, 398, "%s of a value that exists only while freezing", call->op->name);
        return fail_hint(&c->err, "don't keep values of a frozen function outside of it");
    }
    uint64_t begin = c->events.on ? clock_ticks() : 0;
    if (c->events.on)
        event_label(&c->events,
                    (event){.name = call->op->name, .tier = "eager", .where = c->here, .kind = EVENT_OP});
    if (call->op->eval(call, out)) {
        for (int i = 0; i < call->nout; i++) { /* what was allocated before the failure */
            tensor_release(out[i]);
            out[i] = NULL;
        }
        return c->err.code;
    }
    if (c->events.on) write_event(call, begin);
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
