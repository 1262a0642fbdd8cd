/* test_context.c — two engines in one process, and interrupts that arrive while kernels run.
 *
 * ctest: labels=threads */
#include "tests/harness/check.h"

#include <pthread.h>
#include <unistd.h>

#include "engine/engine.h"
#include "engine/ops/random.h"

/* The gradient of sum(tanh(x @ x)) for a random x of the context's stream. */
static tensor *work(context *c) {
    shape s = {.rank = 2, .size = {96, 96}};
    tensor *x = random_draw(c, OP_randn, &s, DT_F32, NULL), *dx = NULL;
    tape *t = tape_new(c);
    assert_non_null(x);
    assert_int_equal(tape_watch(t, x), STATUS_OK);
    tape_push(c, t);
    tensor *m = op_call2(c, OP_matmul, x, x, NULL), *h = op_call1(c, OP_tanh, m, NULL);
    tensor *l = op_reduce(c, OP_sum, h, NULL, false);
    tape_pop(c, t);
    assert_int_equal(tape_gradient(t, l, NULL, &x, 1, &dx), STATUS_OK);
    tape_free(t);
    for (int i = 0; i < 4; i++) tensor_release(((tensor *[]){x, m, h, l})[i]);
    return dx;
}

static double checksum(tensor *x) {
    double sum = 0;
    for (int64_t i = 0; i < tensor_count(x); i++) sum += tensor_get_real(x, i) * (double)(i % 7 + 1);
    return sum;
}

static void contexts_share_nothing(void **state) {
    (void)state;
    context *a = context_new(2), *b = context_new(1);
    random_seed(a, 5);
    random_seed(b, 5);
    tensor *x = work(a), *y = work(b), *z = work(a), *w = work(b);
    assert_true(checksum(x) ==
                checksum(y)); /* the same seed gives the same bits, whatever the other context did */
    assert_true(checksum(z) == checksum(w));
    assert_true(checksum(x) != checksum(z));
    atomic_store(&a->interrupt, 1);
    assert_null(op_call2(a, OP_matmul, x, x, NULL));
    assert_int_equal(a->err.number, 902);
    assert_int_equal(b->err.code, STATUS_OK);
    tensor *still = op_call2(b, OP_matmul, y, y, NULL); /* b was not interrupted */
    assert_non_null(still);
    for (int i = 0; i < 5; i++) tensor_release(((tensor *[]){x, y, z, w, still})[i]);
    context_free(a);
    context_free(b);
    assert_int_equal(mem_live(), 0);
}

static void *own_context(void *result) {
    context *c = context_new(2);
    random_seed(c, 9);
    for (int i = 0; i < 5; i++) {
        tensor *x = work(c);
        *(double *)result += checksum(x);
        tensor_release(x);
    }
    context_free(c);
    return NULL;
}

static void contexts_run_in_parallel(void **state) {
    (void)state;
    double sums[3] = {0};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, own_context, &sums[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_true(sums[0] == sums[1] && sums[1] == sums[2]);
}

static void *interrupt_soon(void *context_pointer) {
    context *c = context_pointer;
    usleep(20000);
    atomic_store(&c->interrupt, 1);
    return NULL;
}

/* Runs ops of one kind until an interrupt from another thread stops one. */
static void interrupted_in(context *c, op_id op, tensor *x, tensor *y) {
    pthread_t thread;
    int done = 0;
    pthread_create(&thread, NULL, interrupt_soon, c);
    for (; done < 1000000; done++) {
        tensor *r = y ? op_call2(c, op, x, y, NULL) : op_call1(c, op, x, NULL);
        if (!r) break;
        tensor_release(r);
    }
    pthread_join(thread, NULL);
    assert_true(done < 1000000);
    assert_int_equal(c->err.code, STATUS_INTERRUPT);
    atomic_store(&c->interrupt, 0);
    error_clear(&c->err);
    tensor *again = op_call1(c, OP_neg, x, NULL); /* and the context goes on */
    assert_non_null(again);
    tensor_release(again);
}

static void kernels_stop_when_interrupted(void **state) {
    (void)state;
    context *c = context_new(2);
    shape s = {.rank = 2, .size = {1500, 1500}};
    tensor *x = op_full(c, 0.5, &s, DT_F32);
    interrupted_in(c, OP_matmul, x, x);
    interrupted_in(c, OP_sin, x, NULL);
    interrupted_in(c, OP_sum, x, NULL);
    interrupted_in(c, OP_mul, x, x);
    tensor_release(x);
    context_free(c);
    assert_int_equal(mem_live(), 0);
}

typedef struct big_operands {
    tensor *x, *flat, *index, *mask;
} big_operands;

static tensor *call_big(context *c, const big_operands *o, int n) {
    const shape *s = &o->x->meta.shape;
    switch (n) {
    case 0:
        return op_call2(c, OP_take, o->flat, o->index, NULL);
    case 1:
        return op_call3(c, OP_take_add, o->flat, o->index, o->flat, NULL);
    case 2:
        return op_call2(c, OP_gather, o->flat, o->index, NULL);
    case 3:
        return op_call2(c, OP_compress, o->flat, o->mask, NULL);
    case 4:
        return op_call2(c, OP_concat, o->flat, o->flat, NULL);
    case 5:
        return op_call1(c, OP_one_hot, o->index, &(one_hot_attrs){.classes = 30, .dtype = DT_F32});
    case 6:
        return op_full(c, 1, s, DT_F32);
    case 7:
        return op_call1(c, OP_argmax, o->x, &(argmax_attrs){.axis = 0});
    case 8:
        return op_call2(c, OP_update, o->flat, o->flat,
                        &(slice_attrs){{1, {0}}, {1, {tensor_count(o->flat)}}, {1, {1}}});
    case 9:
        return op_call1(c, OP_cast, o->x, &(cast_attrs){.dtype = DT_F16});
    case 10:
        return random_draw(c, OP_randn, s, DT_F32, NULL);
    default: {
        tensor *turned = op_call1(c, OP_transpose, o->x, &(transpose_attrs){{2, {1, 0}}});
        tensor *flat = turned ? op_reshape(c, turned, &o->flat->meta.shape) : NULL;
        tensor_release(turned);
        return flat;
    }
    }
}

/* Ops that move elements, too: with an interrupt pending, none of them is carried out to its end. */
static void moves_stop_when_interrupted(void **state) {
    (void)state;
    enum { CALLS = 12, ROWS = 1200 };
    context *c = context_new(2);
    shape s = {.rank = 2, .size = {ROWS, ROWS}}, flat = {.rank = 1, .size = {ROWS * ROWS}};
    big_operands o = {.x = op_full(c, 0.5, &s, DT_F32), .flat = op_full(c, 2, &flat, DT_F32)};
    o.index = op_full(c, 7, &flat, DT_I64);
    o.mask = op_full(c, 1, &flat, DT_BOOL);
    for (int i = 0; i < CALLS; i++) {
        tensor *before = call_big(c, &o, i);
        assert_non_null(before);
        tensor_release(before);
        atomic_store(&c->interrupt, 1);
        assert_null(call_big(c, &o, i));
        assert_int_equal(c->err.code, STATUS_INTERRUPT);
        atomic_store(&c->interrupt, 0);
        error_clear(&c->err);
    }
    tensor_release(o.x);
    tensor_release(o.flat);
    tensor_release(o.index);
    tensor_release(o.mask);
    context_free(c);
    assert_int_equal(mem_live(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_share_nothing),
        cmocka_unit_test(contexts_run_in_parallel),
        cmocka_unit_test(kernels_stop_when_interrupted),
        cmocka_unit_test(moves_stop_when_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
