/* test_index.c — take, take_add, gather, scatter_add, compress, one_hot: element by element, in every dtype and layout,
 * with repeated and negative indices; errors; gradients; bits that do not depend on threads.
 *
 * ctest: labels=threads */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include <string.h>

static const dtype dtypes[] = {DT_BOOL, DT_U8, DT_I8, DT_I32, DT_I64, DT_F16, DT_BF16, DT_F32, DT_F64};
static const dtype index_types[] = {DT_I64, DT_I32, DT_I8};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Numbers in -n .. n - 1. */
static tensor *indices(context *c, dtype t, int rank, const int64_t *size, int64_t n, uint64_t seed) {
    shape s = {.rank = rank};
    for (int i = 0; i < rank; i++) s.size[i] = size[i];
    tensor *x = tensors_ok(c, tensor_new(c, DT_I64, &s));
    for (int64_t i = 0; i < tensor_count(x); i++)
        ((int64_t *)tensor_data(x))[i] = (int64_t)(hash_u64(seed + (uint64_t)i) % (uint64_t)(2 * n)) - n;
    tensor *out = tensors_ok(c, op_cast(c, x, t, false));
    tensor_release(x);
    return out;
}

static int64_t index_at(tensor *index, int64_t i, int64_t n) {
    int64_t at = tensor_get_int(index, i);
    return at < 0 ? at + n : at;
}

/* Elements before and behind the axis. */
static void around(const shape *s, int axis, int64_t *outer, int64_t *inner) {
    *outer = *inner = 1;
    for (int i = 0; i < axis; i++) *outer *= s->size[i];
    for (int i = axis + 1; i < s->rank; i++) *inner *= s->size[i];
}

/* a + b in dtype t, where both are small. */
static double added(dtype t, double a, double b) {
    if (t == DT_BOOL) return a != 0 || b != 0;
    return t == DT_U8 ? (double)(uint8_t)(int)(a + b) : t == DT_I8 ? (double)(int8_t)(int)(a + b) : a + b;
}

/* Checks got = x with v's elements added at at[i], in order; halves and floats within rounding. */
static void check_added(tensor *x, tensor *v, const int64_t *at, tensor *got) {
    dtype t = x->meta.dtype;
    int64_t n = tensor_count(x);
    double *want = mem_calloc((size_t)n, sizeof *want);
    for (int64_t i = 0; i < n; i++) want[i] = tensor_get_real(x, i);
    for (int64_t i = 0; i < tensor_count(v); i++) want[at[i]] = added(t, want[at[i]], tensor_get_real(v, i));
    double unit = t == DT_F16    ? 0x1p-9
                  : t == DT_BF16 ? 0x1p-6
                  : t == DT_F32  ? 0x1p-20
                  : t == DT_F64  ? 0x1p-48
                                 : 0;
    for (int64_t i = 0; i < n; i++) {
        double is = tensor_get_real(got, i), off = is - want[i];
        if (off < 0) off = -off;
        if (off > unit * 60)
            fail_msg("%s: element %lld is %g, not %g", dtype_name(t), (long long)i, is, want[i]);
    }
    mem_free(want);
}

static void check_take(context *c, dtype t, dtype it, int axis, int layout) {
    static const int64_t size[3] = {4, 5, 3}, picks[2] = {3, 4};
    tensor *x = tensors_fill(c, t, 3, size, 1), *u = tensors_layout(x, layout);
    tensor *index = indices(c, it, 2, picks, size[axis], 7), *j = tensors_layout(index, layout);
    tensor *got = tensors_ok(c, op_call2(c, OP_take, u, j, &(axis_attrs){.axis = axis}));
    int64_t outer, inner, at[4 * 5 * 12];
    around(&x->meta.shape, axis, &outer, &inner);
    assert_int_equal(got->meta.shape.rank, 4);
    for (int64_t i = 0; i < tensor_count(got); i++) {
        at[i] =
            (i / inner / 12 * size[axis] + index_at(index, i / inner % 12, size[axis])) * inner + i % inner;
        assert_true(tensor_get_real(got, i) == tensor_get_real(x, at[i]));
    }
    tensor *v = tensors_fill(c, t, 4, got->meta.shape.size, 9), *w = tensors_layout(v, layout);
    tensor *sum = tensors_ok(c, op_call3(c, OP_take_add, u, j, w, &(axis_attrs){.axis = axis - 3}));
    check_added(x, v, at, sum);
    tensor_release(sum);
    tensor_release(w);
    tensor_release(v);
    tensor_release(got);
    tensor_release(j);
    tensor_release(index);
    tensor_release(u);
    tensor_release(x);
}

