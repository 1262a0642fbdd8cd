/* freeze_trace.c — making a specialisation: the function is run on stand-ins, reads of top-level names and captures
 * become inputs, assignments to top-level names become outputs.
 *
 * When the program asks for the number of a scalar that came from outside, the trace starts again with that
 * scalar known (E_FREEZE_AGAIN), as often as it takes. */
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/gradient.h"

void *freeze_grow(session *s, void *items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity) return items;
    size_t more = *capacity ? 2 * *capacity : 8;
    void *grown = mem_realloc(items, more * bytes);
    if (!grown) {
        fail_memory(&s->c->err, more * bytes);
        return NULL;
    }
    *capacity = more;
    return grown;
}

void special_free(special *sp) {
    if (!sp) return;
    for (int i = 0; sp->args && i < sp->npos + sp->nkw; i++) value_release(sp->args[i]);
    for (size_t i = 0; i < sp->global_count; i++) {
        value_release(sp->globals[i].pattern);
        value_release(sp->globals[i].now);
    }
    for (size_t i = 0; i < sp->fixed_count; i++) tensor_release(sp->fixed[i].tensor);
    value_release(sp->result);
    program_free(sp->program);
    graph_free(sp->traced);
    mem_free(sp->args);
    mem_free(sp->kw);
    mem_free(sp->globals);
    mem_free(sp->fixed);
    mem_free(sp->in);
    mem_free(sp->out);
    text_free(&sp->why);
    mem_free(sp);
}

/* ---- from values to stand-ins ---- */

/* A value from outside being made ready for the program; run twice over its leaves, with and without making
 * inputs. */
typedef struct conversion {
    freezing *z;
    value whole;
    int arg;
    const symbol *name;
    const char *called; /* what inputs are called: a parameter's name; NULL: nothing */
    size_t leaf;        /* number of the next leaf */
    bool pattern;       /* make placeholders instead of stand-ins */
    size_t first;       /* the first input that was made */
} conversion;

static bool is_known(const frozen *f, const conversion *c) {
    for (size_t i = 0; i < f->known_count; i++) {
        const known_leaf *k = &f->known[i];
        if (k->arg == c->arg && k->name == c->name && k->leaf == c->leaf) return true;
    }
    return false;
}

static bool knowable(const tensor *t) {
    return t->meta.shape.rank == 0 && (t->meta.weak || !dtype_is_float(t->meta.dtype));
}

static status add_origin(session *s, freezing *z, const input_origin *o) {
    void *grown = freeze_grow(s, z->origins, z->origin_count, &z->origin_capacity, sizeof *z->origins);
    if (!grown) return s->c->err.code;
    z->origins = grown;
    z->origins[z->origin_count++] = *o;
    return STATUS_OK;
}

/* Inputs that the trace made by itself (the random stream's) take numbers too. */
static status catch_up(session *s, freezing *z) {
    while ((int)z->origin_count < trace_inputs(z->trace)) {
        status st = add_origin(s, z, &(input_origin){.leaf = {.arg = -1}});
        if (st) return st;
    }
    return STATUS_OK;
}

static status new_input(session *s, freezing *z, tensor *example, const char *name, const input_origin *o,
                        tensor **out) {
    status st = catch_up(s, z);
    if (!st) st = add_origin(s, z, o);
    if (st) return st;
    *out = trace_input(z->trace, example, name);
    return *out ? STATUS_OK : s->c->err.code;
}

