/* freeze.c — the special form, and calls of what it makes: finding a specialisation, feeding its inputs, giving its
 * outputs their places. See freeze.h. */
#include "repl/lang/freeze.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/gradient.h"
#include "repl/lang/value_impl.h"

enum { MOST_SPECIALS = 64 };

void frozen_destroy(object *o, object **dead) {
    frozen *f = (frozen *)o;
    for (int i = 0; i < f->count; i++) special_free(f->specials[i]);
    mem_free(f->specials);
    mem_free(f->known);
    value_unref(f->f, dead);
    mem_free(f);
}

/* ---- does a specialisation hold for these values? ---- */

static bool same_scalar(const tensor *a, const tensor *b) {
    if (a == b) return true;
    if (a->meta.dtype != b->meta.dtype || a->meta.weak != b->meta.weak) return false;
    if (a->meta.shape.rank > 0 || b->meta.shape.rank > 0) return false;
    return tensor_concrete(b) && !memcmp(tensor_data(a), tensor_data(b), dtype_size(a->meta.dtype));
}

static bool same_function(const function_object *a, const function_object *b) {
    return a == b || (a->proto == b->proto && !a->captured && !b->captured && !a->defaults && !b->defaults);
}

static bool same_static(value a, value b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case VALUE_TENSOR:
        return same_scalar(a.tensor, b.tensor);
    case VALUE_STRING:
        return a.string->length == b.string->length &&
               !memcmp(a.string->text, b.string->text, a.string->length);
    case VALUE_RANGE:
        return a.range->begin == b.range->begin && a.range->end == b.range->end;
    case VALUE_TYPE:
        return a.dtype == b.dtype && a.type == b.type;
    case VALUE_NONE:
        return true;
    case VALUE_BUILTIN:
        return a.builtin == b.builtin;
    case VALUE_OP:
        return a.op == b.op;
    case VALUE_FUNCTION:
        return same_function(a.function, b.function);
    case VALUE_DERIVED:
        return a.derived == b.derived ||
               (a.derived->derived == b.derived->derived && a.derived->wrt_count == b.derived->wrt_count &&
                a.derived->wrt_tuple == b.derived->wrt_tuple &&
                !memcmp(a.derived->wrt, b.derived->wrt, sizeof a.derived->wrt) &&
                same_static(a.derived->f, b.derived->f)); /* as deep as grad(grad(..)) was written */
    default:
        return a.object == b.object;
    }
}

/* Tensors of `v` into in[] where the pattern has placeholders. */
static bool match(value pattern, value v, tensor **in) {
    if (pattern.kind == VALUE_ABSENT) {
        if (v.kind != VALUE_TENSOR) return false;
        in[pattern.number] = v.tensor;
        return true;
    }
    if (pattern.kind == VALUE_TUPLE) {
        if (v.kind != VALUE_TUPLE || v.tuple->count != pattern.tuple->count) return false;
        for (size_t i = 0; i < v.tuple->count; i++)
            if (!match(pattern.tuple->item[i], v.tuple->item[i], in)) return false;
        return true;
    }
    if (pattern.kind == VALUE_RECORD) {
        if (v.kind != VALUE_RECORD || v.record->count != pattern.record->count) return false;
        for (size_t i = 0; i < v.record->count; i++)
            if (pattern.record->entry[i].key != v.record->entry[i].key ||
                !match(pattern.record->entry[i].value, v.record->entry[i].value, in))
                return false;
        return true;
    }
    return same_static(pattern, v);
}

static bool match_globals(session *s, const special *sp, const char **which) {
    for (size_t i = 0; i < sp->global_count; i++) {
        const global_use *g = &sp->globals[i];
        if (!g->read) continue;
        const binding *b = bindings_at(s, g->name);
        value v = b ? b->user : (value){0};
        *which = g->name->text;
        if (g->unbound ? v.kind != VALUE_ABSENT : !match(g->pattern, v, sp->in)) return false;
    }
    return true;
}

