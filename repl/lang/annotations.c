/* annotations.c — `x: f32[batch, 64]`, checked at each call: the dtype, the sizes, and that a name stands for
 * one size throughout the call. A weak scalar satisfies any dtype that it could become. */
#include <stdio.h>
#include <string.h>

#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"

enum { MAX_NAMES = 16 };

/* Sizes that names stand for in this call, and who said so. */
typedef struct named_size {
    uint64_t hash;
    const char *name, *param;
    dim size;
    int axis;
} named_size;

typedef struct checker {
    session *s;
    const function_object *f;
    named_size known[MAX_NAMES];
    int count;
} checker;

/* "x should be f32[batch, 64], and is f32[3, 10]"; `more` is a line below, or "". */
static status refuse(checker *k, const ast_node *param, value v, const char *more) {
    char got[120];
    session *s = k->s;
    size_t length;
    const ast_node *type = param->child[0];
    const char *content = source_text(s->sources, type->where.source, &length);
    int bytes = content && type->where.end <= length ? (int)(type->where.end - type->where.begin) : 0;
    const symbol *name = prototype_name(k->f->proto);
    fail(&s->c->err, STATUS_TYPE, E_ANNOTATION, "%s%s%s should be %.*s and is %s", name ? name->text : "",
         name ? ": " : "", param->text, bytes, content ? content + type->where.begin : "",
         value_describe(v, got, sizeof got));
    if (more[0]) fail_operand(&s->c->err, "%s", more);
    return s->c->err.code;
}

/* While freezing, an open size takes the name that the program has for it. */
static void name_symbol(dims *t, dim size, const char *name) {
    if (dim_known(size)) return;
    dim_node *n = &t->nodes[dim_index(size)];
    if (n->op == DIM_INPUT && !n->name[0]) snprintf(n->name, sizeof n->name, "%s", name);
}

static status check_named(checker *k, const ast_node *param, value v, const ast_node *d, int axis) {
    dims *t = k->s->c->dims;
    dim size = v.tensor->meta.shape.size[axis];
    for (int i = 0; i < k->count; i++) {
        const named_size *known = &k->known[i];
        if (known->hash != d->hash) continue;
        if (dim_same(t, known->size, size)) return STATUS_OK;
        text a = {0}, b = {0};
        char more[200];
        dim_print(t, known->size, &a);
        dim_print(t, size, &b);
        snprintf(more, sizeof more, "%.40s is %s (%.40s axis %d), not %s (%.40s axis %d)", known->name,
                 text_str(&a), known->param, known->axis, text_str(&b), param->text, axis);
        text_free(&a);
        text_free(&b);
        return refuse(k, param, v, more);
    }
    name_symbol(t, size, d->text);
    if (k->count < MAX_NAMES) k->known[k->count++] = (named_size){d->hash, d->text, param->text, size, axis};
    return STATUS_OK;
}

static status check_dim(checker *k, const ast_node *param, value v, const ast_node *d, int axis) {
    dim size = v.tensor->meta.shape.size[axis];
    if (d->op == AST_DIM_NAME) return check_named(k, param, v, d, axis);
    if (d->op == AST_DIM_INT && !dim_same(k->s->c->dims, size, d->integer)) return refuse(k, param, v, "");
    return STATUS_OK;
}

static status check_sizes(checker *k, const ast_node *param, value v) {
    const ast_node *type = param->child[0];
    int rank = v.tensor->meta.shape.rank, count = (int)type->count, rest = -1;
    for (int i = 0; i < count; i++)
        if (type->child[i]->op == AST_DIM_REST) rest = i;
    if (rest < 0 ? rank != count : rank < count - 1) return refuse(k, param, v, "");
    for (int i = 0; i < count; i++) {
        if (i == rest) continue;
        int axis = rest >= 0 && i > rest ? rank - count + i : i;
        status st = check_dim(k, param, v, type->child[i], axis);
        if (st) return st;
    }
    return STATUS_OK;
}

static bool dtype_fits(const meta *m, dtype want) {
    if (!m->weak) return m->dtype == want;
    return dtype_is_float(want) || (m->dtype == DT_I64 && dtype_is_integer(want));
}

status check_annotations(session *s, const function_object *f, const frame *fr) {
    checker k = {.s = s, .f = f};
    if (s->c->dims) s->c->dims->here = s->c->here; /* guards say what asked */
    for (int i = 0; i < f->proto->params; i++) {
        const ast_node *param = f->proto->node->child[i], *type = param->child[0];
        dtype want = DT_F32;
        if (!type) continue;
        value v = fr->locals[i].value;
        if (v.kind == VALUE_NONE && param->child[1] && param->child[1]->kind == AST_NONE) continue;
        dtype_parse(type->text, type->length, &want);
        status st = STATUS_OK;
        if (v.kind != VALUE_TENSOR || !dtype_fits(&v.tensor->meta, want))
            st = refuse(&k, param, v, "");
        else if (type->flags & AST_HAS_DIMS)
            st = check_sizes(&k, param, v);
        if (st) return st;
    }
    return STATUS_OK;
}
