/* builtins_basic.c — printing, checking, asking about values, time, the random stream's state; and the lists of
 * everything that comes with the language. */
#include <math.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/ops/random.h"
#include "repl/lang/builtins.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/leaves.h"

static status run_print(session *s, const value *args, value *out) {
    if (s->freezing) return freezing_refuse_effect(s, "print");
    *out = value_none();
    if (!s->host || !s->host->print) return STATUS_OK;
    return s->host->print(s->host->user, s, args[0].tuple->item, args[0].tuple->count);
}

static status run_assert(session *s, const value *args, value *out) {
    bool holds;
    const char *message = NULL;
    size_t length = 0;
    if (s->freezing && args[0].kind == VALUE_TENSOR && !tensor_concrete(args[0].tensor))
        return freezing_refuse_effect(s, "assert");
    status st = arg_bool(s, "assert", "condition", args[0], &holds);
    if (!st && args[1].kind != VALUE_ABSENT)
        st = arg_string(s, "assert", "message", args[1], &message, &length);
    if (st) {
        fail_hint(&s->c->err, "all(x) or any(x) make one bool of a tensor");
        return st;
    }
    *out = value_none();
    if (holds) return STATUS_OK;
    return fail(&s->c->err, STATUS_ASSERT, E_ASSERT_FAILED, "%s",
                message ? message : "the assertion does not hold");
}

static status run_error(session *s, const value *args, value *out) {
    const char *message;
    size_t length;
    status st = arg_string(s, "error", "message", args[0], &message, &length);
    *out = value_none();
    return st ? st : fail(&s->c->err, STATUS_VALUE, E_RAISED, "%s", message);
}

static status run_len(session *s, const value *args, value *out) {
    value v = args[0];
    switch (v.kind) {
    case VALUE_TENSOR:
        if (v.tensor->meta.shape.rank > 0) return value_from_dim(s, v.tensor->meta.shape.size[0], out);
        fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "a scalar has no length");
        return fail_hint(&s->c->err, "len gives the first size of a tensor; x.shape all of them");
    case VALUE_TUPLE:
        return value_from_dim(s, (dim)v.tuple->count, out);
    case VALUE_RECORD:
        return value_from_dim(s, (dim)v.record->count, out);
    case VALUE_STRING:
        return value_from_dim(s, (dim)v.string->length, out);
    case VALUE_RANGE:
        return value_from_dim(s, v.range->end > v.range->begin ? v.range->end - v.range->begin : 0, out);
    default:
        return wrong_kind(s, "len", "x", "a tensor, tuple, record, string or range", v);
    }
}

static status run_shape(session *s, const value *args, value *out) {
    tensor *t;
    status st = arg_tensor(s, "shape", "x", args[0], &t);
    return st ? st : shape_value(s, t, out);
}

static status run_dtype(session *s, const value *args, value *out) {
    tensor *t;
    status st = arg_tensor(s, "dtype", "x", args[0], &t);
    if (!st) *out = value_dtype(dtype_alone(t));
    return st;
}

static status run_time(session *s, const value *args, value *out) {
    (void)args;
    if (s->freezing) return freezing_refuse_effect(s, "time");
    double now = (double)clock_ns() * 1e-9;
    tensor *t = tensor_from(s->c, DT_F64, &(shape){0}, &now);
    *out = value_tensor(t);
    return t ? STATUS_OK : s->c->err.code;
}

static status run_seed(session *s, const value *args, value *out) {
    int64_t n;
    if (s->freezing) return freezing_refuse_effect(s, "seed");
    status st = arg_int(s, "seed", "n", args[0], &n);
    *out = value_none();
    return st ? st : random_seed(s->c, n);
}

static status restore_stream(session *s, value state) {
    value both[2];
    int64_t n[2];
    if (state.kind != VALUE_TUPLE || state.tuple->count != 2)
        return wrong_kind(s, "rng_state", "state", "what rng_state() gave", state);
    for (int i = 0; i < 2; i++) {
        both[i] = state.tuple->item[i];
        status st = arg_int(s, "rng_state", "state", both[i], &n[i]);
        if (st) return st;
    }
    tensor *seed = tensor_scalar_i64(s->c, n[0]), *counter = tensor_scalar_i64(s->c, n[1]);
    if (!seed || !counter) {
        tensor_release(seed);
        tensor_release(counter);
        return s->c->err.code;
    }
    tensor_release(s->c->seed);
    tensor_release(s->c->counter);
    s->c->seed = seed;
    s->c->counter = counter;
    return STATUS_OK;
}

static status run_rng_state(session *s, const value *args, value *out) {
    if (s->freezing) return freezing_refuse_effect(s, "rng_state");
    if (args[0].kind != VALUE_ABSENT) {
        *out = value_none();
        return restore_stream(s, args[0]);
    }
    value both[2] = {value_tensor(s->c->seed), value_tensor(s->c->counter)};
    return value_new_tuple(&s->c->err, both, 2, out);
}

