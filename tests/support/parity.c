/* parity.c — see parity.h. */
#include "tests/harness/check.h"

#include "tests/support/parity.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/graph/passes.h"
#include "engine/graph/trace.h"
#include "engine/runtime/eager.h"
#include "engine/runtime/plan.h"

void parity_open(parity *p, uint64_t seed) {
    *p = (parity){0};
    bench_open(&p->b, seed, 1);
    p->lanes[0] = p->b.c;
    for (int i = 1; i < PARITY_LANES; i++) {
        p->lanes[i] = context_new(i + 1);
        assert_non_null(p->lanes[i]);
    }
}

void parity_close(parity *p) {
    for (int i = 1; i < PARITY_LANES; i++) context_free(p->lanes[i]);
    bench_close(&p->b);
}

static void complain(parity *p, const prog *one, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void complain(parity *p, const prog *one, const char *where, const char *format, ...) {
    char line[300];
    text shown = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!p->quiet) prog_print(one, &shown);
    failures_add(&p->b.failures, "%s: %s\n%s", where, line, text_str(&shown));
    text_free(&shown);
}

/* ---- results ---- */

typedef struct results {
    int number; /* of the error */
    char message[400];
    int count;
    host *out;
} results;

static results read_results(parity *p, context *c, status code, tensor **out, int count) {
    results r = {.count = count};
    if (code) {
        r.number = c->err.number;
        snprintf(r.message, sizeof r.message, "%s", c->err.message);
        error_clear(&c->err);
        return r;
    }
    r.out = arena_alloc(p->b.memory, ((size_t)count + 1) * sizeof *r.out);
    assert_non_null(r.out);
    for (int i = 0; i < count; i++) {
        r.out[i] = host_read(p->b.memory, out[i]);
        tensor_release(out[i]);
    }
    return r;
}

static bool compare(parity *p, const prog *one, const char *where, const results *want, const results *got) {
    char x[64], y[64];
    if (want->number != got->number) {
        complain(p, one, where, "error %d (%s), not %d (%s)", got->number, got->message, want->number,
                 want->message);
        return false;
    }
    for (int i = 0; !want->number && i < want->count; i++) {
        int64_t at = host_differs(&want->out[i], &got->out[i]);
        if (at == -1) continue;
        meta m = {want->out[i].shape, want->out[i].dtype, want->out[i].weak};
        meta n = {got->out[i].shape, got->out[i].dtype, got->out[i].weak};
        if (at == -2)
            complain(p, one, where, "output %d is %s, not %s", i, meta_text(NULL, &n, x, sizeof x),
                     meta_text(NULL, &m, y, sizeof y));
        else
            complain(p, one, where, "output %d, element %lld is %s, not %s", i, (long long)at,
                     host_show(&got->out[i], at, x), host_show(&want->out[i], at, y));
        return false;
    }
    return true;
}

/* ---- executors ---- */

enum { UNFIT = 106 }; /* a weak integer does not fit the dtype it meets */

static void make_inputs(context *c, const prog *one, tensor **in) {
    for (int i = 0; i < one->nin; i++) {
        in[i] = host_tensor(c, &one->in[i], one->layouts[i]);
        assert_non_null(in[i]);
    }
}

static void drop_inputs(const prog *one, tensor **in) {
    for (int i = 0; i < one->nin; i++) tensor_release(in[i]);
}

/* Runs the steps of `one` on inputs of `sized` (the same program, perhaps at other sizes). */
static results run_eagerly(parity *p, context *c, const prog *one, const prog *sized) {
    tensor *in[PROG_INPUTS], *out[PROG_RESULTS];
    int count = 0;
    make_inputs(c, sized, in);
    status code = prog_run(c, one, in, out, &count);
    results r = read_results(p, c, code, out, count);
    drop_inputs(one, in);
    return r;
}

static bool raises(const prog *one) {
    for (int s = 0; s < one->count; s++) {
        const op_info *op = &op_table[one->step[s].op];
        if (op->flags & (OP_RAISES | OP_DYNAMIC)) return true;
        for (int t = 0; t < CT_COUNT; t++)
            if (op_faults[op->id][t]) return true;
    }
    return false;
}

