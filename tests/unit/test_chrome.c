/* test_chrome.c — the exported trace, read back by a JSON parser: numbers, lanes, and names as hostile as can
 * be. */
#include "tests/harness/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "profiler/chrome.h"

#define assert_near(got, want, error) assert_true(fabs((got) - (want)) <= (error))

static recording *example(const char *name) {
    recording *r = recording_new(2, "train(m)");
    assert_non_null(r);
    recorded e = {.begin = 1234, .end = 5678901, .name = name, .tier = "C", .place = "a \"b\".td:3"};
    e.source = "h = x @ w";
    e.graph = 1;
    e.node = 12;
    e.kernel = 4;
    e.lane = 1;
    e.kind = EVENT_GEMM;
    e.bytes = 1 << 20;
    e.flops = 2000000;
    assert_int_equal(recording_add(r, &e), STATUS_OK);
    recorded bare = {.begin = 0, .end = 9, .kind = EVENT_OP};
    assert_int_equal(recording_add(r, &bare), STATUS_OK);
    r->lost[1] = 5;
    recording_settle(r);
    return r;
}

static cJSON *parse(const recording *r) {
    text out = {0};
    chrome_write(r, &out);
    assert_false(out.failed);
    /* All of it is one value, and all of it is ASCII or valid UTF-8. */
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text_str(&out), &end, 0);
    assert_non_null(json);
    assert_string_equal(end, "\n");
    for (size_t at = 0; at < out.length;) {
        uint32_t code;
        size_t bytes = utf8_decode(out.data + at, out.length - at, &code);
        assert_true(bytes > 0);
        assert_true(code >= 32 || code == '\n');
        at += bytes;
    }
    text_free(&out);
    return json;
}

static const cJSON *get(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_non_null(item);
    return item;
}

/* Event number `n` among those of phase X. */
static const cJSON *complete(const cJSON *json, int n) {
    const cJSON *item;
    cJSON_ArrayForEach(item, get(json, "traceEvents")) {
        if (strcmp(get(item, "ph")->valuestring, "X") == 0 && n-- == 0) return item;
    }
    return NULL;
}

static void writes_events(void **state) {
    (void)state;
    recording *r = example("matmul");
    cJSON *json = parse(r);
    assert_string_equal(get(json, "displayTimeUnit")->valuestring, "ns");
    assert_int_equal(get(get(json, "otherData"), "lost_events")->valueint, 5);
    const cJSON *bare = complete(json, 0), *e = complete(json, 1);
    assert_null(complete(json, 2));
    assert_string_equal(get(bare, "name")->valuestring, "op");
    assert_null(cJSON_GetObjectItem(get(bare, "args"), "graph"));
    assert_string_equal(get(e, "name")->valuestring, "matmul");
    assert_string_equal(get(e, "cat")->valuestring, "matmul");
    assert_int_equal(get(e, "tid")->valueint, 1);
    assert_int_equal(get(e, "pid")->valueint, 1);
    assert_near(get(e, "ts")->valuedouble, 1.234, 1e-12);
    assert_near(get(e, "dur")->valuedouble, 5677.667, 1e-9);
    const cJSON *args = get(e, "args");
    assert_int_equal(get(args, "bytes")->valueint, 1 << 20);
    assert_int_equal(get(args, "flops")->valueint, 2000000);
    assert_int_equal(get(args, "graph")->valueint, 1);
    assert_int_equal(get(args, "node")->valueint, 12);
    assert_int_equal(get(args, "kernel")->valueint, 4);
    assert_string_equal(get(args, "tier")->valuestring, "C");
    assert_string_equal(get(args, "span")->valuestring, "a \"b\".td:3");
    assert_string_equal(get(args, "source")->valuestring, "h = x @ w");
    int threads = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, get(json, "traceEvents")) {
        if (strcmp(get(item, "name")->valuestring, "thread_name") != 0) continue;
        threads++;
        if (get(item, "tid")->valueint == 1)
            assert_int_equal(get(get(item, "args"), "lost_events")->valueint, 5);
    }
    assert_int_equal(threads, 2);
    cJSON_Delete(json);
    recording_free(r);
}

static void escapes_hostile_names(void **state) {
    (void)state;
    const struct {
        const char *name, *read;
    } cases[] = {
        {"\"quoted\" \\ back\\\\", "\"quoted\" \\ back\\\\"},
        {"line\nbreak\ttab\rreturn\b\f", "line\nbreak\ttab\rreturn\b\f"},
        {"\x01\x1f\x7f", "\x01\x1f\x7f"},
        {"</script>", "</script>"},
        {"größe λ → 🙂", "größe λ → 🙂"},
        {"\xff\xfe", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"cut \xe2\x82", "cut \xEF\xBF\xBD\xEF\xBF\xBD"},
        {"surrogate \xed\xa0\x80", "surrogate \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"overlong \xc0\xaf", "overlong \xEF\xBF\xBD\xEF\xBF\xBD"},
        {"%s%n%d", "%s%n%d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recording *r = example(cases[i].name);
        cJSON *json = parse(r);
        assert_string_equal(get(complete(json, 1), "name")->valuestring, cases[i].read);
        cJSON_Delete(json);
        recording_free(r);
    }
}

static void saves_the_same_text(void **state) {
    (void)state;
    recording *r = example("x");
    for (int i = 0; i < 2000; i++) { /* more than one piece */
        recorded e = {.begin = i * 10, .end = i * 10 + 5, .name = "op", .place = "f.td:1"};
        assert_int_equal(recording_add(r, &e), STATUS_OK);
    }
    recording_settle(r);
    text want = {0};
    chrome_write(r, &want);
    char path[] = "/tmp/test_chrome_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    error e = {0};
    assert_int_equal(chrome_save(r, path, &e), STATUS_OK);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *got = mem_alloc(want.length + 2);
    assert_non_null(got);
    size_t length = fread(got, 1, want.length + 2, f);
    fclose(f);
    assert_int_equal(length, want.length);
    assert_memory_equal(got, want.data, length);
    mem_free(got);
    text_free(&want);

    /* Where it can't be written, an error says so and an old file is as it was; likewise without memory. */
    assert_int_equal(chrome_save(r, "/nowhere/at/all.json", &e), STATUS_IO);
    assert_non_null(strstr(e.message, "/nowhere/at/all.json"));
    error_clear(&e);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(chrome_save(r, "/dev/full", &e), STATUS_IO);
        assert_int_equal(access("/dev/full", W_OK), 0);
        error_clear(&e);
    }
    int64_t live = mem_live();
    status s = STATUS_MEMORY;
    for (int64_t after = 1; s; after++) {
        mem_fail_after(after);
        s = chrome_save(r, path, &e);
        mem_fail_after(0);
        if (s) assert_int_equal(s, STATUS_MEMORY);
        error_clear(&e);
        assert_int_equal(mem_live(), live);
        f = fopen(path, "r");
        fseek(f, 0, SEEK_END);
        assert_int_equal(ftell(f), length);
        fclose(f);
    }
    unlink(path);
    recording_free(r);
}

int main(void) {
    setlocale(LC_ALL, ""); /* numbers must not follow it */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_events),
        cmocka_unit_test(escapes_hostile_names),
        cmocka_unit_test(saves_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
