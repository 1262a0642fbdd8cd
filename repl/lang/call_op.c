/* call_op.c — rows of ops.def as functions. Operands come first; what follows, and keywords, fill the row's
 * attributes as its schema says. So a new row can be called at the prompt as soon as it stands in the table.
 *
 *   - A row with any number of operands takes a tuple, or one tensor iterated over axis 0.
 *   - dim= means axis=, keepdims= and keepdim= mean keep=; `axes` is passed as axis=.
 *   - The last list attribute takes several integers: transpose(x, 1, 0).
 *   - An axis without a default that is not given means: flattened. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/builtins.h"
#include "repl/lang/call.h"
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"

/* Rows that serve other rows, or that functions of builtins_*.c stand before. */
static const op_id hidden[] = {OP_mulz,   OP_bits_not, OP_bits_and, OP_bits_or, OP_order,
                               OP_extent, OP_update,   OP_fit,      OP_cast,    OP_compress,
                               OP_slice,  OP_full,     OP_arange,   OP_rand,    OP_randn};

static bool is_hidden(op_id id) {
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (hidden[i] == id) return true;
    return op_table[id].flags & OP_RANDOM;
}

static status add_signature(session *s, op_id id) {
    op_signature *g = &s->op_signatures[id];
    g->count = attrs_fields(&op_table[id], g->field);
    for (int i = 0; i < g->count; i++) {
        const char *name = g->field[i].type == ATTR_AXES ? "axis" : g->field[i].name;
        g->name[i] = symbol_intern(&s->symbols, name, strlen(name), &s->c->err);
        if (!g->name[i]) return s->c->err.code;
    }
    return STATUS_OK;
}

status add_op_functions(session *s) {
    s->op_signatures = mem_calloc(OP_COUNT, sizeof *s->op_signatures);
    if (!s->op_signatures) return fail_memory(&s->c->err, OP_COUNT * sizeof *s->op_signatures);
    for (int id = 0; id < OP_COUNT; id++) {
        const op_info *op = &op_table[id];
        status st = add_signature(s, (op_id)id);
        if (!st && !is_hidden((op_id)id))
            st = add_base(s, op->name, (value){.kind = VALUE_OP, .op = op}, NULL, op->doc);
        if (st) return st;
    }
    return STATUS_OK;
}

static const char *const operand_names[] = {"x", "y", "z"};

/* The operand that has this name: its number, or -1. */
static int operand_named(const op_info *op, const symbol *name) {
    if (op->nin < 0) return strcmp(name->text, "tensors") == 0 ? 0 : -1;
    for (int i = 0; i < op->nin && i < 3; i++)
        if (strcmp(name->text, operand_names[i]) == 0) return i;
    return -1;
}

/* "x, y, axis=0" */
void op_signature_text(const op_info *op, text *out) {
    attr_field fields[MAX_ATTRS];
    int count = attrs_fields(op, fields);
    if (op->nin < 0) text_add(out, "tensors");
    for (int i = 0; i < op->nin; i++) text_printf(out, "%s%s", i ? ", " : "", operand_names[i < 3 ? i : 2]);
    const char *schema = op->schema;
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(schema, " ");
        const char *equals = memchr(schema, '=', length);
        text_printf(out, "%s%s", out->length ? ", " : "",
                    fields[i].type == ATTR_AXES ? "axis" : fields[i].name);
        if (equals) text_printf(out, "%.*s", (int)(schema + length - equals), equals);
        schema += length;
        schema += strspn(schema, " ");
    }
}

static status refuse(session *s, const op_info *op, int number, const char *what, const char *which) {
    text written = {0};
    op_signature_text(op, &written);
    fail(&s->c->err, STATUS_TYPE, number, "%s %s%s", op->name, what, which);
    fail_hint(&s->c->err, "it is %s(%s)", op->name, text_str(&written));
    text_free(&written);
    return s->c->err.code;
}

/* ---- attributes ---- */

