/* test_csv.c — csv in and out: every form of file that people write, errors with their place, gzip, and
 * files that are no csv at all. */
#include "tests/harness/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "engine/io/io.h"
#include "tests/harness/files.h"

static const io_options plain = {0};

static io_options as_dtype(dtype t) {
    return (io_options){.has_dtype = true, .dtype = t};
}

static void put(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}

/* Loads text as a file; the value belongs to the caller. */
static io_value load(context *c, const char *content, const io_options *options) {
    io_value v;
    files_write_text("a.csv", content);
    if (io_load(c, "a.csv", options, &v)) fail_msg("%s (%s)", c->err.message, c->err.hint);
    return v;
}

static void check_tensor(const tensor *t, dtype type, int64_t rows, int64_t columns, const double *expected,
                         int64_t count) {
    assert_non_null(t);
    assert_int_equal(t->meta.dtype, type);
    assert_int_equal(t->meta.shape.rank, columns > 0 ? 2 : 1);
    assert_int_equal(t->meta.shape.size[0], rows);
    if (columns > 0) assert_int_equal(t->meta.shape.size[1], columns);
    assert_int_equal(tensor_count(t), count);
    for (int64_t i = 0; i < count; i++) {
        double v = tensor_get_real(t, i);
        if (!(v == expected[i] || (isnan(v) && isnan(expected[i])))) fail_msg("element %d is %g", (int)i, v);
    }
}

#define LOADS(c, text, options, type, rows, columns, ...)                                                    \
    do {                                                                                                     \
        io_value v_ = load(c, text, options);                                                                \
        check_tensor(v_.tensor, type, rows, columns, (const double[]){__VA_ARGS__},                          \
                     sizeof((const double[]){__VA_ARGS__}) / sizeof(double));                                \
        io_value_free(&v_);                                                                                  \
    } while (0)

/* Loading fails with this number, and the message holds `part`. */
static void refuses(context *c, const char *content, size_t length, const io_options *options, int number,
                    const char *part) {
    io_value v;
    files_write("a.csv", content, length);
    assert_int_not_equal(io_load(c, "a.csv", options, &v), STATUS_OK);
    if (c->err.number != number || !strstr(c->err.message, part))
        fail_msg("E%d %s; wanted E%d with `%s`", c->err.number, c->err.message, number, part);
    assert_null(v.tensor);
    assert_null(v.columns);
    error_clear(&c->err);
}

static void refuses_text(context *c, const char *content, const io_options *options, int number,
                         const char *part) {
    refuses(c, content, strlen(content), options, number, part);
}

static void numbers_of_every_form(void **state) {
    (void)state;
    context *c = context_new(1);
    LOADS(c, "1,2\n3,4\n", &plain, DT_F32, 2, 2, 1, 2, 3, 4);
    LOADS(c, "1,2\r\n3,4", &plain, DT_F32, 2, 2, 1, 2, 3, 4);
    LOADS(c,
          "\xef\xbb\xbf"
          "1,2\r3,4\r",
          &plain, DT_F32, 2, 2, 1, 2, 3, 4);
    LOADS(c, "\n1,2\n\n  \n3,4\n\n", &plain, DT_F32, 2, 2, 1, 2, 3, 4);
    LOADS(c, " 1 ,\t+2\n\"3\", \"4\" \n", &plain, DT_F32, 2, 2, 1, 2, 3, 4);
    LOADS(c, "1;2.5\n3;4\n", &plain, DT_F32, 2, 2, 1, 2.5, 3, 4);
    LOADS(c, "1\t2\n3\t4\n", &plain, DT_F32, 2, 2, 1, 2, 3, 4);
    LOADS(c, "7", &plain, DT_F32, 1, 1, 7);
    LOADS(c, "nan,inf,-Infinity\n1e3,.5,-0\n", &plain, DT_F32, 2, 3, NAN, INFINITY, -INFINITY, 1000, 0.5,
          -0.0);
    LOADS(c, "1,,3\n,2,\n", &plain, DT_F32, 2, 3, 1, NAN, 3, NAN, 2, NAN);
    LOADS(c, "0.1\n16777217\n1e-46\n1e39\n", &plain, DT_F32, 4, 1, (double)0.1f, 16777216, 0, INFINITY);
    context_free(c);
}

