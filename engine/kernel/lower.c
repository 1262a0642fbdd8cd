/* lower.c — see lower.h. Demands become instructions in the order of their values, which is the order of the graph;
 * views have been composed into maps, so that what is left of them are the strides of loads. */
#include "engine/kernel/lower.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/ops/loops.h"

typedef struct lowering {
    fusion *f;
    const graph *g;
    const fuse_group *group;
    kernel *k;
    int place[MAX_RANK]; /* of each space axis among the kernel's kept or inner axes */
    uint32_t node;       /* being lowered */
} lowering;

static bool is_inner(const fuse_group *g, int axis) {
    return g->split && (g->inner >> axis & 1);
}

/* ---- instructions ---- */

static kernel_instr *emit(lowering *l, kernel_opcode code, dtype t) {
    kernel_instr *i = &l->k->code[l->k->count++];
    *i = (kernel_instr){.code = code, .dtype = t, .access = -1, .slot = -1, .node = l->node};
    return i;
}

static int emit1(lowering *l, kernel_opcode code, dtype t, int in) {
    kernel_instr *i = emit(l, code, t);
    i->nin = 1;
    i->in[0] = in;
    return l->k->count - 1;
}

static int add_access(lowering *l, value_id v, dtype t, bool store, const dim stride[MAX_RANK], dim offset) {
    kernel_access *a = &l->k->accesses[l->k->access_count++];
    *a = (kernel_access){.value = v, .dtype = t, .store = store, .offset = offset};
    for (int i = 0; i < l->group->axes; i++)
        (is_inner(l->group, i) ? a->inner : a->kept)[l->place[i]] = stride[i];
    return l->k->access_count - 1;
}

static int access_value(lowering *l, const fuse_demand *d, bool store) {
    const meta *m = graph_meta(l->g, d->value);
    dim stride[MAX_RANK], offset;
    map_strides(l->g, &m->shape, &d->map, stride, &offset);
    return add_access(l, fuse_base(l->f, d->value), m->dtype, store, stride, offset);
}

static kernel_number number_of(ctype t, double real, int64_t integer) {
    kernel_number n = {0};
    switch (t) {
    case CT_F64:
        n.f64 = real;
        break;
    case CT_F32:
        n.f32 = (float)real;
        break;
    case CT_I64:
        n.i64 = integer;
        break;
    case CT_I32:
        n.i32 = (int32_t)integer;
        break;
    case CT_I8:
        n.i8 = (int8_t)integer;
        break;
    default:
        n.u8 = (uint8_t)integer;
        break;
    }
    return n;
}

static int emit_const(lowering *l, dtype t, double real, int64_t integer) {
    emit(l, K_CONST, t)->number = number_of(dtype_compute(t), real, integer);
    return l->k->count - 1;
}

static int load(lowering *l, const fuse_demand *d) {
    const node *n = graph_def(l->g, d->value);
    dtype t = graph_meta(l->g, d->value)->dtype;
    if (n->kind == NODE_CONST && tensor_count(n->constant) == 1) {
        bool real = dtype_is_float(t);
        return emit_const(l, t, real ? tensor_get_real(n->constant, 0) : 0,
                          real ? 0 : tensor_get_int(n->constant, 0));
    }
    int access = access_value(l, d, false);
    emit(l, K_LOAD, t)->access = access;
    return l->k->count - 1;
}

static int cast(lowering *l, int in, dtype from, dtype to) {
    if (from == to || (dtype_compute(from) == dtype_compute(to) && !dtype_is_half(to))) return in;
    int i = emit1(l, K_CAST, to, in);
    l->k->code[i].from = from;
    return i;
}

