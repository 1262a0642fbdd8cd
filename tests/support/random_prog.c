/* random_prog.c — see random_prog.h.
 *
 * Steps are proposed and kept when the shapes-only executor takes them, so that nothing here repeats the shape rules. A
 * row that has no proposal of its own (a new one with functions) is used as its samples say. */
#include "tests/support/random_prog.h"

#include <assert.h>
#include <string.h>

#include "engine/ops/apply.h"
#include "engine/runtime/eager.h"

typedef struct maker {
    context *c;
    arena *m;
    rng r;
    prog p;
    tensor *value[PROG_VALUES]; /* abstract, owned */
    int values;                 /* inputs first: steps are renumbered when an input is added */
    dtype main;
    int64_t rows, columns;
    temper how;
} maker;

static bool chance(maker *k, int percent) {
    return rng_chance(&k->r, percent);
}

static const meta *meta_of(const maker *k, int v) {
    return &k->value[v]->meta;
}

/* ---- inputs ---- */

/* A new input in front of the steps' results; returns its number, or -1 when there are too many. */
static int add_input(maker *k, const char *word, int64_t bound, dtype t, bool weak, const shape *s) {
    prog *p = &k->p;
    if (p->nin == PROG_INPUTS || k->values == PROG_VALUES) return -1;
    host h = host_new(k->m, t, s);
    h.weak = weak;
    generate(&k->r, word, bound, weak ? GENTLE : k->how, &h);
    meta m = {.shape = *s, .dtype = t, .weak = weak};
    tensor *stand = weak ? host_tensor(k->c, &h, LAYOUT_PLAIN) : tensor_new_abstract(k->c, &m);
    assert(stand);
    for (int v = k->values++; v > p->nin; v--) k->value[v] = k->value[v - 1];
    k->value[p->nin] = stand;
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < p->step[i].nin; j++) p->step[i].in[j] += p->step[i].in[j] >= p->nin;
    p->layouts[p->nin] = chance(k, 60) ? LAYOUT_PLAIN : (layout)rng_below(&k->r, LAYOUT_COUNT);
    if (p->layouts[p->nin] == LAYOUT_EXPANDED) generate_repeat(&h);
    p->in[p->nin] = h;
    return p->nin++;
}

static dtype some_dtype(maker *k) {
    return chance(k, 75) ? k->main : (dtype)rng_below(&k->r, DT_COUNT);
}

static shape some_shape(maker *k) {
    int64_t r = k->rows, c = k->columns;
    switch (rng_below(&k->r, 9)) {
    case 0:
        return (shape){.rank = 1, .size = {c}};
    case 1:
        return (shape){.rank = 2, .size = {r, 1}};
    case 2:
        return (shape){.rank = 2, .size = {1, c}};
    case 3:
        return (shape){0};
    case 4:
        return (shape){.rank = 3, .size = {2, r, c}};
    default:
        return (shape){.rank = 2, .size = {r, c}};
    }
}

static int fresh(maker *k) {
    shape s = some_shape(k);
    return add_input(k, "real", 0, some_dtype(k), false, &s);
}

/* A value so far, the later the likelier; or a new input. */
static int some_value(maker *k) {
    if (k->values == 0 || chance(k, 12)) return fresh(k);
    if (chance(k, 8))
        return add_input(k, chance(k, 50) ? "small" : "few", 0, chance(k, 60) ? DT_F64 : DT_I64, true,
                         &(shape){0});
    int64_t a = rng_below(&k->r, k->values), b = rng_below(&k->r, k->values);
    return (int)(a > b ? a : b);
}

/* ---- proposals: fill a step's operands and attributes, false when there is none ----
 *
 * Inputs that a proposal adds renumber values, so operands are looked up again through `shift`. */

typedef struct proposal {
    op_id op;
    int nin, in[PROG_OPERANDS];
    _Alignas(8) char attrs[MAX_ATTR_BYTES];
} proposal;

static bool operand(proposal *q, int v) {
    if (v < 0 || q->nin == PROG_OPERANDS) return false;
    q->in[q->nin++] = v;
    return true;
}

/* An input as the next operand; earlier operands that are results move up by one. */
static bool input_operand(maker *k, proposal *q, const char *word, int64_t bound, dtype t, const shape *s) {
    int first_result = k->p.nin, v = add_input(k, word, bound, t, false, s);
    for (int i = 0; v >= 0 && i < q->nin; i++) q->in[i] += q->in[i] >= first_result;
    return operand(q, v);
}

/* some_value as the next operand, likewise. */
static bool value_operand(maker *k, proposal *q) {
    int inputs = k->p.nin, v = some_value(k);
    for (int i = 0; v >= 0 && k->p.nin > inputs && i < q->nin; i++) q->in[i] += q->in[i] >= inputs;
    return operand(q, v);
}

