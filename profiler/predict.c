/* predict.c — see predict.h. */
#include "profiler/predict.h"

/* Work of one kernel while it is summed up. */
typedef struct kernel_work {
    double bytes, flops;
    uint32_t first; /* node; UINT32_MAX: none yet */
} kernel_work;

typedef struct predictor {
    const graph *g;
    int64_t *sizes;    /* of the graph's dims */
    int *kernel_of;    /* of each node, or -1 */
    bool *moved;       /* whether a value has left the kernel that defines it */
    int *entered;      /* of each value: the kernel that it was last seen entering, plus 1 */
    kernel_work *work; /* of each kernel */
} predictor;

/* Sizes by the hints; false when an input's is unknown. */
static bool known_sizes(const dims *t, int64_t *sizes) {
    for (uint32_t i = 0; t && i < t->count; i++) {
        if (t->nodes[i].op == DIM_INPUT && t->nodes[i].hint < 0) return false;
        sizes[i] = t->nodes[i].hint;
    }
    return true;
}

static double value_bytes(const predictor *p, value_id v) {
    const meta *m = graph_meta(p->g, v);
    double count = 1;
    for (int i = 0; i < m->shape.rank; i++) count *= (double)dim_value(m->shape.size[i], p->sizes);
    return count * (double)dtype_size(m->dtype);
}

/* `v`, which kernel k uses (-1: something outside of kernels), was it made elsewhere? Then it is read by k, and was
 * written by the kernel that made it. */
static void use_value(predictor *p, value_id v, int k) {
    int from = p->kernel_of[p->g->values[v].node];
    if (from >= 0 && from == k) return;
    if (k >= 0 && p->entered[v] != k + 1) {
        p->entered[v] = k + 1;
        p->work[k].bytes += value_bytes(p, v);
    }
    if (from >= 0 && !p->moved[v]) {
        p->moved[v] = true;
        p->work[from].bytes += value_bytes(p, v);
    }
}

static void add_node(predictor *p, uint32_t i, const machine_limits *m, double *ns) {
    const node *n = &p->g->nodes[i];
    int k = p->kernel_of[i];
    for (int j = 0; j < n->nin; j++) use_value(p, n->in[j], k);
    if (n->kind != NODE_OP) return;
    op_cost cost = graph_node_cost(p->g, n, p->sizes);
    if (k >= 0) {
        p->work[k].flops += cost.flops;
        if (p->work[k].first == UINT32_MAX) p->work[k].first = i;
    } else {
        ns[i] = roofline_of(m, cost.bytes, cost.flops).limit;
    }
}

static bool reserve(predictor *p, int kernels) {
    const graph *g = p->g;
    p->sizes = mem_calloc((size_t)(g->dims ? g->dims->count : 0) + 1, sizeof *p->sizes);
    p->kernel_of = mem_calloc((size_t)g->node_count + 1, sizeof *p->kernel_of);
    p->moved = mem_calloc((size_t)g->value_count + 1, sizeof *p->moved);
    p->entered = mem_calloc((size_t)g->value_count + 1, sizeof *p->entered);
    p->work = mem_calloc((size_t)kernels + 1, sizeof *p->work);
    return p->sizes && p->kernel_of && p->moved && p->entered && p->work;
}

bool predict_times(const graph *g, const program_kernel *kernels, int kernel_count, const machine_limits *m,
                   double *ns) {
    predictor p = {.g = g};
    for (uint32_t i = 0; i < g->node_count; i++) ns[i] = 0;
    bool fine = reserve(&p, kernel_count) && known_sizes(g->dims, p.sizes);
    for (uint32_t i = 0; fine && i < g->node_count; i++) p.kernel_of[i] = -1;
    for (int k = 0; fine && k < kernel_count; k++) {
        p.work[k].first = UINT32_MAX;
        for (int j = 0; j < kernels[k].node_count; j++)
            if (kernels[k].nodes[j] < g->node_count) p.kernel_of[kernels[k].nodes[j]] = k;
    }
    for (uint32_t i = 0; fine && i < g->node_count; i++) add_node(&p, i, m, ns);
    for (int o = 0; fine && o < g->output_count; o++) use_value(&p, g->outputs[o], -1);
    for (int k = 0; fine && k < kernel_count; k++)
        if (p.work[k].first != UINT32_MAX)
            ns[p.work[k].first] = roofline_of(m, p.work[k].bytes, p.work[k].flops).limit;
    mem_free(p.sizes);
    mem_free(p.kernel_of);
    mem_free(p.moved);
    mem_free(p.entered);
    mem_free(p.work);
    return fine;
}