/* start + index * step in f64, rounded once. */
static int arange(lowering *l, const fuse_demand *d, const node *n) {
    const arange_attrs *a = n->attrs;
    int access = add_access(l, NO_VALUE, DT_I64, false, d->map.coef[0], d->map.offset[0]);
    kernel_instr *i = emit(l, K_INDEX, DT_I64);
    i->access = access;
    int at = cast(l, l->k->count - 1, DT_I64, DT_F64), step = emit_const(l, DT_F64, a->step, 0);
    int product = emit1(l, K_MAP, DT_F64, at);
    l->k->code[product].op = OP_mul;
    l->k->code[product].in[1] = step;
    int start = emit_const(l, DT_F64, a->start, 0);
    int sum = emit1(l, K_MAP, DT_F64, start);
    l->k->code[sum].op = OP_add;
    l->k->code[sum].in[1] = product;
    l->k->code[product].nin = l->k->code[sum].nin = 2;
    l->k->code[product].compute = l->k->code[sum].compute = CT_F64;
    return cast(l, sum, DT_F64, (dtype)a->dtype);
}

static int compute(lowering *l, const fuse_demand *d) {
    const node *n = graph_def(l->g, d->value);
    const op_info *op = &op_table[n->op];
    dtype t = graph_meta(l->g, d->value)->dtype;
    int in[3] = {-1, -1, -1};
    for (int i = 0; i < 3 && d->operand_demands[i]; i++) in[i] = fuse_same(d->operand_demands[i])->instr;
    if (op->kind == KIND_VIEW) return in[0];
    if (op->kind == KIND_CAST || n->op == OP_full)
        return cast(l, in[0], graph_meta(l->g, n->in[0])->dtype, t);
    if (n->op == OP_arange) return arange(l, d, n);
    if (n->op == OP_extent) {
        emit(l, K_SIZE, t)->size = ((const extent_attrs *)n->attrs)->size;
        return l->k->count - 1;
    }
    kernel_instr *i = emit(l, op->kind == KIND_REDUCE ? K_REDUCE : K_MAP, t);
    i->op = n->op;
    i->compute = fuse_ctype(l->g, n);
    i->faults = fuse_faults(l->g, n);
    i->nin = n->nin;
    memcpy(i->in, in, sizeof in);
    i->from = graph_meta(l->g, n->in[0])->dtype;
    return l->k->count - 1;
}

/* ---- the kernel ---- */

