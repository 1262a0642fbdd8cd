/* freeze_known.c — numbers that the program asks for while it is traced: sizes, comparisons of sizes, and scalars
 * from outside. */
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"

enum { DEEPEST = 32 }; /* of size arithmetic that is followed back */

static bool dim_of(const graph *g, dims *t, value_id v, int depth, dim *out);

static bool operands(const graph *g, dims *t, const node *n, int depth, dim *a, dim *b) {
    return dim_of(g, t, n->in[0], depth, a) && dim_of(g, t, n->in[1], depth, b);
}

/* The size that value v is, when it is made of sizes and integers alone. */
static bool dim_of(const graph *g, dims *t, value_id v, int depth, dim *out) {
    const node *n = graph_def(g, v);
    dim a, b;
    if (depth == 0 || graph_meta(g, v)->shape.rank > 0 || !dtype_is_integer(graph_meta(g, v)->dtype))
        return false;
    if (n->kind == NODE_CONST) {
        *out = tensor_get_int(n->constant, 0);
        return true;
    }
    if (n->kind != NODE_OP) return false;
    switch (n->op) {
    case OP_extent:
        *out = ((const extent_attrs *)n->attrs)->size;
        return true;
    case OP_cast:
        return dim_of(g, t, n->in[0], depth - 1, out);
    case OP_neg:
        if (!dim_of(g, t, n->in[0], depth - 1, &a)) return false;
        *out = dim_known(a) ? -a : dim_mul(t, a, -1);
        return true;
    case OP_add:
        if (!operands(g, t, n, depth - 1, &a, &b)) return false;
        *out = dim_add(t, a, b);
        return true;
    case OP_sub:
        if (!operands(g, t, n, depth - 1, &a, &b)) return false;
        *out = dim_sub(t, a, b);
        return true;
    case OP_mul:
        if (!operands(g, t, n, depth - 1, &a, &b)) return false;
        *out = dim_mul(t, a, b);
        return true;
    case OP_floordiv:
        if (!operands(g, t, n, depth - 1, &a, &b) || !dim_known(b) || b <= 0) return false;
        *out = dim_div(t, a, b);
        return true;
    default:
        return false;
    }
}

bool freezing_dim(session *s, tensor *t, dim *out) {
    if (!s->freezing || t->trace != s->c->trace || !t->trace) return false;
    return dim_of(trace_graph(t->trace), s->c->dims, t->value, DEEPEST, out);
}

static bool truth_of(const graph *g, dims *t, value_id v, int depth, bool *out);

static bool two_truths(const graph *g, dims *t, const node *n, int depth, bool *a, bool *b) {
    return truth_of(g, t, n->in[0], depth, a) && truth_of(g, t, n->in[1], depth, b);
}

/* A truth about sizes, decided for this specialisation (guards record it). */
static bool truth_of(const graph *g, dims *t, value_id v, int depth, bool *out) {
    const node *n = graph_def(g, v);
    dim a, b;
    bool p, q;
    if (depth == 0 || graph_meta(g, v)->shape.rank > 0 || graph_meta(g, v)->dtype != DT_BOOL) return false;
    if (n->kind == NODE_CONST) {
        *out = tensor_get_int(n->constant, 0) != 0;
        return true;
    }
    if (n->kind != NODE_OP) return false;
    switch (n->op) {
    case OP_bits_not:
    case OP_all:
    case OP_any:
        if (!truth_of(g, t, n->in[0], depth - 1, &p)) return false;
        *out = n->op == OP_bits_not ? !p : p;
        return true;
    case OP_bits_and:
    case OP_bits_or:
        if (!two_truths(g, t, n, depth - 1, &p, &q)) return false;
        *out = n->op == OP_bits_and ? p && q : p || q;
        return true;
    case OP_eq:
    case OP_ne:
        if (!operands(g, t, n, depth - 1, &a, &b)) return false;
        *out = dim_same(t, a, b) == (n->op == OP_eq);
        return true;
    case OP_lt:
    case OP_ge:
        if (!operands(g, t, n, depth - 1, &a, &b)) return false;
        *out = dim_less(t, a, b) == (n->op == OP_lt);
        return true;
    case OP_gt:
    case OP_le:
        if (!operands(g, t, n, depth - 1, &a, &b)) return false;
        *out = dim_less(t, b, a) == (n->op == OP_gt);
        return true;
    default:
        return false;
    }
}