static void check_shapes(parity *p, const prog *one, const results *want) {
    context *c = p->b.c;
    tensor *in[PROG_INPUTS], *out[PROG_RESULTS];
    int count = 0;
    for (int i = 0; i < one->nin; i++) {
        meta m = {.shape = one->in[i].shape, .dtype = one->in[i].dtype};
        in[i] = one->in[i].weak ? host_tensor(c, &one->in[i], LAYOUT_PLAIN) : tensor_new_abstract(c, &m);
        assert_non_null(in[i]);
    }
    c->executor = &executor_shapes;
    status code = prog_run(c, one, in, out, &count);
    c->executor = &executor_eager;
    int number = code ? c->err.number : 0;
    error_clear(&c->err);
    bool by_value = raises(one) || want->number == UNFIT; /* shapes have none to see it by */
    if (number != want->number && !(want->number && !number && by_value))
        complain(p, one, "shapes alone", "error %d, not %d", number, want->number);
    for (int i = 0; i < count; i++) {
        const meta *m = &out[i]->meta;
        const host *h = &want->out[i];
        if (!want->number &&
            (m->dtype != h->dtype || m->weak != h->weak || !shape_same(NULL, &m->shape, &h->shape)))
            complain(p, one, "shapes alone", "output %d has another meta", i);
        tensor_release(out[i]);
    }
    drop_inputs(one, in);
}

/* The programs' inputs one after the other; prog k's are in[first[k]...]. */
typedef struct inputs {
    tensor **in;
    int count;
} inputs;

static inputs join_inputs(parity *p, context *c, const prog *const *progs, int n) {
    inputs all = {arena_alloc(p->b.memory, (size_t)(n * PROG_INPUTS + 1) * sizeof(tensor *)), 0};
    assert_non_null(all.in);
    for (int k = 0; k < n; k++) {
        make_inputs(c, progs[k], all.in + all.count);
        all.count += progs[k]->nin;
    }
    return all;
}

static void drop_all(const inputs *all) {
    for (int i = 0; i < all->count; i++) tensor_release(all->in[i]);
}

/* Traces the programs into one graph, verifies and optimises it. counts[k] gets the number of outputs of program k.
 * NULL with the error set. */
static program *freeze(parity *p, context *c, const prog *const *progs, int n, const inputs *all,
                       int *counts) {
    tensor **stand = arena_alloc(p->b.memory, (size_t)(all->count + 1) * sizeof *stand);
    tensor **out = arena_alloc(p->b.memory, (size_t)(n * PROG_RESULTS + 1) * sizeof *out);
    assert_true(stand && out);
    trace *t = trace_begin(c, "parity");
    if (!t) return NULL;
    int made = 0, outputs = 0, first = 0;
    for (; made < all->count; made++)
        if (!(stand[made] = trace_input(t, all->in[made], NULL))) break;
    status code = c->err.code;
    for (int k = 0; !code && k < n; first += progs[k++]->nin) {
        code = prog_run(c, progs[k], stand + first, out + outputs, &counts[k]);
        outputs += code ? 0 : counts[k];
    }
    graph *g = NULL, *better = NULL;
    program *made_program = NULL;
    if (code)
        trace_abandon(t);
    else
        code = trace_end(t, out, outputs, &g);
    for (int i = 0; i < outputs; i++) tensor_release(out[i]);
    for (int i = 0; i < made; i++) tensor_release(stand[i]);
    if (!code) code = graph_verify(g);
    if (!code) code = pipeline_run(g, &better, NULL, NULL);
    if (!code) code = graph_verify(better);
    graph_free(g);
    if (!code)
        code = program_new(c, better, &made_program); /* takes the graph over */
    else
        graph_free(better);
    return code ? NULL : made_program;
}

static int count_epilogues(const program *f) {
    int n = 0;
    for (int i = 0; i < f->step_count; i++) n += f->steps[i].operands && f->steps[i].k;
    return n;
}