static status convert_leaf(session *s, void *user, value leaf, value *out) {
    conversion *c = user;
    bool input = leaf.kind == VALUE_TENSOR && tensor_concrete(leaf.tensor) && !is_known(c->z->f, c);
    input_origin o = {.leaf = {.arg = c->arg, .name = c->name, .leaf = c->leaf}};
    c->leaf++;
    *out = input ? (value){0} : value_retain(leaf);
    if (!input) return STATUS_OK;
    if (c->pattern) {
        out->number = (int64_t)c->first++;
        return STATUS_OK;
    }
    tensor *t;
    o.knowable = knowable(leaf.tensor);
    text called = {0}; /* "m.w1" */
    text_add(&called, c->called ? c->called : "");
    leaf_path(c->whole, o.leaf.leaf, &called);
    status st = called.failed ? fail_memory(&s->c->err, called.length)
                              : new_input(s, c->z, leaf.tensor, text_str(&called), &o, &t);
    text_free(&called);
    if (!st) *out = value_tensor(t);
    return st;
}

/* *now gets the stand-ins, *pattern the placeholders. */
static status convert(session *s, freezing *z, value v, int arg, const symbol *name, const char *called,
                      value *now, value *pattern) {
    conversion c = {.z = z, .whole = v, .arg = arg, .name = name, .called = called};
    status st = catch_up(s, z);
    size_t first = z->origin_count;
    if (!st) st = leaves_map(s, v, convert_leaf, &c, now);
    c = (conversion){.z = z, .whole = v, .arg = arg, .name = name, .pattern = true, .first = first};
    return st ? st : leaves_map(s, v, convert_leaf, &c, pattern);
}

/* ---- top-level names ---- */

static global_use *find_global(freezing *z, const symbol *name) {
    for (size_t i = 0; i < z->sp->global_count; i++)
        if (z->sp->globals[i].name == name) return &z->sp->globals[i];
    return NULL;
}

static global_use *add_global(session *s, freezing *z, const symbol *name) {
    special *sp = z->sp;
    void *grown = freeze_grow(s, sp->globals, sp->global_count, &sp->global_capacity, sizeof *sp->globals);
    if (!grown) return NULL;
    sp->globals = grown;
    global_use *g = &sp->globals[sp->global_count++];
    *g = (global_use){.name = name};
    return g;
}

static global_use *read_global(session *s, const symbol *name) {
    freezing *z = s->freezing;
    global_use *g = find_global(z, name);
    if (g && (g->read || g->written)) return g;
    if (!g && !(g = add_global(s, z, name))) return NULL;
    const binding *b = bindings_at(s, name);
    value v = b ? b->user : (value){0}, now = {0}, pattern = {0};
    size_t at = (size_t)(g - z->sp->globals);
    if (v.kind != VALUE_ABSENT && convert(s, z, v, -1, name, name->text, &now, &pattern)) {
        value_release(now);
        value_release(pattern);
        return NULL;
    }
    g = &z->sp->globals[at];
    g->read = true;
    g->unbound = v.kind == VALUE_ABSENT;
    g->now = now;
    g->pattern = pattern;
    return g;
}

const value *freezing_read(session *s, const symbol *name) {
    global_use *g = read_global(s, name);
    return g && g->now.kind != VALUE_ABSENT ? &g->now : NULL;
}

status freezing_write(session *s, const symbol *name, value v) {
    global_use *g = find_global(s->freezing, name);
    if (!g && !(g = add_global(s, s->freezing, name))) return s->c->err.code;
    value old = g->now;
    g->now = value_retain(v);
    g->written = true;
    value_release(old);
    return STATUS_OK;
}

value *freezing_open(session *s, const symbol *name) {
    global_use *g = read_global(s, name);
    if (!g) return NULL;
    g->written = true;
    return &g->now;
}

/* ---- captures ---- */

static bool holds_large_tensor(value v) {
    if (v.kind == VALUE_TENSOR) return tensor_concrete(v.tensor) && v.tensor->meta.shape.rank > 0;
    bool tuple = v.kind == VALUE_TUPLE;
    if (!tuple && v.kind != VALUE_RECORD) return false;
    size_t count = tuple ? v.tuple->count : v.record->count;
    for (size_t i = 0; i < count; i++)
        if (holds_large_tensor(tuple ? v.tuple->item[i] : v.record->entry[i].value)) return true;
    return false;
}

