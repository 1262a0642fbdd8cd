/* add8.c — the time of one eager add of two f32[8] tensors through the C API, with the release of its result. */
#include <stdio.h>

#include "engine/engine.h"

enum { CALLS = 200000, TRIES = 15 };

int main(void) {
    context *c = context_new(1);
    const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    shape s = {.rank = 1, .size = {8}};
    tensor *x = tensor_from(c, DT_F32, &s, data), *y = tensor_from(c, DT_F32, &s, data);
    uint64_t best = UINT64_MAX;
    for (int t = 0; t < TRIES; t++) {
        uint64_t begin = clock_ns();
        for (int i = 0; i < CALLS; i++) tensor_release(op_call2(c, OP_add, x, y, NULL));
        uint64_t took = clock_ns() - begin;
        if (took < best) best = took;
    }
    printf("%.3e\n", (double)best / CALLS * 1e-9);
    tensor_release(x);
    tensor_release(y);
    context_free(c);
    return 0;
}
