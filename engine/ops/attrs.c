/* attrs.c — see attrs.h. */
#include "engine/ops/attrs.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
    [ATTR_INT] = {"int", 8},
    [ATTR_SIZE] = {"size", 8},
    [ATTR_AXIS] = {"axis", 8},
    [ATTR_BOOL] = {"bool", 8},
    [ATTR_DTYPE] = {"dtype", 8},
    [ATTR_REAL] = {"real", 8},
    [ATTR_INTS] = {"ints", sizeof(int_list)},
    [ATTR_AXES] = {"axes", sizeof(int_list)},
    [ATTR_SHAPE] = {"shape", sizeof(int_list)},
};

size_t attr_type_bytes(attr_type t) {
    return types[t].bytes;
}

static attr_type type_named(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0) return (attr_type)i;
    assert(!"unknown attribute type in a schema");
    return ATTR_INT;
}

static int64_t fallback_value(attr_type t, const char *s, size_t length) {
    dtype d = DT_F32;
    if (t == ATTR_BOOL) return length == 4;     /* true */
    if (t == ATTR_AXES && *s == 'a') return -1; /* all */
    if (t == ATTR_DTYPE) return dtype_parse(s, length, &d) ? (int64_t)d : 0;
    if (t == ATTR_REAL) {
        double real = strtod(s, NULL);
        int64_t bits;
        memcpy(&bits, &real, 8);
        return bits;
    }
    return strtoll(s, NULL, 10);
}

int attrs_fields(const op_info *op, attr_field fields[MAX_ATTRS]) {
    int n = 0;
    size_t offset = 0;
    for (const char *s = op->schema; *s;) {
        const char *colon = strchr(s, ':'), *end = s + strcspn(s, " ");
        const char *equals = memchr(s, '=', (size_t)(end - s));
        assert(colon && colon < end && n < MAX_ATTRS && (size_t)(colon - s) < sizeof fields->name);
        attr_field *f = &fields[n++];
        memset(f, 0, sizeof *f);
        memcpy(f->name, s, (size_t)(colon - s));
        f->type = type_named(colon + 1, (size_t)((equals ? equals : end) - colon - 1));
        f->offset = offset;
        f->has_default = equals != NULL;
        if (equals) f->fallback = fallback_value(f->type, equals + 1, (size_t)(end - equals - 1));
        offset += types[f->type].bytes;
        s = end + strspn(end, " ");
    }
    return n;
}

void attrs_defaults(const op_info *op, void *attrs) {
    attr_field fields[MAX_ATTRS];
    int n = attrs_fields(op, fields);
    memset(attrs, 0, op->attr_bytes);
    for (int i = 0; i < n; i++)
        memcpy((char *)attrs + fields[i].offset, &fields[i].fallback, sizeof fields[i].fallback);
}

static void print_list(const attr_field *f, const dims *t, const int_list *list, text *out) {
    if (list->count < 0) {
        text_add(out, "all");
        return;
    }
    text_char(out, '(');
    for (int64_t i = 0; i < list->count; i++) {
        if (i) text_add(out, ", ");
        if (f->type == ATTR_SHAPE)
            dim_print(t, list->v[i], out);
        else
            text_printf(out, "%lld", (long long)list->v[i]);
    }
    text_add(out, list->count == 1 ? ",)" : ")");
}

void attrs_print(const op_info *op, const dims *t, const void *attrs, text *out) {
    attr_field fields[MAX_ATTRS];
    int n = attrs_fields(op, fields);
    for (int i = 0; i < n; i++) {
        const char *at = (const char *)attrs + fields[i].offset;
        int64_t number;
        double real;
        memcpy(&number, at, 8);
        memcpy(&real, at, 8);
        text_printf(out, " %s=", fields[i].name);
        switch (fields[i].type) {
        case ATTR_INT:
        case ATTR_AXIS:
            text_printf(out, "%lld", (long long)number);
            break;
        case ATTR_SIZE:
            dim_print(t, number, out);
            break;
        case ATTR_BOOL:
            text_add(out, number ? "true" : "false");
            break;
        case ATTR_DTYPE:
            text_add(out, dtype_name((dtype)number));
            break;
        case ATTR_REAL:
            text_printf(out, "%.17g", real);
            break;
        default:
            print_list(&fields[i], t, (const int_list *)(const void *)at, out);
            break;
        }
    }
}

static const char *skip(const char *s) {
    return s + strspn(s, " \t\n");
}

/* Parses one value of a field into *at; returns the text after it, or NULL. */
static const char *parse_value(const attr_field *f, const char *s, char *at) {
    size_t word = 0;
    while (isalnum((unsigned char)s[word])) word++;
    char *end;
    int64_t number;
    double real;
    dtype d;
    int_list list = {0};
    switch (f->type) {
    case ATTR_BOOL:
        number = word == 4;
        memcpy(at, &number, 8);
        return (word == 4 && !memcmp(s, "true", 4)) || (word == 5 && !memcmp(s, "false", 5)) ? s + word
                                                                                             : NULL;
    case ATTR_DTYPE:
        if (!dtype_parse(s, word, &d)) return NULL;
        number = d;
        memcpy(at, &number, 8);
        return s + word;
    case ATTR_REAL:
        real = strtod(s, &end);
        memcpy(at, &real, 8);
        return end == s ? NULL : end;
    case ATTR_INT:
    case ATTR_SIZE:
    case ATTR_AXIS:
        number = strtoll(s, &end, 10);
        memcpy(at, &number, 8);
        return end == s ? NULL : end;
    default:
        break;
    }
    if (f->type == ATTR_AXES && word == 3 && !memcmp(s, "all", 3)) {
        list.count = -1;
        memcpy(at, &list, sizeof list);
        return s + 3;
    }
    if (*s++ != '(') return NULL;
    for (s = skip(s); *s && *s != ')'; s = skip(s)) {
        number = strtoll(s, &end, 10);
        if (end == s || list.count == MAX_RANK) return NULL;
        list.v[list.count++] = number;
        s = skip(end);
        if (*s == ',') s++;
    }
    memcpy(at, &list, sizeof list);
    return *s == ')' ? s + 1 : NULL;
}

status attrs_parse(const op_info *op, const char *s, void *attrs, error *e) {
    attr_field fields[MAX_ATTRS];
    int n = attrs_fields(op, fields);
    attrs_defaults(op, attrs);
    for (s = skip(s); *s; s = skip(s)) {
        size_t length = strcspn(s, "=");
        int i = 0;
        while (i < n && (strlen(fields[i].name) != length || memcmp(fields[i].name, s, length) != 0)) i++;
        const char *rest = i < n && s[length]
                               ? parse_value(&fields[i], s + length + 1, (char *)attrs + fields[i].offset)
                               : NULL;
        if (!rest) {
            fail(e, STATUS_VALUE, 207, "`%s` is not an attribute of %s", s, op->name);
            return fail_hint(e, "%s takes %s", op->name, n ? op->schema : "no attributes");
        }
        s = rest;
    }
    return STATUS_OK;
}