/* Fills sp->in. When the specialisation does not hold, `why` says what differs. */
static bool holds(session *s, special *sp, const arguments *a, text *why) {
    const char *which = NULL;
    if (a->npos != sp->npos || a->nkw != sp->nkw) {
        text_add(why, "other arguments are given");
        return false;
    }
    for (int i = 0; i < a->npos + a->nkw; i++) {
        bool named = i >= a->npos;
        value v = named ? a->named[i - a->npos] : a->pos[i];
        if ((named && a->name[i - a->npos] != sp->kw[i - a->npos]) || !match(sp->args[i], v, sp->in)) {
            text_printf(why, "argument %d has another value or structure", i);
            return false;
        }
    }
    if (!match_globals(s, sp, &which)) {
        text_printf(why, "%s has another value or structure", which);
        return false;
    }
    for (size_t i = 0; i < sp->fixed_count; i++) sp->in[sp->fixed[i].input] = sp->fixed[i].tensor;
    if (sp->traced->seed_input >= 0) {
        sp->in[sp->traced->seed_input] = s->c->seed;
        sp->in[sp->traced->counter_input] = s->c->counter;
    }
    return program_accepts(sp->program, sp->in, sp->inputs, why);
}

static special *find_special(session *s, frozen *f, const arguments *a, text *why) {
    for (int k = 0; k < f->count; k++) {
        int i = k == 0 && f->current >= 0 ? f->current : k <= f->current ? k - 1 : k; /* the last one first */
        text_clear(why);
        if (!holds(s, f->specials[i], a, why)) continue;
        f->current = i;
        return f->specials[i];
    }
    return NULL;
}

/* ---- running one ---- */

static status place_output(session *s, void *user, value leaf, value *out) {
    tensor *const *made = user;
    (void)s;
    *out = leaf.kind == VALUE_ABSENT ? value_tensor(tensor_retain(made[leaf.number])) : value_retain(leaf);
    return STATUS_OK;
}

static status write_back(session *s, special *sp) {
    for (size_t i = 0; i < sp->global_count; i++) {
        global_use *g = &sp->globals[i];
        value v = {0};
        if (!g->written) continue;
        status st = leaves_map(s, g->now, place_output, sp->out, &v);
        if (!st) st = bindings_set(s, g->name, v);
        value_release(v);
        if (st) return st;
    }
    return STATUS_OK;
}

static status run_special(session *s, special *sp, value *out) {
    status st = program_run(sp->program, sp->in, sp->inputs, sp->out);
    if (st) return st;
    value made = {0};
    st = leaves_map(s, sp->result, place_output, sp->out, &made);
    if (!st) st = write_back(s, sp);
    if (!st && sp->traced->seed_input >= 0) {
        tensor_release(s->c->counter);
        s->c->counter = tensor_retain(sp->out[sp->outputs - 1]);
    }
    for (int i = 0; i < sp->outputs; i++) {
        tensor_release(sp->out[i]);
        sp->out[i] = NULL;
    }
    if (st)
        value_release(made);
    else
        *out = made;
    return st;
}

static status add_special(session *s, frozen *f, special *sp) {
    if (f->count == MOST_SPECIALS) {
        special_free(f->specials[0]);
        memmove(f->specials, f->specials + 1, (MOST_SPECIALS - 1) * sizeof *f->specials);
        f->count--;
    }
    size_t capacity = (size_t)f->capacity;
    void *grown = freeze_grow(s, f->specials, (size_t)f->count, &capacity, sizeof *f->specials);
    if (!grown) {
        special_free(sp);
        return s->c->err.code;
    }
    f->specials = grown;
    f->capacity = (int)capacity;
    f->current = f->count;
    f->specials[f->count++] = sp;
    return STATUS_OK;
}

/* The program's own mistake (not one of freezing) is reported as the program run without stand-ins reports it, with
 * the sizes of this call. */
