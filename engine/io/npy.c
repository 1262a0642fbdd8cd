/* npy.c — NumPy's file of one array (numpy.lib.format, versions 1.0 to 3.0): a magic word, the length of a
 * header, the header as a Python dictionary, the elements. The header is taken at its word only where the
 * file's size or content confirms it. */
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/number.h"
#include "engine/base/text.h"
#include "engine/io/format.h"

enum { HEADER_LIMIT = 1 << 16, BLOCK = 1 << 20 };

/* How dtypes are called in a header, without the byte order. bf16 has no name there. */
static const char *const names[DT_COUNT] = {
    [DT_BOOL] = "b1", [DT_U8] = "u1",  [DT_I8] = "i1",  [DT_I32] = "i4",
    [DT_I64] = "i8",  [DT_F16] = "f2", [DT_F32] = "f4", [DT_F64] = "f8",
};

typedef struct npy_header {
    dtype dtype;
    bool swapped, fortran; /* big-endian elements; first axis fastest */
    shape shape;
} npy_header;

/* ---- the header ---- */

/* Reads the dictionary from s, which ends at `end`. */
typedef struct cursor {
    const char *s, *end;
    context *c;
    const char *path;
} cursor;

static status malformed(const cursor *k, const char *what) {
    fail(&k->c->err, STATUS_IO, 610, "`%s`: the header of the npy file is malformed: %s", k->path, what);
    return fail_hint(&k->c->err, "numpy.save writes files that load reads");
}

static void skip_blanks(cursor *k) {
    while (k->s < k->end && (*k->s == ' ' || *k->s == '\n' || *k->s == '\t' || *k->s == '\r')) k->s++;
}

static bool take(cursor *k, char c) {
    skip_blanks(k);
    if (k->s == k->end || *k->s != c) return false;
    k->s++;
    return true;
}

static bool take_word(cursor *k, const char *word) {
    skip_blanks(k);
    size_t length = strlen(word);
    if ((size_t)(k->end - k->s) < length || memcmp(k->s, word, length) != 0) return false;
    k->s += length;
    return true;
}

/* A string in either kind of quotes; escapes do not occur in what we accept. */
static bool take_string(cursor *k, const char **string, size_t *length) {
    skip_blanks(k);
    if (k->s == k->end || (*k->s != '\'' && *k->s != '"')) return false;
    const char *start = k->s + 1, *stop = memchr(start, *k->s, (size_t)(k->end - start));
    if (!stop) return false;
    *string = start;
    *length = (size_t)(stop - start);
    k->s = stop + 1;
    return true;
}

static status take_descr(cursor *k, npy_header *h) {
    const char *s;
    size_t length;
    if (!take_string(k, &s, &length)) {
        if (!take(k, '[')) return malformed(k, "'descr' is not a string");
        fail(&k->c->err, STATUS_IO, 611, "`%s` holds records of named fields", k->path);
        return fail_hint(&k->c->err, "save each field as an array of its own: numpy.save(FILE, a['field'])");
    }
    if (length == 3 && strchr("<>|=", s[0]) && s[0] != '\0') {
        for (int t = 0; t < DT_COUNT; t++) {
            if (!names[t] || memcmp(names[t], s + 1, 2) != 0) continue;
            h->dtype = (dtype)t;
            h->swapped = s[0] == '>';
            return STATUS_OK;
        }
    }
    char quoted[IO_QUOTE];
    fail(&k->c->err, STATUS_IO, 611, "`%s` has dtype '%s', which is none of f64 f32 f16 i64 i32 i8 u8 bool",
         k->path, io_quote(quoted, s, length));
    return fail_hint(&k->c->err, "convert it in NumPy: numpy.save(FILE, a.astype('float32'))");
}

static status take_order(cursor *k, npy_header *h) {
    h->fortran = take_word(k, "True");
    return h->fortran || take_word(k, "False") ? STATUS_OK
                                               : malformed(k, "'fortran_order' is not True or False");
}

