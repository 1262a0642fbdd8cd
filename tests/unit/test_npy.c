/* test_npy.c — npy in and out: NumPy's own bytes, every dtype, order and version, and headers that lie. */
#include "tests/harness/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "engine/io/io.h"
#include "tests/harness/files.h"

static void put(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
}

/* Writes a npy file of version `major` with this header and data; `claimed`: the header's length, -1 for
 * the real one. */
static void write_npy(int major, const char *header, int64_t claimed, const void *data, size_t bytes) {
    unsigned char file[2048] = "\x93NUMPY";
    size_t length = strlen(header), used = 8, width = major == 1 ? 2 : 4;
    if (claimed < 0) claimed = (int64_t)length;
    file[6] = (unsigned char)major;
    for (size_t i = 0; i < width; i++) file[used++] = (unsigned char)(claimed >> 8 * i);
    assert_true(used + length + bytes < sizeof file);
    put(file + used, header, length);
    if (bytes > 0) memcpy(file + used + length, data, bytes);
    files_write("a.npy", file, used + length + bytes);
}

static tensor *load(context *c) {
    io_value v;
    if (io_load(c, "a.npy", NULL, &v)) fail_msg("E%d %s", c->err.number, c->err.message);
    assert_null(v.columns);
    return v.tensor;
}

static void refuses(context *c, int number, const char *part) {
    io_value v;
    assert_int_not_equal(io_load(c, "a.npy", NULL, &v), STATUS_OK);
    if (c->err.number != number || !strstr(c->err.message, part))
        fail_msg("E%d %s; wanted E%d with `%s`", c->err.number, c->err.message, number, part);
    assert_null(v.tensor);
    error_clear(&c->err);
}

static void every_dtype_goes_there_and_back(void **state) {
    (void)state;
    context *c = context_new(1);
    uint64_t seed = 5;
    shape shapes[] = {{.rank = 0},
                      {.rank = 1, .size = {7}},
                      {.rank = 2, .size = {3, 5}},
                      {.rank = 4, .size = {2, 1, 3, 2}},
                      {.rank = 2, .size = {0, 3}},
                      {.rank = 8, .size = {1, 1, 2, 1, 1, 1, 1, 2}}};
    for (int t = 0; t < DT_COUNT; t++) {
        if (t == DT_BF16) continue;
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            tensor *x = tensor_new(c, (dtype)t, &shapes[k]);
            size_t bytes = (size_t)tensor_count(x) * dtype_size((dtype)t);
            for (size_t i = 0; i < bytes; i++)
                ((unsigned char *)tensor_data(x))[i] =
                    (unsigned char)(hash_u64(seed++) & (t == DT_BOOL ? 1 : 255));
            io_value v = {.tensor = x}, back;
            assert_int_equal(io_save(c, &v, "a.npy"), STATUS_OK);
            assert_int_equal(io_save(c, &v, "a.npy.gz"), STATUS_OK);
            size_t length;
            free(files_read("a.npy", &length));
            assert_int_equal((length - bytes) % 64, 0);
            const char *names[] = {"a.npy", "a.npy.gz"};
            for (int i = 0; i < 2; i++) {
                if (io_load(c, names[i], NULL, &back)) fail_msg("%s", c->err.message);
                assert_memory_equal(&back.tensor->meta, &x->meta, sizeof(meta));
                if (bytes > 0) assert_memory_equal(tensor_data(back.tensor), tensor_data(x), bytes);
                io_value_free(&back);
            }
            io_value_free(&v);
        }
    }
    context_free(c);
}

