/* test_ops_gradients.c — gradients of every row of the op table, and gradients of those, are the slopes of their values
 * (tests/support/slope.h), by every operand, broadcast and weak ones too; gradients of f32 agree with those of f64; rows
 * that say NOGRAD have none.
 * ctest: timeout=600 */
#include "tests/harness/check.h"

#include <math.h>
#include <string.h>

#include "tests/support/slope.h"

/* Which operands of a row must have a gradient, from the references: a string of 0 and 1; NULL: not known. */
static const char *expected(const op_info *op) {
    const reference *e = reference_find(op->name);
    const reference_reduction *r = reference_reduction_find(op->name);
    const reference_op *o = reference_op_find(op->name);
    return e ? e->gradient : r ? r->gradient : o ? o->gradient : NULL;
}

static void rows_have_the_gradients_they_should(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 31, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        const char *want = expected(op);
        if (!want || !sample_row_wanted(op)) continue;
        bool should = want[0] && strcmp(want, "cut") != 0;
        if (should != (op->gradient != NULL))
            failures_add(&b.failures, "%s: has %s gradient", op->name, op->gradient ? "a" : "no");
    }
    bench_close(&b);
}

/* f32 gradients beside f64 ones at the same numbers. */
static void compare_f32(bench *b, const op_info *op, const host *in, int nin, const void *attrs) {
    host narrow[MAX_SAMPLE_OPERANDS], wide_in[MAX_SAMPLE_OPERANDS], w = {0}, g64[MAX_SAMPLE_OPERANDS + 1],
                                                                    g32[MAX_SAMPLE_OPERANDS + 1];
    int n64 = 0, n32 = 0;
    for (int i = 0; i < nin; i++) {
        narrow[i] = wide_in[i] = in[i];
        if (in[i].dtype != DT_F64 || in[i].weak) continue;
        narrow[i] = host_new(b->memory, DT_F32, &in[i].shape);
        wide_in[i] = host_new(b->memory, DT_F64, &in[i].shape);
        for (int64_t j = 0; j < in[i].count; j++) {
            host_convert(&in[i], j, &narrow[i], j);
            host_convert(&narrow[i], j, &wide_in[i], j);
        }
    }
    if (!slope_gradients(b, op, narrow, nin, attrs, &w, g32, &n32)) return;
    host w64 = host_new(b->memory, DT_F64, &w.shape);
    for (int64_t j = 0; j < w.count; j++) host_convert(&w, j, &w64, j);
    if (!slope_gradients(b, op, wide_in, nin, attrs, &w64, g64, &n64) || n64 != n32) {
        failures_add(&b->failures, "%s: gradients in f32 but not in f64", op->name);
        return;
    }
    for (int i = 0; i < n64; i++)
        for (int64_t j = 0; j < g64[i].count; j++) {
            long double x = host_real(&g32[i], j), y = host_real(&g64[i], j);
            if (fabsl(x - y) <= 2e-4L * (1 + fabsl(y))) continue;
            failures_add(&b->failures, "%s: gradient %d, element %lld is %.9Lg in f32, %.12Lg in f64",
                         bench_call_text(b, op, narrow, nin, attrs), i, (long long)j, x, y);
            return;
        }
}

static void check(bench *b, const op_info *op, const host *in, int nin, const void *attrs,
                  slope_count *total) {
    const char *want = expected(op);
    slope_count n = slope_check(b, op, in, nin, attrs, want && strcmp(want, "cut") == 0);
    total->compared += n.compared;
    total->skipped += n.skipped;
    compare_f32(b, op, in, nin, attrs);
    bench_clear(b);
}

/* Enough elements must be away from kinks for a comparison to mean something. */
static void check_count(bench *b, const op_info *op, slope_count n) {
    if (n.skipped > n.compared)
        failures_add(&b->failures, "%s: %lld elements lie on kinks, %lld were compared", op->name,
                     (long long)n.skipped, (long long)n.compared);
}

static int cases_of(bench *b, const op_info *op, sample_case cases[MAX_SAMPLE_CASES]) {
    text problems = {0};
    int n = samples_read(op, cases, &problems);
    if (n < 0) failures_add(&b->failures, "%s", text_str(&problems));
    text_free(&problems);
    return n;
}

#define S(...)                                                                                               \
    {                                                                                                        \
        .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .size = { __VA_ARGS__ }           \
    }
