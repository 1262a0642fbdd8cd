/* test_ops_reductions.c — every reduction of the op table, eagerly, against the canonical order written out naively: bit
 * for bit, in all dtypes, over all sets of axes, in every layout, around the sizes of lanes and blocks.
 * ctest: timeout=300 */
#include "tests/harness/check.h"

#include <math.h>
#include <string.h>

#include "tests/support/bench.h"

#define S(...)                                                                                               \
    {                                                                                                        \
        .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .size = { __VA_ARGS__ }           \
    }
static const shape shapes[] = {
    {0},        S(0),          S(1),    S(15),      S(16),         S(17),      S(100),
    S(4095),    S(4096),       S(4097), S(12289),   S(3, 5, 7),    S(2, 0, 3), S(4100, 3),
    S(3, 4100), S(2, 4100, 2), S(1, 6), S(33, 129), S(2, 3, 2, 3), S(1025, 2),
};
#undef S

static reduce_attrs attrs_of(const shape *s, unsigned mask, bool keep) {
    reduce_attrs a = {.keep = keep};
    for (int i = 0; i < s->rank; i++)
        if (mask >> i & 1) a.axes.v[a.axes.count++] = i % 2 ? i - s->rank : i; /* names from both ends */
    return a;
}

static void check_call(bench *b, const op_info *op, const host *in, unsigned mask, bool keep, layout l) {
    const reference_reduction *ref = reference_reduction_find(op->name);
    reduce_attrs a = attrs_of(&in->shape, mask, keep);
    if (mask + 1 == 1U << in->shape.rank && !keep) a.axes = (int_list){.count = -1};
    outcome o = bench_call(b, op, in, 1, &l, &a);
    int64_t reduced = 1;
    for (int i = 0; i < in->shape.rank; i++) reduced *= mask >> i & 1 ? in->shape.size[i] : 1;
    int number = reduced == 0 ? ref->empty : 0;
    if (o.number != number)
        failures_add(&b->failures, "%s: error %d (%s), not %d", bench_call_text(b, op, in, 1, &a), o.number,
                     o.message, number);
    if (o.number) return;
    host want = reference_reduce(b->memory, op->name, in, mask, keep);
    int64_t at = host_differs(&want, &o.out[0]);
    char x[64], y[64];
    if (at >= 0)
        failures_add(&b->failures, "%s: element %lld is %s, not %s", bench_call_text(b, op, in, 1, &a),
                     (long long)at, host_show(&o.out[0], at, x), host_show(&want, at, y));
    if (at != -2) return;
    meta got = {o.out[0].shape, o.out[0].dtype, o.out[0].weak}, should = {want.shape, want.dtype, want.weak};
    char p[100], q[100];
    failures_add(&b->failures, "%s: gives %s, not %s", bench_call_text(b, op, in, 1, &a),
                 meta_text(NULL, &got, p, sizeof p), meta_text(NULL, &should, q, sizeof q));
}

static void check_shape(bench *b, const op_info *op, const sample_operand *word, dtype t, const shape *s) {
    unsigned masks = 1U << s->rank;
    for (unsigned mask = 0; mask < masks; mask++) {
        bool large = shape_elements(s) > 1000;
        if (large && mask != masks - 1 && mask != 1 && mask != masks / 2) continue;
        host in = bench_operand(b, word, t, s, ROUGH);
        layout l = (layout)rng_below(&b->rng, LAYOUT_COUNT);
        if (l == LAYOUT_EXPANDED) generate_repeat(&in);
        check_call(b, op, &in, mask, false, LAYOUT_PLAIN);
        check_call(b, op, &in, mask, mask % 2 == 0, l);
        bench_clear(b);
    }
}

/* Special values meet: each two of them next to each other, and each alone. */
static void check_specials(bench *b, const op_info *op, dtype t) {
    int n = generate_special_count(t);
    host in = host_new(b->memory, t, &(shape){.rank = 3, .size = {n, n, 2}});
    host first = host_new(b->memory, t, &(shape){.rank = 1, .size = {n}});
    generate_special(&first, 1);
    for (int64_t i = 0; i < in.count; i++) {
        int64_t from = i % 2 ? i / 2 / n : i / 2 % n;
        size_t size = dtype_size(t);
        memcpy((char *)in.data + (size_t)i * size, (char *)first.data + (size_t)from * size, size);
    }
    check_call(b, op, &in, 4, false, LAYOUT_PLAIN);
    check_call(b, op, &in, 2, false, LAYOUT_PLAIN);
    check_call(b, op, &in, 7, true, LAYOUT_TRANSPOSED);
    bench_clear(b);
}

static void reductions_in_canonical_order(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 4, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        if (op->kind != KIND_REDUCE || !sample_row_wanted(op)) continue;
        if (!reference_reduction_find(op->name)) {
            print_message(
                "%s: no reference in tests/support/reference_reduce.c; held by its gradient and tiers\n",
                op->name);
            continue;
        }
        sample_case words[MAX_SAMPLE_CASES];
        assert_int_equal(samples_read(op, words, &b.failures.lines), 1);
        for (dtype t = 0; t < DT_COUNT; t++) {
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                check_shape(&b, op, &words[0].in[0], t, &shapes[s]);
            check_specials(&b, op, t);
        }
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions_in_canonical_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