static void views_and_weak_scalars_are_saved_as_they_look(void **state) {
    (void)state;
    context *c = context_new(1);
    int32_t data[] = {1, 2, 3, 4, 5, 6};
    shape s = {.rank = 2, .size = {2, 3}}, turned = {.rank = 2, .size = {3, 2}};
    tensor *x = tensor_from(c, DT_I32, &s, data);
    io_value v = {.tensor = tensor_view(x, &turned, (const int64_t[]){1, 3}, 0)};
    assert_int_equal(io_save(c, &v, "a.npy"), STATUS_OK);
    tensor *y = load(c);
    const int32_t expected[] = {1, 4, 2, 5, 3, 6};
    assert_memory_equal(&y->meta.shape, &turned, sizeof turned);
    assert_memory_equal(tensor_data(y), expected, sizeof expected);
    tensor_release(x);
    tensor_release(y);
    io_value_free(&v);

    io_value real = {.tensor = tensor_weak_real(c, 0.1)}, integer = {.tensor = tensor_weak_int(c, 3)};
    assert_int_equal(io_save(c, &real, "a.npy"), STATUS_OK);
    y = load(c);
    assert_int_equal(y->meta.dtype, DT_F32);
    assert_false(y->meta.weak);
    assert_true(*(float *)tensor_data(y) == 0.1f);
    tensor_release(y);
    assert_int_equal(io_save(c, &integer, "a.npy"), STATUS_OK);
    y = load(c);
    assert_int_equal(y->meta.dtype, DT_I64);
    assert_false(y->meta.weak);
    tensor_release(y);
    io_value_free(&real);
    io_value_free(&integer);

    shape one = {.rank = 0};
    uint16_t half = 0x3f80;
    io_value b = {.tensor = tensor_from(c, DT_BF16, &one, &half)};
    assert_int_equal(io_save(c, &b, "b.npy"), STATUS_IO);
    assert_int_equal(c->err.number, 624);
    assert_non_null(strstr(c->err.hint, "save(x as f32, FILE)"));
    io_value_free(&b);
    context_free(c);
}

static void foreign_orders_and_versions(void **state) {
    (void)state;
    context *c = context_new(1);
    const unsigned char big[] = {0, 0, 0, 1, 0, 0, 1, 0, 255, 255, 255, 255};
    write_npy(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }\n", -1, big, sizeof big);
    tensor *t = load(c);
    const int32_t expected[] = {1, 256, -1};
    assert_memory_equal(tensor_data(t), expected, sizeof expected);
    tensor_release(t);

    const unsigned char bytes[] = {1, 2, 3, 4, 5, 6};
    const unsigned char turned[] = {1, 3, 5, 2, 4, 6};
    write_npy(2, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"|u1\"}", -1, bytes, 6);
    t = load(c);
    assert_int_equal(t->meta.shape.size[0], 2);
    assert_memory_equal(tensor_data(t), turned, 6);
    assert_true(tensor_contiguous(t));
    tensor_release(t);

    write_npy(3, "{'descr': '|b1', 'fortran_order': False, 'shape': (6,)}", -1, bytes, 6);
    t = load(c);
    const unsigned char ones[] = {1, 1, 1, 1, 1, 1}; /* a bool is 0 or 1, whatever stood there */
    assert_memory_equal(tensor_data(t), ones, 6);
    tensor_release(t);

    write_npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", -1, "\0\0\0\0\0\0\xf0?", 8);
    t = load(c);
    assert_int_equal(t->meta.shape.rank, 0);
    assert_true(tensor_get_real(t, 0) == 1);
    tensor_release(t);
    context_free(c);
}

