/* test_ops_tiers.c — every row of the op table, at its samples, in every executor: see tests/support/parity.h. With
 * gradients where the row has one, in all dtypes of its class, broadcasting, and at the values that formats are difficult
 * at.
 * ctest: labels=threads timeout=600 */
#include "tests/harness/check.h"

#include <string.h>

#include "tests/support/parity.h"

/* Programs are collected and checked a batch at a time: those that are interpreted, and those that are also compiled. */
typedef struct batch {
    parity lab;
    prog progs[2][PARITY_BATCH];
    int count[2];
    int64_t offered; /* of which one in CASE_STEP is taken */
} batch;

static void flush(batch *s) {
    for (int k = 0; k < 2; k++) {
        s->lab.compile = k == 1;
        if (s->count[k]) parity_check(&s->lab, s->progs[k], s->count[k]);
        s->count[k] = 0;
    }
    bench_clear(&s->lab.b);
}

static void add(batch *s, const op_info *op, const host *in, int nin, const layout *l, const void *attrs,
                bool gradients, bool compile) {
    if (s->offered++ % CASE_STEP) return;
    prog *p = &s->progs[compile][s->count[compile]++];
    *p = prog_of_call(op, in, nin, l, attrs);
    p->gradients = gradients && op->gradient;
    if (s->count[compile] == PARITY_BATCH) flush(s);
}

static batch *open_batch(uint64_t seed) {
    batch *s = test_calloc(1, sizeof *s);
    parity_open(&s->lab, seed);
    return s;
}

static void close_batch(batch *s) {
    flush(s);
    print_message("    %lld programs; compared in tiles %lld, in emitted C %lld, in emitted CUDA %lld, at "
                  "other sizes %lld; errors %lld\n",
                  (long long)s->lab.programs, (long long)s->lab.tiles, (long long)s->lab.compiled,
                  (long long)s->lab.cuda, (long long)s->lab.resized, (long long)s->lab.errors);
    parity_close(&s->lab);
    test_free(s);
}

static int cases_of(batch *s, const op_info *op, sample_case cases[MAX_SAMPLE_CASES]) {
    text problems = {0};
    int n = samples_read(op, cases, &problems);
    if (n < 0) failures_add(&s->lab.b.failures, "%s", text_str(&problems));
    text_free(&problems);
    return n;
}

/* ---- element-wise rows ---- */

#define S(...)                                                                                               \
    {                                                                                                        \
        .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .size = { __VA_ARGS__ }           \
    }
static const shape operand_shapes[][3] = {
    {S(5), S(5), S(5)}, {S(3, 1), S(4), S(3, 4)}, {S(2, 33), {0}, S(2, 1)},
    {{0}, S(7), {0}},   {S(1030), S(1030), S(1)},
};
enum { OPERAND_SHAPES = sizeof operand_shapes / sizeof *operand_shapes };
static const shape large[] = {S(70000), S(5, 14000), S(70001)};
static const shape reduced[] = {S(7), S(3, 5, 4), S(2, 4100), S(4100, 3), S(33, 65), {0}, S(2, 0, 3)};
#undef S

static bool fill(batch *s, const op_info *op, const sample_case *words, dtype t, const shape *shapes,
                 temper how, host *in, layout *l) {
    for (int k = 0; k < op->nin; k++) {
        dtype of = t;
        if (!sample_fixed(op, &words->in[k], k, &of) && !sample_takes(op, &words->in[k], k, t)) return false;
        in[k] = bench_operand(&s->lab.b, &words->in[k], of, &shapes[k], how);
        l[k] = (layout)rng_below(&s->lab.b.rng, LAYOUT_COUNT);
        if (l[k] == LAYOUT_EXPANDED) generate_repeat(&in[k]);
        bool raises = op->nin == 2 && op_faults[op->id][dtype_compute(t)] && k == 1;
        for (int64_t i = 0; raises && i < in[k].count;
             i++) /* mostly not: errors are compared too, but end a program */
            if (!rng_chance(&s->lab.b.rng, 1)) host_set_int(&in[k], i, 1 + (host_int(&in[k], i) & 7));
    }
    return true;
}

static void elementwise_row(batch *s, const op_info *op) {
    sample_case words[MAX_SAMPLE_CASES];
    host in[3];
    layout l[3];
    if (cases_of(s, op, words) < 0) return;
    for (dtype t = 0; t < DT_COUNT; t++)
        for (int k = 0; k < OPERAND_SHAPES; k++)
            if (fill(s, op, words, t, operand_shapes[k], k == 0 ? GENTLE : ROUGH, in, l))
                add(s, op, in, op->nin, l, NULL, k != 4, k == 4);
    for (dtype t = 0; t < DT_COUNT; t++) { /* each special value beside one that shifts */
        host special[3];
        for (int k = 0; k < op->nin; k++) {
            dtype of = t;
            if (!sample_fixed(op, &words->in[k], k, &of) && !sample_takes(op, &words->in[k], k, t)) return;
            special[k] = host_new(s->lab.b.memory, of, &(shape){.rank = 1, .size = {451}});
            generate_special(&special[k], k ? 11 : 1);
            bool raises = k == 1 && op_faults[op->id][dtype_compute(t)];
            for (int64_t i = 0; raises && i < 451; i++)
                if (host_int(&special[k], i) <= 0) host_set_int(&special[k], i, 2);
        }
        add(s, op, special, op->nin, NULL, NULL, true, false);
    }
}

