/* test_report.c — the table of a profile: sums, shares and limits of events made by hand; its text at every
 * width; its JSON; the file that keeps the machine's limits. */
#include "tests/harness/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "profiler/report.h"

#define assert_near(got, want, error) assert_true(fabs((got) - (want)) <= (error))

/* 10 GB/s from memory, 100 GB/s from the smallest cache, 50 GFLOP/s. */
static const machine_limits limits = {
    .processor = "Test \"9000\"",
    .lanes = 2,
    .memory = {{192 << 10, 100e9}, {3 << 20, 80e9}, {24 << 20, 40e9}, {192 << 20, 10e9}},
    .flops = 50e9};

static void add(recording *r, int64_t begin, int64_t end, const char *name, event_kind kind, int lane,
                int64_t bytes, int64_t flops) {
    recorded e = {.begin = begin, .end = end, .name = name, .kind = kind, .lane = lane, .bytes = bytes};
    e.flops = flops;
    e.tier = kind == EVENT_KERNEL ? "C" : "eager";
    e.place = kind == EVENT_SPAN ? "" : "digits.td:14";
    assert_int_equal(recording_add(r, &e), STATUS_OK);
}

/* A statement of 10,000 ns: two kernels, an op with a product inside, work on lane 1, a compilation. */
static recording *example(void) {
    recording *r = recording_new(2, "step()");
    assert_non_null(r);
    add(r, 0, 10000, "step", EVENT_SPAN, 0, 0, 0);
    add(r, 1000, 2000, "k1_add", EVENT_KERNEL, 0, 40000, 1000);
    add(r, 3000, 5000, "k1_add", EVENT_KERNEL, 0, 40000, 1000);
    add(r, 1000, 1900, "k1_add", EVENT_KERNEL, 1, 20000, 500);
    add(r, 6000, 9000, "matmul", EVENT_OP, 0, 1000, 100000);
    add(r, 6500, 8500, "gemm", EVENT_GEMM, 0, 1000, 100000);
    add(r, 0, 9000, "k1_add", EVENT_COMPILE, 1, 0, 0);
    recording_settle(r);
    return r;
}

static const report_row *row_of(const report *r, const char *name, event_kind kind) {
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].name, name) == 0 && r->rows[i].kind == kind) return &r->rows[i];
    return NULL;
}

static void sums_are_right(void **state) {
    (void)state;
    recording *of = example();
    report r;
    error e = {0};
    assert_int_equal(report_build(of, &limits, &r, &e), STATUS_OK);
    assert_int_equal(r.count, 4);
    assert_int_equal(r.wall, 10000);
    assert_int_equal(r.launched, 6000);
    const report_row *k = row_of(&r, "k1_add", EVENT_KERNEL), *op = row_of(&r, "matmul", EVENT_OP),
                     *gemm = row_of(&r, "gemm", EVENT_GEMM), *cc = row_of(&r, "k1_add", EVENT_COMPILE);
    assert_ptr_equal(k, &r.rows[0]); /* most time first; compilation beside the main thread last */
    assert_ptr_equal(cc, &r.rows[3]);
    assert_int_equal(k->calls, 2);
    assert_int_equal(k->total, 3000);
    assert_int_equal(k->self, 3000);
    assert_near(k->share, 0.3, 1e-12);
    assert_near(k->bytes, 80000, 0);
    assert_near(report_bandwidth(k), 80000.0 / 3000, 1e-9); /* GB/s */
    assert_near(report_flops(k), 2000.0 / 3000, 1e-9);
    assert_int_equal(k->by, BOUND_MEMORY);
    assert_near(k->limit, 800, 1e-9); /* 80,000 bytes at 100 GB/s */
    assert_near(report_achieved(k), 800.0 / 3000, 1e-9);
    assert_int_equal(op->total, 3000);
    assert_int_equal(op->self, 1000);
    assert_near(op->share, 0.1, 1e-12);
    assert_int_equal(gemm->self, 2000);
    assert_int_equal(gemm->by, BOUND_COMPUTE);
    assert_near(gemm->limit, 2000, 1e-9); /* 100,000 flops at 50 GFLOP/s: as fast as can be */
    assert_near(report_achieved(gemm), 1.0, 1e-9);
    assert_near(cc->share, -1, 0);
    assert_int_equal(cc->total, 9000);
    double shares = (double)(r.wall - r.launched) / (double)r.wall;
    for (uint32_t i = 0; i < r.count; i++) shares += r.rows[i].share > 0 ? r.rows[i].share : 0;
    assert_near(shares, 1.0, 1e-12);
    report_free(&r);

    /* Without limits everything else is the same. */
    assert_int_equal(report_build(of, NULL, &r, &e), STATUS_OK);
    assert_near(row_of(&r, "gemm", EVENT_GEMM)->limit, 0, 0);
    assert_int_equal(row_of(&r, "gemm", EVENT_GEMM)->by, BOUND_UNKNOWN);
    report_free(&r);
    recording_free(of);
}

