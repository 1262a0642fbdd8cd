/* test_movement.c — reshape, transpose, expand, slice, update, concat and their gradients, element by element. */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <string.h>

#include "engine/ops/movement.h"

static const dtype dtypes[] = {DT_BOOL, DT_F16, DT_I32, DT_F64};

static int_list list(int n, const int64_t *v) {
    int_list l = {.count = n};
    memcpy(l.v, v, (size_t)n * sizeof *v);
    return l;
}

/* Into rows[]: the digits of row-major index i. */
static void digits_of(const shape *s, int64_t i, int64_t digit[MAX_RANK]) {
    for (int a = s->rank - 1; a >= 0; a--) {
        digit[a] = i % s->size[a];
        i /= s->size[a];
    }
}
static int64_t index_of(const shape *s, const int64_t *digit) {
    int64_t i = 0;
    for (int a = 0; a < s->rank; a++) i = i * s->size[a] + digit[a];
    return i;
}

static void test_reshape(void **state) {
    (void)state;
    context *c = context_new(2);
    static const struct {
        int from, to;
        int64_t a[4], b[5];
    } cases[] = {{2, 2, {4, 6}, {3, 8}},       {3, 1, {2, 3, 4}, {24}},
                 {1, 3, {24}, {2, 1, 12}},     {0, 2, {0}, {1, 1}},
                 {4, 2, {1, 1, 1, 1}, {1, 1}}, {3, 5, {2, 6, 2}, {2, 2, 3, 1, 2}},
                 {2, 3, {0, 3}, {3, 0, 7}},    {2, 0, {1, 1}, {0}},
                 {3, 2, {5, 1, 4}, {5, 4}},    {3, 3, {4, 3, 2}, {2, 2, 6}}};
    for (size_t d = 0; d < 4; d++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                tensor *x = tensors_fill(c, dtypes[d], cases[i].from, cases[i].a, 1),
                       *v = tensors_layout(x, layout);
                shape_attrs a = {.shape = list(cases[i].to, cases[i].b)};
                tensor *got = tensors_ok(c, op_call1(c, OP_reshape, v, &a));
                assert_int_equal(got->meta.shape.rank, cases[i].to);
                for (int64_t j = 0; j < tensor_count(x); j++)
                    assert_true(tensor_get_real(got, j) == tensor_get_real(x, j));
                tensor_release(got);
                tensor_release(v);
                tensor_release(x);
            }
    /* a view where strides can say it */
    tensor *x = tensors_fill(c, DT_F32, 3, (int64_t[]){4, 6, 5}, 1);
    tensor *turned = tensors_ok(c, op_transpose(c, x, 3, (int64_t[]){1, 2, 0}));
    tensor *flat = tensors_ok(c, op_reshape(c, turned, &(shape){.rank = 2, .size = {30, 4}}));
    assert_ptr_equal(flat->store, x->store);
    tensor_release(flat);
    flat = tensors_ok(c, op_reshape(c, turned, &(shape){.rank = 1, .size = {120}}));
    assert_ptr_not_equal(flat->store, x->store);
    tensors_refused(c, op_reshape(c, x, &(shape){.rank = 1, .size = {119}}), 110);
    tensors_refused(c, op_reshape(c, x, &(shape){.rank = 2, .size = {-120, -1}}), 110);
    tensor_release(flat);
    tensor_release(turned);
    tensor_release(x);
    context_free(c);
}

static void test_transpose_and_expand(void **state) {
    (void)state;
    context *c = context_new(2);
    static const int64_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {-1, 0, 1}, {0, -1, 1}};
    for (size_t d = 0; d < 4; d++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                tensor *x = tensors_fill(c, dtypes[d], 3, (int64_t[]){3, 4, 5}, 1),
                       *v = tensors_layout(x, layout);
                tensor *got = tensors_ok(c, op_transpose(c, v, 3, orders[i]));
                for (int64_t j = 0; j < tensor_count(got); j++) {
                    int64_t to[MAX_RANK], from[MAX_RANK];
                    digits_of(&got->meta.shape, j, to);
                    for (int a = 0; a < 3; a++) from[(orders[i][a] + 3) % 3] = to[a];
                    assert_true(tensor_get_real(got, j) ==
                                tensor_get_real(x, index_of(&x->meta.shape, from)));
                }
                shape wide = {.rank = 4, .size = {2, 3, 4, 5}};
                tensor *more = tensors_ok(c, op_expand(c, v, &wide));
                for (int64_t j = 0; j < 120; j++)
                    assert_true(tensor_get_real(more, j) == tensor_get_real(x, j % 60));
                tensor *copy = tensors_ok(c, tensor_to_contiguous(more));
                assert_true(tensors_same(copy, more));
                tensor_release(copy);
                tensor_release(more);
                tensor_release(got);
                tensor_release(v);
                tensor_release(x);
            }
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){3, 1}, 1);
    tensors_refused(c, op_transpose(c, x, 1, (int64_t[]){0}), 111);
    tensors_refused(c, op_transpose(c, x, 2, (int64_t[]){0, 0}), 310);
    tensors_refused(c, op_transpose(c, x, 2, (int64_t[]){0, 2}), 301);
    tensors_refused(c, op_expand(c, x, &(shape){.rank = 2, .size = {4, 2}}), 112);
    tensors_refused(c, op_expand(c, x, &(shape){.rank = 1, .size = {3}}), 112);
    tensor_release(x);
    context_free(c);
}