static void dtypes_that_are_asked_for(void **state) {
    (void)state;
    context *c = context_new(1);
    io_options o = as_dtype(DT_F64);
    LOADS(c, "0.1,1e300\n", &o, DT_F64, 1, 2, 0.1, 1e300);
    o = as_dtype(DT_U8);
    LOADS(c, "255,0\n1.0,1e2\n", &o, DT_U8, 2, 2, 255, 0, 1, 100);
    refuses_text(c, "1,2\n3,256\n", &o, 609, "line 2, column 2: `256` does not fit u8 (0 to 255)");
    refuses_text(c, "1,2\n3,-1\n", &o, 609, "`-1`");
    refuses_text(c, "1,2\n3,0.5\n", &o, 609, "`0.5` is not an integer");
    refuses_text(c, "1,2\n3,nan\n", &o, 609, "`nan` is not an integer");
    refuses_text(c, "1,2\n3,1e30\n", &o, 609, "`1e30` does not fit");
    refuses_text(c, "1,2\n,4\n", &o, 607, "line 2, column 1: nothing");
    o = as_dtype(DT_BOOL);
    LOADS(c, "0,1\n1,0\n", &o, DT_BOOL, 2, 2, 0, 1, 1, 0);
    o = as_dtype(DT_I64);
    io_value v = load(c, "9007199254740993\n-9223372036854775808\n", &o);
    assert_true(tensor_get_int(v.tensor, 0) == 9007199254740993);
    assert_true(tensor_get_int(v.tensor, 1) == INT64_MIN);
    io_value_free(&v);
    o = as_dtype(DT_F16);
    LOADS(c, "0.1,65519\n65520,1e-8\n", &o, DT_F16, 2, 2, 0x1.998p-4, 65504, INFINITY, 0);
    context_free(c);
}

static void headers_are_found(void **state) {
    (void)state;
    context *c = context_new(1);
    io_options yes = {.header = IO_HEADER_YES}, no = {.header = IO_HEADER_NO};
    LOADS(c, "a,b\n1,2\n", &plain, DT_F32, 1, 2, 1, 2);
    LOADS(c, "id,2019,2020\n1,2,3\n", &plain, DT_F32, 1, 3, 1, 2, 3);
    LOADS(c, "1,2\n3,4\n", &yes, DT_F32, 1, 2, 3, 4);
    io_value v = load(c, "a,1\nb,2\n", &no);
    assert_null(v.tensor);
    assert_int_equal(v.rows, 2);
    assert_string_equal(v.columns[0].name, "c0");
    io_value_free(&v);
    refuses_text(c, "1,2\n3,x\n", &plain, 607, "line 2, column 2: `x` is not a number");
    refuses_text(c, "a,b\n\n", &yes, 603, "no rows");
    context_free(c);
}

