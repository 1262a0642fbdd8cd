/* status.c — see status.h. */
#include "engine/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[STATUS_COUNT] = {
    [STATUS_OK] = "ok",
    [STATUS_MEMORY] = "memory",
    [STATUS_INTERRUPT] = "interrupt",
    [STATUS_SYNTAX] = "syntax",
    [STATUS_NAME] = "name",
    [STATUS_TYPE] = "type",
    [STATUS_SHAPE] = "shape",
    [STATUS_DTYPE] = "dtype",
    [STATUS_INDEX] = "index",
    [STATUS_VALUE] = "value",
    [STATUS_GRAD] = "gradient",
    [STATUS_FREEZE] = "freeze",
    [STATUS_IO] = "file",
    [STATUS_ASSERT] = "assert",
    [STATUS_LIMIT] = "limit",
    [STATUS_UNSUPPORTED] = "unsupported",
};

const char *status_name(status code) {
    return (unsigned)code < STATUS_COUNT ? names[code] : "unknown";
}

status fail(error *e, status code, int number, const char *format, ...) {
    if (e->code != STATUS_OK) return e->code;
    e->code = code;
    e->number = number;
    e->operands[0] = e->hint[0] = '\0';
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return code;
}

status fail_hint(error *e, const char *format, ...) {
    if (e->hint[0] != '\0') return e->code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->hint, sizeof e->hint, format, args);
    va_end(args);
    return e->code;
}

status fail_operand(error *e, const char *format, ...) {
    size_t used = strlen(e->operands);
    if (used > 0 && used + 1 < sizeof e->operands) e->operands[used++] = '\n';
    va_list args;
    va_start(args, format);
    vsnprintf(e->operands + used, sizeof e->operands - used, format, args);
    va_end(args);
    return e->code;
}

status fail_memory(error *e, uint64_t bytes) {
    status code = fail(e, STATUS_MEMORY, 901, "out of memory: %llu bytes could not be allocated",
                       (unsigned long long)bytes);
    if (code == STATUS_MEMORY) fail_hint(e, "free what is bound to large names, or use smaller sizes");
    return code;
}

static bool same_span(span a, span b) {
    return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

void error_called(error *e, const char *name, span where) {
    error_call *last = e->call_count ? &e->calls[e->call_count - 1] : NULL;
    error_call call = {.where = where, .times = 1};
    snprintf(call.name, sizeof call.name, "%s", name);
    if (last && same_span(last->where, where) && strcmp(last->name, call.name) == 0) {
        last->times++;
        return;
    }
    if (e->call_count == ERROR_CALLS) {
        error_call *outer = e->calls + ERROR_CALLS_INNER;
        e->calls_left_out += outer->times;
        memmove(outer, outer + 1, (ERROR_CALLS_OUTER - 1) * sizeof *outer);
        e->call_count--;
    }
    e->calls[e->call_count++] = call;
}

void error_renamed(error *e, const char *name, span where) {
    error_call *last = e->call_count ? &e->calls[e->call_count - 1] : NULL;
    if (last && last->times == 1 && same_span(last->where, where)) e->call_count--;
    error_called(e, name, where);
}

void error_clear(error *e) {
    memset(e, 0, sizeof *e);
}
