/* test_ops_values.c — every element-wise row of the op table, eagerly, against its reference: all dtypes of its class,
 * shapes around the boundaries of tiles, blocks and threads, broadcasting, views of every layout, and the values that
 * formats are difficult at. With one dtype for all operands; test_ops_dtypes.c mixes them.
 * ctest: timeout=300 */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/ops/loops.h"
#include "tests/support/bench.h"

typedef struct shapes {
    shape in[3];
} shapes;

#define S(...)                                                                                               \
    {                                                                                                        \
        .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .size = { __VA_ARGS__ }           \
    }
#define SCALAR                                                                                               \
    { 0 }

static const shape single[] = {
    SCALAR,  S(0),      S(1),          S(2, 0, 3), S(7),      S(15),        S(16),
    S(17),   S(31, 33), S(1023),       S(1024),    S(1025),   S(4096),      S(4097),
    S(5, 7), S(1, 1),   S(2, 3, 2, 3), S(3, 300),  S(300, 3), S(2, 257, 3),
};
static const shapes pairs[] = {
    {{SCALAR, SCALAR}},      {{S(0), S(1)}},          {{S(3, 1), S(1, 4)}},     {{SCALAR, S(17)}},
    {{S(1025), SCALAR}},     {{S(1025), S(1025)}},    {{S(5, 1, 7), S(6, 1)}},  {{S(300, 5), S(5)}},
    {{S(5, 300), S(300)}},   {{S(4, 300), S(4, 1)}},  {{S(1), S(3, 1, 2)}},     {{S(4097), S(1)}},
    {{S(2, 3), S(2, 2, 3)}}, {{S(2, 0), S(1, 1, 1)}}, {{S(9, 300), S(9, 300)}},
};
static const shapes triples[] = {
    {{SCALAR, SCALAR, SCALAR}},      {{S(7), S(7), S(7)}},         {{S(1025), S(1025), SCALAR}},
    {{S(3, 1), S(1, 4), S(3, 4)}},   {{SCALAR, S(1025), S(1025)}}, {{S(300), SCALAR, SCALAR}},
    {{S(2, 1, 5), S(4, 1), SCALAR}}, {{S(0), S(1), SCALAR}},       {{S(4, 300), S(300), S(4, 1)}},
    {{S(1025), SCALAR, S(1025)}},    {{SCALAR, S(9), SCALAR}},     {{SCALAR, SCALAR, S(9)}},
};
#undef S

static bool of_tables(const op_info *op) {
    return op_elementwise(op) && op->kind != KIND_CAST && sample_row_wanted(op);
}

static sample_case words_of(bench *b, const op_info *op) {
    sample_case cases[MAX_SAMPLE_CASES] = {0};
    text problems = {0};
    if (samples_read(op, cases, &problems) != 1)
        failures_add(&b->failures, "%s: %s", op->name, text_str(&problems));
    text_free(&problems);
    return cases[0];
}

static dtype dtype_for(const op_info *op, const sample_operand *o, int k, dtype t) {
    dtype fixed;
    return sample_fixed(op, o, k, &fixed) ? fixed : t;
}

/* Operands of the given shapes in dtype t, in layouts that change from call to call. */
static void check_shapes(bench *b, const op_info *op, const sample_case *words, dtype t, const shape *s) {
    host in[3];
    layout layouts[3];
    for (int k = 0; k < op->nin; k++) {
        in[k] = bench_operand(b, &words->in[k], dtype_for(op, &words->in[k], k, t), &s[k], ROUGH);
        layouts[k] = (layout)rng_below(&b->rng, LAYOUT_COUNT);
        if (layouts[k] == LAYOUT_EXPANDED) generate_repeat(&in[k]);
    }
    bench_check_elementwise(b, op, in, op->nin, NULL);
    bench_check_elementwise(b, op, in, op->nin, layouts);
    if (op->nin == 2 && op_faults[op->id][dtype_compute(t)]) { /* once more, without what made it raise */
        for (int64_t i = 0; i < in[1].count; i++)
            host_set_int(&in[1], i,
                         host_int(&in[1], i) < 0 ? -host_int(&in[1], i) / 2 + 1 : host_int(&in[1], i) + 1);
        bench_check_elementwise(b, op, in, op->nin, NULL);
    }
    bench_clear(b);
}

/* Is there anything to compute in t? Otherwise the call must be the class's error, once. */
static bool takes(const op_info *op, const sample_case *words, dtype t) {
    for (int k = 0; k < op->nin; k++) {
        dtype fixed;
        if (sample_fixed(op, &words->in[k], k, &fixed)) continue;
        if (!sample_takes(op, &words->in[k], k, t)) return false;
    }
    return true;
}

static void check_all_shapes(bench *b, const op_info *op, const sample_case *words, dtype t) {
    if (op->nin == 1)
        for (size_t i = 0; i < sizeof single / sizeof *single; i++) check_shapes(b, op, words, t, &single[i]);
    if (op->nin == 2)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) check_shapes(b, op, words, t, pairs[i].in);
    if (op->nin == 3)
        for (size_t i = 0; i < sizeof triples / sizeof *triples; i++)
            check_shapes(b, op, words, t, triples[i].in);
}

static void rows_at_many_shapes(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 1, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        if (!of_tables(op)) continue;
        sample_case words = words_of(&b, op);
        for (dtype t = 0; t < DT_COUNT; t++)
            if (takes(op, &words, t)) check_all_shapes(&b, op, &words, t);
    }
    bench_close(&b);
}

/* Drops the elements at which an integer row must raise: those are test_ops_errors.c's. */
static void avoid_faults(bench *b, const op_info *op, host *in) {
    host one[3];
    for (int k = 0; k < op->nin; k++) one[k] = host_new(b->memory, in[k].dtype, &(shape){0});
    for (int64_t i = 0; i < in[0].count; i++) {
        size_t size[3];
        for (int k = 0; k < op->nin; k++) {
            size[k] = dtype_size(in[k].dtype);
            memcpy(one[k].data, (char *)in[k].data + (size_t)i * size[k], size[k]);
        }
        if (expect_elementwise(b->memory, op, one, op->nin).number == 0) continue;
        for (int k = 0; k < op->nin; k++)
            if (!dtype_is_float(in[k].dtype)) host_set_int(&in[k], i, 1);
    }
}

/* Every special value of each operand with every special value of the others. */
static void check_specials(bench *b, const op_info *op, const sample_case *words, dtype t) {
    int64_t count = 1;
    host in[3];
    dtype of[3];
    for (int k = 0; k < op->nin; k++) {
        of[k] = dtype_for(op, &words->in[k], k, t);
        count *= generate_special_count(of[k]);
    }
    int64_t repeat = 1;
    for (int k = 0; k < op->nin; k++) {
        in[k] = host_new(b->memory, of[k], &(shape){.rank = 1, .size = {count}});
        repeat *= generate_special(&in[k], repeat);
    }
    avoid_faults(b, op, in);
    bench_check_elementwise(b, op, in, op->nin, NULL);
    bench_clear(b);
}

static void rows_at_special_values(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 2, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        if (!of_tables(op)) continue;
        sample_case words = words_of(&b, op);
        for (dtype t = 0; t < DT_COUNT; t++)
            if (takes(op, &words, t)) check_specials(&b, op, &words, t);
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_many_shapes),
        cmocka_unit_test(rows_at_special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