static status report_plainly(session *s, frozen *f, const arguments *a, span where, status st) {
    if (st == STATUS_FREEZE || st == STATUS_MEMORY || st == STATUS_INTERRUPT) return st;
    error traced = s->c->err;
    value v = {0};
    error_clear(&s->c->err);
    if (!freeze_run_original(s, f, a, where, &v)) {
        value_release(v);
        s->c->err = traced;
    }
    return s->c->err.code;
}

static status make_special(session *s, frozen *f, const arguments *a, span where, const char *reason) {
    special *sp;
    status st = freeze_trace(s, f, a, NULL, &sp);
    if (st) return report_plainly(s, f, a, where, st);
    freeze_explain(s, f, sp, reason);
    return add_special(s, f, sp);
}

status frozen_call(session *s, frozen *f, const arguments *a, span where, value *out) {
    if (s->c->tapes || s->freezing) return freeze_run_original(s, f, a, where, out);
    text why = {0};
    special *sp = find_special(s, f, a, &why);
    status st = STATUS_OK;
    if (!sp) {
        value self =
            value_retain((value){.kind = VALUE_GRAPH, .graph = f}); /* the program may rebind its name */
        st = make_special(s, f, a, where, text_str(&why));
        if (!st) {
            text_clear(&why);
            sp = find_special(s, f, a, &why);
        }
        value_release(self);
    }
    if (!st && !sp)
        st = fail(&s->c->err, STATUS_FREEZE, E_FREEZE_SHAPE,
                  "the graph does not hold for the call it was made for: %s", text_str(&why));
    text_free(&why);
    return st ? st : run_special(s, sp, out);
}

/* ---- the special form ---- */

/* The function's name, that of the variable which this freeze is assigned to, or for now the text between the
 * parentheses. */
static void name_frozen(session *s, frozen *z, const symbol *variable, span written) {
    value f = z->f;
    const symbol *name = f.kind == VALUE_FUNCTION ? prototype_name(f.function->proto) : NULL;
    if (f.kind == VALUE_DERIVED && f.derived->f.kind == VALUE_FUNCTION)
        name = prototype_name(f.derived->f.function->proto);
    if (f.kind == VALUE_OP)
        snprintf(z->name, sizeof z->name, "%s", f.op->name);
    else if (name && f.kind == VALUE_DERIVED)
        snprintf(z->name, sizeof z->name, "%.14s_%.30s", derived_name(f.derived->derived), name->text);
    else if (name || variable)
        snprintf(z->name, sizeof z->name, "%.40s", (name ? name : variable)->text);
    else if (written.source)
        source_brief(s->sources, written, z->name, sizeof z->name);
    else if (f.kind == VALUE_FUNCTION)
        prototype_title(f.function->proto, s->sources, z->name, sizeof z->name);
    else
        snprintf(z->name, sizeof z->name, "%s", value_kind_text(f.kind));
    z->named = f.kind == VALUE_OP || name || variable;
}

static status new_frozen(session *s, value f, bool expression, const symbol *variable, span written,
                         value *out) {
    frozen *z = object_new(&s->c->err, VALUE_GRAPH, sizeof *z);
    if (!z) return s->c->err.code;
    z->f = value_retain(f);
    z->expression = expression;
    z->top_level = expression && !s->frame;
    z->current = -1;
    name_frozen(s, z, variable, written);
    *out = (value){.kind = VALUE_GRAPH, .graph = z};
    return STATUS_OK;
}

/* Specialises for written types at once. */
static status specialise_now(session *s, const ast_node *call, value made) {
    int count = (int)call->count - 2;
    if (count < 1) return STATUS_OK;
    value *types = mem_calloc((size_t)count, sizeof *types);
    if (!types) return fail_memory(&s->c->err, (size_t)count * sizeof *types);
    arguments a = {.npos = count};
    special *sp;
    status st = STATUS_OK;
    for (int i = 0; i < count && !st; i++) {
        const ast_node *n = call->child[i + 2];
        if (n->kind == AST_KEYWORD)
            st = error_at(
                s, n->where,
                fail(&s->c->err, STATUS_FREEZE, E_FREEZE_FORM, "freeze has no parameter %s", n->text));
        else
            st = eval_expr(s, n, &types[i]);
    }
    if (!st) st = freeze_trace(s, made.graph, &a, types, &sp);
    if (!st) {
        freeze_explain(s, made.graph, sp, "");
        st = add_special(s, made.graph, sp);
    }
    for (int i = 0; i < count; i++) value_release(types[i]);
    mem_free(types);
    return st;
}

