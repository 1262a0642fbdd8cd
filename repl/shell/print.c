/* print.c — see print.h. */
#include "repl/shell/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/unicode.h"
#include "engine/device/device.h"
#include "repl/lang/freeze.h"
#include "repl/lang/function.h"
#include "repl/lang/gradient.h"
#include "repl/shell/stats.h"

/* Lines that a window of `height` lines leaves for elements, and lines for a tensor inside something. */
enum { HEIGHT_LEFT = 4, LEAST_LINES = 6, MOST_LINES = 60, INNER_LINES = 6, INNER_FLAT = 8 };

/* ---- numbers ---- */

static bool all_digits(const char *s) {
    return s[strspn(s, "-0123456789")] == '\0';
}

void print_scalar(const tensor *t, text *out) {
    static const number_format formats[DT_COUNT] = {
        [DT_F16] = NUMBER_F16, [DT_BF16] = NUMBER_BF16, [DT_F32] = NUMBER_F32, [DT_F64] = NUMBER_F64};
    char s[NUMBER_MAX + 2];
    dtype d = t->meta.dtype;
    if (d == DT_BOOL) {
        text_add(out, tensor_get_int(t, 0) ? "true" : "false");
        return;
    }
    if (!dtype_is_float(d)) {
        number_print_int(s, tensor_get_int(t, 0));
        text_add(out, s);
        return;
    }
    /* A weak real is an f32 unless that can't hold it. */
    double v = tensor_get_real(t, 0), f32 = (double)(float)v;
    if (t->meta.weak && (isinf(v) || (isfinite(f32) && (f32 != 0 || v == 0))))
        number_print(s, f32, NUMBER_F32);
    else
        number_print(s, v, formats[d]);
    text_add(out, s);
    if (all_digits(s)) text_add(out, ".0");
}

/* Three digits, for statistics. */
static void add_short(text *out, double v) {
    char s[40];
    double size = fabs(v);
    if (size >= 1000 && size < 1e6)
        snprintf(s, sizeof s, "%.0f", v);
    else
        snprintf(s, sizeof s, "%.3g", v);
    char *e = strchr(s, 'e');
    if (e) {
        char *to = e + 1, *from = e + 2;
        if (e[1] == '-') to++;
        while (*from == '0') from++;
        memmove(to, from, strlen(from) + 1);
    }
    text_add(out, strcmp(s, "-0") == 0 ? "0" : s);
}

/* ---- text ---- */

static void add_escape(text *out, uint32_t code, bool is_utf8) {
    switch (code) {
    case '\0':
        text_add(out, "\\0");
        break;
    case '\n':
        text_add(out, "\\n");
        break;
    case '\t':
        text_add(out, "\\t");
        break;
    case '\r':
        text_add(out, "\\r");
        break;
    default:
        text_printf(out, is_utf8 ? "\\u{%x}" : "\\x%02x", (unsigned)code);
    }
}

void print_quoted(const char *s, size_t length, text *out) {
    text_char(out, '"');
    for (size_t i = 0, bytes; i<length; i += bytes> 0 ? bytes : 1) {
        uint32_t code;
        bytes = utf8_decode(s + i, length - i, &code);
        bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (bytes == 0 || control) {
            add_escape(out, code & (bytes == 0 ? 0xff : 0xffffffff), bytes > 0);
            continue;
        }
        if (code == '"' || code == '\\') text_char(out, '\\');
        text_add_bytes(out, s + i, bytes);
    }
    text_char(out, '"');
}

/* ---- headers ---- */

static status add_statistics(context *c, const tensor *t, text *out) {
    tensor_stats st;
    if (tensor_stats_of(c, t, &st)) return c->err.code;
    if (t->meta.dtype == DT_BOOL) {
        if (st.count > 0)
            text_printf(out, "  true %.0f of %lld", round(st.mean * (double)st.count), (long long)st.count);
        return STATUS_OK;
    }
    if (st.finite > 0) {
        if (dtype_is_integer(t->meta.dtype)) {
            text_printf(out, "  min %lld  max %lld", (long long)st.least, (long long)st.most);
        } else {
            text_add(out, "  min ");
            add_short(out, st.min);
            text_add(out, "  max ");
            add_short(out, st.max);
        }
        text_add(out, "  mean ");
        add_short(out, st.mean);
        text_add(out, "  std ");
        add_short(out, st.std);
    }
    if (st.nans > 0) text_printf(out, "  nan %lld", (long long)st.nans);
    if (st.infinities > 0) text_printf(out, "  inf %lld", (long long)st.infinities);
    return STATUS_OK;
}

static status add_tensor_header(session *s, const tensor *t, const print_options *o, text *out) {
    context *c = session_context(s);
    text_add(out, o->dim);
    meta_print(c->dims, &t->meta, out);
    status code = STATUS_OK;
    if (tensor_concrete(t)) {
        text_printf(out, "  %s", c->device->name);
        code = add_statistics(c, t, out);
    }
    text_add(out, o->plain);
    return code;
}

