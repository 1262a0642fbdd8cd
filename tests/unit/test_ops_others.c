/* test_ops_others.c — the rows with functions of their own, eagerly, against their references, at the cases of their
 * samples and at larger sizes, in all dtypes and layouts; indices from both ends and out of range.
 * ctest: timeout=300 */
#include "tests/harness/check.h"

#include <math.h>

#include "tests/support/bench.h"

/* How a case's operands are changed before it runs. */
typedef enum variant { AS_SAMPLED, NEGATIVE_INDICES, OUT_OF_RANGE, LARGER, VARIANTS } variant;

static void change_indices(bench *b, const sample_case *k, variant v, host *in) {
    for (int i = 0; i < k->nin; i++) {
        if (!k->in[i].bound || in[i].count == 0) continue;
        if (v == OUT_OF_RANGE) host_set_int(&in[i], rng_below(&b->rng, in[i].count), 100);
        for (int64_t j = 0; v == NEGATIVE_INDICES && j < in[i].count; j++)
            if (rng_chance(&b->rng, 50)) host_set_int(&in[i], j, host_int(&in[i], j) - k->in[i].bound);
    }
}

static shape enlarged(const shape *s, variant v) {
    shape r = *s;
    for (int i = 0; v == LARGER && i < s->rank; i++)
        if (s->size[i] > 1) r.size[i] = 4 * s->size[i] + 1;
    return r;
}

/* The operands in the dtype that the row's class makes of them; the error's number. */
static int promote(bench *b, const reference_op *ref, host *in, int nin) {
    dtype t;
    bool weak;
    if (ref->class == CLASS_NONE) return 0;
    int number = reference_meet(ref->class, in, nin, &t, &weak);
    for (int i = 0; i < nin && !number; i++) {
        host to = host_new(b->memory, t, &in[i].shape);
        for (int64_t j = 0; j < to.count; j++) host_convert(&in[i], j, &to, j);
        in[i] = to;
    }
    return number;
}

/* The first element that is further off than its tolerance; -1: none, -2: another meta. */
static int64_t differs(const host *want, const host *tolerance, const host *got) {
    int64_t at = host_differs(want, got);
    if (at < 0 || !tolerance->data) return at;
    for (int64_t i = 0; i < want->count; i++)
        if (!(fabsl(host_real(want, i) - host_real(got, i)) <= host_real(tolerance, i)) &&
            !real_same(host_real(want, i), host_real(got, i)))
            return i;
    return -1;
}

static void check(bench *b, const op_info *op, const host *in, int nin, const layout *l, const void *attrs,
                  bool may_refuse) {
    const reference_op *ref = reference_op_find(op->name);
    outcome o = bench_call(b, op, in, nin, l, attrs);
    if (o.number && may_refuse) return;
    host met[MAX_SAMPLE_OPERANDS], want = {0}, tolerance = {0};
    for (int i = 0; i < nin; i++) met[i] = in[i];
    int number = promote(b, ref, met, nin);
    if (!number) number = ref->compute(b->memory, met, nin, attrs, &want, &tolerance);
    if (o.number != number)
        failures_add(&b->failures, "%s: error %d (%s), not %d", bench_call_text(b, op, in, nin, attrs),
                     o.number, o.message, number);
    if (o.number || number) return;
    int64_t at = differs(&want, &tolerance, &o.out[0]);
    char x[64], y[64];
    if (at >= 0)
        failures_add(&b->failures, "%s: element %lld is %s, not %s", bench_call_text(b, op, in, nin, attrs),
                     (long long)at, host_show(&o.out[0], at, x), host_show(&want, at, y));
    if (at != -2) return;
    meta got = {o.out[0].shape, o.out[0].dtype, o.out[0].weak}, should = {want.shape, want.dtype, want.weak};
    char p[100], q[100];
    failures_add(&b->failures, "%s: gives %s, not %s", bench_call_text(b, op, in, nin, attrs),
                 meta_text(NULL, &got, p, sizeof p), meta_text(NULL, &should, q, sizeof q));
}