static void check_string(const io_column *column, size_t row, const char *expected) {
    const char *s;
    size_t length;
    io_texts_get(&column->texts, row, &s, &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(s, expected, length);
}

static void text_makes_columns(void **state) {
    (void)state;
    context *c = context_new(1);
    io_value v = load(c,
                      "x,species,,x,note\n"
                      "1,setosa,5,6,\"a \"\"b\"\", c\"\n"
                      "2, two words ,,8,\n"
                      "3,\"two\nlines\",7,9,\"\"\n",
                      &plain);
    assert_null(v.tensor);
    assert_int_equal(v.column_count, 5);
    assert_int_equal(v.rows, 3);
    const char *names[] = {"x", "species", "c2", "x_4", "note"};
    for (int i = 0; i < 5; i++) assert_string_equal(v.columns[i].name, names[i]);
    check_tensor(v.columns[0].numbers, DT_F32, 3, 0, (const double[]){1, 2, 3}, 3);
    check_tensor(v.columns[2].numbers, DT_F32, 3, 0, (const double[]){5, NAN, 7}, 3);
    check_tensor(v.columns[3].numbers, DT_F32, 3, 0, (const double[]){6, 8, 9}, 3);
    check_string(&v.columns[1], 0, "setosa");
    check_string(&v.columns[1], 1, "two words");
    check_string(&v.columns[1], 2, "two\nlines");
    check_string(&v.columns[4], 0, "a \"b\", c");
    check_string(&v.columns[4], 1, "");

    assert_int_equal(io_save(c, &v, "b.csv"), STATUS_OK);
    char *saved = files_read("b.csv", NULL);
    assert_string_equal(saved, "x,species,c2,x_4,note\n"
                               "1,setosa,5,6,\"a \"\"b\"\", c\"\n"
                               "2,two words,nan,8,\"\"\n"
                               "3,\"two\nlines\",7,9,\"\"\n");
    free(saved);
    io_value_free(&v);
    context_free(c);
}

static void mistakes_name_their_place(void **state) {
    (void)state;
    context *c = context_new(1);
    refuses_text(c, "1,2\n3\n", &plain, 606, "line 2 has 1 field where the first row has 2");
    refuses_text(c, "1,2\n3,4,5\n", &plain, 606, "line 2 has 3 fields");
    refuses_text(c, "1\n\n\n2,\n", &plain, 606, "line 4 has 2 fields");
    refuses_text(c, "\"a\nb\",1\nc,oops\n", &plain, 607, "line 3, column 2: `oops`");
    refuses_text(c, "1,2\n3,4 5\n", &plain, 607, "`4 5` is not a number");
    refuses_text(c, "1,2\n3,\"4\n", &plain, 608, "line 2, column 2: a quote is opened and never closed");
    refuses_text(c, "1,2\n3,\"4\"x\n", &plain, 608, "line 2, column 2: something follows");
    refuses_text(c, "1,2\n3,1\x1b[31m", &plain, 607, "`1\\x1b[31m`");
    refuses_text(c, "", &plain, 603, "is empty");
    refuses_text(c, "\n\n", &plain, 603, "is empty");
    refuses_text(c, "\xef\xbb\xbf", &plain, 603, "is empty");
    refuses(c, "1,2\n3,4\0,5\n", 11, &plain, 604, "neither text");
    refuses(c, "PK\3\4zip", 7, &plain, 604, "zip");

    io_value v;
    assert_int_equal(io_load(c, "nowhere.csv", NULL, &v), STATUS_IO);
    assert_int_equal(c->err.number, 601);
    assert_non_null(strstr(c->err.message, "No such file"));
    error_clear(&c->err);
    assert_int_equal(io_load(c, ".", NULL, &v), STATUS_IO);
    assert_int_equal(c->err.number, 602);
    context_free(c);
}

/* A late mistake, a header and quotes across the borders of the blocks in which files are read. */
static void large_files_come_whole(void **state) {
    (void)state;
    context *c = context_new(1);
    size_t room = 8 << 20, used = 0;
    char *data = malloc(room);
    assert_non_null(data);
    int rows = 200000;
    for (int i = 0; i < rows; i++)
        used += (size_t)snprintf(data + used, room - used, "%d,\"%d.5\",%d\r\n", i, i, i % 7);
    files_write_gzip("big.csv.gz", data, used);
    io_value v;
    assert_int_equal(io_load(c, "big.csv.gz", NULL, &v), STATUS_OK);
    assert_int_equal(v.tensor->meta.shape.size[0], rows);
    for (int i = 0; i < rows; i += 997) {
        assert_true(tensor_get_real(v.tensor, 3 * i) == i);
        assert_true(tensor_get_real(v.tensor, 3 * i + 1) == i + 0.5);
        assert_true(tensor_get_real(v.tensor, 3 * i + 2) == i % 7);
    }
    io_value_free(&v);

    put(data + used, "1,2\n", 4);
    files_write("late.csv", data, used + 4);
    assert_int_equal(io_load(c, "late.csv", NULL, &v), STATUS_IO);
    assert_non_null(strstr(c->err.message, "line 200001 "));
    error_clear(&c->err);

    /* One field of two megabytes. */
    memset(data, 'x', 2 << 20);
    put(data, "1,\"", 3);
    put(data + (2 << 20), "\"\n", 2);
    files_write("long.csv", data, (2 << 20) + 2);
    assert_int_equal(io_load(c, "long.csv", NULL, &v), STATUS_OK);
    assert_int_equal(v.columns[1].texts.used, (2 << 20) - 3);
    io_value_free(&v);
    free(data);
    context_free(c);
}

static void gzip_files_are_checked(void **state) {
    (void)state;
    context *c = context_new(1);
    files_write_gzip("a.csv", "1,2\n", 4); /* whatever the name */
    size_t first, second;
    char *a = files_read("a.csv", &first);
    io_value v;
    assert_int_equal(io_load(c, "a.csv", NULL, &v), STATUS_OK);
    check_tensor(v.tensor, DT_F32, 1, 2, (const double[]){1, 2}, 2);
    io_value_free(&v);

    files_write_gzip("b.csv.gz", "3,4\n", 4);
    char *b = files_read("b.csv.gz", &second);
    char both[200] = {0};
    assert_true(first + second + 8 < sizeof both);
    put(both, a, first);
    put(both + first, b, second);
    files_write("c.csv.gz", both, first + second + 8); /* two members, then zeros */
    assert_int_equal(io_load(c, "c.csv.gz", NULL, &v), STATUS_OK);
    check_tensor(v.tensor, DT_F32, 2, 2, (const double[]){1, 2, 3, 4}, 4);
    io_value_free(&v);

    for (size_t cut = 2; cut < first; cut++) refuses(c, a, cut, &plain, 605, "ends too early");
    put(both, a, first);
    both[first - 6] ^= 1; /* the checksum */
    refuses(c, both, first, &plain, 605, "is damaged");
    put(both, a, first);
    put(both + first, "junk", 4);
    refuses(c, both, first + 4, &plain, 605, "not gzip");
    free(a);
    free(b);
    context_free(c);
}

static void what_is_saved_reads_back(void **state) {
    (void)state;
    context *c = context_new(1);
    uint64_t seed = 3;
    float data[600];
    for (int i = 0; i < 600; i++) {
        uint32_t bits = (uint32_t)hash_u64(seed++);
        memcpy(&data[i], &bits, 4);
        if (isnan(data[i])) data[i] = NAN;
    }
    shape s = {.rank = 2, .size = {100, 6}};
    io_value v = {.tensor = tensor_from(c, DT_F32, &s, data)}, back;
    const char *names[] = {"a.csv", "a.csv.gz", "A.CSV"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(io_save(c, &v, names[i]), STATUS_OK);
        assert_int_equal(io_load(c, names[i], NULL, &back), STATUS_OK);
        assert_memory_equal(&back.tensor->meta, &v.tensor->meta, sizeof(meta));
        for (int j = 0; j < 600; j++) {
            float got = ((float *)tensor_data(back.tensor))[j];
            assert_true(got == data[j] || (isnan(got) && isnan(data[j])));
        }
        io_value_free(&back);
    }
    size_t length;
    char *gz = files_read("a.csv.gz", &length);
    assert_true((unsigned char)gz[0] == 0x1f);
    free(gz);

    int64_t ints[] = {INT64_MIN, 0, INT64_MAX};
    shape vector = {.rank = 1, .size = {3}}, cube = {.rank = 3, .size = {1, 1, 3}};
    io_value w = {.tensor = tensor_from(c, DT_I64, &vector, ints)};
    assert_int_equal(io_save(c, &w, "i.csv"), STATUS_OK);
    char *saved = files_read("i.csv", NULL);
    assert_string_equal(saved, "-9223372036854775808\n0\n9223372036854775807\n");
    free(saved);
    io_value_free(&w);

    io_value weak = {.tensor = tensor_weak_real(c, 0.1)};
    assert_int_equal(io_save(c, &weak, "w.csv"), STATUS_OK);
    saved = files_read("w.csv", NULL);
    assert_string_equal(saved, "0.1\n");
    free(saved);
    io_value_free(&weak);

    io_value deep = {.tensor = tensor_from(c, DT_I64, &cube, ints)};
    assert_int_equal(io_save(c, &deep, "d.csv"), STATUS_IO);
    assert_int_equal(c->err.number, 624);
    error_clear(&c->err);
    assert_int_equal(io_save(c, &deep, "d.txt"), STATUS_IO);
    assert_int_equal(c->err.number, 623);
    error_clear(&c->err);
    io_value_free(&deep);
    io_value_free(&v);
    context_free(c);
}

static void a_failed_save_leaves_the_old_file(void **state) {
    (void)state;
    context *c = context_new(1);
    float one = 1;
    shape s = {.rank = 1, .size = {1}};
    io_value v = {.tensor = tensor_from(c, DT_F32, &s, &one)};
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(symlink("/dev/full", "full.csv"), 0);
        assert_int_equal(io_save(c, &v, "full.csv"), STATUS_IO);
        assert_int_equal(c->err.number, 622);
        error_clear(&c->err);
        unlink("full.csv");
    }
    assert_int_equal(io_save(c, &v, "no/such/folder.csv"), STATUS_IO);
    assert_int_equal(c->err.number, 621);
    error_clear(&c->err);

    files_write_text("old.csv", "5\n");
    assert_int_equal(symlink("old.csv", "link.csv"), 0);
    int files = files_count();
    atomic_store(&c->interrupt, 1);
    assert_int_equal(io_save(c, &v, "old.csv"), STATUS_INTERRUPT);
    atomic_store(&c->interrupt, 0);
    error_clear(&c->err);
    char *saved = files_read("old.csv", NULL);
    assert_string_equal(saved, "5\n");
    free(saved);
    assert_int_equal(files_count(), files);
    assert_int_equal(io_save(c, &v, "link.csv"), STATUS_OK); /* through the link, which stays one */
    saved = files_read("old.csv", NULL);
    assert_string_equal(saved, "1\n");
    free(saved);
    char target[16] = {0};
    assert_int_equal(readlink("link.csv", target, sizeof target - 1), 7);
    assert_int_equal(files_count(), files);
    io_value_free(&v);
    context_free(c);
}