static bool propose_elementwise(maker *k, proposal *q, const op_info *op) {
    for (int i = 0; i < op->nin; i++) {
        bool raises = false;
        for (int t = 0; t < CT_COUNT; t++) raises = raises || op_faults[op->id][t];
        if (raises && i == 1 && chance(k, 95)) { /* a divisor or exponent that does not raise */
            dtype t = meta_of(k, q->in[0])->dtype;
            shape s = some_shape(k);
            if (!input_operand(k, q, "positive", 0, t, &s)) return false;
            host *h = &k->p.in[k->p.nin - 1];
            for (int64_t j = 0; !dtype_is_float(t) && j < h->count; j++)
                host_set_int(h, j, 1 + (host_int(h, j) & 3));
        } else if (op->kind == KIND_TERNARY && i == 0 && chance(k, 50)) {
            shape s = some_shape(k);
            if (!input_operand(k, q, "bool", 0, DT_BOOL, &s)) return false;
        } else if (op->kind == KIND_MIXED) {
            shape s = some_shape(k);
            if (!input_operand(k, q, "real", 0, i ? DT_F64 : DT_I64, &s)) return false;
        } else if (!value_operand(k, q)) {
            return false;
        }
    }
    return true;
}

static int random_axis(maker *k, const shape *s) {
    int axis = s->rank ? (int)rng_below(&k->r, s->rank) : 0;
    return chance(k, 30) && s->rank ? axis - s->rank : axis;
}

static bool propose_reduction(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    const shape *s = &meta_of(k, q->in[0])->shape;
    reduce_attrs a = {.axes = {.count = -1}, .keep = chance(k, 50)};
    if (chance(k, 75)) {
        a.axes.count = 0;
        for (int i = 0; i < s->rank; i++)
            if (chance(k, 50)) a.axes.v[a.axes.count++] = i;
    }
    memcpy(q->attrs, &a, sizeof a);
    return true;
}

static bool propose_reshape(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    const shape *s = &meta_of(k, q->in[0])->shape;
    shape_attrs a = {0};
    int_list *to = &a.shape;
    int64_t count = shape_elements(s);
    if (chance(k, 40)) {
        to->v[to->count++] = count;                   /* flat */
    } else if (chance(k, 50) && s->rank < MAX_RANK) { /* an axis of 1 more */
        int at = (int)rng_below(&k->r, s->rank + 1);
        for (int i = 0; i <= s->rank; i++) {
            if (i == at) to->v[to->count++] = 1;
            if (i < s->rank) to->v[to->count++] = s->size[i];
        }
    } else { /* the axes from the back, or one split */
        for (int i = s->rank - 1; i >= 0; i--) to->v[to->count++] = s->size[i];
        if (to->count && to->v[0] % 2 == 0 && to->count < MAX_RANK) {
            to->v[0] /= 2;
            to->v[to->count++] = 2;
        }
    }
    memcpy(q->attrs, &a, sizeof a);
    return true;
}

static bool propose_transpose(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    int rank = meta_of(k, q->in[0])->shape.rank;
    transpose_attrs a = {.axes = {.count = rank}};
    for (int i = 0; i < rank; i++) {
        int j = (int)rng_below(&k->r, i + 1);
        a.axes.v[i] = a.axes.v[j];
        a.axes.v[j] = i;
    }
    memcpy(q->attrs, &a, sizeof a);
    return true;
}

static bool propose_expand(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    const shape *s = &meta_of(k, q->in[0])->shape;
    shape_attrs a = {.shape = {.count = s->rank}};
    for (int i = 0; i < s->rank; i++)
        a.shape.v[i] = s->size[i] == 1 ? (chance(k, 50) ? k->rows : k->columns) : s->size[i];
    if (s->rank < 3 && chance(k, 50)) {
        memmove(a.shape.v + 1, a.shape.v, (size_t)s->rank * sizeof *a.shape.v);
        a.shape.v[0] = k->rows;
        a.shape.count++;
    }
    memcpy(q->attrs, &a, sizeof a);
    return true;
}

/* A box inside shape s. */
static slice_attrs random_box(maker *k, const shape *s) {
    slice_attrs a = {.start = {.count = s->rank}, .size = {.count = s->rank}, .step = {.count = s->rank}};
    for (int i = 0; i < s->rank; i++) {
        int64_t n = s->size[i], step = 1 + rng_below(&k->r, 2), start = n > 1 ? rng_below(&k->r, n) : 0;
        if (chance(k, 30)) step = -step;
        if (chance(k, 40)) { /* the whole axis */
            start = 0;
            step = 1;
        }
        int64_t room = step > 0 ? (n - start + step - 1) / step : (start - step) / -step;
        a.start.v[i] = start;
        a.step.v[i] = step;
        a.size.v[i] = n == 0 ? 0 : chance(k, 70) ? room : 1 + rng_below(&k->r, room);
    }
    return a;
}

