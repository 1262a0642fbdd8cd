/* pullback.c — vjp, jvp and the pullbacks between them, and tapes as values: t = tape { .. }, t.grad(y, x). */
#include <stdio.h>

#include "engine/base/memory.h"
#include "repl/lang/builtins.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/gradient.h"
#include "repl/lang/value_impl.h"

void pullback_destroy(object *o, object **dead) {
    pullback_object *p = (pullback_object *)o;
    for (int i = 0; p->w.pos && i < p->w.a.npos; i++) value_unref(p->w.pos[i], dead);
    p->w.a.npos = 0;
    watched_free(&p->w);
    value_unref(p->y, dead);
    tensor_list_free(&p->ys);
    mem_free(p);
}

void tape_destroy(object *o, object **dead) {
    (void)dead;
    tape_free(((tape_object *)o)->tape);
    mem_free(o);
}

/* ---- leaves ---- */

static bool is_real_tensor(value v) {
    return v.kind == VALUE_TENSOR && dtype_is_float(v.tensor->meta.dtype);
}

static status add_real_leaf(session *s, void *user, value leaf) {
    return is_real_tensor(leaf) ? tensor_list_add(s, user, leaf.tensor) : STATUS_OK;
}

/* Which leaves of `of` take a weight: the float ones of a result, or the parameters of an argument. */
typedef bool (*takes_weight)(value leaf);

/* The weights for those leaves, from a value of the same structure. */
static status pair(session *s, value of, value weights, takes_weight takes, tensor_list *out) {
    if (of.kind == VALUE_TUPLE || of.kind == VALUE_RECORD) {
        bool tuple = of.kind == VALUE_TUPLE;
        size_t count = tuple ? of.tuple->count : of.record->count;
        for (size_t i = 0; i < count; i++) {
            status st = tuple
                            ? pair(s, of.tuple->item[i], weights.tuple->item[i], takes, out)
                            : pair(s, of.record->entry[i].value, weights.record->entry[i].value, takes, out);
            if (st) return st;
        }
        return STATUS_OK;
    }
    char a[120], b[120];
    if (!takes(of)) return STATUS_OK;
    if (weights.kind == VALUE_TENSOR) return tensor_list_add(s, out, weights.tensor);
    return fail(&s->c->err, STATUS_GRAD, E_GRAD_STRUCTURE, "a weight for %s is wanted, not %s",
                value_describe(of, a, sizeof a), value_describe(weights, b, sizeof b));
}

static status pair_alike(session *s, value of, value weights, takes_weight takes, tensor_list *out) {
    if (leaves_alike(of, weights)) return pair(s, of, weights, takes, out);
    return fail(&s->c->err, STATUS_GRAD, E_GRAD_STRUCTURE,
                "the weights must have the structure of the value");
}

/* ---- pullbacks ---- */

static void drop_tensors(tensor **g, size_t count) {
    for (size_t i = 0; g && i < count; i++) tensor_release(g[i]);
    mem_free(g);
}

static status new_tensors(session *s, size_t count, tensor ***out) {
    *out = mem_calloc(count, sizeof **out);
    return *out ? STATUS_OK : fail_memory(&s->c->err, count * sizeof **out);
}

status pullback_call(session *s, pullback_object *p, const arguments *a, value *out) {
    tensor_list seeds = {0};
    tensor **g = NULL;
    if (a->npos != 1 || a->nkw) {
        fail(&s->c->err, STATUS_TYPE, E_ARGUMENT_EXTRA,
             "a pullback takes one argument: the weight of the result");
        return fail_hint(&s->c->err, "y, pull = vjp(f, x); pull(dy) with dy of y's shape");
    }
    const watched_call *w = &p->w;
    status st = pair_alike(s, p->y, a->pos[0], is_real_tensor, &seeds);
    if (!st) st = new_tensors(s, w->x.count, &g);
    if (!st)
        st = tape_vjp(w->tape, p->ys.items, seeds.items, (int)p->ys.count, w->x.items, (int)w->x.count, g);
    if (!st) st = gradients_alike(s, w->pos, p->wrt, p->wrt_count, p->tuple, g, out);
    drop_tensors(g, g ? w->x.count : 0);
    tensor_list_free(&seeds);
    return st;
}