static status fix_leaf(session *s, void *user, value leaf, value *out) {
    freezing *z = user;
    special *sp = z->sp;
    if (!holds_large_tensor(leaf)) {
        *out = value_retain(leaf);
        return STATUS_OK;
    }
    void *grown = freeze_grow(s, sp->fixed, sp->fixed_count, &sp->fixed_capacity, sizeof *sp->fixed);
    if (!grown) return s->c->err.code;
    sp->fixed = grown;
    tensor *t;
    status st = new_input(s, z, leaf.tensor, NULL, &(input_origin){.leaf = {.arg = -1}}, &t);
    if (st) return st;
    sp->fixed[sp->fixed_count++] = (fixed_use){tensor_retain(leaf.tensor), (int)z->origin_count - 1};
    *out = value_tensor(t);
    return STATUS_OK;
}

const value *freezing_captured(session *s, const value *capture) {
    freezing *z = s->freezing;
    if (!holds_large_tensor(*capture)) return capture;
    for (size_t i = 0; i < z->capture_count; i++) {
        const captured_use *u = &z->captures[i];
        if (u->place == capture && u->original.object == capture->object) return &u->now;
    }
    void *grown = freeze_grow(s, z->captures, z->capture_count, &z->capture_capacity, sizeof *z->captures);
    if (!grown) return NULL;
    z->captures = grown;
    value now = {0};
    if (leaves_map(s, *capture, fix_leaf, z, &now)) return NULL;
    captured_use *u = &z->captures[z->capture_count++];
    *u = (captured_use){capture, value_retain(*capture), now};
    return &u->now;
}

/* ---- what comes out ---- */

typedef struct outputs {
    const trace *trace;
    tensor_list tensors;
} outputs;

static status refuse_result(session *s, value v) {
    char buffer[120];
    fail(&s->c->err, STATUS_FREEZE, E_FREEZE_RESULT,
         "a frozen program can't return %s that it makes while it runs",
         value_describe(v, buffer, sizeof buffer));
    return fail_hint(&s->c->err, "return tensors; make functions and tapes outside");
}

/* Does the function hold values of the trace? */
static bool captures_traced(value v, int depth) {
    if (v.kind == VALUE_TENSOR) return !tensor_concrete(v.tensor);
    if (depth == 0) return true;
    bool found = false;
    if (v.kind == VALUE_FUNCTION) {
        for (size_t i = 0; i < v.function->captured && !found; i++)
            found = captures_traced(v.function->capture[i].value, depth - 1);
        for (size_t i = 0; i < v.function->defaults && !found; i++)
            found = captures_traced(v.function->fallback[i], depth - 1);
    } else if (v.kind == VALUE_DERIVED) {
        found = captures_traced(v.derived->f, depth - 1);
    } else if (v.kind == VALUE_TUPLE) {
        for (size_t i = 0; i < v.tuple->count && !found; i++)
            found = captures_traced(v.tuple->item[i], depth - 1);
    } else if (v.kind == VALUE_RECORD) {
        for (size_t i = 0; i < v.record->count && !found; i++)
            found = captures_traced(v.record->entry[i].value, depth - 1);
    }
    return found;
}

static status output_leaf(session *s, void *user, value leaf, value *out) {
    outputs *o = user;
    if (leaf.kind == VALUE_PULLBACK || leaf.kind == VALUE_TAPE) return refuse_result(s, leaf);
    if (leaf.kind != VALUE_TENSOR || tensor_concrete(leaf.tensor)) {
        if (captures_traced(leaf, VALUE_MAX_DEPTH)) return refuse_result(s, leaf);
        *out = value_retain(leaf);
        return STATUS_OK;
    }
    *out = (value){.number = (int64_t)o->tensors.count};
    return tensor_list_add(s, &o->tensors, leaf.tensor);
}

