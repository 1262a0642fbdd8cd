/* call_builtin.c — builtins: parsing signatures, binding arguments by them, and helpers that read arguments. */
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"

/* "x, axis=None, *sizes" */
static status parse_signature(session *s, const char *content, signature *out) {
    *out = (signature){.rest = -1};
    for (const char *p = content; *p;) {
        size_t item = strcspn(p, ","), name = strcspn(p, ",=");
        if (*p == '*') {
            out->rest = out->params;
            p++, item--, name--;
        }
        const symbol *param = symbol_intern(&s->symbols, p, name, &s->c->err);
        if (!param) return s->c->err.code;
        if (out->params < BUILTIN_MAX_PARAMS) out->param[out->params++] = param;
        p += item;
        p += strspn(p, ", ");
    }
    return STATUS_OK;
}

static status signature_of(session *s, const builtin *b, const signature **out) {
    uintptr_t known;
    if (map_get(&s->signatures, (uintptr_t)b, &known)) {
        *out = (const signature *)known;
        return STATUS_OK;
    }
    signature *made = mem_alloc(sizeof *made);
    if (!made) return fail_memory(&s->c->err, sizeof *made);
    status st = parse_signature(s, b->signature, made);
    if (!st && !map_put(&s->signatures, (uintptr_t)b, (uintptr_t)made))
        st = fail_memory(&s->c->err, sizeof *made);
    if (st)
        mem_free(made);
    else
        *out = made;
    return st;
}

static status refuse(session *s, const builtin *b, int number, const char *what, const char *which) {
    const char *shown = b->signature, *comma = strchr(shown, ',');
    if (strchr(b->name, '.') && comma) shown = comma + strspn(comma, ", ");
    fail(&s->c->err, STATUS_TYPE, number, "%s %s%s", b->name, what, which);
    return fail_hint(&s->c->err, "it is %s(%s)", b->name, shown);
}

/* The parameter that a keyword means. */
static const symbol *without_alias(const session *s, const symbol *name) {
    const known_symbols *k = &s->known;
    if (name == k->dim || name == k->axes) return k->axis;
    return name == k->keepdims || name == k->keepdim ? k->keep : name;
}

void mark_argument(session *s, const arguments *a, int position, const symbol *name) {
    const ast_node *n = a->call;
    int positional = 0;
    for (uint32_t i = 1; n && i < n->count; i++) {
        const ast_node *child = n->child[i];
        bool named = child->kind == AST_KEYWORD;
        const symbol *given = named ? symbol_find(&s->symbols, child->hash) : NULL;
        if (named && name && (given == name || without_alias(s, given) == name))
            error_at(s, child->child[0]->where, s->c->err.code);
        positional += !named;
    }
    int at =
        position < 0 ? -1 : position - (a->npos - positional); /* what stands before the call comes first */
    for (uint32_t i = 1; n && i < n->count && at >= 0; i++)
        if (n->child[i]->kind != AST_KEYWORD && at-- == 0) error_at(s, n->child[i]->where, s->c->err.code);
}

status blame(session *s, const char *parameter) {
    s->blamed = parameter;
    return s->c->err.code;
}

static void mark_blamed(session *s, const signature *g, const arguments *a) {
    for (int i = 0; s->blamed && i < g->params; i++)
        if (i != g->rest && strcmp(g->param[i]->text, s->blamed) == 0) mark_argument(s, a, i, g->param[i]);
    s->blamed = NULL;
}

static status place_named(session *s, const builtin *b, const signature *g, const arguments *a, value *to) {
    for (int k = 0; k < a->nkw; k++) {
        const symbol *name = without_alias(s, a->name[k]);
        int at = -1;
        for (int i = 0; i < g->params; i++)
            if (g->param[i] == name || g->param[i] == a->name[k]) at = i;
        if (at < 0) return refuse(s, b, E_ARGUMENT_NAME, "has no parameter ", a->name[k]->text);
        if (to[at].kind != VALUE_ABSENT && at != g->rest)
            return refuse(s, b, E_ARGUMENT_NAME, "gets its argument twice: ", a->name[k]->text);
        if (at != g->rest) {
            to[at] = value_retain(a->named[k]);
            continue;
        }
        /* the collecting parameter by name: shape=(2, 3) */
        if (to[at].kind == VALUE_TUPLE && to[at].tuple->count)
            return refuse(s, b, E_ARGUMENT_NAME, "gets its argument twice: ", a->name[k]->text);
        value_release(to[at]);
        to[at] = (value){0};
        status st = value_new_tuple(&s->c->err, &a->named[k], 1, &to[at]);
        if (st) return st;
    }
    return STATUS_OK;
}

/* Arguments into places, by position, then by name. */
static status place(session *s, const builtin *b, const signature *g, const arguments *a, value *to) {
    int fixed = g->rest >= 0 ? g->rest : g->params;
    for (int i = 0; i < a->npos && i < fixed; i++) to[i] = value_retain(a->pos[i]);
    if (g->rest < 0 && a->npos > fixed) return refuse(s, b, E_ARGUMENT_EXTRA, "has too many arguments", "");
    if (g->rest >= 0) {
        int left = a->npos > fixed ? a->npos - fixed : 0;
        status st = value_new_tuple(&s->c->err, a->pos + (a->npos - left), (size_t)left, &to[g->rest]);
        if (st) return st;
    }
    return place_named(s, b, g, a, to);
}

