/* test_ops_zero_gradients.c — numerics.md, "Gradients": a zero incoming gradient stays zero through every element-wise row,
 * whatever its derivative is there: at every special value of each operand with every one of the others.
 * ctest: timeout=120 */
#include "tests/harness/check.h"

#include <string.h>

#include "engine/ops/attrs.h"
#include "tests/support/slope.h"

static void check_row(bench *b, const op_info *op, const sample_case *words) {
    host in[3], g[4], w;
    int64_t count = 1, repeat = 1;
    int n = 0;
    for (int k = 0; k < op->nin; k++) {
        dtype of = DT_F64;
        if (!sample_fixed(op, &words->in[k], k, &of) && !sample_takes(op, &words->in[k], k, of)) return;
        count *= generate_special_count(of);
    }
    for (int k = 0; k < op->nin; k++) {
        dtype of = DT_F64;
        sample_fixed(op, &words->in[k], k, &of);
        in[k] = host_new(b->memory, of, &(shape){.rank = 1, .size = {count}});
        repeat *= generate_special(&in[k], repeat);
    }
    w = host_new(b->memory, DT_F64, &in[0].shape);
    for (int sign = 0; sign < 2; sign++) {
        for (int64_t i = 0; i < w.count; i++) host_set_real(&w, i, sign ? -0.0L : 0.0L);
        if (!slope_gradients(b, op, in, op->nin, NULL, &w, g, &n)) return;
        for (int k = 0; k < n - 1; k++) /* the last is by w itself */
            for (int64_t i = 0; i < g[k].count; i++) {
                if (host_real(&g[k], i) == 0) continue;
                char x[64];
                failures_add(&b->failures, "%s: gradient %d, element %lld is %s where the incoming one is 0",
                             op->name, k, (long long)i, host_show(&g[k], i, x));
                return;
            }
    }
    b->calls++;
}

static void zero_stays_zero(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 41, 1);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        sample_case words[MAX_SAMPLE_CASES];
        text problems = {0};
        if (!op_elementwise(op) || op->kind == KIND_CAST || !op->gradient || !sample_row_wanted(op)) continue;
        if (samples_read(op, words, &problems) > 0) check_row(&b, op, words);
        text_free(&problems);
        bench_clear(&b);
    }
    bench_close(&b);
}

/* The defaults of a row's attributes, as reference_op writes them. */
static void print_defaults(const op_info *op, text *out) {
    attr_field fields[MAX_ATTRS];
    int n = attrs_fields(op, fields);
    for (int i = 0; i < n; i++) {
        const attr_field *f = &fields[i];
        if (!f->has_default) continue;
        text_printf(out, "%s%s=", out->length ? " " : "", f->name);
        if (f->type == ATTR_BOOL)
            text_add(out, f->fallback ? "true" : "false");
        else if (f->type == ATTR_DTYPE)
            text_add(out, dtype_name((dtype)f->fallback));
        else
            text_printf(out, "%lld", (long long)f->fallback);
    }
}

static void check_defaults(bench *b, const op_info *op, const reference_op *o) {
    text own = {0};
    print_defaults(op, &own);
    if (strcmp(text_str(&own), o->defaults) != 0)
        failures_add(&b->failures, "%s: attributes default to \"%s\", its reference says \"%s\"", op->name,
                     text_str(&own), o->defaults);
    text_free(&own);
}

/* No cell is blank, and the cells that tests can know are what the references say. */
static void cells_are_as_referenced(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 42, 1);
    text problems = {0};
    op_table_check(&problems);
    if (problems.length) failures_add(&b.failures, "%s", text_str(&problems));
    text_free(&problems);
    for (int i = 0; i < OP_COUNT; i++) {
        const op_info *op = &op_table[i];
        const reference *e = reference_find(op->name);
        const reference_reduction *r = reference_reduction_find(op->name);
        const reference_op *o = reference_op_find(op->name);
        if (!sample_row_wanted(op) || !(e || r || o)) continue;
        op_class class = e ? e->class : r ? r->class : o->class;
        op_autocast autocast = e ? e->autocast : r ? r->autocast : o->autocast;
        if (op->class != class) failures_add(&b.failures, "%s: another class than its reference", op->name);
        if (op->autocast != autocast)
            failures_add(&b.failures, "%s: another autocast class than numerics.md says", op->name);
        if (e && op->kind != e->kind) failures_add(&b.failures, "%s: another kind of row", op->name);
        if (e && (op->flops_per_element < e->flops_low || op->flops_per_element > e->flops_high))
            failures_add(&b.failures, "%s: %g flops are not believable", op->name, op->flops_per_element);
        if (r && op->flops_per_element != r->flops)
            failures_add(&b.failures, "%s: %g flops, not %g", op->name, op->flops_per_element, r->flops);
        if (o && op->flags != o->flags)
            failures_add(&b.failures, "%s: other flags than its reference", op->name);
        if (o) check_defaults(&b, op, o);
    }
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_stays_zero),
        cmocka_unit_test(cells_are_as_referenced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
