/* test_ops_memory.c — running out of memory in any allocation of an op: an error, nothing leaked, and the same call
 * succeeds afterwards. Also interrupts: an op that is interrupted says so. */
#include "tests/harness/check.h"
#include "tests/harness/tensors.h"

#include "engine/ops/random.h"

typedef struct setup {
    context *c;
    tensor *x, *y, *half, *turned, *index, *mask, *cube;
} setup;

/* Each calls one op; a new reference or NULL. */
static tensor *call_sum(setup *s) {
    return op_reduce(s->c, OP_sum, s->half, NULL, false);
}
static tensor *call_argmax(setup *s) {
    return op_call1(s->c, OP_argmax, s->turned, &(argmax_attrs){.axis = 1});
}
static tensor *call_matmul(setup *s) {
    return op_call2(s->c, OP_matmul, s->turned, s->y, NULL);
}
static tensor *call_batched(setup *s) {
    return op_call2(s->c, OP_matmul, s->cube, s->cube, NULL);
}
static tensor *call_halves(setup *s) {
    return op_call2(s->c, OP_matmul, s->half, s->half, NULL);
}
static tensor *call_vector(setup *s) {
    tensor *v = op_call1(s->c, OP_slice, s->half, &(slice_attrs){{2, {0, 1}}, {2, {40, 1}}, {2, {1, 1}}});
    tensor *out = op_call2(s->c, OP_matmul, s->half, v, NULL);
    tensor_release(v);
    return out;
}
static tensor *call_take(setup *s) {
    return op_call2(s->c, OP_take, s->turned, s->index, NULL);
}
static tensor *call_take_add(setup *s) {
    tensor *v = op_call2(s->c, OP_take, s->half, s->index, NULL);
    tensor *out = op_call3(s->c, OP_take_add, s->half, s->index, v, NULL);
    tensor_release(v);
    return out;
}
static tensor *call_compress(setup *s) {
    return op_call2(s->c, OP_compress, s->turned, s->mask, NULL);
}
static tensor *call_concat(setup *s) {
    return op_call2(s->c, OP_concat, s->turned, s->y, NULL);
}
static tensor *call_update(setup *s) {
    return op_call2(s->c, OP_update, s->turned, s->y,
                    &(slice_attrs){{2, {0, 0}}, {2, {40, 40}}, {2, {1, 1}}});
}
static tensor *call_reshape(setup *s) {
    return op_reshape(s->c, s->turned, &(shape){.rank = 1, .size = {1600}});
}
static tensor *call_one_hot(setup *s) {
    return op_call1(s->c, OP_one_hot, s->index, &(one_hot_attrs){.classes = 40, .dtype = DT_F16});
}
static tensor *call_full(setup *s) {
    return op_full(s->c, 2, &(shape){.rank = 1, .size = {5}}, DT_F32);
}
static tensor *call_draw(setup *s) {
    return random_draw(s->c, OP_randn, &(shape){.rank = 1, .size = {50}}, DT_F32, NULL);
}
static tensor *gradient_of(setup *s, op_id op, tensor *const *in, int nin, const void *attrs) {
    tape *t = tape_new(s->c);
    if (!t) return NULL;
    tensor *y = NULL, *sum = NULL, *g = NULL;
    if (!tape_watch(t, in[0])) {
        tape_push(s->c, t);
        op_apply(s->c, op, in, nin, attrs, &y);
        sum = y ? op_reduce(s->c, OP_sum, y, NULL, false) : NULL;
        tape_pop(s->c, t);
        if (sum && tape_gradient(t, sum, NULL, in, 1, &g)) g = NULL;
    }
    tensor_release(y);
    tensor_release(sum);
    tape_free(t);
    return g;
}
static tensor *grad_matmul(setup *s) {
    return gradient_of(s, OP_matmul, (tensor *[]){s->cube, s->y}, 2, NULL);
}
static tensor *grad_max(setup *s) {
    return gradient_of(s, OP_max, &s->half, 1, NULL);
}
static tensor *grad_slice(setup *s) {
    return gradient_of(s, OP_slice, &s->x, 1, &(slice_attrs){{2, {3, 0}}, {2, {4, 5}}, {2, {1, 2}}});
}
static tensor *grad_take(setup *s) {
    return gradient_of(s, OP_take, (tensor *[]){s->x, s->index}, 2, NULL);
}
static tensor *grad_compress(setup *s) {
    return gradient_of(s, OP_compress, (tensor *[]){s->x, s->mask}, 2, NULL);
}
static tensor *grad_concat(setup *s) {
    return gradient_of(s, OP_concat, (tensor *[]){s->x, s->y}, 2, NULL);
}

