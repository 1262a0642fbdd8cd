/* eval_assign.c — names, fields and elements on the left of `=`.
 *
 * `m.w[0] = v` takes m out of its binding, w out of m, makes the new w, and puts each back where it came
 * from. What nobody else holds is then changed in place; what somebody holds is copied first. If something
 * fails on the way the binding is lost, and the statement's transaction (or the end of the function) mends
 * that. */
#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/assign_tensor.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/index.h"

/* One `.name` or `[..]` of a target, from the name outward. */
typedef struct assign_step {
    const ast_node *node;
    index_items items; /* of an AST_INDEX */
} assign_step;

typedef struct assign_path {
    const ast_node *name;
    assign_step *steps; /* [count], owned */
    size_t count;
} assign_path;

static void path_free(assign_path *p) {
    for (size_t i = 0; i < p->count; i++) index_items_free(&p->steps[i].items);
    mem_free(p->steps);
}

static status path_eval(session *s, const ast_node *target, assign_path *p) {
    size_t count = 0;
    const ast_node *n = target;
    for (; n->kind != AST_NAME; n = n->child[0]) count++;
    *p = (assign_path){n, mem_calloc(count, sizeof *p->steps), 0};
    if (!p->steps) return fail_memory(&s->c->err, count * sizeof *p->steps);
    p->count = count;
    n = target;
    for (size_t i = count; i-- > 0; n = n->child[0]) p->steps[i].node = n;
    for (size_t i = 0; i < count; i++) {
        if (p->steps[i].node->kind != AST_INDEX) continue;
        status st = index_items_eval(s, p->steps[i].node, &p->steps[i].items);
        if (st) return st;
    }
    return STATUS_OK;
}

static status wrong_container(session *s, value v, const ast_node *n) {
    char buffer[120];
    fail(&s->c->err, STATUS_TYPE, E_NOT_ASSIGNED, "%s has no %s to assign to",
         value_describe(v, buffer, sizeof buffer), n->kind == AST_FIELD ? "fields" : "elements");
    return error_at(s, n->where, s->c->err.code);
}

/* ---- one step: reading a part, putting a part back ---- */

static status tuple_place(session *s, value t, const assign_step *step, int64_t *out) {
    const index_items *x = &step->items;
    int64_t i, n = (int64_t)t.tuple->count;
    if (x->count != 1 || x->items[0].kind == AST_SLICE || x->items[0].kind == AST_ELLIPSIS)
        return fail(&s->c->err, STATUS_INDEX, E_INDEX_ENTRY,
                    "an element of a tuple is assigned by one integer");
    status st = scalar_int(s, x->items[0].v[0], "an index", &i);
    if (st) return st;
    if (i < -n || i >= n)
        return fail(&s->c->err, STATUS_INDEX, E_INDEX_RANGE, "index %lld is out of range for a tuple of %lld",
                    (long long)i, (long long)n);
    *out = i < 0 ? i + n : i;
    return STATUS_OK;
}

/* The field that a step names; NULL with the error set when it names none. */
static const symbol *record_key(session *s, const assign_step *step) {
    if (step->node->kind == AST_FIELD) return symbol_find(&s->symbols, step->node->hash);
    const index_items *x = &step->items;
    if (x->count == 1 && x->items[0].kind != AST_SLICE && x->items[0].v[0].kind == VALUE_STRING) {
        const string_object *key = x->items[0].v[0].string;
        return symbol_intern(&s->symbols, key->text, key->length, &s->c->err);
    }
    fail(&s->c->err, STATUS_INDEX, E_INDEX_ENTRY, "a record is indexed by a string");
    return NULL;
}

/* Takes the part out of *from (which the caller owns): moved when nobody else holds the container. */
static status take_part(session *s, value *from, const assign_step *step, value *out) {
    status st = STATUS_OK;
    if (from->kind == VALUE_RECORD) {
        const symbol *key = record_key(s, step);
        if (!key) return s->c->err.code;
        value *field = (value *)value_field(*from, key);
        if (!field) return unknown_field(s, *from, step->node, false);
        *out = value_retain(*field);
        if (from->object->refs == 1) {
            value_release(*field);
            *field = value_none();
        }
    } else if (from->kind == VALUE_TUPLE && step->node->kind == AST_INDEX) {
        int64_t i;
        st = tuple_place(s, *from, step, &i);
        if (!st) *out = value_retain(from->tuple->item[i]);
    } else if (from->kind == VALUE_TENSOR && step->node->kind == AST_INDEX) {
        index_plan p;
        st = index_plan_make(s, &from->tensor->meta, &step->items, &p);
        if (!st) st = index_read(s, from->tensor, &p, step->node->where, out);
    } else {
        return wrong_container(s, *from, step->node);
    }
    return error_at(s, step->node->where, st);
}

static status put_in_tuple(session *s, value *into, const assign_step *step, value part) {
    int64_t at;
    status st = tuple_place(s, *into, step, &at);
    if (st) return st;
    size_t count = into->tuple->count;
    value *items = mem_alloc(count * sizeof *items), made;
    if (!items) return fail_memory(&s->c->err, count * sizeof *items);
    memcpy(items, into->tuple->item, count * sizeof *items);
    items[at] = part;
    st = value_new_tuple(&s->c->err, items, count, &made);
    mem_free(items);
    if (st) return st;
    value_release(*into);
    *into = made;
    return STATUS_OK;
}