/* Patterns of the result and of what was assigned; their tensors in a row. */
static status collect_outputs(session *s, special *sp, value result, outputs *o) {
    status st = leaves_map(s, result, output_leaf, o, &sp->result);
    for (size_t i = 0; i < sp->global_count && !st; i++) {
        global_use *g = &sp->globals[i];
        value pattern = {0};
        if (g->written) st = leaves_map(s, g->now, output_leaf, o, &pattern);
        value_release(g->now);
        g->now = pattern;
    }
    return st;
}

/* ---- one trace ---- */

/* What argument i is called in the function; NULL when nobody knows. */
static const char *argument_name(value f, int i, const symbol *given) {
    if (given) return given->text;
    for (int depth = 0; f.kind == VALUE_DERIVED && depth < VALUE_MAX_DEPTH; depth++) f = f.derived->f;
    if (f.kind != VALUE_FUNCTION || i >= f.function->proto->params) return NULL;
    return f.function->proto->param[i]->text;
}

static status convert_arguments(session *s, freezing *z, const arguments *a, value *now) {
    special *sp = z->sp;
    int count = a->npos + a->nkw;
    sp->args = mem_calloc((size_t)count, sizeof *sp->args);
    sp->kw = mem_calloc((size_t)a->nkw, sizeof *sp->kw);
    if (!sp->args || !sp->kw) return fail_memory(&s->c->err, (size_t)count * sizeof *sp->args);
    sp->npos = a->npos;
    sp->nkw = a->nkw;
    for (int i = 0; i < count; i++) {
        bool named = i >= a->npos;
        const symbol *name = named ? a->name[i - a->npos] : NULL;
        if (named) sp->kw[i - a->npos] = name;
        value v = named ? a->named[i - a->npos] : a->pos[i];
        status st = convert(s, z, v, i, name, argument_name(z->f->f, i, name), &now[i], &sp->args[i]);
        if (st) return st;
    }
    return STATUS_OK;
}

/* What was fed by name is not assigned by the program. */
static void forget_fed(special *sp, const arguments *a, const value *now) {
    for (int k = 0; k < a->nkw; k++)
        for (size_t i = 0; i < sp->global_count; i++) {
            global_use *g = &sp->globals[i];
            bool same = g->name == a->name[k] && g->now.kind == now[a->npos + k].kind &&
                        g->now.object == now[a->npos + k].object;
            if (!same || g->read) continue;
            g->written = false;
            value_drop(&g->now);
        }
}

static status run_traced(session *s, freezing *z, const arguments *a, value *now, outputs *o) {
    value result = {0};
    arguments b = *a;
    b.pos = now;
    b.named = now + a->npos;
    status st = freeze_run_original(s, z->f, &b, s->c->here, &result);
    if (!st) {
        if (z->f->expression) forget_fed(z->sp, a, now);
        st = collect_outputs(s, z->sp, result, o);
    }
    value_release(result);
    return st;
}

static void freezing_free(freezing *z) {
    for (size_t i = 0; i < z->capture_count; i++) {
        value_release(z->captures[i].original);
        value_release(z->captures[i].now);
    }
    mem_free(z->captures);
    mem_free(z->origins);
}

static status finish(session *s, special *sp, freezing *z, outputs *o) {
    graph *fast;
    trace *t = z->trace;
    z->trace = NULL;
    status st = trace_end(t, o->tensors.items, (int)o->tensors.count, &sp->traced);
    if (!st) st = pipeline_run(sp->traced, &fast, NULL, NULL);
    if (!st) st = program_new(s->c, fast, &sp->program);
    if (st) return st;
    sp->inputs = sp->traced->input_count;
    sp->outputs = sp->traced->output_count;
    sp->in = mem_calloc((size_t)sp->inputs, sizeof(tensor *));
    sp->out = mem_calloc((size_t)sp->outputs, sizeof(tensor *));
    return sp->in && sp->out ? STATUS_OK : fail_memory(&s->c->err, sizeof(tensor *));
}

