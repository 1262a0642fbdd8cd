/* test_base.c — the engine's base: allocation and its injected failures, arena, growing text, hash map,
 * errors. */
#include "tests/harness/check.h"

#include <stdbool.h>
#include <string.h>

#include "engine/base/distance.h"

#include "engine/base/arena.h"
#include "engine/base/embed.h"
#include "engine/base/map.h"
#include "engine/base/memory.h"
#include "engine/base/status.h"
#include "engine/base/text.h"

/* A small generator of its own, so that a failure repeats. */
static uint64_t next(uint64_t *state) {
    return hash_u64(*state += 0x9e3779b97f4a7c15u);
}

/* ---- memory ---- */

static void memory_counts_live_blocks(void **state) {
    (void)state;
    int64_t live = mem_live(), count = mem_count();
    void *a = mem_alloc(0), *b = mem_calloc(3, 5), *c = mem_alloc_aligned(64, 100), *d = mem_realloc(NULL, 7);
    char *e = mem_copy_text("tape\0deck", 9);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_non_null(d);
    assert_non_null(e);
    assert_int_equal((uintptr_t)c % 64, 0);
    assert_memory_equal(b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    assert_memory_equal(e, "tape\0deck\0", 10);
    assert_int_equal(mem_live() - live, 5);
    assert_int_equal(mem_count() - count, 5);
    d = mem_realloc(d, 1000);
    assert_non_null(d);
    assert_int_equal(mem_live() - live, 5);
    assert_int_equal(mem_count() - count, 6);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(d);
    mem_free(e);
    mem_free(NULL);
    assert_int_equal(mem_live(), live);
}

/* One allocation of each kind; returns how many succeeded. A block that could not grow is still there. */
static int allocate_each_way(void) {
    char *kept = mem_alloc(4);
    void *blocks[] = {mem_alloc(1), mem_calloc(2, 2), mem_realloc(NULL, 3), mem_alloc_aligned(32, 4),
                      mem_copy_text("text", 4)};
    int succeeded = kept != NULL;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        succeeded += blocks[i] != NULL;
        mem_free(blocks[i]);
    }
    if (kept) memcpy(kept, "abc", 4);
    char *grown = kept ? mem_realloc(kept, 4096) : NULL;
    if (kept) assert_string_equal(grown ? grown : kept, "abc");
    succeeded += grown != NULL;
    mem_free(grown ? grown : kept);
    return succeeded;
}

static void memory_fails_where_told(void **state) {
    (void)state;
    int64_t live = mem_live();
    assert_int_equal(allocate_each_way(), 7);
    for (int64_t at = 1; at <= 7; at++) {
        mem_fail_after(at);
        /* Without its first block the function does not come to grow it. */
        assert_int_equal(allocate_each_way(), at == 1 ? 5 : 6);
        assert_int_equal(mem_live(), live);
    }
    mem_fail_after(8);
    assert_int_equal(allocate_each_way(), 7);
    assert_null(mem_alloc(1));
    mem_fail_after(0);
    assert_int_equal(allocate_each_way(), 7);
    assert_int_equal(mem_live(), live);
}

static void memory_checks_sizes(void **state) {
    (void)state;
    size_t out = 1;
    assert_true(mem_mul(SIZE_MAX / 3, 3, &out));
    assert_true(out == SIZE_MAX / 3 * 3);
    assert_false(mem_mul(SIZE_MAX / 3 + 1, 3, &out));
    assert_true(mem_add(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_false(mem_add(SIZE_MAX, 1, &out));
    int64_t live = mem_live();
    assert_null(mem_alloc_aligned(64, SIZE_MAX - 3));
    assert_int_equal(mem_live(), live);
}

/* ---- arena ---- */

static void arena_gives_zeroed_aligned_distinct_memory(void **state) {
    (void)state;
    enum { PIECES = 3000 };
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    int64_t live = mem_live();
    uint64_t seed = 1;
    arena *a = arena_new();
    assert_non_null(a);
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = next(&seed) % (i % 100 == 0 ? 100000 : 200);
        pieces[i] = arena_alloc(a, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 251) + 1, sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < sizes[i]; j++) assert_int_equal(pieces[i][j], i % 251 + 1);
    assert_string_equal(arena_text(a, "tapedeck", 4), "tape");
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, SIZE_MAX - 64));
    arena_free(a);
    arena_free(NULL);
    assert_int_equal(mem_live(), live);
}

static void arena_survives_failures(void **state) {
    (void)state;
    int64_t live = mem_live();
    mem_fail_after(1);
    assert_null(arena_new());
    arena *a = arena_new();
    assert_non_null(a);
    mem_fail_after(1);
    assert_null(arena_alloc(a, 10));
    char *copy = arena_text(a, "kept", 4);
    mem_fail_after(1);
    assert_null(arena_alloc(a, 100000));
    mem_fail_after(0);
    assert_non_null(arena_alloc(a, 100000));
    assert_string_equal(copy, "kept");
    arena_free(a);
    assert_int_equal(mem_live(), live);
}

