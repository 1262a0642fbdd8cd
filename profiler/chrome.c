/* chrome.c — see chrome.h. Numbers are written without printf's %f, whose decimal point follows the locale. */
#include "profiler/chrome.h"

#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 16 }; /* bytes of text between two writes */

void chrome_string(text *out, const char *s) {
    size_t length = strlen(s);
    text_char(out, '"');
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = utf8_decode(s + at, length - at, &code);
        if (!bytes)
            text_add(out, "\\ufffd");
        else if (code == '"' || code == '\\')
            text_printf(out, "\\%c", (char)code);
        else if (code < 0x20 || code == 0x7f)
            text_printf(out, "\\u%04x", code);
        else
            text_add_bytes(out, s + at, bytes);
        at += bytes ? bytes : 1;
    }
    text_char(out, '"');
}

/* Nanoseconds as microseconds. */
static void put_micros(text *out, const char *name, int64_t ns) {
    text_printf(out, ",\"%s\":%lld.%03lld", name, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void put_text(text *out, const char *name, const char *value) {
    if (!*value) return;
    text_printf(out, ",\"%s\":", name);
    chrome_string(out, value);
}

static void put_head(const recording *r, text *out) {
    text_add(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"tapedeck\",\"title\":");
    chrome_string(out, r->title);
    text_printf(out, ",\"lost_events\":%llu},\n\"traceEvents\":[\n", (unsigned long long)r->lost_total);
    text_add(out,
             "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"tapedeck\"}}");
    char name[24];
    for (int lane = 0; lane < r->lanes; lane++) {
        text_printf(
            out, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":", lane);
        text_printf(out, "\"%s%s\"", recording_lane_name(r, lane, name), lane ? "" : " (main)");
        text_printf(out, ",\"lost_events\":%llu}}", (unsigned long long)r->lost[lane]);
        text_printf(out, ",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,", lane);
        text_printf(out, "\"args\":{\"sort_index\":%d}}", lane);
    }
}

static void put_event(const recorded *e, text *out) {
    text_add(out, ",\n{\"ph\":\"X\",\"name\":");
    chrome_string(out, *e->name ? e->name : recording_kind_name(e->kind));
    put_text(out, "cat", recording_kind_name(e->kind));
    text_printf(out, ",\"pid\":1,\"tid\":%d", e->lane);
    put_micros(out, "ts", e->begin);
    put_micros(out, "dur", e->end - e->begin);
    text_printf(out, ",\"args\":{\"bytes\":%lld,\"flops\":%lld", (long long)e->bytes, (long long)e->flops);
    put_text(out, "tier", e->tier);
    put_text(out, "span", e->place);
    put_text(out, "source", e->source);
    if (e->graph) text_printf(out, ",\"graph\":%u,\"node\":%u", e->graph, e->node);
    if (e->kernel) text_printf(out, ",\"kernel\":%u", e->kernel);
    text_add(out, "}}");
}

void chrome_write(const recording *r, text *out) {
    put_head(r, out);
    for (uint32_t i = 0; i < r->count; i++) put_event(&r->events[i], out);
    text_add(out, "\n]}\n");
}

/* All of it to an open file, whose error flag tells of failed writes; false when out of memory. */
static bool write_pieces(const recording *r, FILE *f) {
    text piece = {0};
    put_head(r, &piece);
    for (uint32_t i = 0; i < r->count && !piece.failed && !ferror(f); i++) {
        put_event(&r->events[i], &piece);
        if (piece.length < PIECE) continue;
        fwrite(piece.data, 1, piece.length, f);
        text_clear(&piece);
    }
    text_add(&piece, "\n]}\n");
    bool fine = !piece.failed;
    if (fine) fwrite(piece.data, 1, piece.length, f);
    text_free(&piece);
    return fine;
}

status chrome_save(const recording *r, const char *path, error *e) {
    replacement file;
    status s = replace_open(&file, path, e);
    if (s) return s;
    bool fine = write_pieces(r, file.file);
    s = replace_close(&file, fine, e);
    return fine ? s : fail_memory(e, PIECE);
}
