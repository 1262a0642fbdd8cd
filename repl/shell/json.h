/* json.h — values as JSON, exactly: language.md, "As a program".
 *
 *     tensor  {"dtype":"f32","shape":[2],"data":[1,2]}     flat, row-major; weak reals are f32, weak integers i64
 *     string  {"string":"text"}     tuple {"tuple":[..]}     record {"record":{"name":..}}     None null
 *     others  {"function":"f(x)"}, {"range":[0,10]}, {"type":"f32[batch, 64]"}, {"graph":..}, {"tape":..}
 *
 *     error   {"error":{"number":101,"class":"shape","message":..,"file":..,"line":3,"column":5,"operands":[..],
 *             "calls":[{"function":"loss","file":..,"line":9,"column":1,"times":1}],"hint":..}}
 *     warning {"warning":{"message":..,"file":..,"line":3,"column":5}}
 *
 * A place or hint that there is not is left out; an element {"left_out":988} of calls, which are innermost first,
 * stands for so many calls. Numbers have the fewest digits that read back to the same value; NaN and infinities are the strings
 * "NaN", "Infinity", "-Infinity"; bools are true and false. */
#ifndef TD_SHELL_JSON_H
#define TD_SHELL_JSON_H

#include "repl/lang/session.h"

/* Where the text goes when some tens of kilobytes are together; NULL: it stays in `out`. */
typedef struct json_sink {
    status (*flush)(void *user, text *out); /* empties out */
    void *user;
} json_sink;

/* Appends the value without a newline. Fails on an interrupt, when out of memory, or as the sink does. */
status json_value(session *s, value v, const json_sink *sink, text *out);

/* What went wrong, or may, on one line. */
void json_error(const source_table *sources, const error *e, text *out);
void json_warning(const source_table *sources, span where, const char *message, text *out);

/* A string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_string(const char *s, size_t length, text *out);

#endif
