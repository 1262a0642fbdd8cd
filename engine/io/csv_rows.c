/* csv_rows.c — see csv_rows.h. The buffer holds at least the row being read; it is refilled behind what is
 * left of it, and grows when one row fills it. */
#include "engine/io/csv_rows.h"

#include <string.h>

#include "engine/base/memory.h"

enum { FIRST_BUFFER = 1 << 18, LONGEST_ROW = 1 << 28 };

/* Drops what is no longer needed, makes room and reads on. */
static status refill(csv_rows *r) {
    if (!r->held && r->from > 0) {
        memmove(r->buffer, r->buffer + r->from, r->end - r->from);
        r->end -= r->from;
        r->at -= r->from;
        r->from = 0;
    }
    if (r->end == r->capacity) {
        if (r->capacity >= LONGEST_ROW) {
            fail(&r->c->err, STATUS_IO, 608, "`%s` line %lld: a row of more than %d MiB",
                 io_reader_path(r->reader), (long long)r->line, LONGEST_ROW >> 20);
            return fail_hint(&r->c->err, "a quote may be missing its partner, or this is no csv file");
        }
        size_t capacity = r->capacity ? r->capacity * 2 : FIRST_BUFFER;
        char *buffer = mem_realloc(r->buffer, capacity);
        if (!buffer) return fail_memory(&r->c->err, capacity);
        r->buffer = buffer;
        r->capacity = capacity;
    }
    size_t got;
    if (io_reader_read(r->reader, r->buffer + r->end, r->capacity - r->end, &got)) return r->c->err.code;
    r->ended = got < r->capacity - r->end;
    r->end += got;
    return STATUS_OK;
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

/* The first of `,` `;` and tab that stands most often in the first line, outside of quotes. */
static char find_separator(const char *s, size_t length) {
    static const char separators[] = {',', ';', '\t'};
    size_t counts[3] = {0}, best = 0;
    bool quoted = false;
    for (size_t i = 0; i < length && (quoted || !is_line_end(s[i])); i++) {
        if (s[i] == '"') quoted = !quoted;
        for (size_t k = 0; k < 3 && !quoted; k++) counts[k] += s[i] == separators[k];
    }
    for (size_t k = 1; k < 3; k++)
        if (counts[k] > counts[best]) best = k;
    return separators[best];
}

status csv_rows_open(csv_rows *r, io_reader *reader) {
    *r = (csv_rows){.reader = reader, .c = io_reader_context(reader), .next_line = 1, .line = 1};
    if (refill(r)) return r->c->err.code;
    if (r->end >= 3 && memcmp(r->buffer, "\xef\xbb\xbf", 3) == 0) r->from = r->at = 3;
    r->separator = find_separator(r->buffer + r->at, r->end - r->at);
    return STATUS_OK;
}

void csv_rows_close(csv_rows *r) {
    mem_free(r->buffer);
    mem_free(r->fields);
    r->buffer = NULL;
    r->fields = NULL;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static status add_field(csv_rows *r, csv_field f) {
    if (r->count == r->field_capacity) {
        size_t capacity = r->field_capacity ? r->field_capacity * 2 : 128, bytes;
        csv_field *fields = mem_mul(capacity, sizeof *fields, &bytes) ? mem_realloc(r->fields, bytes) : NULL;
        if (!fields) return fail_memory(&r->c->err, bytes);
        r->fields = fields;
        r->field_capacity = capacity;
    }
    r->fields[r->count++] = f;
    return STATUS_OK;
}

/* The scanners below advance *at, and return false when the buffer ends before they know where the field
 * does. */

static bool scan_plain(const csv_rows *r, size_t *at, csv_field *f) {
    const char *s = r->buffer + *at, *end = r->buffer + r->end, separator = r->separator;
    f->text = s;
    while (s < end && *s != separator && !is_line_end(*s)) s++;
    *at = (size_t)(s - r->buffer);
    if (s == end && !r->ended) return false;
    while (s > f->text && is_blank(s[-1])) s--;
    f->length = (size_t)(s - f->text);
    return true;
}

/* From behind the opening quote to behind the closing one and the blanks after it. */
static bool scan_quoted(csv_rows *r, size_t *at, csv_field *f, bool *unclosed) {
    const char *s = r->buffer + *at, *end = r->buffer + r->end;
    *f = (csv_field){.text = s, .quoted = true};
    for (;; s++) {
        if (s == end) return *unclosed = true, r->ended;
        if (*s == '\n') r->lines_in_row++;
        if (*s != '"') continue;
        if (s + 1 == end && !r->ended) return false;
        if (s + 1 == end || s[1] != '"') break;
        f->doubled = true;
        s++;
    }
    f->length = (size_t)(s - f->text);
    s++;
    while (s < end && is_blank(*s) && *s != r->separator) s++;
    *at = (size_t)(s - r->buffer);
    return s < end || r->ended;
}

static status bad_quote(csv_rows *r, const char *what) {
    fail(&r->c->err, STATUS_IO, 608, "`%s` line %lld, column %zu: %s", io_reader_path(r->reader),
         (long long)r->line + (long long)r->lines_in_row, r->count + 1, what);
    return fail_hint(&r->c->err, "a quote within a quoted field is written twice: \"say \"\"hello\"\"\"");
}

/* Reads one line's fields from r->at. *whole is false when the buffer ends first. */
static status scan_row(csv_rows *r, bool *whole) {
    size_t at = r->at;
    r->count = 0;
    r->lines_in_row = 0;
    *whole = false;
    for (;;) {
        size_t start = at;
        while (start < r->end && is_blank(r->buffer[start]) && r->buffer[start] != r->separator) start++;
        if (start == r->end && !r->ended) return STATUS_OK;
        csv_field f = {0};
        bool unclosed = false, known;
        if (start < r->end && r->buffer[start] == '"') {
            int64_t line = r->lines_in_row;
            at = start + 1;
            known = scan_quoted(r, &at, &f, &unclosed);
            if (known && unclosed) {
                r->lines_in_row = line;
                return bad_quote(r, "a quote is opened and never closed");
            }
        } else {
            at = start;
            known = scan_plain(r, &at, &f);
        }
        if (!known) return STATUS_OK;
        if (f.quoted && at < r->end && r->buffer[at] != r->separator && !is_line_end(r->buffer[at]))
            return bad_quote(r, "something follows a closing quote");
        if (add_field(r, f)) return r->c->err.code;
        if (at == r->end || r->buffer[at] != r->separator) break;
        at++;
    }
    if (at < r->end && r->buffer[at] == '\r') {
        if (at + 1 == r->end && !r->ended) return STATUS_OK;
        at++;
        if (at < r->end && r->buffer[at] == '\n') at++;
    } else if (at < r->end) {
        at++;
    }
    *whole = true;
    r->at = at;
    r->next_line = r->line + r->lines_in_row + 1;
    return STATUS_OK;
}

status csv_rows_next(csv_rows *r, bool *more) {
    for (;;) {
        bool whole = false;
        if (!r->held) r->from = r->at;
        r->line = r->next_line;
        *more = r->at < r->end || !r->ended;
        if (!*more) return STATUS_OK;
        if (scan_row(r, &whole)) return r->c->err.code;
        if (!whole) {
            if (refill(r)) return r->c->err.code;
            continue;
        }
        bool blank = r->count == 1 && r->fields[0].length == 0 && !r->fields[0].quoted;
        if (!blank) return STATUS_OK;
    }
}

void csv_rows_hold(csv_rows *r) {
    r->held = true;
}

size_t csv_rows_kept(const csv_rows *r) {
    return r->at - r->from;
}

void csv_rows_rewind(csv_rows *r) {
    r->held = false;
    r->at = r->from;
    r->next_line = 1;
}