/* Random edits of a real file: any outcome but a crash, and always the same bookkeeping. */
static void random_bytes_do_no_harm(void **state) {
    (void)state;
    context *c = context_new(1);
    const char *start = "\xef\xbb\xbfname,x,y\r\n\"a,\"\"b\"\"\",1.5e3,2\nzwei,-inf,\n;\t3,nan,7\n";
    uint64_t seed = 1;
    int loaded = 0;
    for (int round = 0; round < 4000; round++) {
        char data[128];
        size_t length = strlen(start);
        put(data, start, length);
        for (int edits = 0; edits < 1 + round % 8; edits++) {
            uint64_t r = hash_u64(seed++);
            static const char pieces[] = "\",\r\n\t; e.-9x\0\xff";
            data[r % length] = (r >> 20) % 4 ? pieces[(r >> 32) % (sizeof pieces - 1)] : (char)(r >> 40);
            if ((r >> 50) % 8 == 0) length = 1 + (r >> 53) % length;
        }
        files_write("f.csv", data, length);
        io_value v;
        io_options o = {.has_dtype = round % 3 == 0,
                        .dtype = (dtype)(round % DT_COUNT),
                        .header = (io_header)(round % 3)};
        if (io_load(c, "f.csv", &o, &v) == STATUS_OK)
            loaded++;
        else
            assert_true(c->err.number >= 601 && c->err.number <= 699);
        error_clear(&c->err);
        io_value_free(&v);
    }
    assert_in_range(loaded, 100, 3900);
    context_free(c);
}