/* The text of a lambda, when it is short. */
static bool add_lambda(session *s, const prototype *p, text *out) {
    size_t length;
    const char *source = source_text(session_sources(s), p->node->where.source, &length);
    span w = p->node->where;
    if (p->name || !source || w.end > length || w.end - w.begin > 60) return false;
    if (memchr(source + w.begin, '\n', w.end - w.begin)) return false;
    text_add_bytes(out, source + w.begin, w.end - w.begin);
    return true;
}

/* grad(hessian(f)): as far as a line goes. */
static void add_derived(session *s, value v, int depth, text *out);

static void add_function(session *s, value v, int depth, text *out) {
    session_function f;
    char what[160];
    const char *name = v.kind == VALUE_BUILTIN ? v.builtin->name : v.kind == VALUE_OP ? v.op->name : NULL;
    if (v.kind == VALUE_DERIVED) {
        add_derived(s, v, depth, out);
    } else if (v.kind == VALUE_FUNCTION) {
        if (depth > 0 && v.function->proto->name)
            text_add(out, v.function->proto->name->text);
        else if (!add_lambda(s, v.function->proto, out))
            prototype_signature(v.function->proto, session_sources(s), out);
    } else if (name) {
        bool found = session_find_function(s, name, &f) && f.signature;
        text_add(out, name);
        if (depth == 0)
            text_printf(out, "(%s)",
                        found                     ? f.signature
                        : v.kind == VALUE_BUILTIN ? v.builtin->signature
                                                  : "x");
    } else {
        text_add(out, value_describe(v, what, sizeof what));
    }
}

static void add_derived(session *s, value v, int depth, text *out) {
    text_printf(out, "%s(", derived_name(v.derived->derived));
    if (depth < 5)
        add_function(s, v.derived->f, depth + 1, out);
    else
        text_add(out, "...");
    text_char(out, ')');
}

/* Every kind without elements, items or fields. */
static void add_simple(session *s, value v, text *out) {
    switch (v.kind) {
    case VALUE_TENSOR:
        print_scalar(v.tensor, out);
        break;
    case VALUE_STRING:
        print_quoted(v.string->text, v.string->length, out);
        break;
    case VALUE_FUNCTION:
    case VALUE_BUILTIN:
    case VALUE_OP:
    case VALUE_DERIVED:
        text_add(out, "function ");
        add_function(s, v, 0, out);
        break;
    case VALUE_GRAPH:
        text_printf(out, "frozen graph %s, %d specialisation%s", frozen_name(v.graph), frozen_count(v.graph),
                    frozen_count(v.graph) == 1 ? "" : "s");
        break;
    case VALUE_TAPE:
        text_printf(out, "tape of %lld operation%s", (long long)tape_length(v.tape->tape),
                    tape_length(v.tape->tape) == 1 ? "" : "s");
        break;
    case VALUE_PULLBACK:
        text_add(out, "pullback");
        break;
    default:
        value_dump(v, 0, out);
        break;
    }
}

static bool is_container(value v) {
    return v.kind == VALUE_TUPLE || v.kind == VALUE_RECORD;
}

static bool is_array(value v) {
    return v.kind == VALUE_TENSOR && (v.tensor->meta.shape.rank > 0 || !tensor_concrete(v.tensor));
}

/* ---- containers ---- */

static size_t item_count(value v) {
    return v.kind == VALUE_TUPLE ? v.tuple->count : v.record->count;
}

static value item_of(value v, size_t i) {
    return v.kind == VALUE_TUPLE ? v.tuple->item[i] : v.record->entry[i].value;
}

static bool is_name(const symbol *key) {
    uint32_t code;
    for (size_t i = 0, bytes; i < key->length; i += bytes) {
        bytes = utf8_decode(key->text + i, key->length - i, &code);
        if (bytes == 0 || !(i == 0 ? unicode_starts_name(code) : unicode_continues_name(code))) return false;
    }
    return key->length > 0;
}

static void add_key(value v, size_t i, text *out) {
    if (v.kind != VALUE_RECORD) return;
    const symbol *key = v.record->entry[i].key;
    if (is_name(key))
        text_add_bytes(out, key->text, key->length);
    else
        print_quoted(key->text, key->length, out);
    text_add(out, ": ");
}

/* On one line, as long as nothing in it is an array with many elements; false when it can't be. Values nest
 * at most VALUE_MAX_DEPTH deep. */
