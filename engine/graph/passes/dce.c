/* dce.c — drops what no output needs. Nodes that can raise stay, with what they need. */
#include "engine/base/memory.h"
#include "engine/graph/passes/rebuild.h"

status pass_dce(const graph *g, graph **out) {
    bool *live = mem_calloc(g->node_count + 1, sizeof *live);
    if (!live) return fail_memory(&g->c->err, g->node_count);
    for (int i = 0; i < g->output_count; i++) live[g->values[g->outputs[i]].node] = true;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const node *n = &g->nodes[i];
        if (!live[i] && node_pure(g, n)) continue;
        live[i] = true;
        for (int k = 0; k < n->nin; k++) live[g->values[n->in[k]].node] = true;
    }
    rebuild r;
    status code = rebuild_begin(g, &r);
    if (!code) {
        for (uint32_t i = 0; !code && i < g->node_count; i++)
            if (live[i]) code = rebuild_copy(&r, &g->nodes[i]);
        code = rebuild_end(&r, code, out);
    }
    mem_free(live);
    return code;
}
