/* function.c — prototypes, and making function values; see function.h. */
#include "repl/lang/function.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/call.h"
#include "repl/lang/value_impl.h"

void prototype_free(prototype *p) {
    if (!p) return;
    ast_release(p->tree);
    mem_free(p->param);
    mem_free(p->mention);
    mem_free(p);
}

static status add_mention(session *s, prototype *p, size_t *capacity, const symbol *name) {
    for (int i = 0; i < p->params; i++)
        if (p->param[i] == name) return STATUS_OK;
    for (size_t i = 0; i < p->mentioned; i++)
        if (p->mention[i] == name) return STATUS_OK;
    if (p->mentioned == *capacity) {
        size_t more = *capacity ? 2 * *capacity : 8;
        const symbol **list = mem_realloc(p->mention, more * sizeof *list);
        if (!list) return fail_memory(&s->c->err, more * sizeof *list);
        p->mention = list;
        *capacity = more;
    }
    p->mention[p->mentioned++] = name;
    return STATUS_OK;
}

/* Every name that stands below n, whatever it means there: an inner function's own names are among them, which
 * costs a capture that is not needed, at most. */
static status collect_mentions(session *s, prototype *p, size_t *capacity, const ast_node *n) {
    if (!n) return STATUS_OK;
    if (n->kind == AST_NAME || n->kind == AST_FIELD) { /* a field may be a function called as a method */
        status st = add_mention(s, p, capacity, symbol_find(&s->symbols, n->hash));
        if (st) return st;
    }
    for (uint32_t i = 0; i < n->count; i++) {
        status st = collect_mentions(s, p, capacity, n->child[i]);
        if (st) return st;
    }
    return STATUS_OK;
}

static status fill_params(session *s, prototype *p, const ast_node *n) {
    p->params = (int)n->count - 1;
    p->param = mem_calloc((size_t)p->params, sizeof *p->param);
    if (!p->param) return fail_memory(&s->c->err, (size_t)p->params * sizeof *p->param);
    for (int i = 0; i < p->params; i++) {
        const ast_node *param = n->child[i];
        p->param[i] = symbol_find(&s->symbols, param->hash);
        p->defaults += param->child[1] != NULL;
        p->annotated = p->annotated || param->child[0];
    }
    return STATUS_OK;
}

static status make_prototype(session *s, ast *tree, const ast_node *n, bool prelude, prototype **out) {
    prototype *p = mem_calloc(1, sizeof *p);
    if (!p) return fail_memory(&s->c->err, sizeof *p);
    bool function = n->kind == AST_DEF || n->kind == AST_LAMBDA;
    size_t capacity = 0;
    p->tree = ast_retain(tree);
    p->node = n;
    p->body = function ? n->child[n->count - 1] : n;
    p->prelude = prelude;
    if (n->kind == AST_DEF) p->name = symbol_find(&s->symbols, n->hash);
    status st = function ? fill_params(s, p, n) : STATUS_OK;
    if (!st) st = collect_mentions(s, p, &capacity, p->body);
    if (st)
        prototype_free(p);
    else
        *out = p;
    return st;
}

status prototype_of(session *s, ast *tree, const ast_node *n, bool prelude, const prototype **out) {
    uintptr_t known;
    if (map_get(&s->prototypes, (uintptr_t)n, &known)) {
        *out = (const prototype *)known;
        return STATUS_OK;
    }
    prototype *p = NULL;
    status st = make_prototype(s, tree, n, prelude, &p);
    if (st) return st;
    if (!map_put(&s->prototypes, (uintptr_t)n, (uintptr_t)p)) {
        prototype_free(p);
        return fail_memory(&s->c->err, sizeof *p);
    }
    *out = p;
    return STATUS_OK;
}

void prototype_assigned(session *s, const prototype *p, const symbol *name) {
    uintptr_t own;
    if (!p->name && !p->assigned && map_get(&s->prototypes, (uintptr_t)p->node, &own))
        ((prototype *)own)->assigned = name;
}

const symbol *prototype_name(const prototype *p) {
    return p->name ? p->name : p->assigned;
}

void prototype_title(const prototype *p, const source_table *sources, char *out, size_t size) {
    const symbol *name = prototype_name(p);
    span where = p->node->where;
    if (p->node->flags & AST_PARENS) where.begin++, where.end--;
    if (name)
        snprintf(out, size, "%s", name->text);
    else
        source_brief(sources, where, out, size);
}

void prototype_signature(const prototype *p, const source_table *sources, text *out) {
    size_t length;
    text_add(out, p->name ? p->name->text : "");
    text_char(out, '(');
    for (int i = 0; i < p->params; i++) {
        span w = p->node->child[i]->where;
        const char *content = source_text(sources, w.source, &length);
        if (i) text_add(out, ", ");
        if (content && w.end <= length) text_add_bytes(out, content + w.begin, w.end - w.begin);
    }
    text_char(out, ')');
}

void function_destroy(object *o, object **dead) {
    function_object *f = (function_object *)o;
    for (size_t i = 0; i < f->captured; i++) value_unref(f->capture[i].value, dead);
    for (size_t i = 0; i < f->defaults; i++) value_unref(f->fallback[i], dead);
    mem_free(f);
}

/* Values of enclosing functions that the body mentions. */
static size_t capture_from(session *s, const prototype *p, const frame *from, local *out) {
    size_t count = 0;
    for (size_t i = 0; from && i < p->mentioned; i++) {
        const symbol *name = p->mention[i];
        const value *v = NULL;
        for (size_t k = 0; k < from->count && !v; k++)
            if (from->locals[k].name == name) v = &from->locals[k].value;
        for (size_t k = 0; k < from->function->captured && !v; k++)
            if (from->function->capture[k].name == name) v = &from->function->capture[k].value;
        if (!v && from->function->nested && from->function->proto->name == name) v = &from->self;
        if (!v) continue;
        if (out) out[count] = (local){name->hash, name, value_retain(*v)};
        count++;
    }
    (void)s;
    return count;
}

static status eval_defaults(session *s, const prototype *p, function_object *f) {
    for (int i = p->params - p->defaults; i < p->params; i++) {
        status st = eval_expr(s, p->node->child[i]->child[1], &f->fallback[f->defaults]);
        if (st) return st;
        f->defaults++;
    }
    return STATUS_OK;
}

status make_closure(session *s, const prototype *p, value *out) {
    size_t captured = capture_from(s, p, s->frame, NULL);
    size_t bytes = sizeof(function_object) + captured * sizeof(local) + (size_t)p->defaults * sizeof(value);
    function_object *f = object_new(&s->c->err, VALUE_FUNCTION, bytes);
    if (!f) return s->c->err.code;
    f->proto = p;
    f->nested = s->frame != NULL;
    f->captured = capture_from(s, p, s->frame, f->capture);
    f->fallback = (value *)(void *)(f->capture + captured);
    value made = {.kind = VALUE_FUNCTION, .function = f};
    status st = eval_defaults(s, p, f);
    if (st)
        value_release(made);
    else
        *out = made;
    return st;
}

status make_function(session *s, const ast_node *n, value *out) {
    const prototype *p;
    status st = prototype_of(s, s->tree, n, s->in_prelude, &p);
    return st ? st : make_closure(s, p, out);
}