static bool add_flat(session *s, value v, size_t room, text *out) {
    if (out->length > room || out->failed) return false;
    if (is_array(v)) {
        const tensor *t = v.tensor;
        if (!tensor_concrete(t) || t->meta.shape.rank > 1 || tensor_count(t) > INNER_FLAT) return false;
        if (print_elements(t, 10000, 1, 0, out)) return false;
        dtype d = t->meta.dtype;
        if (d != DT_F32 && d != DT_I64 && d != DT_BOOL) text_printf(out, " as %s", dtype_name(d));
        return true;
    }
    if (!is_container(v)) {
        add_simple(s, v, out);
        return true;
    }
    size_t count = item_count(v);
    text_char(out, v.kind == VALUE_TUPLE ? '(' : '{');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) text_add(out, ", ");
        add_key(v, i, out);
        if (!add_flat(s, item_of(v, i), room, out)) return false;
    }
    if (v.kind == VALUE_TUPLE && count == 1) text_char(out, ',');
    text_char(out, v.kind == VALUE_TUPLE ? ')' : '}');
    return true;
}

static void indent_to(text *out, int indent) {
    text_char(out, '\n');
    for (int i = 0; i < indent; i++) text_char(out, ' ');
}

/* Without the newline at the end; `lines`: for the elements of an array. */
static status add_full(session *s, value v, const print_options *o, int indent, int lines, text *out) {
    if (is_array(v)) {
        if (add_tensor_header(s, v.tensor, o, out)) return session_context(s)->err.code;
        if (!tensor_concrete(v.tensor)) return STATUS_OK;
        indent_to(out, indent);
        return print_elements(v.tensor, o->width, lines, indent, out);
    }
    if (!is_container(v)) {
        add_simple(s, v, out);
        return STATUS_OK;
    }
    text flat = {0};
    size_t room = o->width - indent > 20 ? (size_t)(o->width - indent) : 20;
    bool fits = add_flat(s, v, room, &flat) && flat.length <= room;
    if (fits) text_add_bytes(out, text_str(&flat), flat.length);
    out->failed |= flat.failed;
    text_free(&flat);
    if (fits) return STATUS_OK;
    text_char(out, v.kind == VALUE_TUPLE ? '(' : '{');
    for (size_t i = 0; i < item_count(v); i++) {
        indent_to(out, indent + 2);
        add_key(v, i, out);
        if (add_full(s, item_of(v, i), o, indent + 2, INNER_LINES, out)) return session_context(s)->err.code;
        if (i + 1 < item_count(v) || v.kind == VALUE_TUPLE) text_char(out, ',');
        if (context_interrupted(session_context(s))) return STATUS_INTERRUPT;
    }
    indent_to(out, indent);
    text_char(out, v.kind == VALUE_TUPLE ? ')' : '}');
    return STATUS_OK;
}

/* ---- the ways of showing ---- */

static int lines_of(const print_options *o) {
    int lines = o->height - HEIGHT_LEFT;
    return lines < LEAST_LINES ? LEAST_LINES : lines > MOST_LINES ? MOST_LINES : lines;
}

static status finish(session *s, status code, text *out) {
    context *c = session_context(s);
    if (code == STATUS_OK && out->failed) return fail_memory(&c->err, out->length);
    return code == STATUS_OK ? c->err.code : code;
}

status print_value(session *s, value v, const print_options *o, text *out) {
    status code = add_full(s, v, o, 0, lines_of(o), out);
    text_char(out, '\n');
    return finish(s, code, out);
}

/* The items of a container without their contents. */
static void add_gist(session *s, value v, int depth, text *out) {
    if (is_array(v)) {
        meta_print(session_context(s)->dims, &v.tensor->meta, out);
        return;
    }
    if (!is_container(v)) {
        add_simple(s, v, out);
        return;
    }
    text_char(out, v.kind == VALUE_TUPLE ? '(' : '{');
    for (size_t i = 0; i < item_count(v); i++) {
        if (i > 0) text_add(out, ", ");
        if (i == INNER_FLAT || depth == 3) {
            text_printf(out, "... %zu more", item_count(v) - i);
            break;
        }
        add_key(v, i, out);
        add_gist(s, item_of(v, i), depth + 1, out);
    }
    text_char(out, v.kind == VALUE_TUPLE ? ')' : '}');
}

status print_headline(session *s, value v, const print_options *o, text *out) {
    status code = STATUS_OK;
    if (is_array(v))
        code = add_tensor_header(s, v.tensor, o, out);
    else
        add_gist(s, v, 0, out);
    return finish(s, code, out);
}

status print_plain(session *s, value v, const print_options *o, text *out) {
    status code = STATUS_OK;
    if (v.kind == VALUE_STRING)
        text_add_bytes(out, v.string->text, v.string->length);
    else if (is_array(v) && tensor_concrete(v.tensor))
        code = print_elements(v.tensor, o->width, lines_of(o), 0, out);
    else
        code = add_full(s, v, o, 0, lines_of(o), out);
    return finish(s, code, out);
}
