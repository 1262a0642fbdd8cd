/* test_faults.c — a session of every feature in which each allocation fails once: an error each time, never a crash or
 * a leak, every binding intact, and the session goes on.
 *
 * ctest: timeout=600 */
#include "tests/harness/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/shell/shell.h"

/* Each text runs again and again in one session, so it must not depend on having run. */
static const char *const setup_text =
    "probe = 42; x = randn(4, 3); w = randn(3, 2); m = {w: w, b: zeros(2)}; t8 = [1, 0, 1, 1];"
    "def net(m, x) = relu(x @ m.w + m.b)\n"
    "def loss(m, x, y) = cross_entropy(net(m, x), y)\n";

static const char *const features[] = {
    "1 + 1; 2.5 * 3; -7 // 2; 1 / 3; 2 ** 10; true and not false; 1 < 2 < 3",
    "[[1, 2], [3, 4]] + 1; [1, 2.5]; [true, false]; [1, 2] as f16; \"text\"; (1, 2); {a: 1, b: (2, 3)}; "
    "None; 0..5",
    "def f(a, b=2) { a * b }; f(3); f(3, b=4); (u -> u + 1)(2); ((a, b) -> a - b)(1, 2)",
    "s = 0; for i in 0..5 { s += i }; while s > 3 { s -= 2 }; if s > 1 { s } else { -s }",
    "x[0]; x[-1, 1:]; x[::-1]; x[..., None]; x[x[:, 0] > 0]; x[[0, 1]]; x.T; x[:, 1]",
    "y = x; y[0, :] = 9; y[1] = [1, 2, 3]; r = {a: 1}; r.a = 2; r.a += 1; y[0, 0] += 1",
    "sum(x); mean(x, axis=1); max(x, axis=0, keep=true); argmax(x); any(x > 0); all(x > 0); min(x)",
    "reshape(x, (3, 4)); transpose(x); expand(x[:1], (4, 3)); concat((x, x)); stack((x, x)); x |> relu |> "
    "sum(axis=1)",
    "x @ w; softmax(x); logsumexp(x); cross_entropy(x, t8 % 3); one_hot(t8, 3); arange(5); full((2, 2), 3.5)",
    "gather(x, t8[:, None], axis=1); where(x > 0, x, 0); maximum(x, 0); clip(x, -1, 1); tanh(x) as bf16",
    "seed(3); randn(3); rand(2, 2); randn(3, key=7)",
    "grad(v -> sum(tanh(v) ** 2))(x); grad(loss)(m, x, t8 % 2); value_and_grad(loss)(m, x, t8 % 2)",
    "grad(a -> sum(grad(b -> sum(sin(b) ** 2))(a)))(x); vjp(tanh, x); jvp(tanh, x, x)",
    "t = tape { h = x @ w; l = mean(h ** 2) }; t.grad(l, w); t.grad(l, h)",
    "g = freeze(v -> tanh(v) * 2 + 1); g(x); g(w)",
    "g = freeze(relu(x @ w)); g(); g(x=2 * x)",
    "g = freeze(value_and_grad(loss)); g(m, x, t8 % 2); g(m, x[:2], t8[:2] % 2)",
    "g = freeze(v -> softmax(v @ w)); g(x); g = freeze(() -> randn(3)); g()",
    "save(x, \"faults.npy\"); load(\"faults.npy\"); save(x, \"faults.csv\"); load(\"faults.csv\"); save(x, "
    "\"faults.csv.gz\"); load(\"faults.csv.gz\")",
    "print(\"x is\", x); assert(probe == 42, \"probe\"); len(x); x.shape; x.dtype; time()",
    ":help\n:help relu\n?matmul\n:vars\n:explain E101\n:mem",
    "probe2 = 1; probe2 = 2\n:undo\n:redo",
    ":profile sum(tanh(x) @ w) --runs 1\n:trace save faults.json\n:timeline --text\n:timeline --out "
    "faults.svg\n:profile --json",
    "g = freeze(v -> mean(tanh(v @ w))); g(x)\n:graph g\n:graph g --cost\n:graph g --dot --cost\n:graph g "
    "--before --out "
    "faults.dot\n"
    ":source g\n:source g --passes",
};

static context *c;
static shell_options options = {0};
static shell sh;
static int quiet, out, err;

static void silence(bool on) {
    fflush(stdout);
    fflush(stderr);
    dup2(on ? quiet : out, 1);
    dup2(on ? quiet : err, 2);
}

static status run(const char *content) {
    silence(true);
    status code = shell_run_text(&sh, "faults.td", content, strlen(content));
    if (!code) code = shell_flush(&sh);
    silence(false);
    return code;
}

static bool intact(void) {
    const value *probe = session_get(sh.session, "probe");
    return probe && probe->kind == VALUE_TENSOR && tensor_get_int(probe->tensor, 0) == 42;
}

/* Fails each allocation of `content` once. */
static void fail_each(const char *content) {
    int64_t tolerated = 0, failed = 0;
    if (run(content)) fail_msg("%s: %s", content, c->err.message);
    for (int64_t n = 1;; n++) {
        context_trim(c); /* so that cached memory does not stand in for allocations */
        int64_t before = mem_count();
        mem_fail_after(n);
        status code = run(content);
        mem_fail_after(0);
        bool reached = mem_count() - before >= n;
        if (!reached) {
            if (code) fail_msg("%s: failed without reason: %s", content, c->err.message);
            break;
        }
        if (!intact()) fail_msg("allocation %lld of %s: a binding is lost", (long long)n, content);
        if (code == STATUS_OK) {
            tolerated++;
            continue;
        }
        if (code != STATUS_MEMORY)
            fail_msg("allocation %lld of %s: %s, not out of memory", (long long)n, content, c->err.message);
        failed++;
        error_clear(&c->err);
    }
    print_message("%6lld failed, %lld tolerated: %.60s\n", (long long)failed, (long long)tolerated, content);
    assert_true(failed > 0);
    if (run(content)) fail_msg("afterwards, %s: %s", content, c->err.message);
}

static void each_allocation_fails_once(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) fail_each(features[i]);
}

static int set_up(void **state) {
    (void)state;
    char folder[] = "/tmp/tapedeck-faults-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder)) return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    quiet = open("/dev/null", O_WRONLY);
    out = dup(1);
    err = dup(2);
    options.threads = 2;
    sh = (shell){.options = &options};
    if (shell_open(&sh)) return -1;
    c = sh.c;
    return run(setup_text) == STATUS_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    shell_close(&sh);
    return mem_live() == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails_once)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