/* A parameter without "=" in the signature must be given. */
static status check_given(session *s, const builtin *b, const signature *g, const value *args) {
    const char *p = b->signature;
    for (int i = 0; i < g->params; i++) {
        size_t item = strcspn(p, ",");
        bool needed = *p != '*' && !memchr(p, '=', item);
        if (needed && args[i].kind == VALUE_ABSENT)
            return refuse(s, b, E_ARGUMENT_MISSING, "misses its argument ", g->param[i]->text);
        p += item;
        p += strspn(p, ", ");
    }
    return STATUS_OK;
}

status call_builtin(session *s, const builtin *b, const arguments *a, value *out) {
    const signature *g = NULL;
    value args[BUILTIN_MAX_PARAMS] = {0};
    status st = signature_of(s, b, &g);
    if (st) return st;
    st = place(s, b, g, a, args);
    if (!st) st = check_given(s, b, g, args);
    s->blamed = NULL;
    if (!st) st = b->run(s, args, out);
    if (st) mark_blamed(s, g, a);
    for (int i = 0; i < g->params; i++) value_release(args[i]);
    return st;
}

/* ---- reading arguments ---- */

static const char *what(char buffer[80], const char *function, const char *name) {
    snprintf(buffer, 80, "%.40s's %.30s", function, name);
    return buffer;
}

status arg_tensor(session *s, const char *function, const char *name, value v, tensor **out) {
    if (v.kind != VALUE_TENSOR) return wrong_kind(s, function, name, "a tensor", v);
    *out = v.tensor;
    return STATUS_OK;
}

status arg_int(session *s, const char *function, const char *name, value v, int64_t *out) {
    char buffer[80];
    return scalar_int(s, v, what(buffer, function, name), out) ? blame(s, name) : STATUS_OK;
}

status arg_real(session *s, const char *function, const char *name, value v, double *out) {
    char buffer[80];
    return scalar_real(s, v, what(buffer, function, name), out) ? blame(s, name) : STATUS_OK;
}

status arg_bool(session *s, const char *function, const char *name, value v, bool *out) {
    char buffer[80];
    return scalar_bool(s, v, what(buffer, function, name), out) ? blame(s, name) : STATUS_OK;
}

status arg_dtype(session *s, const char *function, const char *name, value v, dtype *out) {
    if (v.kind != VALUE_TYPE || v.type) return wrong_kind(s, function, name, "a dtype such as f32", v);
    *out = v.dtype;
    return STATUS_OK;
}

status arg_string(session *s, const char *function, const char *name, value v, const char **out,
                  size_t *length) {
    if (v.kind != VALUE_STRING) return wrong_kind(s, function, name, "a string", v);
    *out = v.string->text;
    *length = v.string->length;
    return STATUS_OK;
}

static status ints_of_vector(session *s, const char *function, const char *name, tensor *t, int_list *out) {
    int64_t count;
    if (!dim_pin(s->c->dims, t->meta.shape.size[0], &count) || count > MAX_RANK)
        return fail(&s->c->err, STATUS_SHAPE, E_RANK, "%s: %s has more than %d entries", function, name,
                    MAX_RANK);
    out->count = count;
    for (int64_t i = 0; i < count; i++) {
        value row = {0};
        status st = tensor_concrete(t) ? STATUS_OK : tensor_row(s, t, i, &row);
        if (!st && row.kind == VALUE_ABSENT)
            out->v[i] = tensor_get_int(t, i);
        else if (!st)
            st = arg_int(s, function, name, row, &out->v[i]);
        value_release(row);
        if (st) return st;
    }
    return STATUS_OK;
}

status arg_ints(session *s, const char *function, const char *name, value v, int_list *out) {
    char buffer[80];
    *out = (int_list){0};
    if (v.kind == VALUE_TENSOR && v.tensor->meta.shape.rank == 1 && dtype_is_integer(v.tensor->meta.dtype))
        return ints_of_vector(s, function, name, v.tensor, out);
    if (v.kind != VALUE_TUPLE) {
        out->count = 1;
        return scalar_dim(s, v, what(buffer, function, name), &out->v[0]) ? blame(s, name) : STATUS_OK;
    }
    if (v.tuple->count > MAX_RANK)
        return fail(&s->c->err, STATUS_SHAPE, E_RANK, "%s: %s has more than %d entries", function, name,
                    MAX_RANK);
    if (v.tuple->count == 1 &&
        (v.tuple->item[0].kind == VALUE_TUPLE ||
         (v.tuple->item[0].kind == VALUE_TENSOR && v.tuple->item[0].tensor->meta.shape.rank == 1)))
        return arg_ints(s, function, name, v.tuple->item[0], out); /* sizes, or one tuple of them */
    out->count = (int64_t)v.tuple->count;
    for (size_t i = 0; i < v.tuple->count; i++) {
        if (scalar_dim(s, v.tuple->item[i], what(buffer, function, name), &out->v[i])) return blame(s, name);
    }
    return STATUS_OK;
}