/* f run on watched stand-ins of all its arguments. */
static status make_pullback(session *s, value f, const value *args, size_t count, pullback_object **out) {
    if (!value_callable(f)) return wrong_kind(s, "vjp or jvp", "f", "a function", f);
    if (count < 1 || count > MAX_WRT)
        return fail(&s->c->err, STATUS_TYPE, E_ARGUMENT_MISSING,
                    "vjp and jvp want 1 to %d arguments for the function", MAX_WRT);
    pullback_object *p = object_new(&s->c->err, VALUE_PULLBACK, sizeof *p);
    if (!p) return s->c->err.code;
    value made = {.kind = VALUE_PULLBACK, .pullback = p};
    arguments a = {.pos = (value *)args, .npos = (int)count};
    p->wrt_count = (int)count;
    p->tuple = count > 1;
    for (int i = 0; i < p->wrt_count; i++) p->wrt[i] = i;
    status st = watched_make(s, &a, p->wrt, p->wrt_count, p->tuple, &p->w);
    if (!st) st = watched_run(s, f, &p->w, s->c->here, &p->y);
    if (!st) st = leaves_each(s, p->y, add_real_leaf, &p->ys);
    if (st)
        value_release(made);
    else
        *out = p;
    return st;
}

static status run_vjp(session *s, const value *args, value *out) {
    pullback_object *p;
    status st = make_pullback(s, args[0], args[1].tuple->item, args[1].tuple->count, &p);
    if (st) return st;
    value made = {.kind = VALUE_PULLBACK, .pullback = p};
    st = value_new_tuple(&s->c->err, (value[]){p->y, made}, 2, out);
    value_release(made);
    return st;
}

/* ---- jvp by double vjp: the pullback is linear in its weight u, and its own pullback at dx is the derivative along
 * dx. ---- */

static status zero_weights(session *s, const pullback_object *p, tape *t, tensor_list *u) {
    for (size_t i = 0; i < p->ys.count; i++) {
        const meta *m = &p->ys.items[i]->meta;
        tensor *zero = m->weak ? tensor_weak_real(s->c, 0) : op_full(s->c, 0, &m->shape, m->dtype);
        if (!zero) return s->c->err.code;
        status st = tape_watch(t, zero);
        if (!st) st = tensor_list_add(s, u, zero);
        tensor_release(zero);
        if (st) return st;
    }
    return STATUS_OK;
}

/* The tangent's leaf for each float leaf of y. */
typedef struct tangents {
    tensor **items;
    size_t at;
} tangents;

static status tangent_leaf(session *s, void *user, value leaf, value *out) {
    tangents *t = user;
    (void)s;
    *out = is_real_tensor(leaf) ? value_tensor(tensor_retain(t->items[t->at++])) : value_none();
    return STATUS_OK;
}

static bool is_watched_leaf(value v) {
    return leaf_is_parameter(v);
}

static status along(session *s, pullback_object *p, tape *second, value dx, value *dy) {
    tensor_list u = {0}, seeds = {0};
    tensor **g = NULL, **d = NULL;
    const watched_call *w = &p->w;
    value x = w->pos[0];
    status st = zero_weights(s, p, second, &u);
    if (!st) st = new_tensors(s, w->x.count, &g);
    if (!st) st = new_tensors(s, p->ys.count, &d);
    if (!st) {
        tape_push(s->c, second);
        st = tape_vjp(w->tape, p->ys.items, u.items, (int)u.count, w->x.items, (int)w->x.count, g);
        tape_pop(s->c, second);
    }
    if (!st) st = pair_alike(s, x, dx, x.kind == VALUE_TENSOR ? is_real_tensor : is_watched_leaf, &seeds);
    if (!st) st = tape_vjp(second, g, seeds.items, (int)seeds.count, u.items, (int)u.count, d);
    tangents t = {.items = d};
    if (!st) st = leaves_map(s, p->y, tangent_leaf, &t, dy);
    drop_tensors(g, g ? w->x.count : 0);
    drop_tensors(d, d ? p->ys.count : 0);
    tensor_list_free(&u);
    tensor_list_free(&seeds);
    return st;
}

