/* value.c — reference counts and constructors; see value.h. */
#include "repl/lang/value.h"

#include <string.h>

#include "engine/base/memory.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/value_impl.h"

static object *object_of(value v) {
    switch (v.kind) {
    case VALUE_ABSENT:
    case VALUE_NONE:
    case VALUE_TENSOR:
    case VALUE_BUILTIN:
    case VALUE_OP:
    case VALUE_KIND_COUNT:
        return NULL;
    default:
        return v.object;
    }
}

value value_retain(value v) {
    if (v.kind == VALUE_TENSOR) {
        tensor_retain(v.tensor);
    } else {
        object *o = object_of(v);
        if (o) o->refs++;
    }
    return v;
}

void value_unref(value v, object **dead) {
    if (v.kind == VALUE_TENSOR) {
        tensor_release(v.tensor);
        return;
    }
    object *o = object_of(v);
    if (!o || --o->refs > 0) return;
    o->next = *dead;
    *dead = o;
}

static void destroy(object *o, object **dead) {
    switch (o->kind) {
    case VALUE_TUPLE: {
        tuple_object *t = (tuple_object *)o;
        for (size_t i = 0; i < t->count; i++) value_unref(t->item[i], dead);
        break;
    }
    case VALUE_RECORD: {
        record_object *r = (record_object *)o;
        for (size_t i = 0; i < r->count; i++) value_unref(r->entry[i].value, dead);
        break;
    }
    case VALUE_FUNCTION:
        function_destroy(o, dead);
        return;
    case VALUE_DERIVED:
        derived_destroy(o, dead);
        return;
    case VALUE_PULLBACK:
        pullback_destroy(o, dead);
        return;
    case VALUE_TAPE:
        tape_destroy(o, dead);
        return;
    case VALUE_GRAPH:
        frozen_destroy(o, dead);
        return;
    default:
        break;
    }
    mem_free(o);
}

void value_release(value v) {
    object *dead = NULL;
    value_unref(v, &dead);
    while (dead) {
        object *o = dead;
        dead = o->next;
        destroy(o, &dead);
    }
}

void value_drop(value *v) {
    value old = *v;
    *v = (value){0};
    value_release(old);
}

void *object_new(error *e, value_kind kind, size_t bytes) {
    object *o = mem_calloc(1, bytes);
    if (!o) {
        fail_memory(e, bytes);
        return NULL;
    }
    o->refs = 1;
    o->kind = kind;
    return o;
}

/* The bytes of a head followed by `count` items; 0 when they do not fit. */
static size_t with_items(size_t head, size_t count, size_t item) {
    size_t bytes;
    return mem_mul(count, item, &bytes) && mem_add(bytes, head, &bytes) ? bytes : 0;
}

static status out_of_memory(error *e, size_t count) {
    return fail_memory(e, count);
}

static status check_depth(error *e, int depth) {
    if (depth <= VALUE_MAX_DEPTH) return STATUS_OK;
    fail(e, STATUS_LIMIT, E_NESTING, "tuples and records nest at most %d deep", VALUE_MAX_DEPTH);
    return fail_hint(e, "keep a flat tuple, or a tensor");
}

static int depth_of(value v) {
    return v.kind == VALUE_TUPLE || v.kind == VALUE_RECORD ? v.object->depth : 0;
}

/* Nothing looks for Ctrl-C while one is copied, compared or freed. */
static status too_long(error *e, const char *kind, size_t most, const char *unit) {
    fail(e, STATUS_LIMIT, E_TOO_LONG, "a %s has at most %zu %s", kind, most, unit);
    return fail_hint(e, "numbers take less room, and have no such limit, in a tensor");
}

/* x and then y. */
static status string_of(error *e, const char *x, size_t n, const char *y, size_t m, value *out) {
    if (n > VALUE_MAX_STRING || m > VALUE_MAX_STRING - n)
        return too_long(e, "string", VALUE_MAX_STRING, "bytes");
    string_object *o = object_new(e, VALUE_STRING, sizeof(string_object) + 1 + n + m);
    if (!o) return e->code;
    if (n) memcpy(o->text, x, n);
    if (m) memcpy(o->text + n, y, m);
    o->length = n + m;
    *out = (value){.kind = VALUE_STRING, .string = o};
    return STATUS_OK;
}

status value_new_string(error *e, const char *content, size_t length, value *out) {
    return string_of(e, content, length, NULL, 0, out);
}

static int deepest(const value *items, size_t count, int depth) {
    for (size_t i = 0; i < count; i++)
        if (depth_of(items[i]) > depth) depth = depth_of(items[i]);
    return depth;
}

