/* cse.c — equal pure nodes become one. Nodes are found by a hash of op, operands and attributes; constants by their
 * contents when they are scalars. */
#include <string.h>

#include "engine/base/map.h"
#include "engine/graph/passes/rebuild.h"

static uint64_t hash_node(const graph *g, const node *n) {
    uint64_t seed = ((uint64_t)n->kind << 32) + (uint64_t)n->op + 1;
    if (n->kind == NODE_CONST) {
        uint64_t bits = 0;
        memcpy(&bits, tensor_data(n->constant), dtype_size(n->constant->meta.dtype));
        seed += (uint64_t)n->constant->meta.dtype * 31 + n->constant->meta.weak;
        return hash_u64(bits ^ hash_u64(seed)) | 1;
    }
    uint64_t h = hash_bytes(n->in, (size_t)n->nin * sizeof *n->in, seed);
    if (n->attrs) h = hash_bytes(n->attrs, op_table[n->op].attr_bytes, h);
    (void)g;
    return h | 1;
}

static bool equal_nodes(const node *a, const node *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == NODE_CONST) {
        const meta *x = &a->constant->meta, *y = &b->constant->meta;
        return x->dtype == y->dtype && x->weak == y->weak && x->shape.rank == 0 && y->shape.rank == 0 &&
               memcmp(tensor_data(a->constant), tensor_data(b->constant), dtype_size(x->dtype)) == 0;
    }
    return a->op == b->op && a->nin == b->nin && memcmp(a->in, b->in, (size_t)a->nin * sizeof *a->in) == 0 &&
           (!a->attrs || memcmp(a->attrs, b->attrs, op_table[a->op].attr_bytes) == 0);
}

static bool may_merge(const graph *g, const node *n) {
    if (n->kind == NODE_INPUT || n->nout != 1) return false;
    if (n->kind == NODE_CONST) return n->constant->meta.shape.rank == 0;
    return node_pure(g, n);
}

/* Copies n, or maps its result to an equal node that was copied before. */
static status merge(rebuild *r, map *seen, const node *n) {
    if (rebuild_copy(r, n)) return r->to->c->err.code;
    if (!may_merge(r->from, n)) return STATUS_OK;
    node *copy = &r->to->nodes[r->to->node_count - 1];
    uint64_t h = hash_node(r->to, copy);
    uintptr_t old;
    if (map_get(seen, h, &old)) {
        if (equal_nodes(&r->to->nodes[old], copy))
            r->map[n->out] = r->to->nodes[old].out; /* the copy is dead now */
        return STATUS_OK;
    }
    return map_put(seen, h, r->to->node_count - 1) ? STATUS_OK : fail_memory(&r->to->c->err, 64);
}

status pass_cse(const graph *g, graph **out) {
    rebuild r;
    map seen = {0};
    graph *merged = NULL;
    status code = rebuild_begin(g, &r);
    if (code) return code;
    for (uint32_t i = 0; !code && i < g->node_count; i++) code = merge(&r, &seen, &g->nodes[i]);
    code = rebuild_end(&r, code, &merged);
    map_free(&seen);
    if (code) return code;
    code = pass_dce(merged, out); /* sweeps the dead copies away */
    graph_free(merged);
    return code;
}
