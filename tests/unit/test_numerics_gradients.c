/* test_numerics_gradients.c — lines of numerics.md, "Gradients", one by one. ctest: timeout=120 */
#include "tests/harness/check.h"

#include <math.h>

#include "engine/autograd/tape.h"
#include "engine/ops/apply.h"

/* The gradients of x ** p by x and by p. */
static void pow_gradients(double base, double exponent, double *by_x, double *by_p) {
    context *c = context_new(1);
    tensor *x = tensor_from(c, DT_F64, &(shape){0}, &base),
           *p = tensor_from(c, DT_F64, &(shape){0}, &exponent);
    tensor *in[2] = {x, p}, *g[2];
    tape *t = tape_new(c);
    tape_watch(t, x);
    tape_watch(t, p);
    tape_push(c, t);
    tensor *y = op_call2(c, OP_pow, x, p, NULL);
    tape_pop(c, t);
    assert_int_equal(tape_gradient(t, y, NULL, in, 2, g), STATUS_OK);
    *by_x = tensor_get_real(g[0], 0);
    *by_p = tensor_get_real(g[1], 0);
    tensor *all[] = {x, p, y, g[0], g[1]};
    tape_free(t);
    for (int i = 0; i < 5; i++) tensor_release(all[i]);
    context_free(c);
}

static void powers(void **state) {
    (void)state;
    double x, p;
    pow_gradients(0, 0, &x, &p);
    assert_true(x == 0);
    pow_gradients(3, 0, &x, &p);
    assert_true(x == 0);
    pow_gradients(0, 2.5, &x, &p);
    assert_true(x == 0 && p == 0);
    pow_gradients(-2, 0.5, &x, &p);
    assert_true(isnan(x) && isnan(p));
}

static void hessian_of_sine_squared(void **state) {
    (void)state;
    context *c = context_new(1);
    double zero = 0;
    tensor *x = tensor_from(c, DT_F64, &(shape){0}, &zero), *g, *h;
    tape *outer = tape_new(c), *inner = tape_new(c);
    tape_watch(outer, x);
    tape_watch(inner, x);
    tape_push(c, outer);
    tape_push(c, inner);
    tensor *s = op_call1(c, OP_sin, x, NULL), *y = op_call2(c, OP_mul, s, s, NULL);
    tape_pop(c, inner);
    assert_int_equal(tape_gradient(inner, y, NULL, &x, 1, &g), STATUS_OK);
    tape_pop(c, outer);
    assert_int_equal(tape_gradient(outer, g, NULL, &x, 1, &h), STATUS_OK);
    assert_true(tensor_get_real(h, 0) == 2);
    tape_free(inner);
    tape_free(outer);
    tensor *all[] = {x, s, y, g, h};
    for (int i = 0; i < 5; i++) tensor_release(all[i]);
    context_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(powers), cmocka_unit_test(hessian_of_sine_squared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