static void headers_that_lie(void **state) {
    (void)state;
    context *c = context_new(1);
    static const struct {
        const char *header, *part;
        int64_t claimed;
        int major, number;
    } cases[] = {
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}", "'<u2'", -1, 1, 611},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8'", -1, 1, 611},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "'|O'", -1, 1, 611},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", "malformed", 3, 1, 610},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "named fields", -1, 1, 611},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000,)}", "ends before", -1, 1, 612},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "ends before", -1, 1, 612},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "too large", -1, 1,
         613},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", "too large", -1, 1,
         613},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "not an integer", -1,
         1, 610},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "not an integer", -1, 1, 610},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "more than 8 axes", -1, 1,
         613},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "'shape'", -1, 1, 610},
        {"{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", "'fortran_order'", -1, 1, 610},
        {"{'descr': '<f4', 'shape': (1,)}", "missing", -1, 1, 610},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", "twice", -1, 1, 610},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "follows the dictionary", -1, 1, 610},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "", -1, 1, 611},
        {"{'descr': '<f4", "not a string", -1, 1, 610},
        {"{", "key", -1, 1, 610},
        {"", "not a dictionary", -1, 1, 610},
        {"{}", "ends before", 60000, 1, 612},
        {"{}", "claims 4000000000 bytes", 4000000000, 2, 610},
        {"{}", "version 4.0", -1, 4, 610},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_npy(cases[i].major, cases[i].header, cases[i].claimed, "\0\0\0", 3);
        refuses(c, cases[i].number, cases[i].part);
    }
    files_write("a.npy", "\x93NUMPY\1", 7);
    refuses(c, 612, "ends before");
    files_write_text("a.npy", "1,2,3\n");
    refuses(c, 604, "not its content");
    /* A stream's length is not known: a shape that no machine holds must not be believed there either. */
    const char header[] =
        "\x93NUMPY\1\0\x48\0{'descr': '<f4', 'fortran_order': False, 'shape': (300000000000000,)}    ";
    files_write_gzip("a.npy", header, sizeof header - 1);
    io_value v;
    assert_int_not_equal(io_load(c, "a.npy", NULL, &v), STATUS_OK);
    assert_true(c->err.code == STATUS_MEMORY || c->err.code == STATUS_IO);
    context_free(c);
}

/* Random edits of a real file's header: any outcome but a crash. */
static void random_bytes_do_no_harm(void **state) {
    (void)state;
    context *c = context_new(1);
    const char start[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }      \n";
    uint64_t seed = 9;
    int loaded = 0;
    for (int round = 0; round < 5000; round++) {
        char header[sizeof start];
        memcpy(header, start, sizeof start);
        for (int edits = 0; edits < 1 + round % 4; edits++) {
            uint64_t r = hash_u64(seed++);
            static const char pieces[] = "(){}[],:'\"<>=|0123456789 fiub\n-";
            header[r % (sizeof start - 1)] =
                (r >> 20) % 8 ? pieces[(r >> 32) % (sizeof pieces - 1)] : (char)((r >> 40) | 1);
        }
        write_npy(1 + round % 3, header, -1, "0123456789abcdefghijklmn", 24);
        io_value v;
        if (io_load(c, "a.npy", NULL, &v) == STATUS_OK)
            loaded++;
        else
            assert_true(c->err.number >= 601 && c->err.number <= 699);
        error_clear(&c->err);
        io_value_free(&v);
    }
    assert_in_range(loaded, 10, 4900);
    context_free(c);
}

static void running_out_of_memory_is_an_error(void **state) {
    (void)state;
    const unsigned char bytes[] = {1, 2, 3, 4, 5, 6};
    write_npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", -1, bytes, 6);
    int64_t before = mem_live();
    bool finished = false;
    int failures = 0;
    for (int64_t n = 1; !finished; n++) {
        context *c = context_new(1);
        io_value v;
        mem_fail_after(n);
        status code = io_load(c, "a.npy", NULL, &v);
        if (code == STATUS_OK) code = io_save(c, &v, "b.npy.gz");
        mem_fail_after(0);
        finished = code == STATUS_OK;
        failures += !finished;
        if (!finished) assert_int_equal(c->err.code, STATUS_MEMORY);
        io_value_free(&v);
        context_free(c);
        assert_int_equal(mem_live(), before);
    }
    assert_true(failures > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_goes_there_and_back),
        cmocka_unit_test(views_and_weak_scalars_are_saved_as_they_look),
        cmocka_unit_test(foreign_orders_and_versions),
        cmocka_unit_test(headers_that_lie),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
