/* bench.c — see bench.h. */
#include "tests/harness/check.h"

#include "tests/support/bench.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/ops/apply.h"
#include "engine/ops/loops.h"
#include "engine/runtime/eager.h"

void bench_open(bench *b, uint64_t seed, int lanes) {
    *b = (bench){.live = mem_live(), .rng = {seed * 0x9e3779b97f4a7c15u + 1}};
    b->c = context_new(lanes);
    b->memory = arena_new();
    assert_non_null(b->c);
    assert_non_null(b->memory);
}

void bench_close(bench *b) {
    context_free(b->c);
    arena_free(b->memory);
    if (mem_live() != b->live && b->failures.count == 0)
        failures_add(&b->failures, "%lld blocks of memory are left over", (long long)(mem_live() - b->live));
    failures_end(&b->failures);
}

void bench_clear(bench *b) {
    arena_free(b->memory);
    b->memory = arena_new();
    assert_non_null(b->memory);
}

host bench_operand(bench *b, const sample_operand *o, dtype t, const shape *s, temper how) {
    host h = host_new(b->memory, t, s);
    generate(&b->rng, o->word, o->bound, how, &h);
    return h;
}

const char *bench_call_text(bench *b, const op_info *op, const host *in, int nin, const void *attrs) {
    text out = {0};
    text_printf(&out, "%s(", op->name);
    for (int i = 0; i < nin; i++) {
        meta m = {.shape = in[i].shape, .dtype = in[i].dtype, .weak = in[i].weak};
        char buffer[64];
        if (i) text_add(&out, ", ");
        meta_print(NULL, &m, &out);
        if (in[i].count == 1) text_printf(&out, " %s", host_show(&in[i], 0, buffer));
    }
    if (op->attr_bytes && attrs) {
        text_char(&out, ';');
        attrs_print(op, NULL, attrs, &out);
    }
    text_char(&out, ')');
    const char *kept = arena_text(b->memory, text_str(&out), strlen(text_str(&out)));
    text_free(&out);
    assert_non_null(kept);
    return kept;
}

/* Can the call fail on values, which the shapes-only executor does not see? */
static bool raises(const op_info *op) {
    if (op->flags & (OP_RAISES | OP_DYNAMIC)) return true;
    for (int t = 0; t < CT_COUNT; t++)
        if (op_faults[op->id][t]) return true;
    return false;
}

/* The same call with shapes alone against the eager outcome. */
static void check_shapes(bench *b, const op_info *op, const host *in, int nin, const void *attrs,
                         const outcome *eager) {
    context *c = b->c;
    tensor *operands[MAX_INPUTS] = {0}, *out[MAX_OUTPUTS] = {0};
    for (int i = 0; i < nin; i++) {
        meta m = {.shape = in[i].shape, .dtype = in[i].dtype, .weak = in[i].weak};
        operands[i] = in[i].weak ? host_tensor(c, &in[i], LAYOUT_PLAIN) : tensor_new_abstract(c, &m);
        assert_non_null(operands[i]);
    }
    c->executor = &executor_shapes;
    status code = op_apply(c, op->id, operands, nin, attrs, out);
    c->executor = &executor_eager;
    if (code && c->err.number != eager->number && !(op->flags & OP_DYNAMIC))
        failures_add(&b->failures, "%s: with shapes alone error %d (%s), eagerly %d (%s)",
                     bench_call_text(b, op, in, nin, attrs), c->err.number, c->err.message, eager->number,
                     eager->message);
    else if (!code && op->flags & OP_DYNAMIC)
        failures_add(&b->failures, "%s: a shape that depends on values, known with shapes alone",
                     bench_call_text(b, op, in, nin, attrs));
    else if (!code && eager->number && !raises(op))
        failures_add(&b->failures, "%s: no error with shapes alone, eagerly %d (%s)",
                     bench_call_text(b, op, in, nin, attrs), eager->number, eager->message);
    error_clear(&c->err);
    for (int i = 0; !code && !eager->number && !(op->flags & OP_DYNAMIC) && i < op->nout; i++) {
        const meta *m = &out[i]->meta;
        const host *h = &eager->out[i];
        if (m->dtype == h->dtype && m->weak == h->weak && shape_same(NULL, &m->shape, &h->shape)) continue;
        char buffer[120];
        failures_add(&b->failures, "%s: with shapes alone result %d is %s",
                     bench_call_text(b, op, in, nin, attrs), i, meta_text(NULL, m, buffer, sizeof buffer));
    }
    for (int i = 0; i < op->nout; i++) tensor_release(out[i]);
    for (int i = 0; i < nin; i++) tensor_release(operands[i]);
}

