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

void error_clear(error *e) {
    memset(e, 0, sizeof *e);
}
