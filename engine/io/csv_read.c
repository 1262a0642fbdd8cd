/* csv_read.c — a csv file to tensors.
 *
 * The first rows tell which line is the header and which columns are text; then every row is read once, in
 * blocks. Numbers of all numeric columns go row by row into a list of fixed blocks (no copying while they
 * grow) and are laid out at the end: one tensor when every column is numeric, else a column each. An empty
 * field of a numeric column is NaN, or an error where the dtype has none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/io/csv_rows.h"
#include "engine/io/format.h"
#include "engine/ops/apply.h"

enum { SNIFF_ROWS = 1000, SNIFF_BYTES = 1 << 17, CHUNK_BYTES = 1 << 20 };

typedef enum field_kind { FIELD_EMPTY, FIELD_NUMBER, FIELD_TEXT } field_kind;

typedef struct csv_load {
    csv_rows rows;
    context *c;
    const char *path;
    io_value *out; /* columns with names and texts; `numbers` at the end */
    uint8_t *kind; /* per column: what the first value below the header is (field_kind) */
    size_t columns, numeric;
    dtype want, store; /* asked for, and what elements are parsed into (f64 on the way to halves) */
    char **chunks;     /* CHUNK_BYTES each */
    size_t chunk_count, chunk_capacity;
    int64_t elements; /* numbers so far */
    char *next, *chunk_end;
    size_t size; /* of an element */
} csv_load;

static field_kind kind_of(const csv_field *f) {
    double ignored;
    if (f->length == 0) return FIELD_EMPTY;
    return number_parse(f->text, f->length, &ignored) ? FIELD_NUMBER : FIELD_TEXT;
}

/* ---- the first rows ---- */

/* The first line is a header when a column has text there and a number below, or when it is all text (with
 * something below it) and nothing speaks against it. `first` are its kinds. */
static bool is_header(const csv_load *l, const uint8_t *first, size_t count, bool alone) {
    bool all_text = count > 0;
    for (size_t i = 0; i < count; i++) {
        if (first[i] == FIELD_NUMBER) all_text = false;
        if (first[i] == FIELD_TEXT && i < l->columns && l->kind[i] == FIELD_NUMBER) return true;
    }
    bool any_text = memchr(first, FIELD_TEXT, count) != NULL;
    return all_text && any_text && !alone;
}

/* Sets columns, kind and *header from the first rows, then goes back to the first. */
static status sniff(csv_load *l, io_header header, bool *has_header) {
    csv_rows *r = &l->rows;
    bool more;
    csv_rows_hold(r);
    if (csv_rows_next(r, &more)) return l->c->err.code;
    if (!more) {
        fail(&l->c->err, STATUS_IO, 603, "`%s` is empty", l->path);
        return fail_hint(&l->c->err, "a csv has one row of values a line");
    }
    l->columns = r->count;
    uint8_t *first = mem_calloc(l->columns, 1);
    l->kind = mem_calloc(l->columns, 1);
    if (!first || !l->kind) {
        mem_free(first);
        return fail_memory(&l->c->err, l->columns);
    }
    for (size_t i = 0; i < l->columns; i++) first[i] = (uint8_t)kind_of(&r->fields[i]);
    int rows = 1;
    size_t open = l->columns;
    for (; rows < SNIFF_ROWS && open > 0; rows++) {
        if (rows > 1 && csv_rows_kept(r) > SNIFF_BYTES) break;
        if (csv_rows_next(r, &more)) break;
        if (!more) break;
        for (size_t i = 0; i < l->columns && i < r->count; i++) {
            if (l->kind[i] != FIELD_EMPTY) continue;
            l->kind[i] = (uint8_t)kind_of(&r->fields[i]);
            open -= l->kind[i] != FIELD_EMPTY;
        }
    }
    if (l->c->err.code == STATUS_OK) {
        *has_header = header == IO_HEADER_YES ||
                      (header == IO_HEADER_AUTO && is_header(l, first, l->columns, rows == 1));
        for (size_t i = 0; i < l->columns && !*has_header; i++)
            if (first[i] != FIELD_EMPTY) l->kind[i] = first[i];
        csv_rows_rewind(r);
    }
    mem_free(first);
    return l->c->err.code;
}

