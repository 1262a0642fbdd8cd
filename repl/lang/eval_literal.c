/* eval_literal.c — what is written out: numbers, strings, tuples, records, types, and tensors in brackets.
 *
 * `[..]` stacks equal shapes along a new first axis in the dtype that the elements meet in. Where no tape
 * listens and everything is in memory, the elements' bytes are copied; otherwise reshape and concat do it, so
 * that gradients and graphs see it. */
#include "engine/base/memory.h"
#include "engine/core/copy.h"
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"

/* A list of values on its way into a tuple, record or tensor. */
typedef struct value_list {
    value *items;
    size_t count;
} value_list;

static void list_free(value_list *l) {
    for (size_t i = 0; i < l->count; i++) value_release(l->items[i]);
    mem_free(l->items);
}

static status eval_list(session *s, const ast_node *n, value_list *out) {
    *out = (value_list){mem_alloc(n->count * sizeof(value)), 0};
    if (!out->items) return fail_memory(&s->c->err, n->count * sizeof(value));
    for (uint32_t i = 0; i < n->count; i++) {
        const ast_node *child = n->child[i]->kind == AST_ENTRY ? n->child[i]->child[0] : n->child[i];
        status st = eval_expr(s, child, &out->items[i]);
        if (st) return st;
        out->count++;
    }
    return STATUS_OK;
}

static status make_record(session *s, const ast_node *n, const value_list *l, value *out) {
    record_entry *entries = mem_alloc(l->count * sizeof *entries);
    if (!entries) return fail_memory(&s->c->err, l->count * sizeof *entries);
    for (size_t i = 0; i < l->count; i++)
        entries[i] = (record_entry){symbol_find(&s->symbols, n->child[i]->hash), l->items[i]};
    status st = value_new_record(&s->c->err, entries, l->count, out);
    mem_free(entries);
    return st;
}

static status eval_composite(session *s, const ast_node *n, value *out) {
    value_list l;
    status st = eval_list(s, n, &l);
    if (!st) {
        if (n->kind == AST_TUPLE)
            st = value_new_tuple(&s->c->err, l.items, l.count, out);
        else if (n->kind == AST_RECORD)
            st = make_record(s, n, &l, out);
        else
            st = stack_values(s, NULL, l.items, l.count, n->where, out);
        error_at(s, n->where, st);
    }
    list_free(&l);
    return st;
}

static status eval_type(session *s, const ast_node *n, value *out) {
    *out = (value){.kind = VALUE_TYPE};
    dtype_parse(n->text, n->length, &out->dtype);
    if (!(n->flags & AST_HAS_DIMS)) return STATUS_OK;
    if (n->count > MAX_RANK)
        return error_at(s, n->where,
                        fail(&s->c->err, STATUS_SHAPE, E_RANK, "a tensor has at most %d axes", MAX_RANK));
    type_dim sizes[MAX_RANK];
    for (uint32_t i = 0; i < n->count; i++) {
        const ast_node *d = n->child[i];
        sizes[i] = (type_dim){0};
        switch ((ast_op)d->op) {
        case AST_DIM_INT:
            sizes[i].kind = TYPE_DIM_SIZE;
            sizes[i].size = d->integer;
            break;
        case AST_DIM_NAME:
            sizes[i].kind = TYPE_DIM_NAME;
            sizes[i].name = symbol_find(&s->symbols, d->hash);
            break;
        case AST_DIM_REST:
            sizes[i].kind = TYPE_DIM_REST;
            break;
        default:
            sizes[i].kind = TYPE_DIM_ANY;
            break;
        }
    }
    return value_new_type(&s->c->err, out->dtype, sizes, (int)n->count, out);
}

static status from_tensor(session *s, tensor *t, value *out) {
    *out = value_tensor(t);
    return t ? STATUS_OK : s->c->err.code;
}

status eval_literal(session *s, const ast_node *n, value *out) {
    switch ((ast_kind)n->kind) {
    case AST_INT:
        return from_tensor(s, tensor_weak_int(s->c, n->integer), out);
    case AST_REAL:
        return from_tensor(s, tensor_weak_real(s->c, n->real), out);
    case AST_BOOL:
        return value_from_bool(s, n->integer != 0, out);
    case AST_STRING:
        return value_new_string(&s->c->err, n->text, n->length, out);
    case AST_TYPE:
        return eval_type(s, n, out);
    case AST_TUPLE:
    case AST_RECORD:
    case AST_TENSOR:
        return eval_composite(s, n, out);
    default:
        *out = value_none();
        return STATUS_OK; /* None */
    }
}

/* ---- tensors in brackets ---- */

/* `function`: what stacks them; NULL: brackets. */
static status check_elements(session *s, const char *function, const value *items, size_t count) {
    error *e = &s->c->err;
    char one[120], other[120];
    for (size_t i = 0; i < count; i++) {
        if (items[i].kind != VALUE_TENSOR) {
            value_describe(items[i], one, sizeof one);
            if (function)
                return fail(e, STATUS_TYPE, E_TENSOR_ELEMENTS, "%s wants tensors; element %zu is %s",
                            function, i, one);
            fail(e, STATUS_TYPE, E_TENSOR_ELEMENTS, "brackets build a tensor of numbers; element %zu is %s",
                 i, one);
            return fail_hint(e, "write (a, b) for a tuple");
        }
        const shape *a = &items[0].tensor->meta.shape, *b = &items[i].tensor->meta.shape;
        if (shape_same(s->c->dims, a, b)) continue;
        fail(e, STATUS_SHAPE, E_STACK, "%s equal shapes: element 0 is %s, element %zu is %s",
             function ? "stack wants" : "brackets stack", value_describe(items[0], one, sizeof one), i,
             value_describe(items[i], other, sizeof other));
        return fail_hint(
            e, function ? "expand and reshape bring tensors to one shape; concat joins them along an axis "
                          "that they have"
                        : "write (a, b) for a tuple");
    }
    if (items[0].tensor->meta.shape.rank == MAX_RANK)
        return fail(e, STATUS_SHAPE, E_RANK, "a tensor has at most %d axes", MAX_RANK);
    return STATUS_OK;
}

