/* test_ops_dtypes.c — every element-wise row with operands of different dtypes: all pairs of the nine dtypes and the two
 * weak scalars meet as language.md says, in either place, or are the error that it says.
 * ctest: timeout=300 */
#include "tests/harness/check.h"

#include "tests/support/bench.h"

enum { WEAK_INT = DT_COUNT, WEAK_REAL, KINDS };

/* An operand of the kind: a tensor of shape s, or a weak scalar. */
static host operand(bench *b, const sample_operand *o, int kind, const shape *s) {
    if (kind < DT_COUNT) return bench_operand(b, o, (dtype)kind, s, ROUGH);
    host h = bench_operand(b, o, kind == WEAK_INT ? DT_I64 : DT_F64, &(shape){0}, ROUGH);
    h.weak = true;
    return h;
}

/* A weak integer that most integer dtypes hold, so that the error of those that don't stays rare. */
static void tame(bench *b, host *h) {
    if (h->weak && h->dtype == DT_I64)
        host_set_int(h, 0, rng_below(&b->rng, 8) == 0 ? 300 : host_int(h, 0) % 4);
}

static const shape wide_shape = {.rank = 2, .size = {4, 3}}, row_shape = {.rank = 1, .size = {3}};

static bool condition(const op_info *op, int k) {
    return op->kind == KIND_TERNARY && k == 0;
}

static void check_kinds(bench *b, const op_info *op, const sample_case *words, const int *kinds) {
    host in[3];
    for (int k = 0; k < op->nin; k++) {
        in[k] = operand(b, &words->in[k], kinds[k], k % 2 ? &row_shape : &wide_shape);
        tame(b, &in[k]);
    }
    bench_check_elementwise(b, op, in, op->nin, NULL);
    for (int k = 0; k < op->nin; k++) /* and without the zeros and negative exponents that may have raised */
        for (int64_t i = 0; k > 0 && i < in[k].count && !dtype_is_float(in[k].dtype); i++)
            host_set_int(&in[k], i, 1 + (host_int(&in[k], i) & 3));
    bench_check_elementwise(b, op, in, op->nin, NULL);
}

static void check_row(bench *b, const op_info *op) {
    sample_case words[MAX_SAMPLE_CASES] = {0};
    text problems = {0};
    if (samples_read(op, words, &problems) != 1) failures_add(&b->failures, "%s", text_str(&problems));
    text_free(&problems);
    for (int x = 0; x < KINDS; x++)
        for (int y = 0; y < (op->nin > 1 ? KINDS : 1); y++) {
            int kinds[3] = {x, y, y};
            if (op->kind == KIND_TERNARY) kinds[0] = (x + y) % 3 ? DT_BOOL : DT_F32, kinds[1] = x;
            check_kinds(b, op, words, kinds);
            if (op->nin == 1 || condition(op, 0)) continue;
            bench_clear(b);
        }
    bench_clear(b);
}

static void rows_of_mixed_dtypes(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 3, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        if (!op_elementwise(op) || op->kind == KIND_CAST || op->kind == KIND_MIXED || !sample_row_wanted(op))
            continue;
        check_row(&b, op);
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_mixed_dtypes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
