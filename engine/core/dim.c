/* dim.c — see dim.h. Expressions are kept in a small canonical form: operands of + and * are ordered,
 * constants folded, x*1 and x+0 dropped, so that equal sizes usually are equal numbers and need no guard. */
#include "engine/core/dim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/memory.h"

dims *dims_new(void) {
    return mem_calloc(1, sizeof(dims));
}

void dims_free(dims *t) {
    if (!t) return;
    mem_free(t->nodes);
    mem_free(t->guards);
    mem_free(t);
}

static dim add_node(dims *t, dim_node n) {
    if (t->count == t->capacity) {
        uint32_t capacity = t->capacity ? 2 * t->capacity : 16;
        dim_node *nodes = mem_realloc(t->nodes, capacity * sizeof *nodes);
        if (!nodes) {
            t->failed = true;
            return 2;
        }
        t->nodes = nodes;
        t->capacity = capacity;
    }
    t->nodes[t->count] = n;
    return dim_of_node(t->count++);
}

static bool same_guard(const dim_guard *g, dim a, dim b, dim_relation relation) {
    bool symmetric = relation == DIM_EQ || relation == DIM_NE;
    return g->relation == relation && ((g->a == a && g->b == b) || (symmetric && g->a == b && g->b == a));
}

static void add_guard(dims *t, dim a, dim b, dim_relation relation) {
    for (uint32_t i = 0; i < t->guard_count; i++)
        if (same_guard(&t->guards[i], a, b, relation)) return;
    if (t->guard_count == t->guard_capacity) {
        uint32_t capacity = t->guard_capacity ? 2 * t->guard_capacity : 8;
        dim_guard *guards = mem_realloc(t->guards, capacity * sizeof *guards);
        if (!guards) {
            t->failed = true;
            return;
        }
        t->guards = guards;
        t->guard_capacity = capacity;
    }
    t->guards[t->guard_count++] = (dim_guard){.a = a, .b = b, .relation = relation, .where = t->here};
}

dim dims_symbol(dims *t, int input, int axis, int64_t hint, const char *name) {
    dim_node n = {.op = DIM_INPUT, .a = input, .b = axis, .hint = hint};
    if (name) snprintf(n.name, sizeof n.name, "%s", name);
    return add_node(t, n);
}

static int64_t compute(dim_op op, int64_t a, int64_t b) {
    int64_t r;
    switch (op) {
    case DIM_ADD:
        return __builtin_add_overflow(a, b, &r) ? -1 : r;
    case DIM_MUL:
        return __builtin_mul_overflow(a, b, &r) ? -1 : r;
    case DIM_DIV:
        return b <= 0 ? -1 : a / b - (a % b < 0);
    default:
        return a;
    }
}

/* The expression `a op b`, shared with an equal one. */
static dim cons(dims *t, dim_op op, dim a, dim b) {
    if (dim_known(a) && dim_known(b)) return compute(op, a, b);
    if ((op == DIM_ADD || op == DIM_MUL) && a > b) {
        dim swap = a; /* symbols (smaller numbers) first, constants last */
        a = b;
        b = swap;
    }
    if ((op == DIM_MUL || op == DIM_DIV) && b == 1) return a;
    if (op == DIM_MUL && b == 0) return 0;
    if (op == DIM_ADD && b == 0) return a;
    if (op == DIM_DIV && a == b) return 1;
    const dim_node *left = dim_known(a) ? NULL : &t->nodes[dim_index(a)];
    if (left && left->op == op && (op == DIM_ADD || op == DIM_MUL) && dim_known(left->b) && dim_known(b))
        return cons(t, op, left->a, compute(op, left->b, b)); /* (s + 1) + 2 */
    if (left && op == DIM_DIV && left->op == DIM_MUL && (left->a == b || left->b == b))
        return left->a == b ? left->b : left->a; /* (s * 4) / 4 */
    if (left && op == DIM_DIV && left->op == DIM_MUL && dim_known(left->b) && dim_known(b) && b > 0 &&
        left->b % b == 0)
        return cons(t, DIM_MUL, left->a, left->b / b);
    assert(t->count == 0 || t->nodes);
    for (uint32_t i = 0; i < t->count; i++) {
        const dim_node *n = &t->nodes[i];
        if (n->op == op && n->a == a && n->b == b) return dim_of_node(i);
    }
    int64_t ha = dim_hint(t, a), hb = dim_hint(t, b);
    bool known = ha != DIM_UNKNOWN && hb != DIM_UNKNOWN;
    return add_node(t,
                    (dim_node){.op = op, .a = a, .b = b, .hint = known ? compute(op, ha, hb) : DIM_UNKNOWN});
}