static tensor *(*const calls[])(setup *) = {
    call_sum,      call_argmax,   call_matmul, call_batched, call_halves,  call_vector,   call_take,
    call_take_add, call_compress, call_concat, call_update,  call_reshape, call_one_hot,  call_full,
    call_draw,     grad_matmul,   grad_max,    grad_slice,   grad_take,    grad_compress, grad_concat,
};

static void open_setup(setup *s) {
    context *c = context_new(2);
    assert_non_null(c);
    s->c = c;
    s->x = tensors_fill(c, DT_F32, 2, (int64_t[]){40, 40}, 1);
    s->y = tensors_fill(c, DT_F32, 2, (int64_t[]){40, 40}, 2);
    s->half = tensors_fill(c, DT_F16, 2, (int64_t[]){40, 40}, 3);
    s->turned = tensors_layout(s->x, LAYOUT_REVERSED_AXES);
    s->cube = tensors_fill(c, DT_F32, 3, (int64_t[]){3, 40, 40}, 4);
    int64_t at[3] = {3, 39, 3};
    uint8_t bits[40] = {[4] = 1, [39] = 1};
    s->index = tensors_ok(c, tensor_from(c, DT_I64, &(shape){.rank = 1, .size = {3}}, at));
    s->mask = tensors_ok(c, tensor_from(c, DT_BOOL, &(shape){.rank = 1, .size = {40}}, bits));
}

static void close_setup(setup *s) {
    tensor *all[] = {s->x, s->y, s->half, s->turned, s->cube, s->index, s->mask};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tensor_release(all[i]);
    context_free(s->c);
}

static void test_no_memory(void **state) {
    (void)state;
    setup s;
    open_setup(&s);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tensor *want = tensors_ok(s.c, calls[i](&s));
        size_t used = allocator_used(s.c->memory);
        int64_t failures = 0;
        for (int64_t n = 1;; n++) {
            context_trim(s.c); /* tensor structs and cached blocks are recycled: use up both first */
            mem_fail_after(n);
            tensor *got = calls[i](&s);
            mem_fail_after(0);
            if (got) { /* fewer than n allocations */
                tensor_release(got);
                break;
            }
            failures++;
            if (s.c->err.code != STATUS_MEMORY)
                fail_msg("call %zu, allocation %lld: no error", i, (long long)n);
            error_clear(&s.c->err);
            assert_null(s.c->tapes);
            if (allocator_used(s.c->memory) > used)
                fail_msg("call %zu, allocation %lld: a leak", i, (long long)n);
        }
        assert_true(failures > 0);
        if (calls[i] != call_draw) {
            tensor *again = tensors_ok(s.c, calls[i](&s));
            assert_true(tensors_same(again, want));
            tensor_release(again);
        }
        tensor_release(want);
    }
    close_setup(&s);
}

static void test_interrupts(void **state) {
    (void)state;
    setup s;
    open_setup(&s);
    static const size_t some[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 14};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        size_t used = allocator_used(s.c->memory);
        atomic_store(&s.c->interrupt, 1);
        assert_null(calls[some[i]](&s));
        assert_int_equal(s.c->err.code, STATUS_INTERRUPT);
        atomic_store(&s.c->interrupt, 0);
        error_clear(&s.c->err);
        assert_int_equal(allocator_used(s.c->memory), used);
    }
    close_setup(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory), cmocka_unit_test(test_interrupts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