static status set_field(session *s, const op_info *op, const attr_field *f, const symbol *name, value v,
                        char *attrs) {
    int64_t number = 0;
    double real = 0;
    bool truth = false;
    dtype d = DT_F32;
    int_list list;
    char *at = attrs + f->offset;
    status st;
    switch (f->type) {
    case ATTR_INTS:
    case ATTR_SHAPE:
    case ATTR_AXES:
        if (v.kind == VALUE_NONE && f->type == ATTR_AXES) return STATUS_OK; /* as if it had not been given */
        st = arg_ints(s, op->name, name->text, v, &list);
        if (!st) memcpy(at, &list, sizeof list);
        return st;
    case ATTR_BOOL:
        st = arg_bool(s, op->name, name->text, v, &truth);
        number = truth;
        break;
    case ATTR_DTYPE:
        st = arg_dtype(s, op->name, name->text, v, &d);
        number = d;
        break;
    case ATTR_REAL:
        st = arg_real(s, op->name, name->text, v, &real);
        memcpy(&number, &real, sizeof number);
        break;
    case ATTR_SIZE:
        st = scalar_dim(s, v, name->text, &number);
        break;
    default:
        st = arg_int(s, op->name, name->text, v, &number);
        break;
    }
    if (!st) memcpy(at, &number, sizeof number);
    return st;
}

static bool is_integer(value v) {
    return value_is_scalar(v) && v.tensor->meta.dtype != DT_BOOL;
}

/* The remaining positional arguments into attributes in order; a list attribute takes the integers that follow
 * one another: sum(x, 0, 1, true). */
static status positional_fields(session *s, const op_info *op, const arguments *a, int from, char *attrs,
                                bool *given) {
    const op_signature *g = &s->op_signatures[op->id];
    const value *pos = a->pos + from;
    int used = 0, count = a->npos - from;
    for (int i = 0; i < g->count && used < count; i++) {
        const attr_field *f = &g->field[i];
        bool list = f->type == ATTR_SHAPE || f->type == ATTR_INTS || f->type == ATTR_AXES;
        value v = pos[used], all = {0};
        status st = STATUS_OK;
        given[i] = true;
        int first = used++;
        while (list && is_integer(pos[first]) && used < count && is_integer(pos[used])) used++;
        if (used - first > 1) {
            st = value_new_tuple(&s->c->err, pos + first, (size_t)(used - first), &all);
            v = all;
        }
        if (!st && (st = set_field(s, op, f, g->name[i], v, attrs))) mark_argument(s, a, from + first, NULL);
        value_release(all);
        if (st) return st;
    }
    return used < count ? refuse(s, op, E_ARGUMENT_EXTRA, "has too many arguments", "") : STATUS_OK;
}

static status keyword_fields(session *s, const op_info *op, const arguments *a, char *attrs, bool *given) {
    const op_signature *g = &s->op_signatures[op->id];
    for (int k = 0; k < a->nkw; k++) {
        const symbol *name = a->name[k];
        if (operand_named(op, name) >= 0) continue;
        if (name == s->known.dim || name == s->known.axes) name = s->known.axis;
        if (name == s->known.keepdims || name == s->known.keepdim) name = s->known.keep;
        int at = -1;
        for (int i = 0; i < g->count; i++)
            if (g->name[i] == name || g->name[i] == a->name[k]) at = i;
        if (at < 0) return refuse(s, op, E_ARGUMENT_NAME, "has no parameter ", a->name[k]->text);
        if (given[at]) return refuse(s, op, E_ARGUMENT_NAME, "gets its argument twice: ", a->name[k]->text);
        if (a->named[k].kind == VALUE_NONE && g->field[at].type == ATTR_AXIS) continue;
        given[at] = true;
        status st = set_field(s, op, &g->field[at], name, a->named[k], attrs);
        if (st) {
            mark_argument(s, a, -1, name);
            return st;
        }
    }
    return STATUS_OK;
}

/* ---- operands ---- */

/* What an op is applied to: references of our own. */
typedef struct operand_list {
    tensor *few[4], **items;
    int count;
} operand_list;

static void operands_free(operand_list *l) {
    for (int i = 0; i < l->count; i++) tensor_release(l->items[i]);
    if (l->items != l->few) mem_free(l->items);
}

static status operands_room(session *s, operand_list *l, int64_t count) {
    *l = (operand_list){.items = l->few};
    if (count <= 4) return STATUS_OK;
    l->items = mem_alloc((size_t)count * sizeof *l->items);
    return l->items ? STATUS_OK : fail_memory(&s->c->err, (uint64_t)count * sizeof *l->items);
}