/* Boxes: start, size, step for a [5, 6]. */
static const slice_attrs boxes[] = {
    {{2, {1, 5}}, {2, {3, 3}}, {2, {1, -2}}}, {{2, {0, 0}}, {2, {5, 6}}, {2, {1, 1}}},
    {{2, {4, 2}}, {2, {5, 1}}, {2, {-1, 7}}}, {{2, {5, 0}}, {2, {0, 6}}, {2, {1, 1}}},
    {{2, {3, 1}}, {2, {1, 2}}, {2, {1, 3}}},
};

static void test_slice_and_update(void **state) {
    (void)state;
    context *c = context_new(2);
    for (size_t d = 0; d < 4; d++)
        for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
            for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                const slice_attrs *a = &boxes[i];
                tensor *x = tensors_fill(c, dtypes[d], 2, (int64_t[]){5, 6}, 1),
                       *v = tensors_layout(x, layout);
                tensor *part = tensors_ok(c, op_call1(c, OP_slice, v, a));
                tensor *fresh = tensors_fill(c, dtypes[d], 2, a->size.v, 8),
                       *w = tensors_layout(fresh, layout);
                tensor *got = tensors_ok(c, op_call2(c, OP_update, v, w, a));
                double want[30];
                for (int64_t j = 0; j < 30; j++) want[j] = tensor_get_real(x, j);
                for (int64_t j = 0; j < tensor_count(part); j++) {
                    int64_t digit[MAX_RANK];
                    digits_of(&part->meta.shape, j, digit);
                    int64_t at = (a->start.v[0] + digit[0] * a->step.v[0]) * 6 + a->start.v[1] +
                                 digit[1] * a->step.v[1];
                    assert_true(tensor_get_real(part, j) == want[at]);
                    want[at] = tensor_get_real(fresh, j);
                }
                for (int64_t j = 0; j < 30; j++) {
                    assert_true(tensor_get_real(got, j) == want[j]);
                }
                tensor *own = tensors_ok(c, tensor_from(c, x->meta.dtype, &x->meta.shape, tensor_data(x)));
                assert_true(tensor_unique(own));
                assert_int_equal(tensor_update_in_place(own, a, w), STATUS_OK);
                assert_true(tensors_same(own, got));
                tensor_release(own);
                tensor_release(got);
                tensor_release(w);
                tensor_release(fresh);
                tensor_release(part);
                tensor_release(v);
                tensor_release(x);
            }
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){5, 6}, 1),
           *y = tensors_fill(c, DT_F64, 2, (int64_t[]){3, 3}, 1);
    slice_attrs outside = {{2, {1, 5}}, {2, {3, 4}}, {2, {1, -2}}};
    tensors_refused(c, op_call1(c, OP_slice, x, &outside), 304);
    tensors_refused(c, op_call2(c, OP_update, x, y, &boxes[0]), 107);
    tensors_refused(c, op_call2(c, OP_update, x, x, &boxes[0]), 114);
    tensor_release(x);
    tensor_release(y);
    context_free(c);
}

