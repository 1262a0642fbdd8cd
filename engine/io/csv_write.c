/* csv_write.c — tensors to csv: numbers with the fewest digits that read back, texts quoted where they must
 * be. */
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/text.h"
#include "engine/io/format.h"

enum { FLUSH = 1 << 16 };

static status not_csv(context *c, const char *path, const char *why, const char *hint) {
    fail(&c->err, STATUS_IO, 624, "`%s`: %s", path, why);
    return fail_hint(&c->err, "%s", hint);
}

status csv_check(context *c, const io_value *v, const char *path) {
    if (v->tensor && v->tensor->meta.shape.rank > 2) {
        char m[64];
        meta_text(NULL, &v->tensor->meta, m, sizeof m);
        fail(&c->err, STATUS_IO, 624, "`%s`: a csv has rows and columns, and this is %s", path, m);
        return fail_hint(&c->err, "reshape it to rank 2, or save it as .npy");
    }
    if (v->tensor) return STATUS_OK;
    if (v->column_count == 0)
        return not_csv(c, path, "a csv needs a column", "save a tensor, or a record of columns");
    for (int64_t i = 0; i < v->column_count; i++) {
        const io_column *column = &v->columns[i];
        int64_t rows = column->numbers ? tensor_count(column->numbers) : (int64_t)column->texts.count;
        bool flat = !column->numbers || column->numbers->meta.shape.rank == 1;
        if (flat && rows == v->rows) continue;
        fail(&c->err, STATUS_IO, 624, "`%s`: column `%s` is not a vector of %lld values like the first one",
             path, column->name, (long long)v->rows);
        return fail_hint(&c->err, "the columns of a csv are vectors or tuples of strings of one length");
    }
    return STATUS_OK;
}

/* Element `index` of a contiguous tensor. */
static void add_number(text *out, const tensor *t, int64_t index) {
    static const number_format formats[DT_COUNT] = {
        [DT_F16] = NUMBER_F16, [DT_BF16] = NUMBER_BF16, [DT_F32] = NUMBER_F32, [DT_F64] = NUMBER_F64};
    char s[NUMBER_MAX];
    dtype d = t->meta.dtype;
    size_t length = dtype_is_float(d) ? number_print(s, tensor_get_real(t, index), formats[d])
                                      : number_print_int(s, tensor_get_int(t, index));
    text_add_bytes(out, s, length);
}

static void add_text(text *out, const char *s, size_t length) {
    bool quote = length == 0 || s[0] == ' ' || s[length - 1] == ' ';
    for (size_t i = 0; i < length && !quote; i++) quote = strchr(",;\t\"\r\n", s[i]) != NULL;
    if (!quote) {
        text_add_bytes(out, s, length);
        return;
    }
    text_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (s[i] == '"') text_char(out, '"');
        text_char(out, s[i]);
    }
    text_char(out, '"');
}

static status flush(context *c, text *line, io_writer *w, size_t above) {
    if (line->failed) return fail_memory(&c->err, line->length + FLUSH);
    if (line->length <= above) return STATUS_OK;
    status code = io_writer_write(w, line->data, line->length);
    text_clear(line);
    return code;
}

static status write_matrix(context *c, tensor *given, text *line, io_writer *w) {
    tensor *t = tensor_to_contiguous(given);
    if (!t) return c->err.code;
    int rank = t->meta.shape.rank;
    int64_t rows = rank > 0 ? t->meta.shape.size[0] : 1, columns = rank > 1 ? t->meta.shape.size[1] : 1;
    status code = STATUS_OK;
    for (int64_t i = 0; i < rows && code == STATUS_OK; i++) {
        for (int64_t j = 0; j < columns && code == STATUS_OK; j++) {
            if (j > 0) text_char(line, ',');
            add_number(line, t, i * columns + j);
            code = flush(c, line, w, FLUSH);
        }
        text_char(line, '\n');
        if (code == STATUS_OK && context_interrupted(c)) code = c->err.code;
    }
    tensor_release(t);
    return code;
}

static status write_columns(context *c, const io_value *v, text *line, io_writer *w) {
    for (int64_t j = 0; j < v->column_count; j++) {
        if (j > 0) text_char(line, ',');
        add_text(line, v->columns[j].name, strlen(v->columns[j].name));
    }
    text_char(line, '\n');
    for (int64_t i = 0; i < v->rows; i++) {
        for (int64_t j = 0; j < v->column_count; j++) {
            const io_column *column = &v->columns[j];
            const char *s;
            size_t length;
            if (j > 0) text_char(line, ',');
            if (column->numbers) {
                add_number(line, column->numbers, i);
            } else {
                io_texts_get(&column->texts, (size_t)i, &s, &length);
                add_text(line, s, length);
            }
        }
        text_char(line, '\n');
        if (flush(c, line, w, FLUSH) || context_interrupted(c)) return c->err.code;
    }
    return STATUS_OK;
}

status csv_write(context *c, const io_value *v, io_writer *w) {
    text line = {0};
    status code = v->tensor ? write_matrix(c, v->tensor, &line, w) : write_columns(c, v, &line, w);
    if (code == STATUS_OK) code = flush(c, &line, w, 0);
    text_free(&line);
    return code;
}