/* ---- text ---- */

static int slips(const char *a, const char *b) {
    return name_distance(a, strlen(a), b, strlen(b), 3);
}

static void slips_are_counted(void **state) {
    (void)state;
    assert_int_equal(slips("help", "help"), 0);
    assert_int_equal(slips("hlep", "help"), 1); /* neighbours swapped */
    assert_int_equal(slips("hep", "help"), 1);
    assert_int_equal(slips("", "abc"), 3);
    assert_int_equal(slips("summ", "sum"), 1);
    assert_int_equal(slips("abc", "xyzw"), 4);
    assert_int_equal(slips("abcdefgh", "hgfedcba"), 4); /* not more than asked for */
    assert_int_equal(slips("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
                     4); /* too long */
}

static void text_grows(void **state) {
    (void)state;
    int64_t live = mem_live();
    text t = {0};
    assert_string_equal(text_str(&t), "");
    text_add(&t, "f32");
    text_char(&t, '[');
    text_add_bytes(&t, "64, 10, 3", 6);
    text_printf(&t, "]%*s%s", 3, "", "cpu");
    assert_string_equal(text_str(&t), "f32[64, 10]   cpu");
    assert_int_equal(t.length, 17);
    text_clear(&t);
    assert_string_equal(text_str(&t), "");
    for (int i = 0; i < 5000; i++) text_printf(&t, "%04d", i);
    assert_int_equal(t.length, 20000);
    assert_memory_equal(t.data + 4 * 4321, "4321", 4);
    assert_int_equal(strlen(t.data), t.length);
    assert_false(t.failed);
    text_free(&t);
    assert_int_equal(mem_live(), live);
}

static void text_failure_sticks(void **state) {
    (void)state;
    int64_t live = mem_live();
    text t = {0};
    text_add(&t, "short");
    mem_fail_after(1);
    for (int i = 0; i < 100; i++) text_add(&t, "0123456789");
    mem_fail_after(0);
    assert_true(t.failed);
    assert_memory_equal(text_str(&t), "short0123456789", 15);
    size_t length = t.length;
    assert_true(length < 100);
    text_char(&t, '!');
    text_printf(&t, "%d", 1);
    assert_int_equal(t.length, length);
    text_clear(&t);
    text_add(&t, "again");
    assert_false(t.failed);
    assert_string_equal(text_str(&t), "again");
    text_free(&t);
    mem_fail_after(1);
    text_printf(&t, "%d", 12);
    mem_fail_after(0);
    assert_true(t.failed);
    assert_string_equal(text_str(&t), "");
    text_free(&t);
    assert_int_equal(mem_live(), live);
}

/* ---- map ---- */

/* Random puts, removals and look-ups against an array indexed by key. Few keys, so that chains form and
 * break. */
static void map_agrees_with_a_plain_table(void **state) {
    (void)state;
    enum { KEYS = 600, STEPS = 200000 };
    static bool there[KEYS];
    static uintptr_t values[KEYS];
    int64_t live = mem_live();
    uint64_t seed = 7;
    size_t count = 0;
    map m = {0};
    assert_false(map_has(&m, 1));
    assert_false(map_remove(&m, 1));
    for (size_t step = 0; step < STEPS; step++) {
        uint64_t r = next(&seed);
        size_t i = r % KEYS;
        uint64_t key = i % 2 ? i : hash_u64(i + 1); /* small keys and scattered ones, never 0 */
        bool growing = step / 20000 % 2 == 0;
        if (step % 50000 == 49999) {
            map_clear(&m);
            memset(there, 0, sizeof there);
            count = 0;
        } else if ((r >> 32) % 4 < (growing ? 3u : 1u)) {
            assert_true(map_put(&m, key, (uintptr_t)r));
            count += !there[i];
            there[i] = true;
            values[i] = (uintptr_t)r;
        } else {
            assert_int_equal(map_remove(&m, key), there[i]);
            count -= there[i];
            there[i] = false;
        }
        assert_int_equal(m.count, count);
        size_t j = next(&seed) % KEYS;
        uintptr_t value = 0;
        assert_int_equal(map_get(&m, j % 2 ? j : hash_u64(j + 1), &value), there[j]);
        if (there[j]) assert_true(value == values[j]);
    }
    for (size_t i = 0; i < KEYS; i++) assert_int_equal(map_has(&m, i % 2 ? i : hash_u64(i + 1)), there[i]);
    map_free(&m);
    assert_int_equal(mem_live(), live);
}

static void map_survives_failures(void **state) {
    (void)state;
    int64_t live = mem_live();
    for (int64_t at = 1; at <= 2; at++) {
        map m = {0};
        mem_fail_after(at);
        assert_false(map_put(&m, 5, 50));
        mem_fail_after(0);
        uint64_t key = 0;
        while (2 * (m.count + 1) <= m.capacity || m.count < 8) {
            key++;
            assert_true(map_put(&m, key, (uintptr_t)key * 3));
        }
        mem_fail_after(at);
        assert_false(map_put(&m, key + 1, 0));
        mem_fail_after(0);
        assert_int_equal(m.count, key);
        assert_false(map_has(&m, key + 1));
        for (uint64_t k = 1; k <= key; k++) {
            uintptr_t value = 0;
            assert_true(map_get(&m, k, &value));
            assert_int_equal(value, k * 3);
        }
        map_free(&m);
        assert_int_equal(mem_live(), live);
    }
}

static void hashes_depend_on_every_byte(void **state) {
    (void)state;
    unsigned char bytes[40] = {0};
    for (size_t length = 0; length <= sizeof bytes; length++) {
        uint64_t plain = hash_bytes(bytes, length, 0);
        assert_true(plain != hash_bytes(bytes, length, 1));
        if (length > 0) assert_true(plain != hash_bytes(bytes, length - 1, 0));
        for (size_t i = 0; i < length; i++) {
            bytes[i] = 1;
            assert_true(plain != hash_bytes(bytes, length, 0));
            bytes[i] = 0;
        }
    }
}

/* ---- errors ---- */

static void errors_keep_the_first_failure(void **state) {
    (void)state;
    error e = {0};
    assert_int_equal(fail(&e, STATUS_SHAPE, 101, "%d is not %d", 784, 10), STATUS_SHAPE);
    fail_operand(&e, "x f32[%d, 784]", 64);
    fail_operand(&e, "w f32[10, 784]");
    assert_int_equal(fail_hint(&e, "x @ w.T"), STATUS_SHAPE);
    fail_hint(&e, "something else");
    assert_int_equal(fail(&e, STATUS_NAME, 202, "later"), STATUS_SHAPE);
    assert_int_equal(fail_memory(&e, 10), STATUS_SHAPE);
    assert_int_equal(e.number, 101);
    assert_string_equal(e.message, "784 is not 10");
    assert_string_equal(e.operands, "x f32[64, 784]\nw f32[10, 784]");
    assert_string_equal(e.hint, "x @ w.T");
    error_clear(&e);
    assert_int_equal(e.code, STATUS_OK);
    assert_int_equal(fail_memory(&e, 1u << 20), STATUS_MEMORY);
    assert_non_null(strstr(e.message, "1048576 bytes"));
    assert_string_not_equal(e.hint, "");
}

static void errors_cut_long_texts(void **state) {
    (void)state;
    static char longer[2000];
    memset(longer, 'x', sizeof longer - 1);
    error e = {0};
    fail(&e, STATUS_VALUE, 1, "%s", longer);
    fail_hint(&e, "%s", longer);
    for (int i = 0; i < 500; i++) fail_operand(&e, "operand %d", i);
    assert_int_equal(strlen(e.message), sizeof e.message - 1);
    assert_int_equal(strlen(e.hint), sizeof e.hint - 1);
    assert_true(strlen(e.operands) < sizeof e.operands);
    assert_memory_equal(e.operands, "operand 0\noperand 1\n", 20);
}

static void every_status_has_a_name(void **state) {
    (void)state;
    for (int code = 0; code < STATUS_COUNT; code++) {
        assert_non_null(status_name((status)code));
        for (int other = 0; other < code; other++)
            assert_string_not_equal(status_name((status)code), status_name((status)other));
    }
    assert_string_equal(status_name(STATUS_COUNT), "unknown");
}

/* ---- embedded texts ---- */

static void embedded_files_are_whole(void **state) {
    (void)state;
    for (const embedded_file *f = embedded_headers; f->name; f++) {
        assert_int_equal(strlen(f->text), f->length);
        if (f > embedded_headers) assert_true(strcmp(f[-1].name, f->name) < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_counts_live_blocks),
        cmocka_unit_test(memory_fails_where_told),
        cmocka_unit_test(memory_checks_sizes),
        cmocka_unit_test(arena_gives_zeroed_aligned_distinct_memory),
        cmocka_unit_test(arena_survives_failures),
        cmocka_unit_test(slips_are_counted),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(text_failure_sticks),
        cmocka_unit_test(map_agrees_with_a_plain_table),
        cmocka_unit_test(map_survives_failures),
        cmocka_unit_test(hashes_depend_on_every_byte),
        cmocka_unit_test(errors_keep_the_first_failure),
        cmocka_unit_test(errors_cut_long_texts),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(embedded_files_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
