/* plan.c — making plans: memory by lifetime, launches, prepared library calls. */
#include "engine/runtime/plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/ops/movement.h"

static status out_of_memory(const program *p, size_t bytes) {
    return fail_memory(&p->c->err, bytes);
}

static shape at_sizes(const shape *s, const int64_t *values) {
    shape r = *s;
    for (int i = 0; i < s->rank; i++) r.size[i] = dim_value(s->size[i], values);
    return r;
}

/* Bytes of value v's row-major buffer; false when that does not fit. */
static bool buffer_bytes(const program *p, const int64_t *values, value_id v, size_t *bytes) {
    const meta *m = graph_meta(p->g, v);
    *bytes = dtype_size(m->dtype);
    for (int i = 0; i < m->shape.rank; i++) {
        int64_t n = dim_value(m->shape.size[i], values);
        if (n < 0 || !mem_mul(*bytes, (size_t)n, bytes)) return false;
    }
    return *bytes < SIZE_MAX / 4;
}

/* ---- memory ---- */

typedef struct interval {
    value_id value;
    int first, last;
    size_t bytes, place;
} interval;

static int larger_first(const void *a, const void *b) {
    const interval *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int by_place(const void *a, const void *b) {
    const interval *x = *(interval *const *)a, *y = *(interval *const *)b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The lowest gap that holds `it` between those of the `count` placed before it that live at the same time. `others`
 * is room for pointers to them. */
static size_t find_place(const interval *placed, int count, const interval *it, interval **others) {
    int n = 0;
    for (int i = 0; i < count; i++)
        if (placed[i].first <= it->last && it->first <= placed[i].last)
            others[n++] = (interval *)(uintptr_t)&placed[i];
    qsort(others, (size_t)n, sizeof *others, by_place);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (others[i]->place >= at + it->bytes) break;
        size_t end = others[i]->place + others[i]->bytes;
        if (end > at) at = end;
    }
    return at;
}

/* Largest first, each in the lowest gap that is free during its life. */
static status place_buffers(const program *p, plan *pl) {
    int count = 0;
    interval *all = mem_calloc(p->g->value_count + 1, sizeof *all);
    interval **others = mem_calloc(p->g->value_count + 1, sizeof(void *));
    status code = all && others ? STATUS_OK : out_of_memory(p, p->g->value_count * sizeof *all);
    for (value_id v = 0; !code && v < p->g->value_count; v++) {
        const program_buffer *b = &p->buffers[v];
        if (b->kind != BUFFER_BLOCK) continue;
        interval *it = &all[count++];
        *it = (interval){.value = v, .first = b->first, .last = b->last};
        if (!buffer_bytes(p, pl->values, v, &it->bytes)) code = out_of_memory(p, SIZE_MAX);
        it->bytes = (it->bytes + 63) & ~(size_t)63;
        if (!it->bytes) it->bytes = 64;
    }
    if (!code) {
        qsort(all, (size_t)count, sizeof *all, larger_first);
        for (int i = 0; i < count; i++) {
            all[i].place = find_place(all, i, &all[i], others);
            pl->place[all[i].value] = all[i].place;
            if (all[i].place + all[i].bytes > pl->block_bytes) pl->block_bytes = all[i].place + all[i].bytes;
        }
    }
    mem_free(all);
    mem_free(others);
    return code;
}

/* ---- kernels ---- */

static int64_t product(const int64_t *size, const int64_t *stride, int rank) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        if (stride[i] != 0) n *= size[i];
    return n;
}

static status prepare_kernel(const program *p, plan *pl, const program_step *s, plan_step *out) {
    kernel_launch *l = &out->launch;
    int lanes = pool_lanes(p->c->workers);
    if (launch_prepare(p->g, s->k, s->source.text ? &s->source : NULL, s->turned ? &s->turned_source : NULL,
                       pl->values, lanes, pl->memory, l))
        return p->c->err.code;
    out->flops += (int64_t)(launch_work(l) * (double)l->rows);
    for (int i = 0; i < s->k->access_count; i++) {
        const launch_access *a = &l->accesses[i];
        value_id v = s->k->accesses[i].value;
        bool panels = s->operands && !s->k->accesses[i].store && v == s->k->panels;
        if (v == NO_VALUE || panels) continue;
        out->bytes += product(l->kept, a->kept, s->k->kept_rank) *
                      product(l->inner, a->inner, s->k->inner_rank) * (int64_t)a->bytes;
    }
    size_t scratch = launch_scratch(l, lanes);
    if (scratch > pl->scratch_at) pl->scratch_at = scratch; /* becomes the place once all are known */
    return STATUS_OK;
}