/* Runs a frozen batch on `sized`, programs like `progs` at the sizes to run at, and compares with `want`. */
static bool run_frozen(parity *p, context *c, program *f, const prog *const *sized, int n,
                       const results *want, const int *counts, const char *where) {
    inputs all = join_inputs(p, c, sized, n);
    int total = 0;
    for (int k = 0; k < n; k++) total += counts[k];
    tensor **out = arena_alloc(p->b.memory, ((size_t)total + 1) * sizeof *out);
    assert_non_null(out);
    text why = {0};
    bool good = program_accepts(f, all.in, all.count, &why);
    if (!good) complain(p, sized[0], where, "inputs are not accepted: %s", text_str(&why));
    text_free(&why);
    status code = good ? program_run(f, all.in, all.count, out) : STATUS_OK;
    if (code) {
        results got = read_results(p, c, code, NULL, 0);
        good = n == 1 && want->number == got.number;
        if (!good) complain(p, sized[0], where, "error %d (%s)", got.number, got.message);
    } else if (good) {
        int first = 0;
        for (int k = 0; k < n; first += counts[k++]) {
            results got = read_results(p, c, STATUS_OK, out + first, counts[k]);
            good = compare(p, sized[k], where, &want[k], &got) && good;
        }
    }
    drop_all(&all);
    return good;
}

/* ---- other sizes ---- */

/* The program's inputs grown: every size above 1 by the same rule, elements repeating. */
static prog grown(parity *p, const prog *one, int64_t times, int64_t more) {
    prog g = *one;
    for (int i = 0; i < g.nin; i++) {
        const host *from = &one->in[i];
        shape s = from->shape;
        for (int a = 0; a < s.rank; a++)
            if (s.size[a] > 1) s.size[a] = times * s.size[a] + more;
        g.in[i] = host_new(p->b.memory, from->dtype, &s);
        g.in[i].weak = from->weak;
        size_t size = dtype_size(from->dtype);
        for (int64_t k = 0; k < g.in[i].count; k++)
            memcpy((char *)g.in[i].data + (size_t)k * size,
                   (const char *)from->data + (size_t)(k % from->count) * size, size);
        if (from->repeats) generate_repeat(&g.in[i]);
    }
    return g;
}

/* Would program `one`, frozen at its own sizes, take the inputs of `other`? */
static bool accepts(parity *p, const prog *one, const prog *other) {
    context *c = p->b.c;
    inputs own = join_inputs(p, c, &one, 1), next = join_inputs(p, c, &other, 1);
    int count;
    program *f = freeze(p, c, &one, 1, &own, &count);
    bool yes = f && program_accepts(f, next.in, next.count, NULL);
    program_free(f);
    error_clear(&c->err);
    drop_all(&own);
    drop_all(&next);
    return yes;
}

/* ---- checks ---- */

static const struct {
    program_tier tier;
    bool
        cuda; /* emitted CUDA under the host shim, threads in another order each time; a program stays there */
    const char *name;
} tiers[] = {{TIER_TILES, false, "tiles"}, {TIER_C, false, "emitted C"}, {TIER_TILES, true, "emitted CUDA"}};

static bool compiles(const parity *p, int lane) {
    return p->compile && (p->compile_everywhere || p->batches % PARITY_LANES == lane);
}

static status use_tier(const parity *p, program *f, size_t k) {
    return tiers[k].cuda ? program_emulate(f, (unsigned)p->batches) : program_set_tier(f, tiers[k].tier);
}

/* A batch frozen in each context, run by each tier at the sizes of progs and, when not NULL, of bigger. */
static void check_frozen(parity *p, const prog *const *progs, const prog *const *bigger, int n,
                         const results *want, const results *want_bigger) {
    int *counts = arena_alloc(p->b.memory, ((size_t)n + 1) * sizeof *counts);
    assert_non_null(counts);
    bool good = n > 0;
    p->batches += good;
    for (int l = 0; l < PARITY_LANES && good; l++) {
        context *c = p->lanes[l];
        inputs all = join_inputs(p, c, progs, n);
        program *f = freeze(p, c, progs, n, &all, counts);
        drop_all(&all);
        if (!f) {
            complain(p, progs[0], "freezing", "error %d (%s)", c->err.number, c->err.message);
            error_clear(&c->err);
            return;
        }
        p->epilogues += l == 0 ? count_epilogues(f) : 0;
        for (size_t k = 0; k < sizeof tiers / sizeof *tiers && good; k++) {
            char where[80];
            if (k > 0 && !compiles(p, l)) continue;
            snprintf(where, sizeof where, "%s, %d lane%s", tiers[k].name, l + 1, l ? "s" : "");
            if (use_tier(p, f, k)) {
                if (c->err.code != STATUS_UNSUPPORTED) complain(p, progs[0], where, "%s", c->err.message);
                error_clear(&c->err);
                continue;
            }
            good = run_frozen(p, c, f, progs, n, want, counts, where);
            *(tiers[k].cuda ? &p->cuda : tiers[k].tier == TIER_C ? &p->compiled : &p->tiles) += n;
            if (good && bigger) {
                snprintf(where, sizeof where, "%s, %d lane%s, other sizes", tiers[k].name, l + 1,
                         l ? "s" : "");
                good = run_frozen(p, c, f, bigger, n, want_bigger, counts, where);
                p->resized += n;
                if (good)
                    run_frozen(p, c, f, progs, n, want, counts, tiers[k].name); /* and back: plans are kept */
            }
        }
        program_free(f);
    }
}