static status add_operand(session *s, const op_info *op, operand_list *l, value v) {
    char buffer[120];
    if (v.kind != VALUE_TENSOR) {
        fail(&s->c->err, STATUS_TYPE, E_WRONG_KIND, "%s wants tensors, not %s", op->name,
             value_describe(v, buffer, sizeof buffer));
        if (v.kind == VALUE_TUPLE) fail_hint(&s->c->err, "brackets make a tensor of numbers: [a, b]");
        if (value_callable(v)) fail_hint(&s->c->err, "call the function first: f(x)");
        return s->c->err.code;
    }
    l->items[l->count++] = tensor_retain(v.tensor);
    return STATUS_OK;
}

/* The operands of a row that takes any number: a tuple's items or a tensor's rows. */
static status operands_of(session *s, const op_info *op, value from, operand_list *l) {
    int64_t count = 0;
    status st = STATUS_OK;
    if (from.kind == VALUE_TUPLE)
        count = (int64_t)from.tuple->count;
    else if (from.kind != VALUE_TENSOR || from.tensor->meta.shape.rank == 0 ||
             !dim_pin(s->c->dims, from.tensor->meta.shape.size[0], &count))
        st = wrong_kind(s, op->name, "tensors", "a tuple of tensors, or one tensor", from);
    if (!st && count > MAX_INPUTS)
        st = fail(&s->c->err, STATUS_LIMIT, E_TOO_MANY, "%s takes at most %d tensors at once, not %lld",
                  op->name, MAX_INPUTS, (long long)count);
    if (st) return st;
    st = operands_room(s, l, count);
    for (int64_t i = 0; i < count && !st; i++) {
        value item = {0};
        if (from.kind == VALUE_TUPLE)
            item = value_retain(from.tuple->item[i]);
        else
            st = tensor_row(s, from.tensor, i, &item);
        if (!st) st = add_operand(s, op, l, item);
        value_release(item);
    }
    return st;
}

static status flatten_first(session *s, operand_list *l, span where) {
    tensor *x = l->items[0];
    shape flat = {.rank = 1};
    flat.size[0] = shape_count(s->c->dims, &x->meta.shape);
    shape_attrs a = {.shape = {.count = 1, .v = {flat.size[0]}}};
    value made = {0};
    status st = run_op(s, OP_reshape, &x, 1, &a, where, &made);
    if (st) return st;
    tensor_release(x);
    l->items[0] = made.tensor;
    return STATUS_OK;
}

/* Attributes that were not given and have no default: an axis means flattened, others are missing. */
static status missing_fields(session *s, const op_info *op, operand_list *l, char *attrs, const bool *given,
                             span where) {
    const op_signature *g = &s->op_signatures[op->id];
    for (int i = 0; i < g->count; i++) {
        const attr_field *f = &g->field[i];
        if (given[i] || f->has_default) continue;
        if (f->type != ATTR_AXIS || l->count == 0)
            return refuse(s, op, E_ARGUMENT_MISSING, "misses its argument ", g->name[i]->text);
        int64_t zero = 0;
        memcpy(attrs + f->offset, &zero, sizeof zero);
        status st = flatten_first(s, l, where);
        if (st) return st;
    }
    return STATUS_OK;
}

/* ---- results ---- */

static status run_row(session *s, const op_info *op, const operand_list *l, const void *attrs, value *out) {
    tensor *made[MAX_OUTPUTS];
    value results[MAX_OUTPUTS];
    status st = op_apply(s->c, op->id, l->items, l->count, op->attr_bytes ? attrs : NULL, made);
    if (st) return st;
    for (int i = 0; i < op->nout; i++) results[i] = value_tensor(made[i]);
    if (op->nout == 1) {
        *out = results[0];
        return STATUS_OK;
    }
    st = value_new_tuple(&s->c->err, results, (size_t)op->nout, out);
    for (int i = 0; i < op->nout; i++) value_release(results[i]);
    return st;
}

/* An operand among the arguments. */
typedef struct operand_place {
    value v;
    int position;       /* -1: given by name */
    const symbol *name; /* then its name */
} operand_place;