dim dim_add(dims *t, dim a, dim b) {
    return cons(t, DIM_ADD, a, b);
}

dim dim_sub(dims *t, dim a, dim b) {
    if (a == b) return 0;
    return cons(t, DIM_ADD, a, dim_known(b) ? -b : cons(t, DIM_MUL, b, -1));
}

dim dim_mul(dims *t, dim a, dim b) {
    return cons(t, DIM_MUL, a, b);
}

dim dim_div(dims *t, dim a, dim b) {
    return cons(t, DIM_DIV, a, b);
}

int64_t dim_hint(const dims *t, dim d) {
    assert(dim_known(d) || t->nodes);
    return dim_known(d) ? d : t->nodes[dim_index(d)].hint;
}

double dim_estimate(const dims *t, dim d) {
    int64_t hint = dim_hint(t, d);
    return hint == DIM_UNKNOWN ? 1 : (double)hint;
}

bool dim_same(dims *t, dim a, dim b) {
    if (a == b) return true;
    if (dim_known(a) && dim_known(b)) return false;
    if ((dim_known(a) && a < 2 && t->nodes[dim_index(b)].op == DIM_INPUT) ||
        (dim_known(b) && b < 2 && t->nodes[dim_index(a)].op == DIM_INPUT))
        return false; /* input symbols are at least 2 by specialisation */
    int64_t ha = dim_hint(t, a), hb = dim_hint(t, b);
    bool same = ha == hb || ha == DIM_UNKNOWN || hb == DIM_UNKNOWN;
    add_guard(t, a, b, same ? DIM_EQ : DIM_NE);
    return same;
}

/* ---- what is so at all sizes ---- */

typedef struct dim_range {
    int64_t low, high; /* INT64_MIN, INT64_MAX: no bound */
} dim_range;

static int64_t bound_sum(int64_t a, int64_t b, int64_t none) {
    int64_t r;
    return a == none || b == none || __builtin_add_overflow(a, b, &r) ? none : r;
}

static dim_range sum_range(dim_range a, dim_range b) {
    return (dim_range){bound_sum(a.low, b.low, INT64_MIN), bound_sum(a.high, b.high, INT64_MAX)};
}

/* Times a number; products of two symbols are bounded only where both are 0 or more. */
static dim_range product_range(dim_range a, dim_range b) {
    dim_range r = {INT64_MIN, INT64_MAX};
    int64_t x;
    if (a.low == a.high) {
        dim_range swap = a;
        a = b;
        b = swap;
    }
    if (b.low == b.high) {
        int64_t low = b.low < 0 ? a.high : a.low, high = b.low < 0 ? a.low : a.high;
        bool bounded = low != INT64_MIN && low != INT64_MAX;
        if (bounded && !__builtin_mul_overflow(low, b.low, &x)) r.low = x;
        bounded = high != INT64_MIN && high != INT64_MAX;
        if (bounded && !__builtin_mul_overflow(high, b.low, &x)) r.high = x;
    } else if (a.low >= 0 && b.low >= 0 && !__builtin_mul_overflow(a.low, b.low, &x))
        r.low = x;
    return r;
}