/* The meta that a written type stands for: -1 where a size is open. */
static status meta_of_type(session *s, value type, meta *m, const char *names[MAX_RANK]) {
    error *e = &s->c->err;
    char buffer[120];
    *m = (meta){.dtype = type.dtype};
    if (type.kind != VALUE_TYPE)
        return fail(e, STATUS_FREEZE, E_FREEZE_FORM,
                    "freeze takes a function and types such as f32[?, 64], not %s",
                    value_describe(type, buffer, sizeof buffer));
    if (!type.type) {
        fail(e, STATUS_FREEZE, E_FREEZE_FORM, "the shape of %s is open", dtype_name(type.dtype));
        return fail_hint(e, "write %s[?, 64], or %s[] for a scalar", dtype_name(type.dtype),
                         dtype_name(type.dtype));
    }
    m->shape.rank = type.type->count;
    for (int i = 0; i < type.type->count; i++) {
        const type_dim *d = &type.type->dim[i];
        if (d->kind == TYPE_DIM_REST)
            return fail(e, STATUS_FREEZE, E_FREEZE_FORM,
                        "`...` leaves the number of axes open: write each axis");
        m->shape.size[i] = d->kind == TYPE_DIM_SIZE ? d->size : -1;
        names[i] = d->kind == TYPE_DIM_NAME ? d->name->text : NULL;
    }
    return STATUS_OK;
}

static status convert_types(session *s, freezing *z, const value *types, int count, value *now) {
    special *sp = z->sp;
    sp->args = mem_calloc((size_t)count, sizeof *sp->args);
    sp->kw = mem_calloc(1, sizeof *sp->kw);
    if (!sp->args || !sp->kw) return fail_memory(&s->c->err, (size_t)count * sizeof *sp->args);
    sp->npos = count;
    for (int i = 0; i < count; i++) {
        meta m;
        const char *names[MAX_RANK] = {0};
        status st = meta_of_type(s, types[i], &m, names);
        if (!st) st = add_origin(s, z, &(input_origin){.leaf = {.arg = i}});
        if (st) return st;
        tensor *t = trace_input_meta(z->trace, &m, argument_name(z->f->f, i, NULL), names);
        if (!t) return s->c->err.code;
        now[i] = value_tensor(t);
        sp->args[i] = (value){.number = i};
    }
    return STATUS_OK;
}

/* One attempt, on stand-ins for the arguments or, when there are types, for those. */
static status trace_once(session *s, frozen *f, special *sp, const arguments *a, const value *types) {
    freezing z = {.f = f, .sp = sp};
    outputs o = {0};
    int count = a->npos + a->nkw;
    value *now = mem_calloc((size_t)count, sizeof *now);
    if (!now) return fail_memory(&s->c->err, (size_t)count * sizeof *now);
    span here = s->c->here;
    z.trace = trace_begin(s->c, f->name);
    status st = z.trace ? STATUS_OK : s->c->err.code;
    s->freezing = &z;
    if (!st) st = types ? convert_types(s, &z, types, count, now) : convert_arguments(s, &z, a, now);
    if (!st) st = run_traced(s, &z, a, now, &o);
    s->freezing = NULL;
    if (!st) st = finish(s, sp, &z, &o);
    if (z.trace) trace_abandon(z.trace);
    s->c->here = here;
    for (int i = 0; i < count; i++) value_release(now[i]);
    mem_free(now);
    tensor_list_free(&o.tensors);
    freezing_free(&z);
    return st;
}

status freeze_trace(session *s, frozen *f, const arguments *a, const value *types, special **out) {
    for (;;) {
        special *sp = mem_calloc(1, sizeof *sp);
        if (!sp) return fail_memory(&s->c->err, sizeof *sp);
        status st = trace_once(s, f, sp, a, types);
        if (!st) {
            *out = sp;
            return st;
        }
        special_free(sp);
        if (s->c->err.number != E_FREEZE_AGAIN) return st;
        error_clear(&s->c->err); /* one more leaf is known now, so this ends */
    }
}