/* map(f, t, ..): f of each leaf. */
typedef struct mapping {
    value f;
    const value *others; /* structures like the first */
    size_t count;
    size_t leaf; /* number of the leaf that comes next */
} mapping;

/* Leaf number n of a structure, borrowed. */
typedef struct leaf_search {
    size_t wanted, at;
    value found;
} leaf_search;

static status match_leaf(session *s, void *user, value leaf) {
    leaf_search *x = user;
    (void)s;
    if (x->at++ == x->wanted) x->found = leaf;
    return STATUS_OK;
}

static status map_leaf(session *s, void *user, value leaf, value *out) {
    mapping *m = user;
    value args[BUILTIN_MAX_PARAMS + 1] = {leaf};
    for (size_t i = 0; i < m->count; i++) {
        leaf_search x = {.wanted = m->leaf};
        leaves_each(s, m->others[i], match_leaf, &x);
        args[i + 1] = x.found;
    }
    m->leaf++;
    return call_with(s, m->f, args, (int)m->count + 1, s->c->here, out);
}

static status run_map(session *s, const value *args, value *out) {
    mapping m = {.f = args[0], .others = args[2].tuple->item, .count = args[2].tuple->count};
    if (m.count > BUILTIN_MAX_PARAMS)
        return fail(&s->c->err, STATUS_LIMIT, E_TOO_MANY, "map takes at most %d structures at once, not %zu",
                    BUILTIN_MAX_PARAMS + 1, m.count + 1);
    for (size_t i = 0; i < m.count; i++)
        if (!leaves_alike(args[1], m.others[i]))
            return fail(&s->c->err, STATUS_TYPE, E_STRUCTURES, "map wants values of the same structure");
    return leaves_map(s, args[1], map_leaf, &m, out);
}

const builtin builtins_basic[] = {
    {"print", "*values", run_print, "writes its arguments on one line"},
    {"assert", "condition, message=\"\"", run_assert,
     "fails with the message when the condition does not hold"},
    {"error", "message", run_error, "fails with the message"},
    {"len", "x", run_len, "first size of a tensor; number of entries of a tuple, record or string"},
    {"shape", "x", run_shape, "sizes of a tensor as a tuple, like x.shape"},
    {"dtype", "x", run_dtype, "element type of a tensor, like x.dtype"},
    {"time", "", run_time, "seconds from some fixed moment, as f64"},
    {"seed", "n", run_seed, "starts the random stream of seed n over"},
    {"rng_state", "state=None", run_rng_state, "the random stream's state, or back to an earlier one"},
    {"map", "f, t, *more", run_map, "f applied to each leaf of tuples and records (of the same structure)"},
    {NULL, NULL, NULL, NULL},
};

/* ---- everything that comes with the language ---- */

status add_base(session *s, const char *name, value v, const char *parameters, const char *doc) {
    const symbol *known = symbol_intern(&s->symbols, name, strlen(name), &s->c->err);
    status st = known ? bindings_room(s, known) : s->c->err.code;
    if (st) return st;
    binding *b = bindings_at(s, known);
    value old = b->base;
    b->base = value_retain(v);
    b->signature = parameters;
    b->doc = doc;
    value_release(old);
    return STATUS_OK;
}

status session_add_builtins(session *s, const builtin *list) {
    for (; list->name; list++) {
        status st = add_base(s, list->name, (value){.kind = VALUE_BUILTIN, .builtin = list}, list->signature,
                             list->doc);
        if (st) return st;
    }
    return STATUS_OK;
}

static status add_constant(session *s, const char *name, double x, const char *doc) {
    tensor *t = tensor_weak_real(s->c, x);
    if (!t) return s->c->err.code;
    status st = add_base(s, name, value_tensor(t), NULL, doc);
    tensor_release(t);
    return st;
}

static status add_constants(session *s) {
    value cpu;
    status st = add_constant(s, "pi", 3.14159265358979323846, "circumference of a circle over its diameter");
    if (!st) st = add_constant(s, "e", 2.71828182845904523536, "base of natural logarithms");
    if (!st) st = add_constant(s, "inf", (double)INFINITY, "positive infinity");
    if (!st) st = add_constant(s, "nan", (double)NAN, "not a number");
    if (!st) st = value_new_string(&s->c->err, "cpu", 3, &cpu);
    if (st) return st;
    st = add_base(s, "cpu", cpu, NULL, "the device: this machine's processors");
    value_release(cpu);
    return st;
}

status add_builtin_functions(session *s) {
    const builtin *const lists[] = {builtins_basic, builtins_create, builtins_shape, builtins_grad};
    status st = add_constants(s);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !st; i++) st = session_add_builtins(s, lists[i]);
    if (!st)
        st = add_base(s, freeze_builtin.name, (value){.kind = VALUE_BUILTIN, .builtin = &freeze_builtin},
                      freeze_builtin.signature, freeze_builtin.doc);
    return st;
}