/* The dtype in which all elements meet; weak scalars alone become what they are alone. */
static status common_dtype(session *s, tensor *const *in, size_t count, dtype *out) {
    bool strong = false, weak = false, real = false;
    dtype t = DT_BOOL;
    for (size_t i = 0; i < count; i++) {
        const meta *m = &in[i]->meta;
        if (m->weak) {
            weak = true;
            real |= dtype_is_float(m->dtype);
        } else if (!strong) {
            strong = true;
            t = m->dtype;
        } else if (!dtype_promote(t, m->dtype, &t)) {
            fail(&s->c->err, STATUS_DTYPE, 105, "f16 and bf16 have no common dtype");
            return fail_hint(&s->c->err, "cast one of them: x as f32");
        }
    }
    if (!strong) t = real ? DT_F32 : DT_I64;
    *out = strong && weak ? dtype_meet_weak(t, real) : t;
    return STATUS_OK;
}

/* in[i], retained, in dtype t and not weak. */
static tensor *element_as(session *s, tensor *t, dtype d) {
    if (t->meta.dtype == d && !t->meta.weak) return tensor_retain(t);
    return op_cast(s->c, t, d, false);
}

static bool plain_in_memory(const session *s, tensor *const *in, size_t count) {
    if (s->c->tapes || s->c->trace) return false;
    for (size_t i = 0; i < count; i++)
        if (!tensor_concrete(in[i])) return false;
    return true;
}

static status stack_bytes(session *s, tensor *const *in, size_t count, dtype d, const shape *to, value *out) {
    tensor *made = tensor_new(s->c, d, to);
    if (!made) return s->c->err.code;
    size_t bytes = count ? (size_t)tensor_count(made) / count * dtype_size(d) : 0;
    for (size_t i = 0; i < count; i++) {
        tensor *cast = element_as(s, in[i], d);
        bool failed = !cast || copy_tensor(cast, (char *)tensor_data(made) + i * bytes);
        tensor_release(cast);
        if (failed) {
            tensor_release(made);
            return s->c->err.code;
        }
    }
    *out = value_tensor(made);
    return STATUS_OK;
}

/* parts (consumed) concatenated along axis 0, MAX_INPUTS at a time until one is left. */
static tensor *concat_all(session *s, tensor **parts, size_t count) {
    axis_attrs a = {.axis = 0};
    while (count > 1) {
        size_t left = 0;
        for (size_t i = 0; i < count; i += MAX_INPUTS) {
            size_t n = count - i < MAX_INPUTS ? count - i : MAX_INPUTS;
            tensor *joined = NULL;
            if (n == 1)
                joined = parts[i] ? tensor_retain(parts[i]) : NULL;
            else
                op_apply(s->c, OP_concat, parts + i, (int)n, &a, &joined);
            for (size_t k = i; k < i + n; k++) tensor_release(parts[k]);
            parts[left++] = joined;
        }
        count = left;
    }
    return parts[0];
}

static status stack_ops(session *s, tensor *const *in, size_t count, dtype d, const shape *to, value *out) {
    tensor **parts = mem_calloc(count, sizeof *parts);
    if (!parts) return fail_memory(&s->c->err, count * sizeof *parts);
    shape one = *to;
    one.size[0] = 1;
    for (size_t i = 0; i < count; i++) {
        tensor *cast = element_as(s, in[i], d);
        parts[i] = cast ? op_reshape(s->c, cast, &one) : NULL;
        tensor_release(cast);
    }
    tensor *made = concat_all(s, parts, count);
    mem_free(parts);
    return from_tensor(s, made, out);
}

status stack_values(session *s, const char *function, const value *items, size_t count, span where,
                    value *out) {
    if (!s->in_prelude) s->c->here = where;
    shape to = {.rank = 1};
    if (count == 0) return stack_bytes(s, NULL, 0, DT_F32, &to, out);
    status st = check_elements(s, function, items, count);
    if (st) return st;
    const shape *each = &items[0].tensor->meta.shape;
    to.rank = each->rank + 1;
    to.size[0] = (dim)count;
    for (int i = 0; i < each->rank; i++) to.size[i + 1] = each->size[i];
    tensor **in = mem_alloc(count * sizeof *in);
    if (!in) return fail_memory(&s->c->err, count * sizeof *in);
    for (size_t i = 0; i < count; i++) in[i] = items[i].tensor;
    dtype d = DT_F32;
    st = common_dtype(s, in, count, &d);
    if (!st)
        st = plain_in_memory(s, in, count) ? stack_bytes(s, in, count, d, &to, out)
                                           : stack_ops(s, in, count, d, &to, out);
    mem_free(in);
    return st;
}