static status take_shape(cursor *k, npy_header *h) {
    if (!take(k, '(')) return malformed(k, "'shape' is not a tuple");
    while (!take(k, ')')) {
        const char *start = k->s;
        while (k->s < k->end && *k->s >= '0' && *k->s <= '9') k->s++;
        int64_t size;
        if (!number_parse_int(start, (size_t)(k->s - start), &size))
            return malformed(k, "a size is not an integer");
        if (h->shape.rank == MAX_RANK)
            return fail(&k->c->err, STATUS_IO, 613, "`%s` has more than %d axes", k->path, MAX_RANK);
        h->shape.size[h->shape.rank++] = size;
        if (take(k, ',')) continue;
        if (!take(k, ')') || h->shape.rank == 1) return malformed(k, "'shape' is not a tuple of integers");
        break;
    }
    return STATUS_OK;
}

static status parse_header(cursor *k, npy_header *h) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned seen = 0;
    if (!take(k, '{')) return malformed(k, "it is not a dictionary");
    while (!take(k, '}')) {
        const char *s;
        size_t length;
        if (!take_string(k, &s, &length) || !take(k, ':')) return malformed(k, "a key is not a string");
        int key = 0;
        while (key < 3 && !(strlen(keys[key]) == length && memcmp(keys[key], s, length) == 0)) key++;
        if (key == 3 || (seen & 1u << key)) return malformed(k, "a key is unknown or there twice");
        seen |= 1u << key;
        if (key == 0 ? take_descr(k, h) : key == 1 ? take_order(k, h) : take_shape(k, h))
            return k->c->err.code;
        if (take(k, ',')) continue;
        if (!take(k, '}')) return malformed(k, "something else than a comma follows a value");
        break;
    }
    skip_blanks(k);
    if (k->s != k->end) return malformed(k, "something follows the dictionary");
    return seen == 7 ? STATUS_OK : malformed(k, "'descr', 'fortran_order' or 'shape' is missing");
}

static status truncated(io_reader *r) {
    context *c = io_reader_context(r);
    fail(&c->err, STATUS_IO, 612, "`%s` ends before its array does", io_reader_path(r));
    return fail_hint(&c->err, "the file is not whole: get it or write it again");
}

static status read_exactly(io_reader *r, void *to, size_t bytes) {
    size_t got;
    if (io_reader_read(r, to, bytes, &got)) return io_reader_context(r)->err.code;
    return got == bytes ? STATUS_OK : truncated(r);
}

static status read_header(io_reader *r, npy_header *h) {
    context *c = io_reader_context(r);
    unsigned char fixed[12];
    if (read_exactly(r, fixed, 8)) return c->err.code;
    if (fixed[6] < 1 || fixed[6] > 3)
        return fail(&c->err, STATUS_IO, 610, "`%s` is a npy file of version %d.%d; 1 to 3 are known",
                    io_reader_path(r), fixed[6], fixed[7]);
    size_t width = fixed[6] == 1 ? 2 : 4, length = 0;
    if (read_exactly(r, fixed + 8, width)) return c->err.code;
    for (size_t i = 0; i < width; i++) length |= (size_t)fixed[8 + i] << 8 * i;
    if (length > HEADER_LIMIT)
        return fail(&c->err, STATUS_IO, 610, "`%s`: the header of the npy file claims %zu bytes",
                    io_reader_path(r), length);
    char *header = mem_alloc(length);
    if (!header) return fail_memory(&c->err, length);
    cursor k = {header, header + length, c, io_reader_path(r)};
    status code = read_exactly(r, header, length);
    if (code == STATUS_OK) code = parse_header(&k, h);
    mem_free(header);
    return code;
}

/* ---- reading the elements ---- */

static void swap_bytes(unsigned char *data, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++, data += size)
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            unsigned char t = data[a];
            data[a] = data[b];
            data[b] = t;
        }
}

/* Bytes into the tensor, block by block; a bool is 0 or 1 whatever the file says. */
static status read_elements(io_reader *r, const npy_header *h, tensor *t) {
    unsigned char *to = tensor_data(t);
    size_t size = dtype_size(h->dtype), left = (size_t)tensor_count(t) * size;
    while (left > 0) {
        size_t part = left < BLOCK ? left : BLOCK;
        if (read_exactly(r, to, part)) return t->c->err.code;
        if (h->swapped && size > 1) swap_bytes(to, part / size, size);
        for (size_t i = 0; h->dtype == DT_BOOL && i < part; i++) to[i] = to[i] != 0;
        to += part;
        left -= part;
    }
    return STATUS_OK;
}

