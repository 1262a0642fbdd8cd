/* leaves.c — see leaves.h. */
#include "repl/lang/leaves.h"

#include "engine/base/memory.h"

static status map_items(session *s, value v, leaf_fn fn, void *user, value *items) {
    bool tuple = v.kind == VALUE_TUPLE;
    size_t count = tuple ? v.tuple->count : v.record->count;
    for (size_t i = 0; i < count; i++) {
        status st = leaves_map(s, tuple ? v.tuple->item[i] : v.record->entry[i].value, fn, user, &items[i]);
        if (st) return st;
    }
    return STATUS_OK;
}

static status rebuild(session *s, value like, const value *items, value *out) {
    if (like.kind == VALUE_TUPLE) return value_new_tuple(&s->c->err, items, like.tuple->count, out);
    size_t count = like.record->count;
    record_entry *entries = mem_alloc(count * sizeof *entries);
    if (!entries) return fail_memory(&s->c->err, count * sizeof *entries);
    for (size_t i = 0; i < count; i++) entries[i] = (record_entry){like.record->entry[i].key, items[i]};
    status st = value_new_record(&s->c->err, entries, count, out);
    mem_free(entries);
    return st;
}

status leaves_map(session *s, value v, leaf_fn fn, void *user, value *out) {
    if (v.kind != VALUE_TUPLE && v.kind != VALUE_RECORD) return fn(s, user, v, out);
    size_t count = v.kind == VALUE_TUPLE ? v.tuple->count : v.record->count;
    value *items = mem_calloc(count, sizeof *items);
    if (!items) return fail_memory(&s->c->err, count * sizeof *items);
    status st = map_items(s, v, fn, user, items);
    if (!st) st = rebuild(s, v, items, out);
    for (size_t i = 0; i < count; i++) value_release(items[i]);
    mem_free(items);
    return st;
}

status leaves_each(session *s, value v, visit_fn fn, void *user) {
    if (v.kind != VALUE_TUPLE && v.kind != VALUE_RECORD) return fn(s, user, v);
    bool tuple = v.kind == VALUE_TUPLE;
    size_t count = tuple ? v.tuple->count : v.record->count;
    for (size_t i = 0; i < count; i++) {
        status st = leaves_each(s, tuple ? v.tuple->item[i] : v.record->entry[i].value, fn, user);
        if (st) return st;
    }
    return STATUS_OK;
}

bool leaves_alike(value a, value b) {
    bool inner_a = a.kind == VALUE_TUPLE || a.kind == VALUE_RECORD;
    if (!inner_a) return b.kind != VALUE_TUPLE && b.kind != VALUE_RECORD;
    if (a.kind != b.kind) return false;
    bool tuple = a.kind == VALUE_TUPLE;
    size_t count = tuple ? a.tuple->count : a.record->count;
    if (count != (tuple ? b.tuple->count : b.record->count)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!tuple && a.record->entry[i].key != b.record->entry[i].key) return false;
        if (!leaves_alike(tuple ? a.tuple->item[i] : a.record->entry[i].value,
                          tuple ? b.tuple->item[i] : b.record->entry[i].value))
            return false;
    }
    return true;
}

/* False when v has fewer leaves; *left is then lowered by their number. */
static bool find_leaf(value v, size_t *left, text *out) {
    if (v.kind != VALUE_TUPLE && v.kind != VALUE_RECORD) return (*left)-- == 0;
    bool tuple = v.kind == VALUE_TUPLE;
    size_t count = tuple ? v.tuple->count : v.record->count, length = out->length;
    for (size_t i = 0; i < count && !out->failed; i++) {
        if (tuple)
            text_printf(out, "[%zu]", i);
        else
            text_printf(out, ".%s", v.record->entry[i].key->text);
        if (find_leaf(tuple ? v.tuple->item[i] : v.record->entry[i].value, left, out)) return true;
        if (!out->failed) out->data[out->length = length] = '\0';
    }
    return false;
}

void leaf_path(value v, size_t leaf, text *out) {
    find_leaf(v, &leaf, out);
}

status tensor_list_add(session *s, tensor_list *l, tensor *t) {
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 8;
        tensor **items = mem_realloc(l->items, capacity * sizeof *items);
        if (!items) return fail_memory(&s->c->err, capacity * sizeof *items);
        l->items = items;
        l->capacity = capacity;
    }
    l->items[l->count++] = tensor_retain(t);
    return STATUS_OK;
}

void tensor_list_free(tensor_list *l) {
    for (size_t i = 0; i < l->count; i++) tensor_release(l->items[i]);
    mem_free(l->items);
    *l = (tensor_list){0};
}