/* Lets each allocation of a load or save fail once. */
static void running_out_of_memory_is_an_error(void **state) {
    (void)state;
    files_write_gzip("m.csv", "a,b\n1,x\n2,\"y\"\"z\"\n", 17);
    files_write_gzip("n.csv", "1,2\n3,4\n", 8);
    int64_t before = mem_live();
    const char *names[] = {"m.csv", "n.csv"};
    for (int which = 0; which < 2; which++) {
        bool finished = false;
        int failures = 0;
        for (int64_t n = 1; !finished; n++) {
            context *c = context_new(1);
            assert_non_null(c);
            io_options o = as_dtype(DT_F16);
            io_value v;
            mem_fail_after(n);
            status code = io_load(c, names[which], &o, &v);
            if (code == STATUS_OK) code = io_save(c, &v, "o.csv.gz");
            mem_fail_after(0);
            finished = code == STATUS_OK;
            failures += !finished;
            if (!finished && c->err.code != STATUS_MEMORY)
                fail_msg("allocation %d: %s", (int)n, c->err.message);
            io_value_free(&v);
            context_free(c);
            assert_int_equal(mem_live(), before);
        }
        assert_true(failures > 5);
    }
}

static void the_digits_load_quickly(void **state) {
    (void)state;
    char path[FILES_PATH];
    files_in_tree(path, "docs/lessons/digits.csv.gz");
    context *c = context_new(1);
    io_value v;
    uint64_t begin = clock_ns();
    assert_int_equal(io_load(c, path, NULL, &v), STATUS_OK);
    print_message("digits.csv.gz in %.1f ms\n", (double)(clock_ns() - begin) / 1e6);
    assert_int_equal(v.tensor->meta.shape.size[0], 1797);
    assert_int_equal(v.tensor->meta.shape.size[1], 65);
    double sum = 0;
    for (int64_t i = 0; i < tensor_count(v.tensor); i++) sum += tensor_get_real(v.tensor, i);
    assert_true(sum == 569788);
    io_value_free(&v);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_form),
        cmocka_unit_test(dtypes_that_are_asked_for),
        cmocka_unit_test(headers_are_found),
        cmocka_unit_test(text_makes_columns),
        cmocka_unit_test(mistakes_name_their_place),
        cmocka_unit_test(large_files_come_whole),
        cmocka_unit_test(gzip_files_are_checked),
        cmocka_unit_test(what_is_saved_reads_back),
        cmocka_unit_test(a_failed_save_leaves_the_old_file),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(the_digits_load_quickly),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