/* A case with its free operands in dtype t (the second in u). */
static void check_case(bench *b, const op_info *op, const sample_case *k, dtype t, dtype u, variant v) {
    static const shape free_shapes[] = {{0}, {.rank = 1, .size = {5}}, {.rank = 2, .size = {3, 4}}};
    _Alignas(8) char attrs[MAX_ATTR_BYTES] = {0};
    error e = {0};
    host in[MAX_SAMPLE_OPERANDS];
    layout l[MAX_SAMPLE_OPERANDS];
    if (attrs_parse(op, k->attrs, attrs, &e)) {
        failures_add(&b->failures, "%s: %s", op->name, e.message);
        return;
    }
    for (int i = 0; i < k->nin; i++) {
        dtype of = i == 1 ? u : t;
        bool fixed = sample_fixed(op, &k->in[i], i, &of);
        if (!fixed && !sample_takes(op, &k->in[i], i, of)) return;
        shape s = enlarged(k->in[i].shaped ? &k->in[i].shape : &free_shapes[rng_below(&b->rng, 3)], v);
        in[i] = bench_operand(b, &k->in[i], of, &s, op->id == OP_matmul ? GENTLE : ROUGH);
        l[i] = (layout)rng_below(&b->rng, LAYOUT_COUNT);
        if (l[i] == LAYOUT_EXPANDED && !k->in[i].bound) generate_repeat(&in[i]);
    }
    change_indices(b, k, v, in);
    check(b, op, in, k->nin, NULL, attrs, v == LARGER);
    check(b, op, in, k->nin, l, attrs, v == LARGER);
    bench_clear(b);
}

static void check_row(bench *b, const op_info *op) {
    sample_case cases[MAX_SAMPLE_CASES];
    text problems = {0};
    int n = samples_read(op, cases, &problems);
    if (n < 0) failures_add(&b->failures, "%s", text_str(&problems));
    text_free(&problems);
    if (!reference_op_find(op->name)) {
        print_message("%s: no reference in tests/support/reference_ops.c; held by its gradient and tiers\n",
                      op->name);
        return;
    }
    bool mixes = op->nin != 1;
    for (int k = 0; k < n; k++)
        for (dtype t = 0; t < DT_COUNT; t++) {
            for (variant v = 0; v < VARIANTS; v++) check_case(b, op, &cases[k], t, t, v);
            for (dtype u = 0; mixes && u < DT_COUNT; u++) check_case(b, op, &cases[k], t, u, AS_SAMPLED);
        }
}

static void rows_at_their_samples(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 5, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        if ((op_elementwise(op) && op->kind != KIND_CAST) || op->kind == KIND_REDUCE ||
            !sample_row_wanted(op))
            continue;
        check_row(&b, op);
    }
    bench_close(&b);
}

/* Every pair of dtypes at the values that either is difficult at. */
static void casts_of_special_values(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 6, 1);
    for (dtype t = 0; t < DT_COUNT; t++)
        for (dtype u = 0; u < DT_COUNT; u++) {
            host of_t = host_new(b.memory, t, &(shape){.rank = 1, .size = {generate_special_count(t)}});
            host of_u = host_new(b.memory, u, &(shape){.rank = 1, .size = {generate_special_count(u)}});
            host ties = host_new(b.memory, t, &(shape){.rank = 1, .size = {3000}});
            generate_special(&of_t, 1);
            generate_special(&of_u, 1);
            for (int64_t i = 0; i < ties.count; i++) { /* halfway between neighbours of u, and beside that */
                if (!dtype_is_float(u)) {
                    host v = host_scalar(b.memory, DT_F64, false);
                    host_set_real(&v, 0,
                                  (long double)rng_below(&b.rng, 600) - 300 +
                                      0.5L * (long double)rng_below(&b.rng, 3));
                    host_convert(&v, 0, &ties, i);
                    continue;
                }
                long double v = real_step(u, 0, rng_below(&b.rng, real_order(u, INFINITY)));
                long double middle = (v + real_step(u, v, 1)) / 2;
                host v64 = host_scalar(b.memory, DT_F64, false);
                host_set_real(&v64, 0, middle * (rng_chance(&b.rng, 50) ? 1 : -1));
                host_convert(&v64, 0, &ties, i);
                if (dtype_is_float(t))
                    host_set_real(&ties, i, real_step(t, host_real(&ties, i), rng_below(&b.rng, 3) - 1));
                if (t == DT_I64 && rng_chance(&b.rng, 50))
                    host_set_int(&ties, i, host_int(&ties, i) + rng_below(&b.rng, 3) - 1);
            }
            host converted = host_new(b.memory, t, &of_u.shape);
            for (int64_t i = 0; i < of_u.count; i++) host_convert(&of_u, i, &converted, i);
            cast_attrs a = {.dtype = u};
            check(&b, &op_table[OP_cast], &of_t, 1, NULL, &a, false);
            check(&b, &op_table[OP_cast], &converted, 1, NULL, &a, false);
            check(&b, &op_table[OP_cast], &ties, 1, NULL, &a, false);
            bench_clear(&b);
        }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_their_samples),
        cmocka_unit_test(casts_of_special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