/* The items of x and then those of y. */
static status tuple_of(error *e, const value *x, size_t n, const value *y, size_t m, value *out) {
    if (n > VALUE_MAX_TUPLE || m > VALUE_MAX_TUPLE - n) return too_long(e, "tuple", VALUE_MAX_TUPLE, "items");
    int depth = deepest(y, m, deepest(x, n, 0));
    status st = check_depth(e, depth + 1);
    if (st) return st;
    tuple_object *o = object_new(e, VALUE_TUPLE, sizeof(tuple_object) + (n + m) * sizeof(value));
    if (!o) return e->code;
    o->head.depth = depth + 1;
    o->count = n + m;
    for (size_t i = 0; i < n; i++) o->item[i] = value_retain(x[i]);
    for (size_t i = 0; i < m; i++) o->item[n + i] = value_retain(y[i]);
    *out = (value){.kind = VALUE_TUPLE, .tuple = o};
    return STATUS_OK;
}

status value_new_tuple(error *e, const value *items, size_t count, value *out) {
    return tuple_of(e, items, count, NULL, 0, out);
}

status value_join(error *e, value x, value y, value *out) {
    if (x.kind == VALUE_STRING)
        return string_of(e, x.string->text, x.string->length, y.string->text, y.string->length, out);
    return tuple_of(e, x.tuple->item, x.tuple->count, y.tuple->item, y.tuple->count, out);
}

status value_new_record(error *e, const record_entry *entries, size_t count, value *out) {
    int depth = 0;
    for (size_t i = 0; i < count; i++)
        if (depth_of(entries[i].value) > depth) depth = depth_of(entries[i].value);
    status st = check_depth(e, depth + 1);
    if (st) return st;
    size_t bytes = with_items(sizeof(record_object), count, sizeof(record_entry));
    record_object *o = bytes ? object_new(e, VALUE_RECORD, bytes) : NULL;
    if (!o) return out_of_memory(e, count);
    o->head.depth = depth + 1;
    o->count = count;
    for (size_t i = 0; i < count; i++)
        o->entry[i] = (record_entry){entries[i].key, value_retain(entries[i].value)};
    *out = (value){.kind = VALUE_RECORD, .record = o};
    return STATUS_OK;
}

status value_new_range(error *e, int64_t begin, int64_t end, value *out) {
    range_object *o = object_new(e, VALUE_RANGE, sizeof *o);
    if (!o) return e->code;
    o->begin = begin;
    o->end = end;
    *out = (value){.kind = VALUE_RANGE, .range = o};
    return STATUS_OK;
}

status value_new_type(error *e, dtype t, const type_dim *sizes, int count, value *out) {
    size_t bytes = with_items(sizeof(type_object), (size_t)count, sizeof(type_dim));
    type_object *o = bytes ? object_new(e, VALUE_TYPE, bytes) : NULL;
    if (!o) return out_of_memory(e, (size_t)count);
    o->count = count;
    for (int i = 0; i < count; i++) o->dim[i] = sizes[i];
    *out = (value){.kind = VALUE_TYPE, .dtype = t, .type = o};
    return STATUS_OK;
}

static value *find_field(value record, const symbol *key) {
    if (record.kind != VALUE_RECORD) return NULL;
    record_object *r = record.record;
    for (size_t i = 0; i < r->count; i++)
        if (r->entry[i].key == key) return &r->entry[i].value;
    return NULL;
}

const value *value_field(value record, const symbol *key) {
    return find_field(record, key);
}

const value *value_field_text(value record, const char *key) {
    if (record.kind != VALUE_RECORD) return NULL;
    size_t length = strlen(key);
    const record_object *r = record.record;
    for (size_t i = 0; i < r->count; i++)
        if (r->entry[i].key->length == length && memcmp(r->entry[i].key->text, key, length) == 0)
            return &r->entry[i].value;
    return NULL;
}

/* *record replaced by a copy with one field replaced or added. */
static status copy_with_field(error *e, value *record, const symbol *key, value field) {
    const record_object *r = record->record;
    size_t bytes;
    if (!mem_mul(r->count + 1, sizeof(record_entry), &bytes)) return out_of_memory(e, r->count);
    record_entry *entries = mem_alloc(bytes);
    if (!entries) return fail_memory(e, bytes);
    size_t count = r->count, at = count;
    for (size_t i = 0; i < count; i++) {
        entries[i] = r->entry[i];
        if (entries[i].key == key) at = i;
    }
    entries[at] = (record_entry){key, field};
    value made;
    status st = value_new_record(e, entries, at == count ? count + 1 : count, &made);
    mem_free(entries);
    if (st) return st;
    value_release(*record);
    *record = made;
    return STATUS_OK;
}

status value_set_field(error *e, value *record, const symbol *key, value field) {
    value *old = find_field(*record, key);
    status st = check_depth(e, depth_of(field) + 1);
    if (!st && old && record->object->refs == 1) {
        value_retain(field);
        value_release(*old);
        *old = field;
        if (record->object->depth < depth_of(field) + 1) record->object->depth = depth_of(field) + 1;
        return STATUS_OK;
    }
    if (!st) st = copy_with_field(e, record, key, field);
    if (st) value_drop(record);
    return st;
}
