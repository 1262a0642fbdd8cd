/* parsing.c — see parsing.h. */
#include "tests/harness/check.h"

#include "tests/harness/parsing.h"

#include <string.h>

parsed parse_bytes(const char *content, size_t length) {
    parsed x = {.table = source_table_new()};
    uint32_t id = source_add(x.table, NULL, content, length);
    x.code = parse_program(x.table, id, &x.e, &x.tree);
    assert_int_equal(x.code, x.e.code);
    assert_int_equal(x.tree != NULL, x.code == STATUS_OK);
    return x;
}

parsed parse_text(const char *content) {
    return parse_bytes(content, strlen(content));
}

void parse_done(parsed *x) {
    ast_release(x->tree);
    source_table_free(x->table);
}

const char *const parse_examples[] = {
    "d = load(\"digits.csv.gz\"); x = d[:, :64] / 16; y = d[:, 64] as i64",
    "a = [[1, 2], [3, 4]]                     # i64[2, 2]; nested brackets stack equal shapes",
    "b = 1.5; c = true; s = \"text\"            # a `;` after a top-level statement silences its echo",
    "a[0]; a[-1]; a[:, 1:]; a[::2]; a[..., None]; a[a > 2]; a[[0, 1]]; a.T",
    "a[0, :] = 9                              # rebinds a; whoever else holds the old value keeps it",
    "seed(42); e = randn(3, 4); k = randn(3, 4, key=7)      # key= draws apart from the stream",
    "y = einsum(\"bi,ij->bj\", x, w); z = x @ w + b           # NumPy's precedence, `**` for power",
    "relu(z); z.relu(); z |> relu |> sum(axis=1)            # one function, three spellings",
    "def mlp(x: f32[batch, 64], w, b=0) = relu(x @ w + b)   # optional annotations",
    "def loss(m, x, y) { p = m(x); cross_entropy(p, y) }    # a block's value is its last expression",
    "sq = v -> v * v; add = (u, v) -> u + v                 # lambdas",
    "if s > 0 { s } else { -s }                             # an expression",
    "for i in 0..10 { w = w - 0.1 * grad(f)(w) }            # only function bodies open a scope",
    "while err > 1e-6 { n += 1; if n > 100 { break } }",
    "l, g = value_and_grad(loss)(m, x, y)                   # tuples unpack",
    "grad(f); grad(f, wrt=(0, 2)); y, pull = vjp(f, x); y, dy = jvp(f, x, dx); jacobian(f)(x)",
    "hessian(f)(x); hvp(f, x, v)",
    "t = tape { h = x @ w; l = mean(h ** 2) }; t.grad(l, w); t.grad(l, h)   # any value on the tape",
    "m = seq(dense(64, 128), relu, dropout(0.1), dense(128, 10))            # a module",
    "opt = adam(lr=1e-3); m, opt = opt.step(m, g)           # optimisers are values too",
    "m, history = fit(m, x, y, loss=cross_entropy, opt=adam(lr=1e-3), epochs=20, batch=64)   # progress bar",
    "mean(argmax(m(x), axis=1) == y)                        # fit returns the module in evaluation mode",
    "r = {w: randn(3, 4), b: zeros(4)}; r.w; r.w = 2 * r.w  # records",
    "on gpu0 { x }; x.to(gpu0); x as bf16                   # placement and casts",
    "precision(bf16) { x }                                  # autocast region",
    "g = freeze(mlp); g2 = freeze(relu(x @ w + b)); g3 = freeze(mlp, f32[?, 64], f32[64, 10])",
    "print(\"acc\", 0.5); assert(ok, \"message\")",
    "save({x: x, y: y}, \"out.npz\")",
};
const size_t parse_example_count = sizeof parse_examples / sizeof *parse_examples;
