/* builtins_io.c — load and save: between the values of the language and those of engine/io. */
#include "repl/lang/builtins_io.h"

#include <string.h>

#include "engine/io/io.h"
#include "repl/lang/session.h"

/* A path as C wants it; refused when it holds a NUL. */
static status path_of(session *s, const char *function, value v, const char **out) {
    size_t length;
    if (arg_string(s, function, "file", v, out, &length)) return session_context(s)->err.code;
    if (strlen(*out) == length && length > 0) return STATUS_OK;
    return fail(&session_context(s)->err, STATUS_IO, 601, "%s",
                length ? "the name of a file holds a NUL" : "the name of the file is empty");
}

/* header=: true, false, or "auto" like the default. */
static status header_of(session *s, value v, io_header *out) {
    bool yes;
    if (v.kind == VALUE_STRING && strcmp(v.string->text, "auto") == 0) return STATUS_OK;
    if (arg_bool(s, "load", "header", v, &yes)) return session_context(s)->err.code;
    *out = yes ? IO_HEADER_YES : IO_HEADER_NO;
    return STATUS_OK;
}

/* ---- load ---- */

static status strings_of(error *e, const io_texts *t, value *out) {
    value *items = mem_calloc(t->count, sizeof *items);
    status code = items ? STATUS_OK : fail_memory(e, (uint64_t)t->count * sizeof *items);
    for (size_t i = 0; i < t->count && code == STATUS_OK; i++) {
        const char *text_;
        size_t length;
        io_texts_get(t, i, &text_, &length);
        code = value_new_string(e, text_, length, &items[i]);
    }
    if (code == STATUS_OK) code = value_new_tuple(e, items, t->count, out);
    for (size_t i = 0; items && i < t->count; i++) value_release(items[i]);
    mem_free(items);
    return code;
}

/* Numeric columns are vectors, columns of text tuples of strings. */
static status record_of(session *s, const io_value *loaded, value *out) {
    error *e = &session_context(s)->err;
    size_t count = (size_t)loaded->column_count;
    record_entry *entries = mem_calloc(count, sizeof *entries);
    if (!entries) return fail_memory(e, (uint64_t)count * sizeof *entries);
    status code = STATUS_OK;
    for (size_t i = 0; i < count && code == STATUS_OK; i++) {
        const io_column *column = &loaded->columns[i];
        entries[i].key = symbol_intern(session_symbols(s), column->name, strlen(column->name), e);
        if (!entries[i].key)
            code = e->code;
        else if (column->numbers)
            entries[i].value = value_tensor(tensor_retain(column->numbers));
        else
            code = strings_of(e, &column->texts, &entries[i].value);
    }
    if (code == STATUS_OK) code = value_new_record(e, entries, count, out);
    for (size_t i = 0; i < count; i++) value_release(entries[i].value);
    mem_free(entries);
    return code;
}

static status run_load(session *s, const value *args, value *out) {
    context *c = session_context(s);
    io_options options = {0};
    const char *path;
    if (path_of(s, "load", args[0], &path)) return c->err.code;
    if (args[1].kind != VALUE_ABSENT && args[1].kind != VALUE_NONE) {
        options.has_dtype = true;
        if (arg_dtype(s, "load", "dtype", args[1], &options.dtype)) return c->err.code;
    }
    if (args[2].kind != VALUE_ABSENT && header_of(s, args[2], &options.header)) return c->err.code;
    io_value loaded;
    if (io_load(c, path, &options, &loaded)) return c->err.code;
    status code = STATUS_OK;
    if (loaded.tensor)
        *out = value_tensor(tensor_retain(loaded.tensor));
    else
        code = record_of(s, &loaded, out);
    io_value_free(&loaded);
    return code;
}

/* ---- save ---- */

static status not_saved(session *s, const char *what) {
    error *e = &session_context(s)->err;
    fail(e, STATUS_TYPE, 625, "%s can't be saved", what);
    return fail_hint(e, "save a tensor, or a record whose fields are vectors and tuples of strings");
}

static status column_of(session *s, const record_entry *entry, io_column *column) {
    error *e = &session_context(s)->err;
    value v = entry->value;
    column->name = mem_copy_text(entry->key->text, entry->key->length);
    if (!column->name) return fail_memory(e, entry->key->length + 1);
    if (v.kind == VALUE_TENSOR && tensor_concrete(v.tensor)) {
        column->numbers = tensor_to_contiguous(v.tensor);
        return column->numbers ? STATUS_OK : e->code;
    }
    if (v.kind != VALUE_TUPLE) return not_saved(s, value_kind_text(v.kind));
    for (size_t i = 0; i < v.tuple->count; i++) {
        value item = v.tuple->item[i];
        if (item.kind != VALUE_STRING) return not_saved(s, "a tuple of other things than strings");
        if (!io_texts_add(&column->texts, item.string->text, item.string->length))
            return fail_memory(e, item.string->length);
    }
    return STATUS_OK;
}

/* Vectors and tuples of strings as columns. */
static status columns_of(session *s, const record_object *r, io_value *out) {
    context *c = session_context(s);
    if (r->count == 0) return not_saved(s, "an empty record");
    if (io_value_add_columns(c, out, (int64_t)r->count)) return c->err.code;
    for (size_t i = 0; i < r->count; i++)
        if (column_of(s, &r->entry[i], &out->columns[i])) return c->err.code;
    const io_column *first = &out->columns[0];
    out->rows = first->numbers ? tensor_count(first->numbers) : (int64_t)first->texts.count;
    return STATUS_OK;
}

static status run_save(session *s, const value *args, value *out) {
    context *c = session_context(s);
    const char *path;
    char what[160];
    if (path_of(s, "save", args[1], &path)) return c->err.code;
    io_value saved = {0};
    status code = STATUS_OK;
    if (args[0].kind == VALUE_TENSOR && tensor_concrete(args[0].tensor))
        saved.tensor = tensor_retain(args[0].tensor);
    else if (args[0].kind == VALUE_RECORD)
        code = columns_of(s, args[0].record, &saved);
    else
        code = not_saved(s, value_describe(args[0], what, sizeof what));
    if (code == STATUS_OK) code = io_save(c, &saved, path);
    io_value_free(&saved);
    *out = value_none();
    return code;
}

const builtin builtins_io[] = {
    {"load", "file, dtype=None, header=\"auto\"", run_load,
     "what a csv or npy file holds (gzip is seen through): a tensor, or a record of columns"},
    {"save", "value, file", run_save,
     "writes a tensor to a .npy or .csv file, or a record of columns to a .csv file (or .gz of these)"},
    {0},
};
