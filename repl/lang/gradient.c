/* gradient.c — see gradient.h. */
#include "repl/lang/gradient.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/core/copy.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/value_impl.h"

const char *derived_name(derived_kind kind) {
    static const char *const names[] = {[DERIVED_GRAD] = "grad",
                                        [DERIVED_VALUE_AND_GRAD] = "value_and_grad",
                                        [DERIVED_JACOBIAN] = "jacobian",
                                        [DERIVED_HESSIAN] = "hessian"};
    return names[kind];
}

void derived_destroy(object *o, object **dead) {
    value_unref(((derived_object *)o)->f, dead);
    mem_free(o);
}

tensor *gradient_stand_in(session *s, tensor *x) {
    context *c = s->c;
    if (!c->tapes) {
        tensor *t = tensor_alias(x);
        if (!t) fail_memory(&c->err, sizeof *x);
        return t;
    }
    return x->meta.weak ? op_cast(c, x, x->meta.dtype, true) : op_reshape(c, x, &x->meta.shape);
}

/* A parameter replaced by a watched stand-in. */
static status watch_leaf(session *s, void *user, value leaf, value *out) {
    watched_call *w = user;
    if (!leaf_is_parameter(leaf)) {
        *out = value_retain(leaf);
        return STATUS_OK;
    }
    tensor *t = gradient_stand_in(s, leaf.tensor);
    if (!t) return s->c->err.code;
    *out = value_tensor(t);
    status st = tape_watch(w->tape, t);
    if (!st) st = tensor_list_add(s, &w->x, t);
    if (st) value_drop(out);
    return st;
}

/* An argument given outright may be a weak real; an integer is an error, unless nothing is asked of it. */
static status watch_argument(session *s, watched_call *w, value v, bool lenient, value *out) {
    char buffer[120];
    size_t before = w->x.count;
    if (v.kind == VALUE_TENSOR && !leaf_is_parameter(v) &&
        (!lenient || dtype_is_float(v.tensor->meta.dtype))) {
        tensor *t =
            dtype_is_float(v.tensor->meta.dtype) ? gradient_stand_in(s, v.tensor) : tensor_retain(v.tensor);
        if (!t) return s->c->err.code;
        *out = value_tensor(t);
        status st = tape_watch(w->tape, t);
        return st ? st : tensor_list_add(s, &w->x, t);
    }
    status st = leaves_map(s, v, watch_leaf, w, out);
    if (st || lenient || w->x.count > before) return st;
    fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT, "there is nothing to differentiate by in %s",
         value_describe(v, buffer, sizeof buffer));
    return fail_hint(&s->c->err, "float tensors are differentiated by; choose the argument with wrt=1");
}

void watched_free(watched_call *w) {
    for (int i = 0; w->pos && i < w->a.npos; i++) value_release(w->pos[i]);
    mem_free(w->pos);
    tape_free(w->tape);
    tensor_list_free(&w->x);
}

status watched_make(session *s, const arguments *a, const int *wrt, int wrt_count, bool lenient,
                    watched_call *w) {
    *w = (watched_call){.a = *a, .pos = mem_calloc((size_t)a->npos, sizeof(value)), .tape = tape_new(s->c)};
    w->a.pos = w->pos;
    if (!w->pos) return fail_memory(&s->c->err, (size_t)a->npos * sizeof(value));
    if (!w->tape) return s->c->err.code;
    for (int i = 0; i < a->npos; i++) w->pos[i] = value_retain(a->pos[i]);
    for (int i = 0; i < wrt_count; i++) {
        value made = {0};
        if (wrt[i] >= a->npos) {
            fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT,
                 "the gradient is by argument %d, and %d are given by place", wrt[i], a->npos);
            return fail_hint(&s->c->err,
                             "arguments count from 0; give those to differentiate by without names");
        }
        status st = watch_argument(s, w, w->pos[wrt[i]], lenient, &made);
        if (st) {
            mark_argument(s, a, wrt[i], NULL);
            value_release(made);
            return st;
        }
        value_release(w->pos[wrt[i]]);
        w->pos[wrt[i]] = made;
    }
    return STATUS_OK;
}

