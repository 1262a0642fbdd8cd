/* test_json.c — the exact form of values: every kind, numbers that read back bit for bit, and that it is JSON. */
#include "tests/harness/check.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/map.h"
#include "repl/shell/json.h"

typedef struct fixture {
    context *c;
    session *s;
    text out;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.c = context_new(1)};
    f.s = session_new(f.c);
    *state = &f;
    return f.s ? 0 : -1;
}

static int tear_down(void **state) {
    fixture *f = *state;
    session_free(f->s);
    context_free(f->c);
    text_free(&f->out);
    return 0;
}

static status on_echo(void *user, session *s, const session_echo *what) {
    return json_value(s, what->value, NULL, user);
}

static void gives(fixture *f, const char *expression, const char *expected) {
    const session_host host = {.user = &f->out, .echo = on_echo};
    text_clear(&f->out);
    if (session_run(f->s, NULL, expression, strlen(expression), &host))
        fail_msg("%s: %s", expression, f->c->err.message);
    assert_string_equal(text_str(&f->out), expected);
    cJSON *parsed = cJSON_Parse(text_str(&f->out));
    assert_non_null(parsed);
    cJSON_Delete(parsed);
}

static void every_kind(void **state) {
    fixture *f = *state;
    gives(f, "[1.0, 2]", "{\"dtype\":\"f32\",\"shape\":[2],\"data\":[1,2]}");
    gives(f, "6", "{\"dtype\":\"i64\",\"shape\":[],\"data\":[6]}");
    gives(f, "1 / 3", "{\"dtype\":\"f32\",\"shape\":[],\"data\":[0.33333334]}");
    gives(f, "[[1, -2], [3, 4]].T", "{\"dtype\":\"i64\",\"shape\":[2,2],\"data\":[1,3,-2,4]}");
    gives(f, "[true, false]", "{\"dtype\":\"bool\",\"shape\":[2],\"data\":[true,false]}");
    gives(f, "[nan, inf, -inf, -0.0]",
          "{\"dtype\":\"f32\",\"shape\":[4],\"data\":[\"NaN\",\"Infinity\",\"-Infinity\",-0]}");
    gives(f, "[0.1, 1e-7] as f64",
          "{\"dtype\":\"f64\",\"shape\":[2],\"data\":[0.10000000149011612,1.0000000116860974e-7]}");
    gives(f, "[0.1] as f16", "{\"dtype\":\"f16\",\"shape\":[1],\"data\":[0.1]}");
    gives(f, "zeros(0, 3)", "{\"dtype\":\"f32\",\"shape\":[0,3],\"data\":[]}");
    gives(f, "\"a\\n\\\"\\\\\\u{1}\\u{e9}\"", "{\"string\":\"a\\n\\\"\\\\\\u0001\xc3\xa9\"}");
    gives(f, "(1, \"a\")", "{\"tuple\":[{\"dtype\":\"i64\",\"shape\":[],\"data\":[1]},{\"string\":\"a\"}]}");
    gives(f, "{n: None, \"k \\\"\": ()}", "{\"record\":{\"n\":null,\"k \\\"\":{\"tuple\":[]}}}");
    gives(f, "0..10", "{\"range\":[0,10]}");
    gives(f, "f32", "{\"type\":\"f32\"}");
    gives(f, "def f(x, y=2) = x\nf", "{\"function\":\"f(x, y=2)\"}");
}

static void numbers_read_back(void **state) {
    fixture *f = *state;
    enum { N = 3000 };
    float given[N];
    uint64_t seed = 17;
    for (int i = 0; i < N; i++) {
        uint32_t bits = (uint32_t)hash_u64(seed++);
        memcpy(&given[i], &bits, 4);
        if (!isfinite(given[i])) given[i] = 0;
    }
    shape s = {.rank = 1, .size = {N}};
    value v = value_tensor(tensor_from(f->c, DT_F32, &s, given));
    text_clear(&f->out);
    assert_int_equal(json_value(f->s, v, NULL, &f->out), STATUS_OK);
    const char *p = strstr(text_str(&f->out), "\"data\":[") + 8;
    for (int i = 0; i < N; i++) {
        char *end;
        assert_true(strtof(p, &end) == given[i]);
        p = end + 1;
    }
    assert_string_equal(p, "}");
    value_release(v);
}

static void bytes_that_are_no_text(void **state) {
    fixture *f = *state;
    text_clear(&f->out);
    json_string("a\xff\xc3\x28\0z", 6, &f->out);
    assert_string_equal(text_str(&f->out), "\"a\xef\xbf\xbd\xef\xbf\xbd(\\u0000z\"");
}

/* A sink gets large values in pieces; what it refuses is passed on. */
typedef struct pieces {
    size_t bytes, largest;
    int count, most;
    context *c;
} pieces;

static status take_piece(void *user, text *out) {
    pieces *p = user;
    p->bytes += out->length;
    if (out->length > p->largest) p->largest = out->length;
    text_clear(out);
    return ++p->count > p->most ? fail(&p->c->err, STATUS_IO, 802, "full") : STATUS_OK;
}

static void large_values_flow(void **state) {
    fixture *f = *state;
    shape s = {.rank = 1, .size = {1000000}};
    value v = value_tensor(tensor_new(f->c, DT_U8, &s));
    memset(tensor_data(v.tensor), 7, 1000000);
    pieces p = {.most = 1000, .c = f->c};
    json_sink sink = {take_piece, &p};
    text_clear(&f->out);
    assert_int_equal(json_value(f->s, v, &sink, &f->out), STATUS_OK);
    assert_true(p.count > 10 && p.largest < 1 << 17);
    assert_int_equal(p.bytes + f->out.length,
                     strlen("{\"dtype\":\"u8\",\"shape\":[1000000],\"data\":[]}") + 1999999);
    p = (pieces){.most = 2, .c = f->c};
    text_clear(&f->out);
    assert_int_equal(json_value(f->s, v, &sink, &f->out), STATUS_IO);
    error_clear(&f->c->err);
    atomic_store(&f->c->interrupt, 1);
    text_clear(&f->out);
    assert_int_equal(json_value(f->s, v, NULL, &f->out), STATUS_INTERRUPT);
    atomic_store(&f->c->interrupt, 0);
    error_clear(&f->c->err);
    value_release(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(large_values_flow),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