static int by_value(const void *a, const void *b) {
    const fuse_demand *x = *(fuse_demand *const *)a, *y = *(fuse_demand *const *)b;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void lay_out_space(lowering *l) {
    kernel *k = l->k;
    for (int i = 0; i < l->group->axes; i++) {
        if (is_inner(l->group, i)) {
            l->place[i] = k->inner_rank;
            k->inner[k->inner_rank++] = l->group->size[i];
        } else {
            l->place[i] = k->kept_rank;
            k->kept[k->kept_rank++] = l->group->size[i];
        }
    }
}

static void note_node(kernel *k, uint32_t number) {
    if (k->node_count == 0 || k->nodes[k->node_count - 1] != number) k->nodes[k->node_count++] = number;
}

/* The product among the nodes of its epilogue, which stay in ascending order. */
static void note_product(kernel *k, uint32_t number) {
    int at = k->node_count++;
    for (; at > 0 && k->nodes[at - 1] > number; at--) k->nodes[at] = k->nodes[at - 1];
    k->nodes[at] = number;
}

/* May stored value s lie where the product does, which demand d loads? Elements are as large, and none is read after
 * it was written: the computation of s is the last that uses the product. */
static bool overwrites(const lowering *l, const fuse_demand *d, const fuse_stored *s) {
    const kernel *k = l->k;
    const fuse_demand *of = fuse_same(s->demand);
    dtype from = graph_meta(l->g, d->value)->dtype, to = graph_meta(l->g, s->value)->dtype;
    if (!map_same(&of->map, &d->map) || dtype_size(from) != dtype_size(to)) return false;
    if (k->code[of->instr].code != K_MAP) return false;
    for (int i = of->instr + 1; i < k->count; i++)
        for (int j = 0; j < k->code[i].nin; j++)
            if (k->code[i].in[j] == d->instr) return false;
    return true;
}

/* Notes the product whose epilogue this is. Where nothing else reads it, it needs no buffer of its own. */
static void set_product(lowering *l) {
    kernel *k = l->k;
    const fuse_demand *d = l->group->demands;
    uint32_t number = l->f->groups[l->group->product].node;
    const fuse_value *v = &l->f->values[l->g->nodes[number].out];
    k->product = k->panels = l->g->nodes[number].out;
    note_product(k, number);
    while (d->dead || d->value != k->product) d = d->next_in_group;
    for (const fuse_demand *e = v->demands; e; e = e->next_of_value)
        if (e != d && !e->dead) return;
    if (v->must || v->aliases != NO_VALUE) return;
    for (const fuse_stored *s = l->group->stored; s; s = s->next) {
        if (!overwrites(l, d, s)) continue;
        k->panels = fuse_base(l->f, s->value);
        k->accesses[k->code[d->instr].access].value = k->panels;
        return;
    }
}

static status fill(lowering *l, fuse_demand **sorted, int count) {
    kernel *k = l->k;
    for (int i = 0; i < count; i++) {
        fuse_demand *d = sorted[i];
        l->node = l->g->values[d->value].node;
        d->instr = d->inlined ? compute(l, d) : load(l, d);
        if (d->inlined) note_node(k, l->node);
        for (const fuse_stored *s = l->group->stored; s; s = s->next) {
            if (fuse_same(s->demand) != d) continue;
            int access = access_value(l, d, true);
            int at = emit1(l, K_STORE, graph_meta(l->g, d->value)->dtype, d->instr);
            k->code[at].access = access;
        }
    }
    return STATUS_OK;
}

status lower_group(fusion *f, int group, uint32_t id, kernel **out) {
    lowering l = {.f = f, .g = f->g, .group = &f->groups[group]};
    size_t n = (size_t)l.group->demand_count, room = 0;
    fuse_demand **sorted = mem_calloc(n + 1, sizeof *sorted);
    kernel *k = arena_alloc(f->memory, sizeof *k);
    if (!sorted || !k) {
        mem_free(sorted);
        return fail_memory(&f->g->c->err, n * sizeof *sorted);
    }
    *k = (kernel){.id = id, .product = NO_VALUE, .panels = NO_VALUE};
    int count = 0;
    for (fuse_demand *d = l.group->demands; d; d = d->next_in_group)
        if (!d->dead) sorted[count++] = d;
    for (const fuse_stored *s = l.group->stored; s; s = s->next) room++;
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    room += n * 7 + 1; /* an arange makes seven instructions */
    k->code = arena_alloc(f->memory, room * sizeof *k->code);
    k->accesses = arena_alloc(f->memory, room * sizeof *k->accesses);
    k->nodes = arena_alloc(f->memory, (n + 1) * sizeof *k->nodes);
    status code = STATUS_OK;
    if (!k->code || !k->accesses || !k->nodes) code = fail_memory(&f->g->c->err, room * sizeof *k->code);
    if (!code) {
        l.k = k;
        lay_out_space(&l);
        code = fill(&l, sorted, count);
        if (!code && l.group->product >= 0) set_product(&l);
    }
    mem_free(sorted);
    if (code) return code;
    k->name = kernel_make_name(f->g, f->memory, id, k->nodes, k->node_count);
    if (!k->name) return fail_memory(&f->g->c->err, 64);
    *out = k;
    return kernel_schedule(f->g, k, f->memory);
}

void lower_operand(const fusion *f, int group, int operand, lower_view *out) {
    const fuse_group *g = &f->groups[group];
    value_id v = g->kind == FUSE_OUTPUTS ? f->g->outputs[operand] : f->g->nodes[g->node].in[operand];
    const fuse_demand *d = g->demands;
    while (d->operand != operand || d->value != v) d = d->next_in_group;
    while (d->inlined) d = d->operand_demands[0];
    *out = (lower_view){.base = fuse_base(f, d->value), .shape = graph_meta(f->g, v)->shape};
    map_strides(f->g, &graph_meta(f->g, d->value)->shape, &d->map, out->stride, &out->offset);
}
