/* freeze_run.c — running what was frozen as it is written: while it is traced, under a gradient tape, and inside of
 * another freeze. An expression reads its free names where it was frozen; names given by keyword take their place. */
#include "engine/base/memory.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"

/* The expression with the top level's names, wherever the call stands. */
static status run_at_top(session *s, const prototype *p, value *out) {
    frame *outer = s->frame;
    ast *tree = s->tree;
    bool in_prelude = s->in_prelude;
    s->frame = NULL;
    s->tree = p->tree;
    s->in_prelude = p->prelude;
    s->calls++;
    status st = check_stack(s, p->node->where);
    if (!st) st = eval_expr(s, p->body, out);
    s->calls--;
    s->frame = outer;
    s->tree = tree;
    s->in_prelude = in_prelude;
    return st;
}

static bool mentions(const prototype *p, const symbol *name) {
    for (size_t i = 0; i < p->mentioned; i++)
        if (p->mention[i] == name) return true;
    return false;
}

static status check_fed(session *s, const prototype *p, const arguments *a) {
    for (int i = 0; i < a->nkw; i++)
        if (!mentions(p, a->name[i]))
            return fail(&s->c->err, STATUS_FREEZE, E_FREEZE_ARGUMENT,
                        "the frozen expression does not read %s", a->name[i]->text);
    return STATUS_OK;
}

/* Top-level names given by keyword: bound for the time of the call, unless the expression assigns them. */
static status run_fed(session *s, const prototype *p, const arguments *a, value *out) {
    value *before = mem_calloc((size_t)a->nkw, sizeof *before);
    if (!before) return fail_memory(&s->c->err, (size_t)a->nkw * sizeof *before);
    status st = STATUS_OK;
    int fed = 0;
    for (; fed < a->nkw && !st; fed++) {
        value *place = s->freezing ? NULL : bindings_open(s, a->name[fed]);
        if (place)
            before[fed] = *place, *place = value_retain(a->named[fed]);
        else
            st = s->freezing ? freezing_write(s, a->name[fed], a->named[fed]) : s->c->err.code;
    }
    if (!st) st = run_at_top(s, p, out);
    for (int i = 0; i < fed && !s->freezing; i++) {
        value *place = bindings_open(s, a->name[i]);
        bool assigned = place && !(place->kind == a->named[i].kind && place->object == a->named[i].object);
        if (!place || assigned) {
            value_release(before[i]);
            continue;
        }
        value_release(*place);
        *place = before[i];
    }
    mem_free(before);
    return st;
}

static status run_expression(session *s, frozen *f, const arguments *a, value *out) {
    const prototype *p = f->f.function->proto;
    status st = check_fed(s, p, a);
    if (st) return st;
    if (f->top_level) return a->nkw ? run_fed(s, p, a, out) : run_at_top(s, p, out);
    arguments none = {0};
    local few[8];
    if (a->nkw > 8) return fail(&s->c->err, STATUS_FREEZE, E_FREEZE_ARGUMENT, "more than 8 names are fed");
    for (int i = 0; i < a->nkw; i++) few[i] = (local){a->name[i]->hash, a->name[i], a->named[i]};
    return call_function(s, f->f.function, few, (size_t)a->nkw, &none, out);
}

status freeze_run_original(session *s, frozen *f, const arguments *a, span where, value *out) {
    if (!f->expression) return call_value(s, f->f, a, where, out);
    if (a->npos == 0) return run_expression(s, f, a, out);
    /* an expression whose value is a function, called */
    value made = {0};
    arguments fed = {0}, rest = *a;
    status st = run_expression(s, f, &fed, &made);
    if (st) return st;
    if (value_callable(made)) {
        st = call_value(s, made, &rest, where, out);
    } else {
        st = fail(&s->c->err, STATUS_FREEZE, E_FREEZE_ARGUMENT,
                  "a frozen expression is called without arguments, or with names: g(x=other)");
    }
    value_release(made);
    return st;
}