static const shape operand_shapes[][3] = {
    {S(4), S(4), S(4)},   {S(3, 1), S(1, 2), S(3, 2)}, {{0}, S(3), {0}},
    {S(2, 2), {0}, S(2)}, {S(2, 1, 2), S(3, 1), S(1)},
};
static const shape reduced_shapes[] = {S(5), S(2, 3, 2), {0}, S(1, 4)};
#undef S

/* Element-wise rows over broadcasting operands, then with a weak real in either place. */
static void elementwise_rows(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 32, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        sample_case words[MAX_SAMPLE_CASES];
        if (!op_elementwise(op) || op->kind == KIND_CAST || op->kind == KIND_COMPARE ||
            !sample_row_wanted(op))
            continue;
        if (cases_of(&b, op, words) < 0) continue;
        slope_count n = {0};
        for (size_t k = 0; k < sizeof operand_shapes / sizeof *operand_shapes; k++)
            for (int weak = -1; weak < op->nin; weak++) {
                host in[3];
                bool takes = true;
                for (int j = 0; j < op->nin; j++) {
                    dtype of = DT_F64;
                    takes = takes && (sample_fixed(op, &words->in[j], j, &of) ||
                                      sample_takes(op, &words->in[j], j, of));
                    in[j] = bench_operand(&b, &words->in[j], of,
                                          weak == j ? &(shape){0} : &operand_shapes[k][j], GENTLE);
                    in[j].weak = weak == j && of == DT_F64;
                }
                if (takes) check(&b, op, in, op->nin, NULL, &n);
            }
        check_count(&b, op, n);
    }
    bench_close(&b);
}

static void reductions(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 33, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        sample_case words[MAX_SAMPLE_CASES];
        if (op->kind != KIND_REDUCE || !sample_row_wanted(op) || cases_of(&b, op, words) < 0) continue;
        slope_count n = {0};
        for (size_t k = 0; k < sizeof reduced_shapes / sizeof *reduced_shapes; k++)
            for (unsigned mask = 0; mask < 1U << reduced_shapes[k].rank; mask++) {
                reduce_attrs a = {.keep = mask & 1};
                for (int j = 0; j < reduced_shapes[k].rank; j++)
                    if (mask >> j & 1) a.axes.v[a.axes.count++] = j;
                host in = bench_operand(&b, &words->in[0], DT_F64, &reduced_shapes[k], GENTLE);
                check(&b, op, &in, 1, &a, &n);
            }
        check_count(&b, op, n);
    }
    bench_close(&b);
}

/* Attributes that name a dtype name f64, so that differences are sharp. */
static void in_f64(const op_info *op, char *attrs) {
    attr_field fields[MAX_ATTRS];
    int n = attrs_fields(op, fields);
    for (int i = 0; i < n; i++)
        if (fields[i].type == ATTR_DTYPE)
            memcpy(attrs + fields[i].offset, &(int64_t){DT_F64}, sizeof(int64_t));
}

static void other_rows(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 34, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        sample_case cases[MAX_SAMPLE_CASES];
        if ((op_elementwise(op) && op->kind != KIND_CAST) || op->kind == KIND_REDUCE ||
            !sample_row_wanted(op))
            continue;
        int count = cases_of(&b, op, cases);
        slope_count n = {0};
        for (int k = 0; k < count; k++) {
            _Alignas(8) char attrs[MAX_ATTR_BYTES] = {0};
            error e = {0};
            host in[MAX_SAMPLE_OPERANDS];
            bool takes = attrs_parse(op, cases[k].attrs, attrs, &e) == STATUS_OK;
            in_f64(op, attrs);
            for (int j = 0; takes && j < cases[k].nin; j++) {
                const sample_operand *o = &cases[k].in[j];
                dtype of = DT_F64;
                takes = sample_fixed(op, o, j, &of) || sample_takes(op, o, j, of);
                in[j] = bench_operand(&b, o, of, o->shaped ? &o->shape : &operand_shapes[1][2], GENTLE);
            }
            if (takes) check(&b, op, in, cases[k].nin, op->attr_bytes ? attrs : NULL, &n);
        }
        check_count(&b, op, n);
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_gradients_they_should),
        cmocka_unit_test(elementwise_rows),
        cmocka_unit_test(reductions),
        cmocka_unit_test(other_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