/* ---- library calls ---- */

/* A copy of n's attributes with numbers in place of symbols. */
static const void *numeric_attrs(const plan *pl, const node *n) {
    const op_info *op = &op_table[n->op];
    attr_field fields[MAX_ATTRS];
    if (!n->attrs) return NULL;
    char *copy = arena_alloc(pl->memory, op->attr_bytes);
    if (!copy) return NULL;
    memcpy(copy, n->attrs, op->attr_bytes);
    int count = attrs_fields(op, fields);
    for (int i = 0; i < count; i++) {
        if (fields[i].type == ATTR_SIZE) {
            int64_t *size = (int64_t *)(void *)(copy + fields[i].offset);
            *size = dim_value(*size, pl->values);
        }
        if (fields[i].type == ATTR_SHAPE) {
            int_list *list = (int_list *)(void *)(copy + fields[i].offset);
            for (int64_t j = 0; j < list->count; j++) list->v[j] = dim_value(list->v[j], pl->values);
        }
    }
    return copy;
}

/* A tensor that a run gives storage to. Its count of references keeps ops from reusing the memory in place. */
static status make_operand(const program *p, const meta *m, value_id base, plan_operand *out) {
    out->base = base;
    out->t = tensor_new_abstract(p->c, m);
    if (!out->t) return p->c->err.code;
    out->t->refs = 2;
    shape_strides(&m->shape, out->t->stride);
    return STATUS_OK;
}

static int64_t shape_bytes(const meta *m) {
    int64_t n = (int64_t)dtype_size(m->dtype);
    for (int i = 0; i < m->shape.rank; i++) n *= m->shape.size[i];
    return n;
}

static status prepare_library(const program *p, plan *pl, const program_step *s, plan_step *out) {
    const node *n = &p->g->nodes[s->number];
    size_t nin = (size_t)n->nin + 1, nout = (size_t)n->nout + 1;
    out->in = arena_alloc(pl->memory, nin * sizeof *out->in);
    out->out = arena_alloc(pl->memory, nout * sizeof *out->out);
    out->in_tensors = arena_alloc(pl->memory, nin * sizeof(tensor *));
    out->out_tensors = arena_alloc(pl->memory, nout * sizeof(tensor *));
    if (!out->in || !out->out || !out->in_tensors || !out->out_tensors)
        return out_of_memory(p, nin * sizeof *out->in);
    out->call =
        (op_call){.c = p->c, .op = &op_table[n->op], .in = out->in_tensors, .nin = n->nin, .nout = n->nout};
    out->call.attrs = numeric_attrs(pl, n);
    if (n->attrs && !out->call.attrs) return out_of_memory(p, op_table[n->op].attr_bytes);
    for (int i = 0; i < n->nin; i++) {
        const lower_view *v = &s->operands[i];
        meta m = *graph_meta(p->g, n->in[i]);
        m.shape = at_sizes(&v->shape, pl->values);
        if (make_operand(p, &m, v->base, &out->in[i])) return p->c->err.code;
        for (int k = 0; k < m.shape.rank; k++) out->in[i].t->stride[k] = dim_value(v->stride[k], pl->values);
        out->in[i].offset = dim_value(v->offset, pl->values);
        out->in_tensors[i] = out->in[i].t;
    }
    for (int i = 0; i < n->nout; i++) {
        meta m = *graph_meta(p->g, n->out + (value_id)i);
        m.shape = at_sizes(&m.shape, pl->values);
        out->call.out[i] = m;
        if (make_operand(p, &m, program_result(p, s, i), &out->out[i])) return p->c->err.code;
    }
    op_cost cost = graph_node_cost(p->g, n, pl->values);
    out->bytes = (int64_t)cost.bytes;
    out->flops = (int64_t)cost.flops;
    if (s->k && s->k->panels != s->k->product) /* the epilogue's result alone leaves the cache */
        out->bytes -= shape_bytes(&out->call.out[0]);
    return STATUS_OK;
}