static status run_jvp(session *s, const value *args, value *out) {
    pullback_object *p;
    value dy = {0};
    status st = make_pullback(s, args[0], &args[1], 1, &p);
    if (st) return st;
    value made = {.kind = VALUE_PULLBACK, .pullback = p};
    tape *second = tape_new(s->c);
    st = second ? along(s, p, second, args[2], &dy) : s->c->err.code;
    if (!st) st = value_new_tuple(&s->c->err, (value[]){p->y, dy}, 2, out);
    value_release(dy);
    tape_free(second);
    value_release(made);
    return st;
}

/* ---- tapes as values ---- */

status eval_tape(session *s, const ast_node *n, value *out) {
    tape_object *o = object_new(&s->c->err, VALUE_TAPE, sizeof *o);
    if (!o) return s->c->err.code;
    value made = {.kind = VALUE_TAPE, .tape = o}, last = {0};
    o->tape = tape_new(s->c);
    status st = o->tape ? STATUS_OK : s->c->err.code;
    if (!st) {
        tape_watch_all(o->tape);
        tape_push(s->c, o->tape);
        st = eval_block(s, n->child[0], &last);
        tape_pop(s->c, o->tape);
    }
    value_release(last);
    if (st)
        value_release(made);
    else
        *out = made;
    return st;
}

static status check_on_tape(session *s, const tape *t, tensor *x, const char *what) {
    char buffer[120];
    if (tape_knows(t, x)) return STATUS_OK;
    s->blamed = what;
    if (!dtype_is_float(x->meta.dtype)) {
        fail(&s->c->err, STATUS_GRAD, E_GRAD_INTEGER, "%s is %s: gradients are of floats", what,
             value_describe(value_tensor(x), buffer, sizeof buffer));
        return fail_hint(&s->c->err, "write reals, such as 3.0, or cast before the tape: x as f32");
    }
    fail(&s->c->err, STATUS_GRAD, E_GRAD_TAPE, "%s is not on this tape", what);
    return fail_hint(&s->c->err,
                     "the tape knows what its block used and made; an operation after it makes a new value");
}

static status run_tape_grad(session *s, const value *args, value *out) {
    if (args[0].kind != VALUE_TAPE) return wrong_kind(s, "grad", "t", "a tape", args[0]);
    if (args[1].kind != VALUE_TENSOR) return wrong_kind(s, "t.grad", "y", "a tensor", args[1]);
    tape *t = args[0].tape->tape;
    tensor_list xs = {0};
    tensor **g = NULL;
    int first = 0;
    status st = check_on_tape(s, t, args[1].tensor, "y");
    if (!st && args[2].kind == VALUE_TENSOR)
        st = tensor_list_add(s, &xs, args[2].tensor);
    else if (!st)
        st = leaves_each(s, args[2], add_real_leaf, &xs);
    for (size_t i = 0; i < xs.count && !st; i++)
        if (!xs.items[i]->meta.weak || args[2].kind == VALUE_TENSOR)
            st = check_on_tape(s, t, xs.items[i], "x");
    if (!st && xs.count == 0)
        st = fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT, "there is nothing to differentiate by");
    if (!st) st = new_tensors(s, xs.count, &g);
    if (!st) st = tape_gradient(t, args[1].tensor, NULL, xs.items, (int)xs.count, g);
    if (!st) st = gradients_alike(s, &args[2], &first, 1, false, g, out);
    drop_tensors(g, g ? xs.count : 0);
    tensor_list_free(&xs);
    return st;
}

