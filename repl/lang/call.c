/* call.c — calls: evaluating arguments, binding them to parameters, running functions of the language.
 *
 * A function reads its parameters and what it assigns from its frame. Everything that must be put back when
 * the call ends, in whichever way, is saved in `entered`. */
#include "repl/lang/call.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/gradient.h"

/* ---- frames ---- */

static status frame_add(session *s, frame *f, const symbol *name, value v) {
    if (f->count == f->capacity) {
        size_t capacity = 2 * f->capacity;
        local *locals = mem_alloc(capacity * sizeof *locals);
        if (!locals) return fail_memory(&s->c->err, capacity * sizeof *locals);
        memcpy(locals, f->locals, f->count * sizeof *locals);
        if (f->locals != f->few) mem_free(f->locals);
        f->locals = locals;
        f->capacity = capacity;
    }
    f->locals[f->count++] = (local){name->hash, name, value_retain(v)};
    return STATUS_OK;
}

static void frame_close(frame *f) {
    for (size_t i = 0; i < f->count; i++) value_release(f->locals[i].value);
    if (f->locals != f->few) mem_free(f->locals);
}

/* The first time that an assignment hides a function of the language, the host is told. */
static void warn_shadow(session *s, const symbol *name) {
    binding *b = bindings_at(s, name);
    if (!b || b->warned || s->in_prelude || !value_callable(b->base)) return;
    b->warned = true;
    char message[200];
    snprintf(message, sizeof message,
             "%.80s was a function of the language; here it is now the name of this value", name->text);
    if (s->host && s->host->warn) s->host->warn(s->host->user, s, s->c->here, message);
}

/* A lambda, or a graph made of one, is called by the first name that it is given. */
static void name_value(session *s, const symbol *name, value v) {
    if (v.kind == VALUE_FUNCTION) prototype_assigned(s, v.function->proto, name);
    if (v.kind == VALUE_GRAPH) frozen_assigned(v.graph, name);
}

status frame_set(session *s, const symbol *name, value v) {
    warn_shadow(s, name);
    if (s->freezing && !s->in_prelude && v.kind == VALUE_TENSOR && v.tensor->trace)
        trace_label(v.tensor->trace, v.tensor, name->text);
    name_value(s, name, v);
    frame *f = s->frame;
    if (!f) return s->freezing ? freezing_write(s, name, v) : bindings_set(s, name, v);
    for (size_t i = 0; i < f->count; i++) {
        if (f->locals[i].name != name) continue;
        value old = f->locals[i].value;
        f->locals[i].value = value_retain(v);
        value_release(old);
        return STATUS_OK;
    }
    return frame_add(s, f, name, v);
}

/* ---- binding arguments to parameters ---- */

static const char *name_of(const function_object *f) {
    const symbol *name = prototype_name(f->proto);
    return name ? name->text : "this function";
}

static void hint_signature(session *s, const prototype *p) {
    text written = {0};
    prototype_signature(p, s->sources, &written);
    const char *what = p->name ? "" : p->assigned ? p->assigned->text : "the function ";
    fail_hint(&s->c->err, "it is %s%s", what, text_str(&written));
    text_free(&written);
}

static __attribute__((noinline)) status wrong_arguments(session *s, const function_object *f,
                                                        const arguments *a, const symbol *stray,
                                                        const symbol *missing) {
    error *e = &s->c->err;
    const prototype *p = f->proto;
    if (stray)
        fail(e, STATUS_TYPE, E_ARGUMENT_NAME, "%s has no parameter %s", name_of(f), stray->text);
    else if (missing)
        fail(e, STATUS_TYPE, E_ARGUMENT_MISSING, "%s misses its argument %s", name_of(f), missing->text);
    else
        fail(e, STATUS_TYPE, E_ARGUMENT_EXTRA, "%s takes %d argument%s, not %d", name_of(f), p->params,
             p->params == 1 ? "" : "s", a->npos);
    hint_signature(s, p);
    return e->code;
}

static int param_index(const prototype *p, const symbol *name) {
    for (int i = 0; i < p->params; i++)
        if (p->param[i] == name) return i;
    return -1;
}

static status given_twice(session *s, const function_object *f, const symbol *name) {
    return fail(&s->c->err, STATUS_TYPE, E_ARGUMENT_NAME, "%s gets %s twice, by place and by name",
                name_of(f), name->text);
}

