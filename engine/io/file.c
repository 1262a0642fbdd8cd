/* file.c — choosing a format: by content when loading, by name when saving. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/base/memory.h"
#include "engine/io/format.h"

const char *io_quote(char buffer[IO_QUOTE], const char *s, size_t length) {
    size_t used = 0;
    bool cut = length > 40;
    if (cut) length = 40;
    for (size_t i = 0; i < length; i++) {
        unsigned char b = (unsigned char)s[i];
        bool plain = b >= 0x20 && b != 0x7f;
        used += (size_t)snprintf(buffer + used, IO_QUOTE - used, plain ? "%c" : "\\x%02x", b);
    }
    if (cut) snprintf(buffer + used, IO_QUOTE - used, "...");
    if (used == 0) buffer[0] = '\0';
    return buffer;
}

/* ---- values ---- */

status io_value_add_columns(context *c, io_value *v, int64_t count) {
    v->columns = mem_calloc((size_t)count, sizeof *v->columns);
    if (!v->columns) return fail_memory(&c->err, (uint64_t)count * sizeof *v->columns);
    v->column_count = count;
    return STATUS_OK;
}

void io_value_drop_columns(io_value *v) {
    for (int64_t i = 0; i < v->column_count; i++) {
        mem_free(v->columns[i].name);
        mem_free(v->columns[i].texts.text);
        mem_free(v->columns[i].texts.ends);
        tensor_release(v->columns[i].numbers);
    }
    mem_free(v->columns);
    v->columns = NULL;
    v->column_count = 0;
}

void io_value_free(io_value *v) {
    io_value_drop_columns(v);
    tensor_release(v->tensor);
    *v = (io_value){0};
}

bool io_texts_add(io_texts *t, const char *s, size_t length) {
    size_t need, bytes;
    if (!mem_add(t->used, length, &need)) return false;
    if (need > t->text_capacity || !t->text) {
        size_t capacity = t->text_capacity ? t->text_capacity * 2 : 256;
        if (capacity < need) capacity = need;
        char *grown = mem_realloc(t->text, capacity);
        if (!grown) return false;
        t->text = grown;
        t->text_capacity = capacity;
    }
    if (t->count == t->ends_capacity) {
        size_t capacity = t->ends_capacity ? t->ends_capacity * 2 : 64;
        size_t *grown = mem_mul(capacity, sizeof *grown, &bytes) ? mem_realloc(t->ends, bytes) : NULL;
        if (!grown) return false;
        t->ends = grown;
        t->ends_capacity = capacity;
    }
    if (length > 0) memcpy(t->text + t->used, s, length);
    t->used = need;
    t->ends[t->count++] = need;
    return true;
}

void io_texts_get(const io_texts *t, size_t row, const char **s, size_t *length) {
    size_t start = row > 0 ? t->ends[row - 1] : 0;
    *s = t->text + start;
    *length = t->ends[row] - start;
}

/* ---- loading ---- */

static bool starts_with(const unsigned char *bytes, size_t count, const char *magic, size_t length) {
    return count >= length && memcmp(bytes, magic, length) == 0;
}

static bool ends_with(const char *s, size_t length, const char *ending) {
    size_t n = strlen(ending);
    return length >= n && strncasecmp(s + length - n, ending, n) == 0;
}

/* The length of a path without `.gz` at its end. */
static size_t inner_length(const char *path, bool *gzip) {
    size_t length = strlen(path);
    *gzip = ends_with(path, length, ".gz");
    return *gzip ? length - 3 : length;
}

static status unknown_content(io_reader *r, const char *why) {
    context *c = io_reader_context(r);
    fail(&c->err, STATUS_IO, 604, "`%s` %s", io_reader_path(r), why);
    return fail_hint(&c->err, "load reads csv (text) and npy, either compressed with gzip");
}

static status load_from(io_reader *r, const io_options *options, io_value *out) {
    const unsigned char *bytes;
    size_t count;
    bool gzip;
    io_reader_peek(r, &bytes, &count);
    if (count == 0) {
        context *c = io_reader_context(r);
        return fail(&c->err, STATUS_IO, 603, "`%s` is empty", io_reader_path(r));
    }
    if (starts_with(bytes, count, "\x93NUMPY", 6)) return npy_read(r, out);
    if (starts_with(bytes, count, "PK\3\4", 4)) return unknown_content(r, "is a zip archive");
    const char *path = io_reader_path(r);
    size_t length = inner_length(path, &gzip);
    if (ends_with(path, length, ".npy"))
        return unknown_content(r, "has the name of a npy file, but not its content");
    if (memchr(bytes, 0, count)) return unknown_content(r, "is neither text nor a known kind of file");
    return csv_read(r, options, out);
}

status io_load(context *c, const char *path, const io_options *options, io_value *out) {
    static const io_options none = {0};
    *out = (io_value){0};
    io_reader *r = io_reader_open(c, path);
    if (!r) return c->err.code;
    status code = load_from(r, options ? options : &none, out);
    io_reader_close(r);
    if (code) io_value_free(out);
    return code;
}

/* ---- saving ---- */

static status save_as(context *c, const io_value *v, const char *path, bool npy, bool gzip) {
    if (npy ? npy_check(c, v, path) : csv_check(c, v, path)) return c->err.code;
    io_writer *w = io_writer_open(c, path, gzip);
    if (!w) return c->err.code;
    if (npy ? npy_write(c, v, w) : csv_write(c, v, w)) {
        io_writer_abandon(w);
        return c->err.code;
    }
    return io_writer_finish(w);
}

status io_save(context *c, const io_value *v, const char *path) {
    bool gzip;
    size_t length = inner_length(path, &gzip);
    bool npy = ends_with(path, length, ".npy");
    if (!npy && !ends_with(path, length, ".csv")) {
        fail(&c->err, STATUS_IO, 623, "the ending of `%s` names no format that can be saved", path);
        return fail_hint(&c->err, "save to a name that ends in .npy, .csv, .npy.gz or .csv.gz");
    }
    if (!v->tensor || !v->tensor->meta.weak || v->tensor->meta.dtype != DT_F64)
        return save_as(c, v, path, npy, gzip);
    /* A weak real is saved as what it becomes alone: f32. */
    float alone = (float)tensor_get_real(v->tensor, 0);
    io_value f32 = {.tensor = tensor_from(c, DT_F32, &v->tensor->meta.shape, &alone)};
    if (!f32.tensor) return c->err.code;
    status code = save_as(c, &f32, path, npy, gzip);
    tensor_release(f32.tensor);
    return code;
}