static void test_concat(void **state) {
    (void)state;
    context *c = context_new(2);
    for (int axis = 0; axis < 3; axis++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
            tensor *in[3], *plain[3];
            for (int i = 0; i < 3; i++) {
                int64_t size[3] = {2, 3, 4};
                size[axis] = i == 1 ? 0 : i + 1;
                plain[i] = tensors_fill(c, DT_F32, 3, size, (uint64_t)i);
                in[i] = tensors_layout(plain[i], layout);
            }
            tensor *got;
            op_apply(c, OP_concat, in, 3, &(axis_attrs){.axis = axis - 3}, &got);
            tensors_ok(c, got);
            assert_int_equal(got->meta.shape.size[axis], 4);
            for (int64_t j = 0; j < tensor_count(got); j++) {
                int64_t digit[MAX_RANK];
                digits_of(&got->meta.shape, j, digit);
                int from = digit[axis] < 1 ? 0 : 2;
                digit[axis] -= from ? 1 : 0;
                assert_true(tensor_get_real(got, j) ==
                            tensor_get_real(plain[from], index_of(&plain[from]->meta.shape, digit)));
            }
            tensor_release(got);
            for (int i = 0; i < 3; i++) {
                tensor_release(in[i]);
                tensor_release(plain[i]);
            }
        }
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){2, 3}, 1),
           *y = tensors_fill(c, DT_I32, 2, (int64_t[]){2, 2}, 1);
    tensor *both = tensors_ok(c, op_call2(c, OP_concat, x, y, &(axis_attrs){.axis = 1}));
    assert_int_equal(both->meta.dtype, DT_F32);
    tensors_refused(c, op_call2(c, OP_concat, x, y, &(axis_attrs){.axis = 0}), 115);
    tensor_release(both);
    tensor_release(x);
    tensor_release(y);
    context_free(c);
}

/* Large copies take other paths: runs, transpositions, threads. */
static void test_large_copies(void **state) {
    (void)state;
    context *c = context_new(2);
    static const int64_t shapes[][3] = {{1, 1, 1200000}, {700, 900, 2}, {3, 1000, 333}, {2, 600001, 1}};
    static const dtype wide[] = {DT_U8, DT_F16, DT_F32, DT_I64};
    for (size_t d = 0; d < 4; d++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            tensor *x = tensors_fill(c, wide[d], 3, shapes[i], 1);
            for (int64_t first = 0; first < 3; first++) {
                int64_t order[3] = {first, (first + 1 + (first == 1)) % 3,
                                    (first + 2 + 2 * (first == 1)) % 3};
                int64_t back[3];
                for (int a = 0; a < 3; a++) back[order[a]] = a;
                tensor *turned = tensors_ok(c, op_transpose(c, x, 3, order));
                tensor *joined = tensors_ok(c, op_call1(c, OP_concat, turned, &(axis_attrs){.axis = 0}));
                assert_true(tensor_contiguous(joined));
                tensor *again = tensors_ok(c, op_transpose(c, joined, 3, back));
                assert_true(tensors_same(again, x));
                tensor_release(again);
                tensor_release(joined);
                tensor_release(turned);
            }
            tensor_release(x);
        }
    context_free(c);
}

static void test_gradients(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x = tensors_fill(c, DT_F64, 2, (int64_t[]){5, 6}, 1),
           *v = tensors_fill(c, DT_F64, 2, (int64_t[]){3, 3}, 2);
    tensor *column = tensors_fill(c, DT_F64, 2, (int64_t[]){3, 1}, 3),
           *y = tensors_fill(c, DT_F64, 2, (int64_t[]){5, 1}, 4);
    tensor *scalar = tensors_fill(c, DT_F64, 0, NULL, 5),
           *z = tensors_fill(c, DT_F64, 2, (int64_t[]){5, 2}, 6);
    tensors_check_gradient(c, OP_reshape, &x, 1, &(shape_attrs){{3, {5, 2, 3}}});
    tensors_check_gradient(c, OP_transpose, &x, 1, &(transpose_attrs){{2, {1, 0}}});
    tensors_check_gradient(c, OP_expand, &column, 1, &(shape_attrs){{3, {2, 3, 4}}});
    tensors_check_gradient(c, OP_slice, &x, 1, &boxes[0]);
    tensors_check_gradient(c, OP_update, (tensor *[]){x, v}, 2, &boxes[0]);
    tensors_check_gradient(c, OP_concat, (tensor *[]){x, y, z}, 3, &(axis_attrs){.axis = 1});
    tensors_check_gradient(c, OP_full, &scalar, 1, &(full_attrs){.shape = {2, {2, 3}}, .dtype = DT_F64});
    tensor_release(x);
    tensor_release(v);
    tensor_release(column);
    tensor_release(y);
    tensor_release(scalar);
    tensor_release(z);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reshape),          cmocka_unit_test(test_transpose_and_expand),
        cmocka_unit_test(test_slice_and_update), cmocka_unit_test(test_concat),
        cmocka_unit_test(test_large_copies),     cmocka_unit_test(test_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