static status bind_parameters(session *s, frame *to, const function_object *f, const arguments *a) {
    const prototype *p = f->proto;
    if (a->npos > p->params) return wrong_arguments(s, f, a, NULL, NULL);
    for (int i = 0; i < a->nkw; i++) {
        int at = param_index(p, a->name[i]);
        if (at < 0) return wrong_arguments(s, f, a, a->name[i], NULL);
        if (at < a->npos) return given_twice(s, f, a->name[i]);
    }
    for (int i = 0; i < p->params; i++) {
        value v = {0};
        if (i < a->npos) v = a->pos[i];
        for (int k = 0; k < a->nkw && v.kind == VALUE_ABSENT; k++)
            if (a->name[k] == p->param[i]) v = a->named[k];
        int fallback = i - (p->params - p->defaults);
        if (v.kind == VALUE_ABSENT && fallback >= 0) v = f->fallback[fallback];
        if (v.kind == VALUE_ABSENT) return wrong_arguments(s, f, a, NULL, p->param[i]);
        status st = frame_add(s, to, p->param[i], v);
        if (st) return st;
    }
    return STATUS_OK;
}

/* ---- running a function ---- */

static status run_body(session *s, const function_object *f, frame *fr, value *out) {
    const prototype *p = f->proto;
    frame *outer = s->frame;
    ast *tree = s->tree;
    bool in_prelude = s->in_prelude;
    s->frame = fr;
    s->tree = p->tree;
    s->in_prelude = p->prelude;
    status st = eval_expr(s, p->body, out);
    if (st == STATUS_LEAVE && s->leave == LEAVE_RETURN) {
        *out = s->returned;
        s->returned = (value){0};
        s->leave = LEAVE_NOTHING;
        st = STATUS_OK;
    }
    s->frame = outer;
    s->tree = tree;
    s->in_prelude = in_prelude;
    return st;
}

status call_function(session *s, const function_object *f, const local *extra, size_t extra_count,
                     const arguments *a, value *out) {
    frame fr = {.outer = s->frame, .function = f, .capacity = sizeof fr.few / sizeof *fr.few};
    fr.self = (value){.kind = VALUE_FUNCTION, .function = (function_object *)f};
    fr.locals = fr.few;
    status st = bind_parameters(s, &fr, f, a);
    for (size_t i = 0; i < extra_count && !st; i++) st = frame_add(s, &fr, extra[i].name, extra[i].value);
    if (!st && f->proto->annotated) st = check_annotations(s, f, &fr);
    if (!st) st = run_body(s, f, &fr, out);
    frame_close(&fr);
    return st;
}

static status not_callable(session *s, value f) {
    char buffer[120];
    fail(&s->c->err, STATUS_TYPE, E_NOT_CALLABLE, "%s is not a function",
         value_describe(f, buffer, sizeof buffer));
    if (f.kind == VALUE_TENSOR)
        return fail_hint(&s->c->err, "indexing takes brackets: x[0]; a product takes `*`");
    if (f.kind == VALUE_TYPE) return fail_hint(&s->c->err, "a cast is written x as %s", dtype_name(f.dtype));
    return s->c->err.code;
}

static status dispatch(session *s, value f, const arguments *a, span where, value *out) {
    switch (f.kind) {
    case VALUE_FUNCTION:
        return call_function(s, f.function, NULL, 0, a, out);
    case VALUE_BUILTIN:
        return call_builtin(s, f.builtin, a, out);
    case VALUE_OP:
        return call_op(s, f.op, a, where, out);
    case VALUE_DERIVED:
        return derived_call(s, f.derived, a, where, out);
    case VALUE_PULLBACK:
        return pullback_call(s, f.pullback, a, out);
    case VALUE_GRAPH:
        return frozen_call(s, f.graph, a, where, out);
    default:
        return not_callable(s, f);
    }
}

/* A function in whose body something failed is remembered with its call. (A failure whose place is not known yet, as
 * wrong arguments or all within the prelude, gets that of the call itself.) */
static __attribute__((noinline)) void note_call(session *s, value f, span where) {
    error *e = &s->c->err;
    if (!e->code || !e->where.source) return;
    if (s->in_prelude) where = (span){0};
    char name[sizeof e->calls->name];
    if (f.kind == VALUE_FUNCTION) {
        prototype_title(f.function->proto, s->sources, name, sizeof name);
        error_called(e, name, where);
    } else if (f.kind == VALUE_GRAPH) {
        error_renamed(e, frozen_name(f.graph), where); /* in the place of the function that it was made of */
    }
}

status call_value(session *s, value f, const arguments *a, span where, value *out) {
    status st = check_stack(s, where);
    if (st) return st;
    if (!s->in_prelude) s->c->here = where;
    s->calls++;
    st = dispatch(s, f, a, where, out);
    s->calls--;
    if (st) note_call(s, f, where);
    return error_at(s, where, st);
}

status call_with(session *s, value f, const value *pos, int npos, span where, value *out) {
    arguments a = {.pos = (value *)pos, .npos = npos};
    return call_value(s, f, &a, where, out);
}

/* ---- call expressions ---- */

enum { FEW_POSITIONAL = 6, FEW_NAMED = 3 };

/* Arguments as they are evaluated; in the caller's frame while they are few. */
typedef struct prepared {
    arguments a;
    value pos[FEW_POSITIONAL];
    value named[FEW_NAMED];
    const symbol *names[FEW_NAMED];
} prepared;