/* ---- names ---- */

/* A copy of a field's text with doubled quotes made one. */
static size_t undouble(char *to, const csv_field *f) {
    if (!f->doubled) {
        memcpy(to, f->text, f->length);
        return f->length;
    }
    size_t used = 0;
    for (size_t i = 0; i < f->length; i++) {
        to[used++] = f->text[i];
        if (f->text[i] == '"') i++;
    }
    return used;
}

/* The names of a header, made different from each other; `c0`, `c1`, ... where there is none. */
static status name_columns(csv_load *l, const csv_field *fields) {
    map seen = {0};
    for (size_t i = 0; i < l->columns; i++) {
        size_t room = (fields ? fields[i].length : 0) + 48, length = 0;
        char *name = mem_alloc(room);
        l->out->columns[i].name = name;
        if (!name) break;
        if (fields) length = undouble(name, &fields[i]);
        if (memchr(name, '\0', length)) length = strlen(name);
        if (length == 0) length = (size_t)snprintf(name, room, "c%zu", i);
        name[length] = '\0';
        uint64_t key = hash_bytes(name, length, 1) | 1;
        for (size_t n = i + 1; map_has(&seen, key); n++) {
            snprintf(name + length, room - length, "_%zu", n);
            key = hash_bytes(name, strlen(name), 1) | 1;
        }
        if (!map_put(&seen, key, 1)) fail_memory(&l->c->err, 16);
    }
    map_free(&seen);
    for (size_t i = 0; i < l->columns; i++)
        if (!l->out->columns[i].name) return fail_memory(&l->c->err, 48);
    return l->c->err.code;
}

/* ---- values ---- */

static status bad_field(csv_load *l, size_t column, int number, const char *what) {
    const csv_field *f = &l->rows.fields[column];
    char quoted[IO_QUOTE];
    return fail(&l->c->err, STATUS_IO, number, "`%s` line %lld, column %zu: `%s` %s", l->path,
                (long long)l->rows.line, column + 1, io_quote(quoted, f->text, f->length), what);
}

static status not_a_number(csv_load *l, size_t column) {
    if (l->rows.fields[column].length == 0)
        return fail(&l->c->err, STATUS_IO, 607,
                    "`%s` line %lld, column %zu: nothing stands where dtype %s needs a number", l->path,
                    (long long)l->rows.line, column + 1, dtype_name(l->want));
    bad_field(l, column, 607, "is not a number");
    if (l->rows.line == 1) return fail_hint(&l->c->err, "if line 1 holds names: load(FILE, header=true)");
    return fail_hint(&l->c->err, "a column is text when its first value is; missing numbers are left empty "
                                 "or written nan");
}

static status add_chunk(csv_load *l) {
    if (l->chunk_count == l->chunk_capacity) {
        size_t capacity = l->chunk_capacity ? l->chunk_capacity * 2 : 16;
        char **chunks = mem_realloc(l->chunks, capacity * sizeof *chunks);
        if (!chunks) return fail_memory(&l->c->err, capacity * sizeof *chunks);
        l->chunks = chunks;
        l->chunk_capacity = capacity;
    }
    char *chunk = mem_alloc(CHUNK_BYTES);
    if (!chunk) return fail_memory(&l->c->err, CHUNK_BYTES);
    l->chunks[l->chunk_count++] = chunk;
    l->next = chunk;
    l->chunk_end = chunk + CHUNK_BYTES;
    return STATUS_OK;
}

/* `true` and `false` as 1 and 0, for dtype=bool. */
static bool parse_truth(const csv_field *f, int64_t *out) {
    static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE"};
    for (int i = 0; i < 6; i++) {
        if (strlen(words[i]) != f->length || memcmp(words[i], f->text, f->length) != 0) continue;
        *out = i % 2;
        return true;
    }
    return false;
}