static void check_gather(context *c, dtype t, dtype it, int axis, int layout) {
    static const int64_t size[3] = {4, 5, 3};
    int64_t picks[3] = {4, 5, 3};
    picks[axis] = 7;
    tensor *x = tensors_fill(c, t, 3, size, 1), *u = tensors_layout(x, layout);
    tensor *index = indices(c, it, 3, picks, size[axis], 7), *j = tensors_layout(index, layout);
    tensor *got = tensors_ok(c, op_call2(c, OP_gather, u, j, &(axis_attrs){.axis = axis}));
    int64_t outer, inner, at[7 * 5 * 5];
    around(&x->meta.shape, axis, &outer, &inner);
    assert_true(shape_same(NULL, &got->meta.shape, &index->meta.shape));
    for (int64_t i = 0; i < tensor_count(got); i++) {
        at[i] = (i / inner / 7 * size[axis] + index_at(index, i, size[axis])) * inner + i % inner;
        assert_true(tensor_get_real(got, i) == tensor_get_real(x, at[i]));
    }
    tensor *v = tensors_fill(c, t, 3, picks, 9), *w = tensors_layout(v, layout);
    tensor *sum = tensors_ok(c, op_call3(c, OP_scatter_add, u, j, w, &(axis_attrs){.axis = axis}));
    check_added(x, v, at, sum);
    tensor_release(sum);
    tensor_release(w);
    tensor_release(v);
    tensor_release(got);
    tensor_release(j);
    tensor_release(index);
    tensor_release(u);
    tensor_release(x);
}

static void test_picking(void **state) {
    (void)state;
    context *c = context_new(2);
    for (size_t d = 0; d < DTYPES; d++)
        for (size_t i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
                    check_take(c, dtypes[d], index_types[i], axis, layout);
                    check_gather(c, dtypes[d], index_types[i], axis, layout);
                }
    context_free(c);
}

/* Many repeated indices, enough work for threads: the bits of one lane. */
static void test_threads(void **state) {
    (void)state;
    for (int axis = 0; axis < 2; axis++) {
        tensor *want[2] = {NULL, NULL};
        context *c[3];
        for (int lanes = 0; lanes < 3; lanes++) {
            c[lanes] = context_new(lanes + 1);
            int64_t n = 3000, picks[2] = {axis ? 300 : 3000, axis ? 3000 : 300};
            tensor *x = tensors_fill(c[lanes], DT_F32, 2, (int64_t[]){300, 300}, 1);
            tensor *index = indices(c[lanes], DT_I64, 1, &n, 300, 5),
                   *each = indices(c[lanes], DT_I32, 2, picks, 300, 6);
            tensor *v = tensors_fill(c[lanes], DT_F32, 2, picks, 2);
            axis_attrs a = {.axis = axis};
            tensor *got[2] = {tensors_ok(c[lanes], op_call3(c[lanes], OP_take_add, x, index, v, &a)),
                              tensors_ok(c[lanes], op_call3(c[lanes], OP_scatter_add, x, each, v, &a))};
            for (int i = 0; i < 2; i++) {
                if (lanes == 0) {
                    want[i] = got[i];
                    continue;
                }
                assert_memory_equal(tensor_data(got[i]), tensor_data(want[i]), 300 * 300 * sizeof(float));
                tensor_release(got[i]);
            }
            tensor_release(x);
            tensor_release(index);
            tensor_release(each);
            tensor_release(v);
        }
        tensor_release(want[0]);
        tensor_release(want[1]);
        for (int i = 0; i < 3; i++) context_free(c[i]);
    }
}