static status prepare(session *s, prepared *p, const ast_node *n, int extra) {
    int npos = extra, nkw = 0;
    for (uint32_t i = 1; n && i < n->count; i++) n->child[i]->kind == AST_KEYWORD ? nkw++ : npos++;
    p->a = (arguments){.pos = p->pos, .named = p->named, .name = p->names, .call = n};
    if (npos > FEW_POSITIONAL) {
        p->a.pos = mem_alloc((size_t)npos * sizeof(value));
        if (!p->a.pos) return fail_memory(&s->c->err, (size_t)npos * sizeof(value));
    }
    if (nkw > FEW_NAMED) {
        p->a.named = mem_alloc((size_t)nkw * sizeof(value));
        p->a.name = mem_alloc((size_t)nkw * sizeof *p->a.name);
        if (!p->a.named || !p->a.name) return fail_memory(&s->c->err, (size_t)nkw * sizeof(value));
    }
    return STATUS_OK;
}

static void prepared_free(prepared *p) {
    for (int i = 0; i < p->a.npos; i++) value_release(p->a.pos[i]);
    for (int i = 0; i < p->a.nkw; i++) value_release(p->a.named[i]);
    if (p->a.pos != p->pos) mem_free(p->a.pos);
    if (p->a.named != p->named) mem_free(p->a.named);
    if (p->a.name != p->names) mem_free(p->a.name);
}

/* Evaluates the arguments of an AST_CALL behind those that are there already. */
static status eval_arguments(session *s, prepared *p, const ast_node *n) {
    for (uint32_t i = 1; i < n->count; i++) {
        const ast_node *child = n->child[i];
        status st;
        if (child->kind == AST_KEYWORD) {
            st = eval_expr(s, child->child[0], &p->a.named[p->a.nkw]);
            if (!st) p->a.name[p->a.nkw++] = symbol_find(&s->symbols, child->hash);
        } else {
            st = eval_expr(s, child, &p->a.pos[p->a.npos]);
            if (!st) p->a.npos++;
        }
        if (st) return st;
    }
    return STATUS_OK;
}

/* f(a..) where `first` (owned, absent when there is none) becomes the first argument, and n, an AST_CALL or NULL, has
 * the others. Owns f. */
static status call_prepared(session *s, value f, value first, const ast_node *n, span where, value *out) {
    prepared p;
    bool has_first = first.kind != VALUE_ABSENT;
    status st = prepare(s, &p, n, has_first);
    if (!st && has_first)
        p.a.pos[p.a.npos++] = first;
    else
        value_release(first);
    if (!st && n) st = eval_arguments(s, &p, n);
    if (!st) st = call_value(s, f, &p.a, where, out);
    prepared_free(&p);
    value_release(f);
    return st;
}

static status call_method(session *s, const ast_node *n, const ast_node *callee, value *out) {
    value self = {0}, f = {0};
    bool with_self;
    status st = eval_expr(s, callee->child[0], &self);
    if (!st) st = method_of(s, self, callee, &f, &with_self);
    if (st) {
        value_release(self);
        return st;
    }
    if (!with_self) value_drop(&self);
    return call_prepared(s, f, self, n, n->where, out);
}

static bool is_freeze(session *s, const ast_node *callee) {
    if (callee->kind != AST_NAME || callee->hash != s->known.freeze->hash) return false;
    const value *v = lookup(s, callee->hash);
    return v && v->kind == VALUE_BUILTIN && v->builtin == &freeze_builtin;
}

status eval_call(session *s, const ast_node *n, value *out) {
    const ast_node *callee = n->child[0];
    if (is_freeze(s, callee)) return eval_freeze(s, n, out);
    if (callee->kind == AST_FIELD && !(callee->flags & AST_PARENS)) return call_method(s, n, callee, out);
    value f = {0};
    status st = eval_expr(s, callee, &f);
    return st ? st : call_prepared(s, f, (value){0}, n, n->where, out);
}

/* One stage of a pipe; owns v. */
static status eval_stage(session *s, const ast_node *stage, value v, span where, value *out) {
    bool call = stage->kind == AST_CALL && !(stage->flags & AST_PARENS);
    value f = {0};
    status st = eval_expr(s, call ? stage->child[0] : stage, &f);
    if (st) {
        value_release(v);
        return st;
    }
    return call_prepared(s, f, v, call ? stage : NULL, where, out);
}

status eval_pipe(session *s, const ast_node *n, value *out) {
    value v = {0};
    status st = eval_expr(s, n->child[0], &v);
    for (uint32_t i = 1; i < n->count && !st; i++) {
        value next = {0};
        st = eval_stage(s, n->child[i], v, ast_chain_span(n, i + 1), &next);
        v = next;
    }
    if (!st) *out = v;
    return st;
}