static void limits_follow_size(void **state) {
    (void)state;
    assert_near(limits_memory_rate(&limits, 1), 100e9, 0);
    assert_near(limits_memory_rate(&limits, 192 << 10), 100e9, 0);
    assert_near(limits_memory_rate(&limits, (192 << 10) + 1), 80e9, 0);
    assert_near(limits_memory_rate(&limits, 1e9), 10e9, 0);
    roofline big = roofline_of(&limits, 1e9, 1e9);
    assert_int_equal(big.by, BOUND_MEMORY);
    assert_near(big.limit, 1e8, 1e-3);
    assert_int_equal(roofline_of(&limits, 0, 0).by, BOUND_UNKNOWN);
}

static void limits_learn_from_recordings(void **state) {
    (void)state;
    recording *r = recording_new(1, "");
    add(r, 0, 100000, "matmul", EVENT_GEMM, 0, 1000, 4000000);      /* 40 GFLOP/s */
    add(r, 100000, 100010, "matmul", EVENT_GEMM, 0, 1000, 4000000); /* too short to be believed */
    recording_settle(r);
    machine_limits m = limits;
    assert_false(limits_learn(&m, r));
    add(r, 200000, 300000, "matmul", EVENT_GEMM, 0, 1000, 9000000);
    recording_settle(r);
    assert_true(limits_learn(&m, r));
    assert_near(m.flops, 90e9, 1);
    recording_free(r);
}

/* Columns that a line takes. */
static int line_columns(const char *line, size_t length) {
    int columns = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t bytes = utf8_decode(line + at, length - at, &code);
        assert_true(bytes > 0);
        columns += unicode_width(code);
        at += bytes;
    }
    return columns;
}

static void table_fits_every_width(void **state) {
    (void)state;
    recording *of = example();
    recorded odd = {.begin = 9000,
                    .end = 9100,
                    .name = "größe_\x01\xff_名前_with_a_very_long_name_indeed_yes",
                    .tier = "tiles",
                    .place = "a/rather/long/path/to/a/file.td:1234"};
    assert_int_equal(recording_add(of, &odd), STATUS_OK);
    recording_settle(of);
    of->traced = 10000;
    of->untraced = 8000;
    report r;
    error e = {0};
    assert_int_equal(report_build(of, &limits, &r, &e), STATUS_OK);
    for (int width = 8; width <= 200; width++) {
        text out = {0};
        report_print(&r, width, 0, &out);
        const char *line = text_str(&out);
        for (uint32_t i = 0; i <= r.count; i++) { /* header and rows */
            const char *end = strchr(line, '\n');
            assert_non_null(end);
            assert_true(line_columns(line, (size_t)(end - line)) <= width);
            line = end + 1;
        }
        text_free(&out);
    }
    text out = {0};
    report_print(&r, 0, 0, &out);
    const char *all = text_str(&out);
    assert_non_null(strstr(all, "k1_add [C]"));
    assert_non_null(strstr(all, "digits.td:14"));
    assert_non_null(strstr(all, "30.0%"));
    assert_non_null(strstr(all, "27% mem"));
    assert_non_null(strstr(all, "+25.0%"));
    assert_non_null(strstr(all, "of which 3.90 us (39.0%) between launches"));
    assert_null(strstr(all, "LOST"));
    of->lost_total = 12;
    text_clear(&out);
    report_print(&r, 100, 2, &out);
    assert_non_null(strstr(text_str(&out), "(3 more rows)"));
    assert_non_null(strstr(text_str(&out), "12 MORE LOST"));
    text_free(&out);
    report_free(&r);
    recording_free(of);
}

static void prints_an_empty_recording(void **state) {
    (void)state;
    recording *of = recording_new(1, "");
    report r;
    error e = {0};
    text out = {0};
    assert_int_equal(report_build(of, &limits, &r, &e), STATUS_OK);
    report_print(&r, 80, 0, &out);
    assert_non_null(strstr(text_str(&out), "nothing was launched"));
    assert_null(strstr(text_str(&out), "nan"));
    text_free(&out);
    report_free(&r);
    recording_free(of);
}

