/* reverse.c — the walk back over a tape: one gradient rule per entry, newest first, adjoints added where values fan
 * out. Adjoints live in a map from tensor ids. */
#include <string.h>

#include "engine/autograd/tape_impl.h"
#include "engine/core/scope.h"
#include "engine/ops/apply.h"

typedef struct walk {
    tape *t;
    context *c;
    map adjoints; /* tensor id -> owned tensor * */
    map wanted;   /* ids of values from which some x[i] is reached */
} walk;

/* Adds g (borrowed) to the adjoint of tensor `id`. */
static status accumulate(walk *w, uint64_t id, tensor *g) {
    uintptr_t old;
    tensor *sum;
    if (map_get(&w->adjoints, id, &old)) {
        sum = op_call2(w->c, OP_add, (tensor *)old, g, NULL);
        if (!sum) return w->c->err.code;
        tensor_release((tensor *)old);
    } else
        sum = tensor_retain(g);
    if (map_put(&w->adjoints, id, (uintptr_t)sum)) return STATUS_OK;
    tensor_release(sum);
    map_remove(&w->adjoints, id);
    return fail_memory(&w->c->err, 64);
}

static tensor *adjoint_of(const walk *w, const tensor *x) {
    uintptr_t g;
    return map_get(&w->adjoints, x->id, &g) ? (tensor *)g : NULL;
}

tensor *tape_unbroadcast(context *c, tensor *g, const meta *m) {
    int added = g->meta.shape.rank - m->shape.rank;
    int_list axes = {0};
    for (int i = 0; i < g->meta.shape.rank; i++) {
        bool stretched = i >= added && m->shape.size[i - added] == 1 && g->meta.shape.size[i] != 1;
        if (i < added || stretched) axes.v[axes.count++] = i;
    }
    tensor *sum = axes.count ? op_reduce(c, OP_sum, g, &axes, true) : tensor_retain(g);
    if (!sum || sum->meta.shape.rank == m->shape.rank) return sum;
    tensor *r = op_reshape(c, sum, &m->shape);
    tensor_release(sum);
    return r;
}

/* One operand's gradient from its rule, made to fit the operand, added to its adjoint. */
static status add_operand(walk *w, tensor *x, tensor *g) {
    tensor *fit = tape_unbroadcast(w->c, g, &x->meta);
    if (fit && (fit->meta.dtype != x->meta.dtype || fit->meta.weak != x->meta.weak)) {
        tensor *cast = op_cast(w->c, fit, x->meta.dtype, x->meta.weak);
        tensor_release(fit);
        fit = cast;
    }
    if (!fit) return w->c->err.code;
    status code = accumulate(w, x->id, fit);
    tensor_release(fit);
    return code;
}

static status walk_entry(walk *w, const tape_entry *n) {
    context *c = w->c;
    tensor *const *in = &w->t->tensors[n->first], *const *out = in + n->nin;
    tensor *g[MAX_OUTPUTS] = {0}, *gin[MAX_INPUTS] = {0};
    bool need[MAX_INPUTS], any = false;
    for (int i = 0; i < n->nout; i++) {
        g[i] = adjoint_of(w, out[i]);
        any = any || g[i];
    }
    if (!any) return STATUS_OK;
    for (int i = 0; i < n->nin; i++)
        need[i] = dtype_is_float(in[i]->meta.dtype) && map_has(&w->wanted, in[i]->id);
    gradient_call k = {.c = c,
                       .op = n->op,
                       .in = in,
                       .nin = n->nin,
                       .out = out,
                       .g = g,
                       .attrs = n->attrs,
                       .need = need,
                       .gin = gin};
    scope s;
    span here = c->here;
    const tensor *outer = c->differentiating;
    c->here = n->where;
    c->differentiating = out[0];
    scope_open(c, &s);
    n->op->gradient(&k);
    status code = c->err.code;
    for (int i = 0; !code && i < n->nin; i++)
        if (need[i] && gin[i]) code = add_operand(w, in[i], gin[i]);
    scope_close(c, &s);
    c->here = here;
    c->differentiating = outer;
    if (!code && context_interrupted(c)) code = c->err.code;
    return code;
}