/* A program that raises: alone, in every tier, the same error while tracing or running. */
static void check_error(parity *p, const prog *one, const results *want) {
    context *c = p->b.c;
    int count;
    inputs all = join_inputs(p, c, &one, 1);
    program *f = freeze(p, c, &one, 1, &all, &count);
    drop_all(&all);
    p->errors++;
    if (!f) {
        results got = read_results(p, c, c->err.code, NULL, 0);
        if (got.number != want->number) compare(p, one, "freezing", want, &got);
        return;
    }
    for (size_t k = 0; k < sizeof tiers / sizeof *tiers; k++) {
        if (k > 0 && !p->compile) continue;
        if (use_tier(p, f, k)) {
            error_clear(&c->err);
            continue;
        }
        run_frozen(p, c, f, &one, 1, want, &count, tiers[k].name);
    }
    program_free(f);
}

static bool dynamic(const prog *one) {
    for (int s = 0; s < one->count; s++)
        if (op_table[one->step[s].op].flags & OP_DYNAMIC) return true;
    return false;
}

/* Eagerly on all lanes and with shapes alone. */
static results check_eager(parity *p, const prog *one) {
    results want = run_eagerly(p, p->lanes[0], one, one);
    for (int l = 1; l < PARITY_LANES; l++) {
        results got = run_eagerly(p, p->lanes[l], one, one);
        compare(p, one, l == 1 ? "eagerly, 2 lanes" : "eagerly, 3 lanes", &want, &got);
    }
    if (!dynamic(one)) check_shapes(p, one, &want);
    p->programs++;
    return want;
}

void parity_check(parity *p, const prog *progs, int n) {
    arena *m = p->b.memory;
    const prog **fixed = arena_alloc(m, (size_t)(3 * n + 1) * sizeof *fixed), **sized = fixed + n,
               **bigger = sized + n;
    prog *grown_progs = arena_alloc(m, (size_t)(n + 1) * sizeof *grown_progs);
    results *want = arena_alloc(m, (size_t)(3 * n + 1) * sizeof *want), *want_sized = want + n,
            *want_bigger = want + 2 * n;
    assert_true(fixed && grown_progs && want);
    int nfixed = 0, nsized = 0;
    for (int k = 0; k < n; k++) {
        results r = check_eager(p, &progs[k]);
        if (r.number || dynamic(&progs[k])) {
            if (r.number) check_error(p, &progs[k], &r);
            continue;
        }
        grown_progs[k] = grown(p, &progs[k], 1 + (int64_t)(k % 2), 1);
        results g = run_eagerly(p, p->b.c, &progs[k], &grown_progs[k]);
        if (!g.number && accepts(p, &progs[k], &grown_progs[k])) {
            sized[nsized] = &progs[k];
            bigger[nsized] = &grown_progs[k];
            want_bigger[nsized] = g;
            want_sized[nsized++] = r;
        } else {
            fixed[nfixed] = &progs[k];
            want[nfixed++] = r;
        }
    }
    check_frozen(p, fixed, NULL, nfixed, want, NULL);
    check_frozen(p, sized, bigger, nsized, want_sized, want_bigger);
}

bool parity_fails(parity *p, const prog *one) {
    failures before = p->b.failures;
    p->b.failures = (failures){0};
    p->quiet = true;
    parity_check(p, one, 1);
    bool fails = p->b.failures.count > 0;
    text_free(&p->b.failures.lines);
    p->b.failures = before;
    p->quiet = false;
    return fails;
}