static void json_reads_back(void **state) {
    (void)state;
    recording *of = example();
    recorded bad = {.begin = 9500, .end = 9600, .name = "bad \xff \"name\""};
    assert_int_equal(recording_add(of, &bad), STATUS_OK);
    recording_settle(of);
    report r;
    error e = {0};
    assert_int_equal(report_build(of, &limits, &r, &e), STATUS_OK);
    text out = {0};
    assert_true(report_json(&r, &out));
    assert_ptr_equal(strchr(text_str(&out), '\n'), out.data + out.length - 1); /* one line */
    cJSON *json = cJSON_Parse(text_str(&out));
    assert_non_null(json);
    const cJSON *rows = cJSON_GetObjectItem(json, "rows"), *first = cJSON_GetArrayItem(rows, 0);
    assert_int_equal(cJSON_GetArraySize(rows), 5);
    assert_string_equal(cJSON_GetObjectItem(first, "name")->valuestring, "k1_add");
    assert_string_equal(cJSON_GetObjectItem(first, "where")->valuestring, "digits.td:14");
    assert_string_equal(cJSON_GetObjectItem(first, "bound")->valuestring, "memory");
    assert_int_equal(cJSON_GetObjectItem(first, "self_ns")->valueint, 3000);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(first, "graph")));
    assert_near(cJSON_GetObjectItem(first, "of_limit")->valuedouble, 800.0 / 3000, 1e-12);
    assert_int_equal(cJSON_GetObjectItem(json, "wall_ns")->valueint, 10000);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "untraced_ns")));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "limits"), "memory")),
                     LIMIT_LEVELS);
    bool found = false;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows) {
        if (strcmp(cJSON_GetObjectItem(row, "name")->valuestring, "bad \xEF\xBF\xBD \"name\"") == 0)
            found = true;
    }
    assert_true(found);
    cJSON_Delete(json);
    text_free(&out);
    report_free(&r);
    recording_free(of);
}

static void keeps_limits_in_a_file(void **state) {
    (void)state;
    char path[] = "/tmp/test_limits_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    machine_limits want = {.lanes = 2}, got;
    strcpy(want.processor, limits.processor);
    assert_false(limits_load(path, &want, &got)); /* empty */
    assert_true(limits_save(path, &limits));
    assert_true(limits_load(path, &want, &got));
    assert_int_equal(got.lanes, 2);
    assert_string_equal(got.processor, limits.processor);
    for (int i = 0; i < LIMIT_LEVELS; i++) {
        assert_int_equal(got.memory[i].bytes, limits.memory[i].bytes);
        assert_near(got.memory[i].rate, limits.memory[i].rate, 1);
    }
    assert_near(got.flops, 50e9, 1);
    want.lanes = 3; /* measured with another number of lanes */
    assert_false(limits_load(path, &want, &got));
    want.lanes = 2;
    strcpy(want.processor, "Another");
    assert_false(limits_load(path, &want, &got));
    strcpy(want.processor, limits.processor);
    const char *const damaged[] = {"",        "{", "[]", "{\"version\":2}", "{\"version\":1,\"lanes\":2}",
                                   "\xff\xff"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        error e = {0};
        assert_int_equal(replace_file(path, damaged[i], strlen(damaged[i]), &e), STATUS_OK);
        assert_false(limits_load(path, &want, &got));
    }
    unlink(path);
    assert_false(limits_load(path, &want, &got));
    assert_false(limits_save("/nowhere/limits.json", &limits));
}

static void times_read_well(void **state) {
    (void)state;
    char b[16];
    assert_string_equal(report_time_text(0, b), "0 ns");
    assert_string_equal(report_time_text(999, b), "999 ns");
    assert_string_equal(report_time_text(1234, b), "1.23 us");
    assert_string_equal(report_time_text(123456, b), "123 us");
    assert_string_equal(report_time_text(12345678, b), "12.3 ms");
    assert_string_equal(report_time_text(2.5e9, b), "2.50 s");
    assert_string_equal(report_count_text(12, b), "12 ");
    assert_string_equal(report_count_text(1500, b), "1.50 k");
    assert_string_equal(report_count_text(2.5e10, b), "25.0 G");
    assert_string_equal(report_count_text(999.9e6, b), "1.00 G");
}

static void survives_running_out_of_memory(void **state) {
    (void)state;
    recording *of = example();
    int64_t live = mem_live();
    status s = STATUS_MEMORY;
    for (int64_t after = 1; s; after++) {
        report r;
        error e = {0};
        mem_fail_after(after);
        s = report_build(of, &limits, &r, &e);
        mem_fail_after(0);
        if (s) assert_int_equal(e.code, STATUS_MEMORY);
        report_free(&r);
        assert_int_equal(mem_live(), live);
    }
    recording_free(of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(limits_follow_size),
        cmocka_unit_test(limits_learn_from_recordings),
        cmocka_unit_test(table_fits_every_width),
        cmocka_unit_test(prints_an_empty_recording),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(keeps_limits_in_a_file),
        cmocka_unit_test(times_read_well),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