static const builtin tape_grad = {"t.grad", "t, y, x", run_tape_grad,
                                  "gradient of a value on the tape by another"};

value tape_method(session *s) {
    (void)s;
    return (value){.kind = VALUE_BUILTIN, .builtin = &tape_grad};
}

/* ---- grad and its kin ---- */

static status read_wrt(session *s, const char *function, value wrt, derived_object *d) {
    int_list list = {.count = 1};
    status st = wrt.kind == VALUE_ABSENT ? STATUS_OK : arg_ints(s, function, "wrt", wrt, &list);
    if (st) return st;
    d->wrt_tuple = wrt.kind == VALUE_TUPLE;
    d->wrt_count = (int)list.count;
    for (int i = 0; i < d->wrt_count; i++) {
        if (list.v[i] < 0 || list.v[i] > 1000 || list.count == 0)
            return fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT, "wrt counts arguments from 0; %lld is none",
                        (long long)list.v[i]);
        d->wrt[i] = (int)list.v[i];
        for (int k = 0; k < i; k++)
            if (d->wrt[k] == d->wrt[i])
                return fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT, "wrt names argument %d twice",
                            d->wrt[i]);
    }
    return d->wrt_count ? STATUS_OK : fail(&s->c->err, STATUS_GRAD, E_GRAD_ARGUMENT, "wrt names no argument");
}

static status derive(session *s, derived_kind kind, value f, value wrt, value *out) {
    const char *function = derived_name(kind);
    if (!value_callable(f)) {
        wrong_kind(s, function, "f", "a function", f);
        if (f.kind == VALUE_TENSOR)
            fail_hint(&s->c->err, "%s(f)(x) differentiates the function f at x%s", function,
                      dtype_is_float(f.tensor->meta.dtype) ? "" : ", which is of floats: x as f32");
        return s->c->err.code;
    }
    derived_object *d = object_new(&s->c->err, VALUE_DERIVED, sizeof *d);
    if (!d) return s->c->err.code;
    value made = {.kind = VALUE_DERIVED, .derived = d};
    d->derived = kind;
    d->f = value_retain(f);
    status st = read_wrt(s, function, wrt, d);
    if (st)
        value_release(made);
    else
        *out = made;
    return st;
}

static status run_grad(session *s, const value *args, value *out) {
    return derive(s, DERIVED_GRAD, args[0], args[1], out);
}

static status run_value_and_grad(session *s, const value *args, value *out) {
    return derive(s, DERIVED_VALUE_AND_GRAD, args[0], args[1], out);
}

static status run_jacobian(session *s, const value *args, value *out) {
    return derive(s, DERIVED_JACOBIAN, args[0], (value){0}, out);
}

static status run_hessian(session *s, const value *args, value *out) {
    return derive(s, DERIVED_HESSIAN, args[0], (value){0}, out);
}

const builtin builtins_grad[] = {
    {"grad", "f, wrt=0", run_grad,
     "the function that gives the gradient of a scalar function by its argument(s) wrt"},
    {"value_and_grad", "f, wrt=0", run_value_and_grad, "like grad, giving (value, gradient)"},
    {"jacobian", "f", run_jacobian, "the function that gives all derivatives of f's result by its argument"},
    {"hessian", "f", run_hessian, "the function that gives all second derivatives of a scalar function"},
    {"vjp", "f, *args", run_vjp,
     "(y, pullback): f's value, and the function from a weight of y to gradients"},
    {"jvp", "f, x, dx", run_jvp, "(y, dy): f's value at x, and its derivative along dx"},
    {NULL, NULL, NULL, NULL},
};

bool builtin_derives(const builtin *b) {
    return b->run == run_grad || b->run == run_value_and_grad || b->run == run_jacobian ||
           b->run == run_hessian;
}