outcome bench_call(bench *b, const op_info *op, const host *in, int nin, const layout *layouts,
                   const void *attrs) {
    context *c = b->c;
    outcome o = {.count = op->nout};
    tensor *operands[MAX_INPUTS] = {0}, *out[MAX_OUTPUTS] = {0};
    b->calls++;
    for (int i = 0; i < nin; i++) {
        operands[i] = host_tensor(c, &in[i], layouts ? layouts[i] : LAYOUT_PLAIN);
        assert_non_null(operands[i]);
    }
    if (op_apply(c, op->id, operands, nin, attrs, out)) {
        o.number = c->err.number;
        snprintf(o.message, sizeof o.message, "%s", c->err.message);
        if (o.number == 0 || !o.message[0])
            failures_add(&b->failures, "%s: an error without number or message",
                         bench_call_text(b, op, in, nin, attrs));
        error_clear(&c->err);
    } else if (c->err.code) {
        failures_add(&b->failures, "%s: fine, but an error is set: %s",
                     bench_call_text(b, op, in, nin, attrs), c->err.message);
        error_clear(&c->err);
    }
    for (int i = 0; i < op->nout; i++) {
        if ((out[i] == NULL) != (o.number != 0))
            failures_add(&b->failures, "%s: result %d and error %d do not go together",
                         bench_call_text(b, op, in, nin, attrs), i, o.number);
        if (out[i]) o.out[i] = host_read(b->memory, out[i]);
        tensor_release(out[i]);
    }
    for (int i = 0; i < nin; i++) { /* operands are only read */
        host after = host_read(b->memory, operands[i]);
        if (host_differs(&in[i], &after) != -1)
            failures_add(&b->failures, "%s: operand %d was changed", bench_call_text(b, op, in, nin, attrs),
                         i);
        tensor_release(operands[i]);
    }
    check_shapes(b, op, in, nin, attrs, &o);
    return o;
}

static void show_difference(bench *b, const op_info *op, const host *in, int nin, const expectation *e,
                            const host *got, int64_t at) {
    char buffers[6][64];
    text operands = {0};
    for (int k = 0; k < nin; k++)
        text_printf(&operands, " %s",
                    host_show(&in[k], expect_source(&in[k].shape, &got->shape, at), buffers[k]));
    failures_add(&b->failures, "%s: element %lld, of%s, is %s, not %s", bench_call_text(b, op, in, nin, NULL),
                 (long long)at, text_str(&operands), host_show(got, at, buffers[4]),
                 host_show(&e->value, at, buffers[5]));
    text_free(&operands);
}

void bench_check_elementwise(bench *b, const op_info *op, const host *in, int nin, const layout *layouts) {
    expectation e = expect_elementwise(b->memory, op, in, nin);
    outcome o = bench_call(b, op, in, nin, layouts, NULL);
    if (o.number != e.number) {
        failures_add(&b->failures, "%s: error %d (%s), not %d", bench_call_text(b, op, in, nin, NULL),
                     o.number, o.message, e.number);
        return;
    }
    if (o.number) return;
    int64_t at = expect_differs(&e, &o.out[0]);
    if (at >= 0) show_difference(b, op, in, nin, &e, &o.out[0], at);
    if (at != -2) return;
    meta got = {o.out[0].shape, o.out[0].dtype, o.out[0].weak},
         want = {e.value.shape, e.value.dtype, e.value.weak};
    char x[100], y[100];
    failures_add(&b->failures, "%s: gives %s, not %s", bench_call_text(b, op, in, nin, NULL),
                 meta_text(NULL, &got, x, sizeof x), meta_text(NULL, &want, y, sizeof y));
}