/* Can the expression be evaluated without running any of the program: a name, fields of one, grad(f) of such? */
static bool is_plain(session *s, const ast_node *n) {
    while (n->kind == AST_FIELD) n = n->child[0];
    if (n->kind == AST_NAME || n->kind == AST_LAMBDA || n->kind == AST_INT || n->kind == AST_TUPLE) {
        for (uint32_t i = 0; n->kind == AST_TUPLE && i < n->count; i++)
            if (!is_plain(s, n->child[i])) return false;
        return true;
    }
    if (n->kind != AST_CALL || n->child[0]->kind != AST_NAME) return false;
    const value *f = lookup(s, n->child[0]->hash);
    bool derives = f && f->kind == VALUE_BUILTIN && builtin_derives(f->builtin);
    for (uint32_t i = 1; derives && i < n->count; i++)
        derives = is_plain(s, n->child[i]->kind == AST_KEYWORD ? n->child[i]->child[0] : n->child[i]);
    return derives;
}

/* The function that the argument names; absent when it is an expression to freeze. */
static status subject_function(session *s, const ast_node *n, value *out) {
    value v = {0};
    if (!is_plain(s, n)) return s->c->err.code;
    status st = eval_expr(s, n, &v);
    if (!st && value_callable(v))
        *out = v;
    else
        value_release(v);
    return st;
}

static status freeze_expression(session *s, const ast_node *n, const symbol *variable, value *out) {
    const prototype *p;
    value f = {0};
    status st = prototype_of(s, s->tree, n, s->in_prelude, &p);
    if (!st) st = make_closure(s, p, &f);
    if (!st) st = new_frozen(s, f, true, variable, n->where, out);
    value_release(f);
    return st;
}

status eval_freeze(session *s, const ast_node *call, value *out) {
    value f = {0}, made = {0};
    const symbol *variable = s->assigned_call == call ? s->assigned_name : NULL;
    const ast_node *n = call->count > 1 ? call->child[1] : NULL;
    if (!n || n->kind == AST_KEYWORD) {
        fail(&s->c->err, STATUS_FREEZE, E_FREEZE_FORM, "freeze wants a function or an expression");
        return error_at(s, call->where, s->c->err.code);
    }
    status st = subject_function(s, n, &f);
    if (!st && f.kind == VALUE_GRAPH && call->count == 2) {
        *out = f;
        return st;
    }
    if (!st)
        st = f.kind == VALUE_ABSENT ? freeze_expression(s, n, variable, &made)
                                    : new_frozen(s, f, false, variable, n->where, &made);
    if (!st && f.kind == VALUE_ABSENT && call->count > 2)
        st = fail(&s->c->err, STATUS_FREEZE, E_FREEZE_FORM,
                  "types are for functions: this expression has none");
    if (!s->in_prelude) s->c->here = call->where;
    if (!st) st = specialise_now(s, call, made);
    value_release(f);
    if (st)
        value_release(made);
    else
        *out = made;
    return error_at(s, call->where, st);
}

/* freeze as a value: xs |> freeze, map(freeze, ..). */
static status run_freeze(session *s, const value *args, value *out) {
    if (value_callable(args[0])) return new_frozen(s, args[0], false, NULL, (span){0}, out);
    wrong_kind(s, "freeze", "f", "a function", args[0]);
    return fail_hint(&s->c->err, "freeze(x + y), written as a call, freezes an expression");
}

const builtin freeze_builtin = {"freeze", "f, *types", run_freeze,
                                "a function or expression as a graph that means the same and runs faster"};