static status parse_integer(csv_load *l, size_t column, void *to) {
    static const struct {
        int64_t least, most;
    } range[] = {[DT_BOOL] = {0, 1},
                 [DT_U8] = {0, UINT8_MAX},
                 [DT_I8] = {INT8_MIN, INT8_MAX},
                 [DT_I32] = {INT32_MIN, INT32_MAX},
                 [DT_I64] = {INT64_MIN, INT64_MAX}};
    const csv_field *f = &l->rows.fields[column];
    int64_t n;
    double real;
    if (!number_parse_int(f->text, f->length, &n) && !(l->store == DT_BOOL && parse_truth(f, &n))) {
        if (!number_parse(f->text, f->length, &real)) return not_a_number(l, column);
        if (real != floor(real)) { /* NaN too */
            bad_field(l, column, 609, "is not an integer");
            return fail_hint(&l->c->err, "load it as f32 and convert: load(FILE) as %s", dtype_name(l->want));
        }
        if (real < -0x1p63 || real >= 0x1p63) return bad_field(l, column, 609, "does not fit the dtype");
        n = (int64_t)real;
    }
    if (n < range[l->store].least || n > range[l->store].most) {
        char what[64];
        snprintf(what, sizeof what, "does not fit %s (%lld to %lld)", dtype_name(l->store),
                 (long long)range[l->store].least, (long long)range[l->store].most);
        return bad_field(l, column, 609, what);
    }
    if (l->size == 1) {
        uint8_t byte = (uint8_t)n;
        memcpy(to, &byte, 1);
    } else if (l->size == 4) {
        int32_t word = (int32_t)n;
        memcpy(to, &word, 4);
    } else {
        memcpy(to, &n, 8);
    }
    return STATUS_OK;
}

static status parse_number(csv_load *l, size_t column, void *to) {
    const csv_field *f = &l->rows.fields[column];
    if (l->store == DT_F32) {
        float v = NAN;
        if (f->length > 0 && !number_parse_f32(f->text, f->length, &v)) return not_a_number(l, column);
        memcpy(to, &v, sizeof v);
        return STATUS_OK;
    }
    if (l->store == DT_F64) {
        double v = NAN;
        if (f->length > 0 && !number_parse(f->text, f->length, &v)) return not_a_number(l, column);
        memcpy(to, &v, sizeof v);
        return STATUS_OK;
    }
    return parse_integer(l, column, to);
}

static status add_text(csv_load *l, size_t column) {
    const csv_field *f = &l->rows.fields[column];
    io_texts *t = &l->out->columns[column].texts;
    if (!io_texts_add(t, f->text, f->length)) return fail_memory(&l->c->err, f->length + sizeof(size_t));
    if (f->doubled) {
        size_t start = t->used - f->length;
        t->used = start + undouble(t->text + start, f);
        t->ends[t->count - 1] = t->used;
    }
    return STATUS_OK;
}

static status add_row(csv_load *l) {
    csv_rows *r = &l->rows;
    if (r->count != l->columns) {
        fail(&l->c->err, STATUS_IO, 606, "`%s` line %lld has %zu field%s where the first row has %zu",
             l->path, (long long)r->line, r->count, r->count == 1 ? "" : "s", l->columns);
        return fail_hint(&l->c->err, "every row needs the same number of fields; leave missing ones empty");
    }
    for (size_t i = 0; i < l->columns; i++) {
        if (l->kind[i] == FIELD_TEXT) {
            if (add_text(l, i)) return l->c->err.code;
            continue;
        }
        if (l->next == l->chunk_end && add_chunk(l)) return l->c->err.code;
        if (parse_number(l, i, l->next)) return l->c->err.code;
        l->next += l->size;
        l->elements++;
    }
    l->out->rows++;
    return STATUS_OK;
}