static bool propose_slice(maker *k, proposal *q, bool update) {
    if (!value_operand(k, q)) return false;
    slice_attrs a = random_box(k, &meta_of(k, q->in[0])->shape);
    memcpy(q->attrs, &a, sizeof a);
    shape box = shape_of((int)a.size.count, a.size.v);
    return !update || input_operand(k, q, "real", 0, meta_of(k, q->in[0])->dtype, &box);
}

static bool propose_concat(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    shape s = meta_of(k, q->in[0])->shape;
    axis_attrs a = {.axis = random_axis(k, &s)};
    memcpy(q->attrs, &a, sizeof a);
    if (s.rank == 0) return false;
    int axis = (int)(a.axis < 0 ? a.axis + s.rank : a.axis);
    dtype t = meta_of(k, q->in[0])->dtype;
    if (chance(k, 40)) operand(q, q->in[0]);
    s.size[axis] = 1 + rng_below(&k->r, 4);
    return input_operand(k, q, "real", 0, t, &s);
}

static bool propose_matmul(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    const meta *x = meta_of(k, q->in[0]);
    if (x->shape.rank == 0 || x->shape.size[x->shape.rank - 1] > 100) return false;
    shape s = {.rank = 2, .size = {x->shape.size[x->shape.rank - 1], 1 + rng_below(&k->r, 6)}};
    return input_operand(k, q, "real", 0, x->dtype, &s);
}

/* take, gather and what adds at their places. */
static bool propose_indexed(maker *k, proposal *q, bool each, bool adds) {
    if (!value_operand(k, q)) return false;
    meta x = *meta_of(k, q->in[0]);
    axis_attrs a = {.axis = random_axis(k, &x.shape)};
    memcpy(q->attrs, &a, sizeof a);
    if (x.shape.rank == 0) return false;
    int axis = (int)(a.axis < 0 ? a.axis + x.shape.rank : a.axis);
    int64_t n = x.shape.size[axis];
    if (n == 0 || shape_elements(&x.shape) > 3000) return false;
    shape index = {.rank = 1, .size = {1 + rng_below(&k->r, 5)}}, v = x.shape;
    v.size[axis] = index.size[0];
    if (each) index = v;
    if (!input_operand(k, q, "index", n, chance(k, 70) ? DT_I64 : DT_I32, &index)) return false;
    return !adds || input_operand(k, q, "real", 0, x.dtype, &v);
}

static bool propose_cast(maker *k, proposal *q) {
    cast_attrs a = {.dtype = rng_below(&k->r, DT_COUNT)};
    memcpy(q->attrs, &a, sizeof a);
    return value_operand(k, q);
}

static bool propose_argmax(maker *k, proposal *q) {
    if (!value_operand(k, q)) return false;
    argmax_attrs a = {.axis = random_axis(k, &meta_of(k, q->in[0])->shape), .keep = chance(k, 50)};
    memcpy(q->attrs, &a, sizeof a);
    return true;
}

/* As a case of the row's samples says, on inputs of its own. */
static bool propose_sample(maker *k, proposal *q, const op_info *op) {
    sample_case cases[MAX_SAMPLE_CASES];
    text problems = {0};
    int n = samples_read(op, cases, &problems);
    text_free(&problems);
    if (n < 1) return false;
    const sample_case *s = &cases[rng_below(&k->r, n)];
    error e = {0};
    if (attrs_parse(op, s->attrs, q->attrs, &e)) return false;
    dtype t = some_dtype(k);
    for (int i = 0; i < s->nin; i++) {
        dtype of = t;
        if (!sample_fixed(op, &s->in[i], i, &of) && !sample_takes(op, &s->in[i], i, t)) return false;
        shape any = some_shape(k);
        if (!input_operand(k, q, s->in[i].word, s->in[i].bound, of, s->in[i].shaped ? &s->in[i].shape : &any))
            return false;
    }
    return true;
}