/* Boxes are views inside kernels, where nothing looks at bounds any more: at these sizes they must be inside. */
static status check_boxes(const program *p, plan *pl) {
    for (uint32_t i = 0; i < p->g->node_count; i++) {
        const node *n = &p->g->nodes[i];
        if (n->kind != NODE_OP || (n->op != OP_slice && n->op != OP_update)) continue;
        meta m = *graph_meta(p->g, n->in[0]);
        m.shape = at_sizes(&m.shape, pl->values);
        tensor *x = tensor_new_abstract(p->c, &m);
        op_call call = {.c = p->c, .op = &op_table[n->op], .in = &x, .nin = 1};
        shape box;
        call.attrs = x ? numeric_attrs(pl, n) : NULL;
        if (x && !call.attrs) out_of_memory(p, op_table[n->op].attr_bytes);
        if (!p->c->err.code && movement_box(&call, &box)) p->c->err.where = n->where;
        tensor_release(x);
        if (p->c->err.code) return p->c->err.code;
    }
    return STATUS_OK;
}

/* ---- plans ---- */

static void release_operands(plan_operand *o, int count) {
    for (int i = 0; o && i < count; i++) {
        if (!o[i].t) continue;
        o[i].t->refs = 1;
        tensor_release(o[i].t);
    }
}

void plan_free(plan *pl) {
    if (!pl) return;
    for (int i = 0; i < pl->steps_made; i++) {
        release_operands(pl->steps[i].in, pl->steps[i].call.nin);
        release_operands(pl->steps[i].out, pl->steps[i].call.nout);
    }
    arena_free(pl->memory);
    mem_free(pl);
}

static status fill(const program *p, plan *pl) {
    size_t values = p->g->value_count + 1u, sizes = p->g->dims->count + 1u, steps = (size_t)p->step_count + 1;
    pl->key = arena_alloc(pl->memory, ((size_t)p->size_count + 1) * sizeof *pl->key);
    pl->values = arena_alloc(pl->memory, sizes * sizeof *pl->values);
    pl->steps = arena_alloc(pl->memory, steps * sizeof *pl->steps);
    pl->place = arena_alloc(pl->memory, values * sizeof *pl->place);
    pl->shapes = arena_alloc(pl->memory, values * sizeof *pl->shapes);
    if (!pl->key || !pl->values || !pl->steps || !pl->place || !pl->shapes)
        return out_of_memory(p, values * 8);
    memcpy(pl->key, p->key, (size_t)p->size_count * sizeof *pl->key);
    memcpy(pl->values, p->values, p->g->dims->count * sizeof *pl->values);
    for (value_id v = 0; v < p->g->value_count; v++)
        pl->shapes[v] = at_sizes(&graph_meta(p->g, v)->shape, pl->values);
    if (check_boxes(p, pl) || place_buffers(p, pl)) return p->c->err.code;
    for (; pl->steps_made < p->step_count;) {
        const program_step *s = &p->steps[pl->steps_made];
        plan_step *out = &pl->steps[pl->steps_made++];
        if (s->operands && prepare_library(p, pl, s, out)) return p->c->err.code;
        if (s->k && prepare_kernel(p, pl, s, out)) return p->c->err.code;
    }
    size_t scratch = pl->scratch_at;
    pl->scratch_at = pl->block_bytes;
    pl->block_bytes += scratch;
    return STATUS_OK;
}

static plan *plan_new(const program *p) {
    plan *pl = mem_calloc(1, sizeof *pl);
    if (pl) pl->memory = arena_new();
    if (!pl || !pl->memory) {
        mem_free(pl);
        out_of_memory(p, sizeof *pl);
        return NULL;
    }
    if (!fill(p, pl)) return pl;
    plan_free(pl);
    return NULL;
}

plan *plan_get(program *p) {
    int victim = 0;
    for (int i = 0; i < PLANS_KEPT; i++) {
        plan *pl = p->plans[i];
        if (pl && memcmp(pl->key, p->key, (size_t)p->size_count * sizeof *pl->key) == 0) return pl;
        uint64_t used = pl ? pl->used : 0, worst = p->plans[victim] ? p->plans[victim]->used : 0;
        if (used < worst) victim = i;
    }
    plan *made = plan_new(p);
    if (!made) return NULL;
    if (p->current == p->plans[victim]) p->current = NULL;
    if (p->bound == p->plans[victim]) p->bound = NULL;
    plan_free(p->plans[victim]);
    p->plans[victim] = made;
    return made;
}