/* ---- the result ---- */

static tensor *new_tensor(csv_load *l, int rank, int64_t rows, int64_t columns) {
    shape s = {.rank = rank, .size = {rows, rank > 1 ? columns : 0}};
    return tensor_new(l->c, l->store, &s);
}

/* The parsed elements as the dtype that was asked for. Consumes t. */
static tensor *as_wanted(csv_load *l, tensor *t) {
    if (!t || l->want == l->store) return t;
    tensor *converted = op_cast(l->c, t, l->want, false);
    tensor_release(t);
    return converted;
}

static status make_matrix(csv_load *l) {
    tensor *t = new_tensor(l, 2, l->out->rows, (int64_t)l->columns);
    if (!t) return l->c->err.code;
    char *to = tensor_data(t);
    size_t left = (size_t)l->elements * l->size;
    for (size_t i = 0; i < l->chunk_count; i++) {
        size_t part = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        memcpy(to, l->chunks[i], part);
        to += part;
        left -= part;
        mem_free(l->chunks[i]);
        l->chunks[i] = NULL;
    }
    io_value_drop_columns(l->out);
    l->out->tensor = as_wanted(l, t);
    return l->out->tensor ? STATUS_OK : l->c->err.code;
}

static void spread_column(const csv_load *l, size_t nth, char *to) {
    size_t per_chunk = CHUNK_BYTES / l->size;
    for (int64_t row = 0; row < l->out->rows; row++) {
        size_t i = (size_t)row * l->numeric + nth;
        memcpy(to + (size_t)row * l->size, l->chunks[i / per_chunk] + i % per_chunk * l->size, l->size);
    }
}

static status make_columns(csv_load *l) {
    for (size_t i = 0, nth = 0; i < l->columns; i++) {
        if (l->kind[i] == FIELD_TEXT) continue;
        tensor *t = new_tensor(l, 1, l->out->rows, 0);
        if (!t) return l->c->err.code;
        spread_column(l, nth++, tensor_data(t));
        l->out->columns[i].numbers = as_wanted(l, t);
        if (!l->out->columns[i].numbers || context_interrupted(l->c)) return l->c->err.code;
    }
    return STATUS_OK;
}

static status load_rows(csv_load *l, const io_options *options) {
    bool header = false, more = true;
    if (csv_rows_open(&l->rows, l->rows.reader)) return l->c->err.code;
    if (sniff(l, options->header, &header)) return l->c->err.code;
    for (size_t i = 0; i < l->columns; i++) l->numeric += l->kind[i] != FIELD_TEXT;
    if (io_value_add_columns(l->c, l->out, (int64_t)l->columns)) return l->c->err.code;
    if (header && csv_rows_next(&l->rows, &more)) return l->c->err.code;
    if (name_columns(l, header ? l->rows.fields : NULL)) return l->c->err.code;
    for (;;) {
        if (csv_rows_next(&l->rows, &more)) return l->c->err.code;
        if (!more) break;
        if (add_row(l)) return l->c->err.code;
    }
    if (l->out->rows == 0)
        return fail(&l->c->err, STATUS_IO, 603, "`%s` has a header and no rows below it", l->path);
    if (l->numeric < l->columns) return make_columns(l);
    return make_matrix(l);
}

status csv_read(io_reader *r, const io_options *options, io_value *out) {
    context *c = io_reader_context(r);
    csv_load l = {.c = c, .path = io_reader_path(r), .out = out, .rows.reader = r};
    l.want = options->has_dtype ? options->dtype : DT_F32;
    l.store = dtype_is_half(l.want) ? DT_F64 : l.want;
    l.size = dtype_size(l.store);
    status code = load_rows(&l, options);
    csv_rows_close(&l.rows);
    for (size_t i = 0; i < l.chunk_count; i++) mem_free(l.chunks[i]);
    mem_free(l.chunks);
    mem_free(l.kind);
    return code;
}