/* t holds the elements with the first axis fastest, under the reversed shape: the view with the axes turned
 * round, made row-major. Consumes t. */
static tensor *from_fortran(tensor *t, const shape *s) {
    int64_t stride[MAX_RANK] = {0}, step = 1;
    for (int i = 0; i < s->rank; i++) {
        stride[i] = step;
        step *= s->size[i];
    }
    tensor *view = tensor_view(t, s, stride, t->offset);
    tensor_release(t);
    tensor *rows = view ? tensor_to_contiguous(view) : NULL;
    tensor_release(view);
    return rows;
}

/* Is there as much as the header says? Only a stream of unknown length leaves that open. */
static status check_size(io_reader *r, const npy_header *h) {
    context *c = io_reader_context(r);
    int64_t count = shape_count(NULL, &h->shape), left = io_reader_left(r);
    size_t bytes;
    if (count < 0 || !mem_mul((size_t)count, dtype_size(h->dtype), &bytes) || bytes > INT64_MAX / 2)
        return fail(&c->err, STATUS_IO, 613, "`%s` claims a shape that is too large", io_reader_path(r));
    return left >= 0 && (size_t)left < bytes ? truncated(r) : STATUS_OK;
}

status npy_read(io_reader *r, io_value *out) {
    context *c = io_reader_context(r);
    npy_header h = {0};
    if (read_header(r, &h) || check_size(r, &h)) return c->err.code;
    shape stored = h.shape;
    bool turn = h.fortran && h.shape.rank > 1;
    for (int i = 0; turn && i < stored.rank; i++) stored.size[i] = h.shape.size[stored.rank - 1 - i];
    tensor *t = tensor_new(c, h.dtype, &stored);
    if (!t) return c->err.code;
    if (read_elements(r, &h, t)) {
        tensor_release(t);
        return c->err.code;
    }
    out->tensor = turn ? from_fortran(t, &h.shape) : t;
    return out->tensor ? STATUS_OK : c->err.code;
}

/* ---- writing ---- */

status npy_check(context *c, const io_value *v, const char *path) {
    if (!v->tensor) {
        fail(&c->err, STATUS_IO, 624, "`%s`: a npy file holds one tensor", path);
        return fail_hint(&c->err, "save the fields one by one, or a record of columns as .csv");
    }
    if (v->tensor->meta.dtype != DT_BF16) return STATUS_OK;
    fail(&c->err, STATUS_IO, 624, "`%s`: the npy format has no bf16", path);
    return fail_hint(&c->err, "save it as f32, which holds every bf16 value: save(x as f32, FILE)");
}

/* The array starts at a multiple of 64 bytes. */
static void add_header(text *out, const meta *m) {
    const shape *s = &m->shape;
    text_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                dtype_size(m->dtype) > 1 ? '<' : '|', names[m->dtype]);
    for (int i = 0; i < s->rank; i++)
        text_printf(out, "%s%lld%s", i > 0 ? ", " : "", (long long)s->size[i], s->rank == 1 ? "," : "");
    text_add(out, "), }");
    while (!out->failed && (10 + out->length + 1) % 64 != 0) text_char(out, ' ');
    text_char(out, '\n');
}

status npy_write(context *c, const io_value *v, io_writer *w) {
    tensor *t = tensor_to_contiguous(v->tensor);
    if (!t) return c->err.code;
    text header = {0};
    add_header(&header, &t->meta);
    status code = header.failed ? fail_memory(&c->err, 128) : STATUS_OK;
    if (code == STATUS_OK) {
        unsigned char fixed[10] = "\x93NUMPY\1\0";
        fixed[8] = (unsigned char)(header.length & 0xff);
        fixed[9] = (unsigned char)(header.length >> 8);
        code = io_writer_write(w, fixed, sizeof fixed);
    }
    if (code == STATUS_OK) code = io_writer_write(w, header.data, header.length);
    if (code == STATUS_OK)
        code = io_writer_write(w, tensor_data(t), (size_t)tensor_count(t) * dtype_size(t->meta.dtype));
    text_free(&header);
    tensor_release(t);
    return code;
}