static bool propose_other(maker *k, proposal *q, const op_info *op) {
    if (chance(k, 15)) return propose_sample(k, q, op);
    switch (op->id) {
    case OP_cast:
        return propose_cast(k, q);
    case OP_stop_grad:
        return value_operand(k, q);
    case OP_reshape:
        return propose_reshape(k, q);
    case OP_transpose:
        return propose_transpose(k, q);
    case OP_expand:
        return propose_expand(k, q);
    case OP_slice:
    case OP_update:
        return propose_slice(k, q, op->id == OP_update);
    case OP_concat:
        return propose_concat(k, q);
    case OP_matmul:
        return propose_matmul(k, q);
    case OP_argmax:
        return propose_argmax(k, q);
    case OP_take:
    case OP_take_add:
        return propose_indexed(k, q, false, op->id == OP_take_add);
    case OP_gather:
    case OP_scatter_add:
        return propose_indexed(k, q, true, op->id == OP_scatter_add);
    default:
        return propose_sample(k, q, op);
    }
}

/* ---- programs ---- */

static const op_info *random_row(maker *k) {
    bool elementwise = chance(k, 58), reduction = !elementwise && chance(k, 35);
    for (;;) {
        const op_info *op = &op_table[rng_below(&k->r, OP_COUNT)];
        if (op->flags & OP_DYNAMIC) continue;
        if (elementwise ? op_elementwise(op) && op->kind != KIND_CAST
            : reduction ? op->kind == KIND_REDUCE
                        : (!op_elementwise(op) || op->kind == KIND_CAST) && op->kind != KIND_REDUCE)
            return op;
    }
}

static bool propose(maker *k, proposal *q, const op_info *op) {
    *q = (proposal){.op = op->id};
    if (op->attr_bytes) attrs_defaults(op, q->attrs);
    if (op->kind == KIND_REDUCE) return propose_reduction(k, q);
    return op_elementwise(op) && op->kind != KIND_CAST ? propose_elementwise(k, q, op)
                                                       : propose_other(k, q, op);
}

enum { LARGEST_VALUE = 300000 };

/* Adds the step when the shape rule takes it. */
static void try_step(maker *k, const proposal *q) {
    context *c = k->c;
    const op_info *op = &op_table[q->op];
    tensor *in[PROG_OPERANDS], *out[MAX_OUTPUTS] = {0};
    for (int i = 0; i < q->nin; i++) in[i] = k->value[q->in[i]];
    c->executor = &executor_shapes;
    status code = op_apply(c, q->op, in, q->nin, op->attr_bytes ? q->attrs : NULL, out);
    c->executor = &executor_eager;
    error_clear(&c->err);
    bool fits = !code && k->values + op->nout <= PROG_VALUES;
    for (int i = 0; fits && i < op->nout; i++) fits = shape_elements(&out[i]->meta.shape) <= LARGEST_VALUE;
    for (int i = 0; !fits && i < op->nout; i++) tensor_release(out[i]);
    if (!fits) return;
    prog_step *s = &k->p.step[k->p.count++];
    *s = (prog_step){.op = q->op, .nin = q->nin};
    memcpy(s->in, q->in, sizeof s->in);
    memcpy(s->attrs, q->attrs, sizeof s->attrs);
    for (int i = 0; i < op->nout; i++) k->value[k->values++] = out[i];
}

/* Outputs: what no step reads, and sometimes what one does. */
static void choose_outputs(maker *k) {
    prog *p = &k->p;
    for (int v = p->nin; v < k->values; v++) {
        bool read = false;
        for (int s = 0; s < p->count; s++)
            for (int i = 0; i < p->step[s].nin; i++) read = read || p->step[s].in[i] == v;
        if (!read || chance(k, 15)) p->output[p->output_count++] = v;
    }
}

prog random_prog(context *c, arena *m, uint64_t number) {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 16, 17, 33};
    static const dtype mains[] = {DT_F32, DT_F32, DT_F32, DT_F64, DT_F16, DT_BF16,
                                  DT_I64, DT_I32, DT_I8,  DT_U8,  DT_BOOL};
    maker k = {.c = c, .m = m, .r = {number * 0x9e3779b97f4a7c15u + 77}};
    k.main = mains[rng_below(&k.r, 11)];
    k.rows = sizes[rng_below(&k.r, 8)];
    k.columns = chance(&k, 10) ? 1030 + rng_below(&k.r, 2) * 3070 : sizes[rng_below(&k.r, 8)];
    k.how = chance(&k, 70) ? GENTLE : ROUGH;
    int steps = 3 + (int)rng_below(&k.r, 18);
    fresh(&k);
    for (int attempts = 0; k.p.count < steps && attempts < 400; attempts++) {
        proposal q;
        if (propose(&k, &q, random_row(&k))) try_step(&k, &q);
    }
    choose_outputs(&k);
    k.p.gradients = chance(&k, 60);
    k.p.bound = chance(&k, 60);
    for (int v = 0; v < k.values; v++) tensor_release(k.value[v]);
    return k.p;
}
