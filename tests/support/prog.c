/* prog.c — see prog.h. */
#include "tests/support/prog.h"

#include <assert.h>
#include <string.h>

#include "engine/autograd/tape.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"

prog prog_of_call(const op_info *op, const host *in, int nin, const layout *layouts, const void *attrs) {
    prog p = {.nin = nin, .count = 1, .output_count = 1, .output = {nin}, .bound = true};
    p.step[0] = (prog_step){.op = op->id, .nin = nin};
    for (int i = 0; i < nin; i++) {
        p.in[i] = in[i];
        p.layouts[i] = layouts ? layouts[i] : LAYOUT_PLAIN;
        p.step[0].in[i] = i;
    }
    if (op->attr_bytes)
        attrs ? (void)memcpy(p.step[0].attrs, attrs, op->attr_bytes) : attrs_defaults(op, p.step[0].attrs);
    return p;
}

/* ---- sizes in attributes that are sizes of inputs ---- */

/* The size that stands for `v`: of the first input with an axis of v elements, or the product of one's axes. */
static dim bound_size(context *c, const prog *p, tensor *const *in, int64_t v) {
    if (v < 2) return v;
    for (int k = 0; k < p->nin; k++)
        for (int a = 0; a < p->in[k].shape.rank; a++)
            if (p->in[k].shape.size[a] == v) return in[k]->meta.shape.size[a];
    for (int k = 0; k < p->nin; k++)
        if (p->in[k].shape.rank > 1 && p->in[k].count == v) return shape_count(c->dims, &in[k]->meta.shape);
    return v;
}

/* The attributes with their sizes bound; a slice's start and step are numbers. */
static void bind_sizes(context *c, const prog *p, const op_info *op, tensor *const *in, char *attrs) {
    attr_field fields[MAX_ATTRS];
    int n = attrs_fields(op, fields);
    for (int i = 0; i < n; i++) {
        char *at = attrs + fields[i].offset;
        int_list list;
        if (fields[i].type == ATTR_SIZE) {
            int64_t v;
            memcpy(&v, at, sizeof v);
            v = bound_size(c, p, in, v);
            memcpy(at, &v, sizeof v);
        }
        if (fields[i].type != ATTR_SHAPE || strcmp(fields[i].name, "start") == 0) continue;
        memcpy(&list, at, sizeof list);
        for (int64_t k = 0; k < list.count; k++) list.v[k] = bound_size(c, p, in, list.v[k]);
        memcpy(at, &list, sizeof list);
    }
}

/* ---- running ---- */

static status run_steps(context *c, const prog *p, tensor *const *in, tensor **values) {
    int n = 0;
    for (; n < p->nin; n++) values[n] = in[n];
    for (int s = 0; s < p->count; s++) {
        const prog_step *step = &p->step[s];
        const op_info *op = &op_table[step->op];
        tensor *operands[PROG_OPERANDS], *out[MAX_OUTPUTS];
        _Alignas(8) char attrs[MAX_ATTR_BYTES];
        memcpy(attrs, step->attrs, sizeof attrs);
        if (p->bound) bind_sizes(c, p, op, in, attrs);
        for (int i = 0; i < step->nin; i++) operands[i] = values[step->in[i]];
        if (op_apply(c, step->op, operands, step->nin, op->attr_bytes ? attrs : NULL, out))
            return c->err.code;
        for (int i = 0; i < op->nout; i++) values[n++] = scope_add(c, out[i]);
        if (c->err.code) return c->err.code;
    }
    return STATUS_OK;
}

/* Sums of squares of the float outputs, into ys; returns how many. */
static int square_sums(context *c, const prog *p, tensor *const *values, tensor **ys) {
    int n = 0;
    for (int i = 0; i < p->output_count && !c->err.code; i++) {
        tensor *y = values[p->output[i]];
        if (!dtype_is_float(y->meta.dtype)) continue;
        tensor *square = scope_add(c, op_call2(c, OP_mul, y, y, NULL));
        if (square) ys[n++] = scope_add(c, op_reduce(c, OP_sum, square, NULL, false));
    }
    return n;
}

static status run_in_scope(context *c, const prog *p, tensor *const *in, tensor **out, int *nout) {
    tensor *values[PROG_VALUES], *ys[PROG_VALUES], *x[PROG_INPUTS];
    tape *t = NULL;
    int nx = 0, ny = 0;
    if (p->gradients && !(t = tape_new(c))) return c->err.code;
    for (int i = 0; t && i < p->nin; i++)
        if (dtype_is_float(in[i]->meta.dtype)) x[nx++] = in[i];
    for (int i = 0; i < nx; i++)
        if (tape_watch(t, x[i])) break;
    if (t) tape_push(c, t);
    status code = c->err.code ? c->err.code : run_steps(c, p, in, values);
    if (t && !code) ny = square_sums(c, p, values, ys);
    code = c->err.code;
    if (t) tape_pop(c, t);
    *nout = 0;
    for (int i = 0; !code && i < p->output_count; i++) out[(*nout)++] = tensor_retain(values[p->output[i]]);
    if (t && !code && nx) {
        code = tape_vjp(t, ys, NULL, ny, x, nx, out + *nout);
        if (!code) *nout += nx;
    }
    tape_free(t);
    for (int i = 0; code && i < *nout; i++) tensor_release(out[i]);
    if (code) *nout = 0;
    return code;
}

status prog_run(context *c, const prog *p, tensor *const *in, tensor **out, int *nout) {
    scope s;
    scope_open(c, &s);
    status code = run_in_scope(c, p, in, out, nout);
    scope_close(c, &s);
    return code;
}

/* ---- text ---- */

void prog_print(const prog *p, text *out) {
    static const char *const layouts[] = {"", " transposed", " reversed", " spaced", " rows", " expanded"};
    for (int i = 0; i < p->nin; i++) {
        meta m = {.shape = p->in[i].shape, .dtype = p->in[i].dtype, .weak = p->in[i].weak};
        char buffer[64];
        text_printf(out, "    %%%d = input ", i);
        meta_print(NULL, &m, out);
        text_add(out, layouts[p->layouts[i]]);
        for (int64_t k = 0; k < p->in[i].count && k < 6; k++)
            text_printf(out, " %s", host_show(&p->in[i], k, buffer));
        text_add(out, "\n");
    }
    for (int i = 0, v = p->nin; i < p->count; v += op_table[p->step[i++].op].nout) {
        const op_info *op = &op_table[p->step[i].op];
        text_printf(out, "    %%%d = %s", v, op->name);
        for (int k = 0; k < p->step[i].nin; k++) text_printf(out, " %%%d", p->step[i].in[k]);
        if (op->attr_bytes) attrs_print(op, NULL, p->step[i].attrs, out);
        text_add(out, "\n");
    }
    text_add(out, "    outputs");
    for (int i = 0; i < p->output_count; i++) text_printf(out, " %%%d", p->output[i]);
    text_add(out, p->gradients ? " and gradients\n" : "\n");
}