status watched_run(session *s, value f, watched_call *w, span where, value *out) {
    tape_push(s->c, w->tape);
    status st = call_value(s, f, &w->a, where, out);
    tape_pop(s->c, w->tape);
    return st;
}

/* ---- from a row of gradients to a structure ---- */

typedef struct next_gradient {
    tensor *const *items;
    size_t at;
    bool outright; /* the leaf is the whole argument */
} next_gradient;

static status gradient_leaf(session *s, void *user, value leaf, value *out) {
    next_gradient *n = user;
    (void)s;
    bool real = leaf.kind == VALUE_TENSOR && dtype_is_float(leaf.tensor->meta.dtype);
    bool has = real && (n->outright || !leaf.tensor->meta.weak);
    *out = has ? value_tensor(tensor_retain(n->items[n->at++])) : value_none();
    return STATUS_OK;
}

static status one_structure(session *s, value like, next_gradient *n, value *out) {
    n->outright = like.kind == VALUE_TENSOR;
    return leaves_map(s, like, gradient_leaf, n, out);
}

status gradients_alike(session *s, const value *pos, const int *wrt, int wrt_count, bool tuple,
                       tensor *const *g, value *out) {
    value each[MAX_WRT] = {0};
    next_gradient n = {.items = g};
    status st = STATUS_OK;
    for (int i = 0; i < wrt_count && !st; i++) st = one_structure(s, pos[wrt[i]], &n, &each[i]);
    if (!st && tuple)
        st = value_new_tuple(&s->c->err, each, (size_t)wrt_count, out);
    else if (!st)
        *out = value_retain(each[0]);
    for (int i = 0; i < wrt_count; i++) value_release(each[i]);
    return st;
}

static status check_result(session *s, const derived_object *d, value y) {
    char buffer[120];
    if (y.kind == VALUE_TENSOR) return STATUS_OK;
    fail(&s->c->err, STATUS_GRAD, E_GRAD_RESULT, "%s wants a function with a scalar result; it gave %s",
         derived_name(d->derived), value_describe(y, buffer, sizeof buffer));
    return fail_hint(&s->c->err, "return the scalar alone, or ask for vjp(f, x)");
}

static status call_grad(session *s, derived_object *d, const arguments *a, span where, value *out) {
    watched_call w;
    value y = {0}, g = {0};
    tensor **gradients = NULL;
    status st = watched_make(s, a, d->wrt, d->wrt_count, false, &w);
    if (!st) st = watched_run(s, d->f, &w, where, &y);
    if (!st) st = check_result(s, d, y);
    if (!st && !(gradients = mem_calloc(w.x.count, sizeof *gradients)))
        st = fail_memory(&s->c->err, w.x.count * sizeof *gradients);
    if (!st) st = tape_gradient(w.tape, y.tensor, NULL, w.x.items, (int)w.x.count, gradients);
    if (!st) st = gradients_alike(s, w.pos, d->wrt, d->wrt_count, d->wrt_tuple, gradients, &g);
    if (!st && d->derived == DERIVED_VALUE_AND_GRAD)
        st = value_new_tuple(&s->c->err, (value[]){y, g}, 2, out);
    else if (!st)
        *out = value_retain(g);
    for (size_t i = 0; gradients && i < w.x.count; i++) tensor_release(gradients[i]);
    mem_free(gradients);
    value_release(y);
    value_release(g);
    watched_free(&w);
    return st;
}

/* ---- jacobian, hessian ---- */

/* A tensor of y's dtype and of shape `size` with 1 at element i and 0 elsewhere. */
static tensor *one_at(session *s, const tensor *y, const shape *size, int64_t i) {
    tensor *wide = tensor_new(s->c, DT_F64, size);
    if (!wide) return NULL;
    double *data = tensor_data(wide);
    tensor *r = NULL;
    if (!copy_zeros(s->c, data, (size_t)tensor_count(wide) * sizeof *data)) {
        data[i] = 1;
        r = op_cast(s->c, wide, y->meta.dtype, false);
    }
    tensor_release(wide);
    return r;
}

