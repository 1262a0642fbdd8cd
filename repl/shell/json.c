/* json.c — see json.h. */
#include "repl/shell/json.h"

#include <math.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/unicode.h"
#include "repl/shell/print.h"

enum { FLUSH = 1 << 16, POLL = 1 << 12 };

typedef struct writer {
    session *s;
    context *c;
    const json_sink *sink;
    text *out;
} writer;

static status flush(const writer *w, size_t above) {
    if (w->out->failed) return fail_memory(&w->c->err, w->out->length);
    if (!w->sink || w->out->length <= above) return STATUS_OK;
    return w->sink->flush(w->sink->user, w->out);
}

void json_string(const char *s, size_t length, text *out) {
    text_char(out, '"');
    for (size_t i = 0, bytes; i<length; i += bytes> 0 ? bytes : 1) {
        uint32_t code;
        bytes = utf8_decode(s + i, length - i, &code);
        if (bytes == 0)
            text_add(out, "\xef\xbf\xbd");
        else if (code == '"' || code == '\\')
            text_printf(out, "\\%c", (int)code);
        else if (code == '\n')
            text_add(out, "\\n");
        else if (code == '\t')
            text_add(out, "\\t");
        else if (code < 0x20 || code == 0x7f)
            text_printf(out, "\\u%04x", (unsigned)code);
        else
            text_add_bytes(out, s + i, bytes);
    }
    text_char(out, '"');
}

static void add_real(text *out, double v, number_format f) {
    char s[NUMBER_MAX];
    if (isnan(v))
        text_add(out, "\"NaN\"");
    else if (isinf(v))
        text_add(out, v > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else
        text_add_bytes(out, s, number_print(s, v, f));
}

static void add_element(text *out, const tensor *t, dtype d, int64_t i) {
    static const number_format formats[DT_COUNT] = {
        [DT_F16] = NUMBER_F16, [DT_BF16] = NUMBER_BF16, [DT_F32] = NUMBER_F32, [DT_F64] = NUMBER_F64};
    char s[NUMBER_MAX];
    if (d == DT_BOOL)
        text_add(out, tensor_get_int(t, i) ? "true" : "false");
    else if (d == DT_F32)
        add_real(out, (double)(float)tensor_get_real(t, i), NUMBER_F32); /* a weak real rounds here */
    else if (dtype_is_float(d))
        add_real(out, tensor_get_real(t, i), formats[d]);
    else
        text_add_bytes(out, s, number_print_int(s, tensor_get_int(t, i)));
}

static status add_tensor(writer *w, tensor *given) {
    if (!tensor_concrete(given))
        return fail(&w->c->err, STATUS_VALUE, 801, "a traced tensor has no elements to print");
    tensor *t = tensor_to_contiguous(given);
    if (!t) return w->c->err.code;
    dtype d = t->meta.weak && t->meta.dtype == DT_F64 ? DT_F32 : t->meta.dtype;
    text_printf(w->out, "{\"dtype\":\"%s\",\"shape\":[", dtype_name(d));
    for (int a = 0; a < t->meta.shape.rank; a++)
        text_printf(w->out, a > 0 ? ",%lld" : "%lld", (long long)t->meta.shape.size[a]);
    text_add(w->out, "],\"data\":[");
    int64_t count = tensor_count(t);
    status code = STATUS_OK;
    for (int64_t i = 0; i < count && code == STATUS_OK; i++) {
        if (i > 0) text_char(w->out, ',');
        add_element(w->out, t, d, i);
        if (i % POLL != 0) continue;
        code = flush(w, FLUSH);
        if (code == STATUS_OK && context_interrupted(w->c)) code = w->c->err.code;
    }
    text_add(w->out, "]}");
    tensor_release(t);
    return code;
}

/* {"kind":"what the prompt shows of it"} */
static status add_described(writer *w, value v, const char *kind) {
    static const print_options plain = {.width = 80, .height = 24, .dim = "", .plain = ""};
    text shown = {0};
    status code = print_headline(w->s, v, &plain, &shown);
    const char *s = text_str(&shown);
    if (strcmp(kind, "function") == 0 && strncmp(s, "function ", 9) == 0) s += 9;
    text_printf(w->out, "{\"%s\":", kind);
    json_string(s, strlen(s), w->out);
    text_char(w->out, '}');
    text_free(&shown);
    return code;
}

/* Values nest at most VALUE_MAX_DEPTH deep. */
static status add_value(writer *w, value v) {
    status code = STATUS_OK;
    switch (v.kind) {
    case VALUE_ABSENT:
    case VALUE_NONE:
        text_add(w->out, "null");
        break;
    case VALUE_TENSOR:
        code = add_tensor(w, v.tensor);
        break;
    case VALUE_STRING:
        text_add(w->out, "{\"string\":");
        json_string(v.string->text, v.string->length, w->out);
        text_char(w->out, '}');
        break;
    case VALUE_TUPLE:
        text_add(w->out, "{\"tuple\":[");
        for (size_t i = 0; i < v.tuple->count && code == STATUS_OK; i++) {
            if (i > 0) text_char(w->out, ',');
            code = add_value(w, v.tuple->item[i]);
        }
        text_add(w->out, "]}");
        break;
    case VALUE_RECORD:
        text_add(w->out, "{\"record\":{");
        for (size_t i = 0; i < v.record->count && code == STATUS_OK; i++) {
            if (i > 0) text_char(w->out, ',');
            json_string(v.record->entry[i].key->text, v.record->entry[i].key->length, w->out);
            text_char(w->out, ':');
            code = add_value(w, v.record->entry[i].value);
        }
        text_add(w->out, "}}");
        break;
    case VALUE_RANGE:
        text_printf(w->out, "{\"range\":[%lld,%lld]}", (long long)v.range->begin, (long long)v.range->end);
        break;
    case VALUE_TYPE:
        code = add_described(w, v, "type");
        break;
    case VALUE_GRAPH:
        code = add_described(w, v, "graph");
        break;
    case VALUE_TAPE:
        code = add_described(w, v, "tape");
        break;
    default:
        code = add_described(w, v, "function");
        break;
    }
    return code == STATUS_OK ? flush(w, FLUSH) : code;
}

status json_value(session *s, value v, const json_sink *sink, text *out) {
    writer w = {s, session_context(s), sink, out};
    status code = add_value(&w, v);
    return code == STATUS_OK && out->failed ? fail_memory(&w.c->err, out->length) : code;
}