/* ---- what a value depends on ---- */

/* Marks the nodes that value v is computed from; NULL when out of memory. Nodes stand in topological order. */
static uint8_t *ancestors(const graph *g, value_id v) {
    uint8_t *mark = mem_calloc(g->node_count, 1);
    if (!mark) return NULL;
    uint32_t last = g->values[v].node;
    mark[last] = 1;
    for (uint32_t i = last + 1; i-- > 0;) {
        const node *n = &g->nodes[i];
        for (int k = 0; mark[i] && k < n->nin; k++) mark[g->values[n->in[k]].node] = 1;
    }
    return mark;
}

static status add_known(session *s, freezing *z, const known_leaf *leaf, const char *what) {
    frozen *f = z->f;
    for (size_t i = 0; i < f->known_count; i++) {
        const known_leaf *k = &f->known[i];
        if (k->arg == leaf->arg && k->name == leaf->name && k->leaf == leaf->leaf) return STATUS_OK;
    }
    void *grown = freeze_grow(s, f->known, f->known_count, &f->known_capacity, sizeof *f->known);
    if (!grown) return s->c->err.code;
    f->known = grown;
    known_leaf *k = &f->known[f->known_count++];
    *k = *leaf;
    k->where = s->c->here;
    snprintf(k->what, sizeof k->what, "%s", what);
    return STATUS_OK;
}

/* Fixes every scalar from outside that t depends on; *all is false when it depends on anything else. */
static status fix_leaves(session *s, tensor *t, const char *what, bool *all) {
    freezing *z = s->freezing;
    const graph *g = trace_graph(t->trace);
    uint8_t *mark = ancestors(g, t->value);
    if (!mark) return fail_memory(&s->c->err, g->node_count);
    bool some = false;
    *all = true;
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!mark[i] || g->nodes[i].kind != NODE_INPUT) continue;
        size_t input = (size_t)g->nodes[i].input;
        some = true;
        *all = *all && input < z->origin_count && z->origins[input].knowable;
    }
    *all = *all && some;
    status st = STATUS_OK;
    for (uint32_t i = 0; *all && !st && i < g->node_count; i++)
        if (mark[i] && g->nodes[i].kind == NODE_INPUT)
            st = add_known(s, z, &z->origins[g->nodes[i].input].leaf, what);
    mem_free(mark);
    return st;
}

status freezing_number(session *s, tensor *t, const char *what, int64_t *out) {
    error *e = &s->c->err;
    dims *d = s->c->dims;
    dim size;
    bool truth, all = false;
    if (!s->freezing || !t->trace || t->trace != s->c->trace) {
        fail(e, STATUS_FREEZE, E_FREEZE_VALUE, "%s is a value that exists only while freezing", what);
        return fail_hint(e, "don't keep values of a frozen function outside of it");
    }
    const graph *g = trace_graph(t->trace);
    d->here = s->c->here;
    if (freezing_dim(s, t, &size)) {
        if (dim_pin(d, size, out)) return STATUS_OK;
        fail(e, STATUS_FREEZE, E_FREEZE_SHAPE, "%s depends on a size that was left open with `?`", what);
        return fail_hint(e, "give the size as a number");
    }
    if (truth_of(g, d, t->value, DEEPEST, &truth)) {
        *out = truth;
        return STATUS_OK;
    }
    status st = fix_leaves(s, t, what, &all);
    if (st) return st;
    if (all) return fail(e, STATUS_FREEZE, E_FREEZE_AGAIN, "%s becomes known", what);
    bool flow = strcmp(what, "the condition") == 0;
    if (flow) {
        fail(e, STATUS_FREEZE, E_FREEZE_CONDITION, "control flow on run-time values is not captured yet");
        return fail_hint(e,
                         "where(c, a, b) chooses element by element; or keep the decision outside of freeze");
    }
    fail(e, STATUS_FREEZE, E_FREEZE_VALUE,
         "%s depends on run-time values, which are not known while freezing", what);
    return fail_hint(e, "pass it as an integer argument, or keep this line outside of freeze");
}

status freezing_refuse_effect(session *s, const char *function) {
    fail(&s->c->err, STATUS_FREEZE, E_FREEZE_EFFECT, "%s can't be part of a frozen graph yet", function);
    return fail_hint(&s->c->err, "call it outside, on what the frozen function returns");
}