/* ---- reductions ---- */

static void reduction_row(batch *s, const op_info *op) {
    sample_case words[MAX_SAMPLE_CASES];
    if (cases_of(s, op, words) < 0) return;
    for (dtype t = 0; t < DT_COUNT; t++)
        for (size_t k = 0; k < sizeof reduced / sizeof *reduced; k++)
            for (unsigned mask = 0; mask < 1U << reduced[k].rank; mask++) {
                reduce_attrs a = {.keep = rng_chance(&s->lab.b.rng, 50)};
                host in[1];
                layout l[1];
                for (int i = 0; i < reduced[k].rank; i++)
                    if (mask >> i & 1) a.axes.v[a.axes.count++] = i;
                if (shape_elements(&reduced[k]) > 5000 && (mask == 0 || t % 2)) continue;
                if (!fill(s, op, words, t, &reduced[k], ROUGH, in, l)) continue;
                bool compile = (k == 2 && mask == 2) || (k == 4 && mask == 1);
                add(s, op, in, 1, l, &a, !compile && (reduced[k].rank < 2 || k == 1), compile);
            }
}

/* ---- other rows ---- */

static void other_row(batch *s, const op_info *op) {
    sample_case cases[MAX_SAMPLE_CASES];
    int n = cases_of(s, op, cases);
    for (int k = 0; k < n; k++)
        for (dtype t = 0; t < DT_COUNT; t++) {
            host in[MAX_SAMPLE_OPERANDS];
            layout l[MAX_SAMPLE_OPERANDS];
            _Alignas(8) char attrs[MAX_ATTR_BYTES] = {0};
            error e = {0};
            bool fits = attrs_parse(op, cases[k].attrs, attrs, &e) == STATUS_OK;
            for (int i = 0; fits && i < cases[k].nin; i++) {
                const sample_operand *o = &cases[k].in[i];
                dtype of = t;
                fits = sample_fixed(op, o, i, &of) || sample_takes(op, o, i, t);
                shape free_shape = {.rank = 2, .size = {3, 4}};
                in[i] = bench_operand(&s->lab.b, o, of, o->shaped ? &o->shape : &free_shape, GENTLE);
                l[i] = (layout)rng_below(&s->lab.b.rng, LAYOUT_EXPANDED);
            }
            if (fits) add(s, op, in, cases[k].nin, l, attrs, true, t == DT_F32);
        }
}

static void over_rows(uint64_t seed, void (*row)(batch *s, const op_info *op),
                      bool (*wanted)(const op_info *op)) {
    batch *s = open_batch(seed);
    for (int i = 0; i < OP_COUNT; i++)
        if (sample_row_wanted(&op_table[i]) && wanted(&op_table[i])) row(s, &op_table[i]);
    close_batch(s);
}

static bool is_elementwise(const op_info *op) {
    return op_elementwise(op) && op->kind != KIND_CAST;
}
static bool is_reduction(const op_info *op) {
    return op->kind == KIND_REDUCE;
}
static bool is_other(const op_info *op) {
    return !is_elementwise(op) && !is_reduction(op);
}

static void elementwise_rows(void **state) {
    (void)state;
    over_rows(11, elementwise_row, is_elementwise);
}

static void reductions(void **state) {
    (void)state;
    over_rows(12, reduction_row, is_reduction);
}

static void other_rows(void **state) {
    (void)state;
    over_rows(13, other_row, is_other);
}

/* Every pair of dtypes. */
static void casts(void **state) {
    (void)state;
    batch *s = open_batch(14);
    const op_info *op = &op_table[OP_cast];
    for (dtype t = 0; sample_row_wanted(op) && t < DT_COUNT; t++)
        for (dtype u = 0; u < DT_COUNT; u++) {
            host in = host_new(s->lab.b.memory, t, &(shape){.rank = 1, .size = {generate_special_count(t)}});
            generate_special(&in, 1);
            add(s, op, &in, 1, NULL, &(cast_attrs){.dtype = u}, false, true);
            host more = host_new(s->lab.b.memory, t, &(shape){.rank = 2, .size = {7, 9}});
            generate(&s->lab.b.rng, "real", 0, ROUGH, &more);
            add(s, op, &more, 1, &(layout){LAYOUT_TRANSPOSED}, &(cast_attrs){.dtype = u}, true, false);
        }
    close_batch(s);
}

/* Operands so large that several threads share the work. */
static void many_elements(void **state) {
    (void)state;
    batch *s = open_batch(15);
    s->lab.compile_everywhere = true;
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        sample_case words[MAX_SAMPLE_CASES];
        if (!sample_row_wanted(op) || is_other(op) || cases_of(s, op, words) < 0) continue;
        for (dtype t = 0; t < DT_COUNT; t++) {
            const shape *big = &large[(i + (int)t) % 3];
            shape shapes[3] = {*big, *big, *big};
            host in[3];
            layout l[3];
            if ((i + (int)t) % 4 == 0 && fill(s, op, words, t, shapes, ROUGH, in, l))
                add(s, op, in, op->nin, l, NULL, false, t == DT_F32 || t == DT_BF16 || t == DT_I32);
            if (s->count[0] + s->count[1] >= 24) flush(s);
        }
    }
    close_batch(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_rows), cmocka_unit_test(reductions),
        cmocka_unit_test(other_rows),       cmocka_unit_test(casts),
        cmocka_unit_test(many_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