static void test_compress_and_one_hot(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){4, 3}, 1);
    tensor *mask =
        tensors_ok(c, tensor_from(c, DT_BOOL, &(shape){.rank = 1, .size = {4}}, (uint8_t[]){0, 1, 0, 1}));
    tensor *got = tensors_ok(c, op_call2(c, OP_compress, x, mask, NULL));
    assert_int_equal(got->meta.shape.size[0], 2);
    for (int64_t i = 0; i < 6; i++)
        assert_true(tensor_get_real(got, i) == tensor_get_real(x, i + 3 + (i > 2) * 3));
    tensors_refused(c, op_call2(c, OP_compress, x, mask, &(axis_attrs){.axis = 1}), 117);
    tensor_release(got);
    tensor *index =
        tensors_ok(c, tensor_from(c, DT_I32, &(shape){.rank = 2, .size = {2, 1}}, (int32_t[]){2, 0}));
    for (size_t d = 0; d < DTYPES; d++) {
        got =
            tensors_ok(c, op_call1(c, OP_one_hot, index, &(one_hot_attrs){.classes = 3, .dtype = dtypes[d]}));
        assert_int_equal(got->meta.shape.rank, 3);
        for (int64_t i = 0; i < 6; i++) assert_true(tensor_get_real(got, i) == (i == 2 || i == 3));
        tensor_release(got);
    }
    tensors_refused(c, op_call1(c, OP_one_hot, index, &(one_hot_attrs){.classes = 2, .dtype = DT_F32}), 306);
    tensors_refused(c, op_call1(c, OP_one_hot, x, &(one_hot_attrs){.classes = 2, .dtype = DT_F32}), 305);
    tensor_release(index);
    tensor_release(mask);
    tensor_release(x);
    context_free(c);
}

static void test_errors(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x = tensors_fill(c, DT_F32, 2, (int64_t[]){4, 3}, 1),
           *v = tensors_fill(c, DT_F64, 2, (int64_t[]){2, 3}, 1);
    tensor *index =
        tensors_ok(c, tensor_from(c, DT_I64, &(shape){.rank = 1, .size = {2}}, (int64_t[]){-4, 4}));
    assert_null(op_call2(c, OP_take, x, index, NULL));
    assert_int_equal(c->err.number, 306);
    assert_string_equal(c->err.message, "index 4 at [1] is out of range for size 4");
    error_clear(&c->err);
    tensors_refused(c, op_call2(c, OP_take, x, x, NULL), 305);
    tensors_refused(c, op_call2(c, OP_take, x, index, &(axis_attrs){.axis = 2}), 301);
    tensors_refused(c, op_call2(c, OP_gather, x, index, NULL), 117);
    tensors_refused(c, op_call3(c, OP_take_add, x, index, v, NULL), 107);
    tensors_refused(c, op_call3(c, OP_take_add, x, index, x, NULL), 117);
    int64_t live = (int64_t)allocator_used(c->memory);
    tensors_refused(c, op_call3(c, OP_take_add, v, index, v, NULL), 306); /* after nothing was kept */
    assert_int_equal(allocator_used(c->memory), live);
    tensor_release(index);
    tensor_release(x);
    tensor_release(v);
    context_free(c);
}

static void test_gradients(void **state) {
    (void)state;
    context *c = context_new(1);
    tensor *x = tensors_fill(c, DT_F64, 2, (int64_t[]){4, 3}, 1);
    tensor *index =
        tensors_ok(c, tensor_from(c, DT_I64, &(shape){.rank = 1, .size = {3}}, (int64_t[]){1, -3, 0}));
    tensor *each = tensors_ok(
        c, tensor_from(c, DT_I64, &(shape){.rank = 2, .size = {2, 3}}, (int64_t[]){1, 1, 0, -1, 1, 0}));
    tensor *v = tensors_fill(c, DT_F64, 2, (int64_t[]){3, 3}, 2),
           *w = tensors_fill(c, DT_F64, 2, (int64_t[]){2, 3}, 3);
    tensor *mask =
        tensors_ok(c, tensor_from(c, DT_BOOL, &(shape){.rank = 1, .size = {4}}, (uint8_t[]){0, 1, 0, 1}));
    axis_attrs first = {.axis = 0};
    tensors_check_gradient(c, OP_take, (tensor *[]){x, index}, 2, &first);
    tensors_check_gradient(c, OP_take_add, (tensor *[]){x, index, v}, 3, &first);
    tensors_check_gradient(c, OP_gather, (tensor *[]){x, each}, 2, &first);
    tensors_check_gradient(c, OP_scatter_add, (tensor *[]){x, each, w}, 3, &first);
    tensors_check_gradient(c, OP_compress, (tensor *[]){x, mask}, 2, &first);
    tensor_release(x);
    tensor_release(index);
    tensor_release(each);
    tensor_release(v);
    tensor_release(w);
    tensor_release(mask);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picking),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_compress_and_one_hot),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