/* Where the operands, `count` of them, are: by place first, then by name. */
static status place_operands(session *s, const op_info *op, const arguments *a, operand_place *to,
                             int count) {
    for (int i = 0; i < count; i++)
        to[i] =
            i < a->npos ? (operand_place){.v = a->pos[i], .position = i} : (operand_place){.position = -1};
    for (int k = 0; k < a->nkw; k++) {
        int i = operand_named(op, a->name[k]);
        if (i < 0) continue;
        if (to[i].v.kind != VALUE_ABSENT)
            return refuse(s, op, E_ARGUMENT_NAME, "gets its argument twice: ", a->name[k]->text);
        to[i] = (operand_place){a->named[k], -1, a->name[k]};
    }
    for (int i = 0; i < count; i++)
        if (to[i].v.kind == VALUE_ABSENT)
            return op->nin < 0 ? refuse(s, op, E_ARGUMENT_MISSING, "misses its argument ", "tensors")
                               : refuse(s, op, E_ARGUMENT_MISSING, "has too few arguments", "");
    return STATUS_OK;
}

static status gather_operands(session *s, const op_info *op, const arguments *a, const operand_place *from,
                              operand_list *l) {
    if (op->nin < 0) {
        if (a->npos > 1 && a->pos[0].kind == VALUE_TENSOR && a->pos[1].kind == VALUE_TENSOR &&
            a->pos[1].tensor->meta.shape.rank > 0) {
            fail(&s->c->err, STATUS_TYPE, E_ARGUMENT_EXTRA, "%s takes its tensors as one tuple", op->name);
            return fail_hint(&s->c->err, "%s((a, b), axis=0)", op->name);
        }
        status made = operands_of(s, op, from->v, l);
        if (made) mark_argument(s, a, from->position, from->name);
        return made;
    }
    status st = operands_room(s, l, op->nin);
    for (int i = 0; i < op->nin && !st; i++)
        if ((st = add_operand(s, op, l, from[i].v))) mark_argument(s, a, from[i].position, from[i].name);
    return st;
}

/* The expression of an operand, NULL when there is none (in a pipe, say). */
static const ast_node *operand_node(session *s, const arguments *a, const operand_place *p, span where) {
    const ast_node *n = a->call;
    int positional = 0, at = p->position;
    if (!n) return NULL;
    for (uint32_t i = 1; i < n->count; i++) positional += n->child[i]->kind != AST_KEYWORD;
    at -= a->npos - positional; /* what stands before the call comes first */
    if (p->position >= 0 && at < 0) {
        bool method = n->child[0]->kind == AST_FIELD && where.begin == n->where.begin;
        return method ? n->child[0]->child[0] : NULL;
    }
    for (uint32_t i = 1; i < n->count; i++) {
        const ast_node *child = n->child[i];
        if (child->kind != AST_KEYWORD && p->position >= 0 && at-- == 0) return child;
        if (child->kind == AST_KEYWORD && p->name && symbol_find(&s->symbols, child->hash) == p->name)
            return child->child[0];
    }
    return NULL;
}

/* Shapes that do not broadcast: names the two operands that don't. */
static void name_clash(session *s, const op_info *op, const arguments *a, const operand_place *from,
                       span where) {
    for (int i = op->nin - 2; i >= 0; i--) /* as rows go over their operands */
        for (int j = i + 1; j < op->nin; j++) {
            if (!operands_clash(s, from[i].v.tensor, from[j].v.tensor)) continue;
            name_operands(s, from[i].v, from[j].v, operand_node(s, a, &from[i], where),
                          operand_node(s, a, &from[j], where));
            return;
        }
}

__attribute__((noinline)) status call_op(session *s, const op_info *op, const arguments *a, span where,
                                         value *out) {
    enum { MOST = sizeof(operand_names) / sizeof *operand_names };
    _Alignas(8) char attrs[MAX_ATTR_BYTES];
    bool given[MAX_ATTRS] = {false};
    operand_place from[MOST];
    operand_list l = {.items = l.few};
    int count = op->nin < 0 ? 1 : op->nin;
    assert(count <= MOST);
    status st = place_operands(s, op, a, from, count);
    if (!st) st = gather_operands(s, op, a, from, &l);
    if (!st && op->attr_bytes) attrs_defaults(op, attrs);
    if (!st) st = positional_fields(s, op, a, a->npos < count ? a->npos : count, attrs, given);
    if (!st) st = keyword_fields(s, op, a, attrs, given);
    if (!st) st = missing_fields(s, op, &l, attrs, given, where);
    if (!st) {
        st = run_row(s, op, &l, attrs, out);
        if (st == STATUS_SHAPE && op->nin > 1) name_clash(s, op, a, from, where);
    }
    operands_free(&l);
    return st;
}