/* Bounds of d by the sizes of inputs, which are 2 or more where they are symbols, and by guards. */
static dim_range range_of(const dims *t, dim d, int depth) {
    dim_range r = {INT64_MIN, INT64_MAX};
    if (dim_known(d)) return (dim_range){d, d};
    const dim_node *n = &t->nodes[dim_index(d)];
    if (n->op == DIM_INPUT) r.low = 2;
    if (n->op != DIM_INPUT && depth > 0) {
        dim_range a = range_of(t, n->a, depth - 1), b = range_of(t, n->b, depth - 1);
        if (n->op == DIM_ADD) r = sum_range(a, b);
        if (n->op == DIM_MUL) r = product_range(a, b);
        if (n->op == DIM_DIV && b.low >= 1 && a.low >= 0) r.low = 0;
    }
    for (uint32_t i = 0; i < t->guard_count; i++) {
        const dim_guard *g = &t->guards[i];
        if (g->a == d && dim_known(g->b)) {
            if (g->relation == DIM_GE && g->b > r.low) r.low = g->b;
            if (g->relation == DIM_LT && g->b <= r.high) r.high = g->b - 1;
        }
        if (g->b == d && dim_known(g->a)) {
            if (g->relation == DIM_GE && g->a < r.high) r.high = g->a;
            if (g->relation == DIM_LT && g->a >= r.low) r.low = g->a + 1;
        }
    }
    return r;
}

/* d as a symbol (0: none) and a number. */
static dim base_of(const dims *t, dim d, int64_t *more) {
    *more = dim_known(d) ? d : 0;
    if (dim_known(d)) return 0;
    const dim_node *n = &t->nodes[dim_index(d)];
    if (n->op != DIM_ADD || !dim_known(n->b)) return d;
    *more = n->b;
    return n->a;
}

bool dim_less(dims *t, dim a, dim b) {
    enum { DEPTH = 6 };
    int64_t more_a, more_b;
    if (dim_known(a) && dim_known(b)) return a < b;
    if (base_of(t, a, &more_a) == base_of(t, b, &more_b)) return more_a < more_b;
    dim_range ra = range_of(t, a, DEPTH), rb = range_of(t, b, DEPTH);
    if (ra.high < rb.low) return true;
    if (ra.low >= rb.high) return false;
    int64_t ha = dim_hint(t, a), hb = dim_hint(t, b);
    bool less = ha != DIM_UNKNOWN && (hb == DIM_UNKNOWN || ha < hb);
    add_guard(t, a, b, less ? DIM_LT : DIM_GE);
    return less;
}

bool dim_pin(dims *t, dim d, int64_t *out) {
    *out = dim_hint(t, d);
    if (dim_known(d)) return true;
    if (*out == DIM_UNKNOWN) return false;
    add_guard(t, d, *out, DIM_EQ);
    return true;
}

void dims_evaluate(const dims *t, int64_t (*size_of)(void *user, int input, int axis), void *user,
                   int64_t *values) {
    for (uint32_t i = 0; i < t->count; i++) { /* operands come before their users */
        const dim_node *n = &t->nodes[i];
        if (n->op == DIM_INPUT)
            values[i] = size_of(user, (int)n->a, (int)n->b);
        else
            values[i] = compute(n->op, dim_value(n->a, values), dim_value(n->b, values));
    }
}

bool dims_guards_hold(const dims *t, const int64_t *values, const dim_guard **broken) {
    for (uint32_t i = 0; i < t->guard_count; i++) {
        const dim_guard *g = &t->guards[i];
        int64_t a = dim_value(g->a, values), b = dim_value(g->b, values);
        bool holds = g->relation == DIM_EQ   ? a == b
                     : g->relation == DIM_NE ? a != b
                                             : (a < b) == (g->relation == DIM_LT);
        if (holds) continue;
        if (broken) *broken = g;
        return false;
    }
    return true;
}

/* Expressions are as deep as the program's size arithmetic; printing stops at a fixed depth. */
static void print_to(const dims *t, dim d, text *out, int depth) {
    static const char *const symbol[] = {[DIM_ADD] = " + ", [DIM_MUL] = " * ", [DIM_DIV] = " // "};
    if (dim_known(d)) {
        text_printf(out, "%lld", (long long)d);
        return;
    }
    const dim_node *n = &t->nodes[dim_index(d)];
    if (n->op == DIM_INPUT && n->name[0])
        text_add(out, n->name);
    else if (n->op == DIM_INPUT)
        text_printf(out, "s%u", dim_index(d));
    else if (depth == 0)
        text_add(out, "...");
    else {
        text_char(out, '(');
        print_to(t, n->a, out, depth - 1);
        text_add(out, symbol[n->op]);
        print_to(t, n->b, out, depth - 1);
        text_char(out, ')');
    }
}

void dim_print(const dims *t, dim d, text *out) {
    print_to(t, d, out, 8);
}