static status jacobian_rows(session *s, watched_call *w, tensor *y, const shape *size, int64_t count,
                            value *rows) {
    for (int64_t i = 0; i < count; i++) {
        tensor *seed = one_at(s, y, size, i), *g = NULL;
        status st = seed ? tape_gradient(w->tape, y, seed, w->x.items, 1, &g) : s->c->err.code;
        tensor_release(seed);
        if (st) return st;
        rows[i] = value_tensor(g);
    }
    return STATUS_OK;
}

static status shape_jacobian(session *s, value stacked, tensor *y, tensor *x, value *out) {
    shape to = y->meta.shape;
    if (to.rank + x->meta.shape.rank > MAX_RANK)
        return fail(&s->c->err, STATUS_SHAPE, E_RANK, "a jacobian of %d axes: a tensor has at most %d",
                    to.rank + x->meta.shape.rank, MAX_RANK);
    for (int i = 0; i < x->meta.shape.rank; i++) to.size[to.rank++] = x->meta.shape.size[i];
    tensor *t = op_reshape(s->c, stacked.tensor, &to);
    *out = value_tensor(t);
    return t ? STATUS_OK : s->c->err.code;
}

/* *size is the result's shape; while freezing its sizes become fixed: there is one row per element. */
static status check_jacobian(session *s, const arguments *a, value y, shape *size, int64_t *count) {
    char buffer[120];
    if (a->npos < 1 || a->pos[0].kind != VALUE_TENSOR)
        return fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT, "jacobian and hessian are by one tensor");
    bool known = y.kind == VALUE_TENSOR && dtype_is_float(y.tensor->meta.dtype);
    if (known) *size = y.tensor->meta.shape;
    for (int i = 0; known && i < size->rank; i++) known = dim_pin(s->c->dims, size->size[i], &size->size[i]);
    if (!known)
        return fail(&s->c->err, STATUS_GRAD, E_GRAD_RESULT,
                    "jacobian wants a float tensor of known size; it gave %s",
                    value_describe(y, buffer, sizeof buffer));
    *count = shape_count(NULL, size);
    return STATUS_OK;
}

static status call_jacobian(session *s, value f, const arguments *a, span where, value *out) {
    watched_call w;
    value y = {0}, *rows = NULL, stacked = {0};
    int wrt = 0;
    int64_t count = 0;
    shape size = {0};
    status st = watched_make(s, a, &wrt, 1, false, &w);
    if (!st) st = watched_run(s, f, &w, where, &y);
    if (!st) st = check_jacobian(s, a, y, &size, &count);
    if (!st && !(rows = mem_calloc((size_t)count, sizeof *rows)))
        st = fail_memory(&s->c->err, (size_t)count * sizeof *rows);
    if (!st) st = jacobian_rows(s, &w, y.tensor, &size, count, rows);
    if (!st) st = stack_values(s, "stack", rows, (size_t)count, where, &stacked);
    if (!st) st = shape_jacobian(s, stacked, y.tensor, w.x.items[0], out);
    for (int64_t i = 0; rows && i < count; i++) value_release(rows[i]);
    mem_free(rows);
    value_release(stacked);
    value_release(y);
    watched_free(&w);
    return st;
}

static status call_hessian(session *s, derived_object *d, const arguments *a, span where, value *out) {
    derived_object inner = *d;
    inner.head = (object){.refs = 1, .kind = VALUE_DERIVED};
    inner.derived = DERIVED_GRAD;
    value f = {.kind = VALUE_DERIVED,
               .derived = &inner}; /* lives on this stack: nobody retains it for longer */
    return call_jacobian(s, f, a, where, out);
}

status derived_call(session *s, derived_object *d, const arguments *a, span where, value *out) {
    switch (d->derived) {
    case DERIVED_JACOBIAN:
        return call_jacobian(s, d->f, a, where, out);
    case DERIVED_HESSIAN:
        return call_hessian(s, d, a, where, out);
    default:
        return call_grad(s, d, a, where, out);
    }
}