/* Which recorded values lead to an x: forward over the entries. */
static status mark_wanted(walk *w, tensor *const *x, int nx) {
    tape *t = w->t;
    for (int i = 0; i < nx; i++)
        if (!map_put(&w->wanted, x[i]->id, 1)) return fail_memory(&w->c->err, 64);
    for (size_t e = 0; e < t->entry_count; e++) {
        const tape_entry *n = &t->entries[e];
        tensor *const *in = &t->tensors[n->first];
        bool wanted = false;
        for (int i = 0; i < n->nin; i++) wanted = wanted || map_has(&w->wanted, in[i]->id);
        for (int i = 0; wanted && i < n->nout; i++)
            if (!map_put(&w->wanted, in[n->nin + i]->id, 1)) return fail_memory(&w->c->err, 64);
    }
    return STATUS_OK;
}

static status seed_adjoint(walk *w, tensor *y, tensor *seed) {
    context *c = w->c;
    if (seed) {
        if (!shape_same(c->dims, &seed->meta.shape, &y->meta.shape)) {
            fail(&c->err, STATUS_SHAPE, 402, "the weights of a gradient need the shape of its value");
            op_describe_operands(c, (tensor *[]){y, seed}, 2);
            return c->err.code;
        }
        return add_operand(w, y, seed);
    }
    if (y->meta.shape.rank > 0) {
        char buffer[120];
        fail(&c->err, STATUS_GRAD, 403, "the gradient of %s is not defined: it is not a scalar",
             meta_text(c->dims, &y->meta, buffer, sizeof buffer));
        return fail_hint(&c->err, "differentiate sum(y), or ask for vjp(f, x) or jacobian(f)");
    }
    if (!dtype_is_float(y->meta.dtype)) {
        fail(&c->err, STATUS_GRAD, 404, "the gradient of an %s is not defined", dtype_name(y->meta.dtype));
        return fail_hint(&c->err, "the value must be a float");
    }
    tensor *one = tensor_weak_real(c, 1);
    tensor *fit = one ? op_cast(c, one, y->meta.dtype, y->meta.weak) : NULL;
    status code = fit ? accumulate(w, y->id, fit) : c->err.code;
    tensor_release(one);
    tensor_release(fit);
    return code;
}

/* A zero of x's meta. */
static tensor *zeros_like(context *c, const tensor *x) {
    if (x->meta.weak) return tensor_weak_real(c, 0);
    return op_full(c, 0, &x->meta.shape, x->meta.dtype);
}

static status collect(walk *w, tensor *const *x, int nx, tensor **out) {
    for (int i = 0; i < nx; i++) {
        tensor *g = adjoint_of(w, x[i]);
        out[i] = g ? tensor_retain(g) : zeros_like(w->c, x[i]);
        if (!out[i]) return w->c->err.code;
    }
    return STATUS_OK;
}

static void drop_adjoints(walk *w) {
    for (size_t i = 0; i < w->adjoints.capacity; i++)
        if (w->adjoints.keys[i]) tensor_release((tensor *)w->adjoints.values[i]);
    map_free(&w->adjoints);
    map_free(&w->wanted);
}

status tape_vjp(tape *t, tensor *const *ys, tensor *const *seeds, int ny, tensor *const *x, int nx,
                tensor **out) {
    walk w = {.t = t, .c = t->c};
    for (int i = 0; i < nx; i++) out[i] = NULL;
    status code = mark_wanted(&w, x, nx);
    for (int i = 0; !code && i < ny; i++) code = seed_adjoint(&w, ys[i], seeds ? seeds[i] : NULL);
    for (size_t e = t->entry_count; !code && e-- > 0;) code = walk_entry(&w, &t->entries[e]);
    if (!code) code = collect(&w, x, nx, out);
    for (int i = 0; code && i < nx; i++) {
        tensor_release(out[i]);
        out[i] = NULL;
    }
    drop_adjoints(&w);
    return code;
}

status tape_gradient(tape *t, tensor *y, tensor *seed, tensor *const *x, int nx, tensor **out) {
    return tape_vjp(t, &y, &seed, 1, x, nx, out);
}