/* *into with the step's part replaced. Owns *into, which is absent after a failure. */
static status put_part(session *s, value *into, const assign_step *step, value part) {
    status st;
    if (into->kind == VALUE_RECORD) {
        const symbol *key = record_key(s, step);
        st = key ? value_set_field(&s->c->err, into, key, part) : s->c->err.code;
    } else if (into->kind == VALUE_TUPLE && step->node->kind == AST_INDEX) {
        st = put_in_tuple(s, into, step, part);
    } else if (into->kind == VALUE_TENSOR && step->node->kind == AST_INDEX) {
        st = assign_elements(s, into, &step->items, part, step->node->where);
    } else {
        st = wrong_container(s, *into, step->node);
    }
    if (st) value_drop(into);
    return error_at(s, step->node->where, st);
}

/* *root (owned) with the part at the end of the path replaced by v. */
static status replace(session *s, value *root, const assign_path *p, value v) {
    value *parts = mem_calloc(p->count, sizeof *parts);
    if (!parts) return fail_memory(&s->c->err, p->count * sizeof *parts);
    parts[0] = *root;
    *root = (value){0};
    status st = STATUS_OK;
    size_t depth = 0;
    for (; depth + 1 < p->count && !st; depth++)
        st = take_part(s, &parts[depth], &p->steps[depth], &parts[depth + 1]);
    value part = value_retain(v);
    for (size_t i = p->count; i-- > 0 && !st;) {
        st = put_part(s, &parts[i], &p->steps[i], part);
        value_release(part);
        part = parts[i];
        parts[i] = (value){0};
    }
    if (st)
        value_release(part);
    else
        *root = part;
    for (size_t i = 0; i < p->count; i++) value_release(parts[i]);
    mem_free(parts);
    return st;
}

/* ---- names ---- */

/* The place where a name of this scope is kept, with its present value moved there if it comes from outside. */
static value *open_name(session *s, const ast_node *n) {
    const symbol *name = symbol_find(&s->symbols, n->hash);
    if (!s->frame && s->freezing) return freezing_open(s, name);
    const value *now = lookup(s, n->hash);
    if (!now) {
        unknown_name(s, n);
        return NULL;
    }
    if (!s->frame) return bindings_open(s, name);
    for (size_t i = 0; i < s->frame->count; i++)
        if (s->frame->locals[i].hash == n->hash) return &s->frame->locals[i].value;
    if (frame_set(s, name, *now)) return NULL;
    return &s->frame->locals[s->frame->count - 1].value;
}

static status assign_through(session *s, const assign_path *p, value v) {
    value *place = open_name(s, p->name);
    if (!place) return error_at(s, p->name->where, s->c->err.code);
    value root = *place;
    *place = (value){0};
    status st = replace(s, &root, p, v);
    if (st)
        value_release(root); /* absent, unless replace failed before it began */
    else
        *place = root; /* nothing was evaluated in between, so the place has not moved */
    return st;
}

status assign_target(session *s, const ast_node *target, value v) {
    if (target->kind == AST_NAME) {
        const symbol *name = symbol_find(&s->symbols, target->hash);
        if (!s->in_prelude) s->c->here = target->where;
        return error_at(s, target->where, frame_set(s, name, v));
    }
    assign_path p;
    status st = path_eval(s, target, &p);
    if (!st) st = assign_through(s, &p, v);
    path_free(&p);
    return st;
}

status unpack(session *s, const ast_node *target, value v) {
    char buffer[120];
    if (target->kind != AST_TUPLE) return assign_target(s, target, v);
    int64_t count = -1;
    if (v.kind == VALUE_TUPLE) count = (int64_t)v.tuple->count;
    if (v.kind == VALUE_TENSOR && v.tensor->meta.shape.rank > 0 &&
        !dim_pin(s->c->dims, v.tensor->meta.shape.size[0], &count))
        count = -1;
    if (count != (int64_t)target->count) {
        fail(&s->c->err, STATUS_TYPE, E_UNPACK, "%u names for %s", target->count,
             value_describe(v, buffer, sizeof buffer));
        return error_at(s, target->where, s->c->err.code);
    }
    for (uint32_t i = 0; i < target->count; i++) {
        value item = {0};
        status st = STATUS_OK;
        if (v.kind == VALUE_TUPLE)
            item = value_retain(v.tuple->item[i]);
        else
            st = tensor_row(s, v.tensor, i, &item);
        if (!st) st = unpack(s, target->child[i], item);
        value_release(item);
        if (st) return error_at(s, target->where, st);
    }
    return STATUS_OK;
}

/* ---- augmented assignment ---- */

/* The present value at the end of the path. */
static status read_path(session *s, const assign_path *p, value *out) {
    const value *now = lookup(s, p->name->hash);
    if (!now) return s->c->err.code ? s->c->err.code : unknown_name(s, p->name);
    value v = value_retain(*now);
    for (size_t i = 0; i < p->count; i++) {
        value part = {0}, kept = value_retain(v); /* two references: nothing is moved out */
        status st = take_part(s, &v, &p->steps[i], &part);
        value_release(kept);
        value_release(v);
        if (st) return st;
        v = part;
    }
    *out = v;
    return STATUS_OK;
}

static status update_path(session *s, const ast_node *n, const assign_path *p) {
    value now = {0}, by = {0}, made = {0};
    status st = read_path(s, p, &now);
    if (!st) st = eval_expr(s, n->child[1], &by);
    if (!st) st = apply_binary(s, (ast_op)n->op, now, by, n->where, n->child[0], n->child[1], &made);
    value_release(now);
    value_release(by);
    if (!st && p->count == 0)
        st = error_at(s, n->where, frame_set(s, symbol_find(&s->symbols, p->name->hash), made));
    else if (!st)
        st = assign_through(s, p, made);
    value_release(made);
    return st;
}

status eval_update(session *s, const ast_node *n) {
    assign_path p;
    status st = path_eval(s, n->child[0], &p);
    if (!st) st = update_path(s, n, &p);
    path_free(&p);
    return st;
}
