/* shrink.c — makes a failing program small: drops what it can while it still fails. */
#include <string.h>

#include "tests/support/parity.h"

/* Value numbers of p's step s, and how many it has. */
static int first_value(const prog *p, int s) {
    int v = p->nin;
    for (int i = 0; i < s; i++) v += op_table[p->step[i].op].nout;
    return v;
}

/* Renumbers: values from `from` on move down by `by`. */
static void renumber(prog *p, int from, int by) {
    for (int s = 0; s < p->count; s++)
        for (int k = 0; k < p->step[s].nin; k++)
            if (p->step[s].in[k] >= from) p->step[s].in[k] -= by;
    for (int i = 0; i < p->output_count; i++)
        if (p->output[i] >= from) p->output[i] -= by;
}

static bool used(const prog *p, int v) {
    for (int s = 0; s < p->count; s++)
        for (int k = 0; k < p->step[s].nin; k++)
            if (p->step[s].in[k] == v) return true;
    for (int i = 0; i < p->output_count; i++)
        if (p->output[i] == v) return true;
    return false;
}

/* Drops steps that nothing uses, from the last on, then inputs. */
static void sweep(prog *p) {
    for (int s = p->count - 1; s >= 0; s--) {
        int v = first_value(p, s), nout = op_table[p->step[s].op].nout;
        bool needed = false;
        for (int i = 0; i < nout; i++) needed = needed || used(p, v + i);
        if (needed) continue;
        memmove(&p->step[s], &p->step[s + 1], (size_t)(p->count - s - 1) * sizeof *p->step);
        p->count--;
        renumber(p, v + nout, nout);
    }
    for (int i = p->nin - 1; i >= 0; i--) {
        if (used(p, i)) continue;
        for (int k = i; k + 1 < p->nin; k++) {
            p->in[k] = p->in[k + 1];
            p->layouts[k] = p->layouts[k + 1];
        }
        p->nin--;
        renumber(p, i + 1, 1);
    }
}

static bool try_instead(parity *lab, prog *p, prog smaller) {
    if (smaller.output_count == 0) return false;
    sweep(&smaller);
    if (smaller.count == 0 || !parity_fails(lab, &smaller)) return false;
    *p = smaller;
    return true;
}

/* One round of attempts; true when one succeeded. */
static bool shrink_once(parity *lab, prog *p) {
    prog q = *p;
    q.gradients = false;
    if (p->gradients && try_instead(lab, p, q)) return true;
    for (int i = 0; p->output_count > 1 && i < p->output_count; i++) { /* drop an output */
        q = *p;
        memmove(&q.output[i], &q.output[i + 1], (size_t)(q.output_count - i - 1) * sizeof *q.output);
        q.output_count--;
        if (try_instead(lab, p, q)) return true;
    }
    for (int s = 0; s < p->count; s++) /* look at an operand of the last steps instead of the output */
        for (int k = 0; k < p->step[s].nin; k++)
            for (int i = 0; i < p->output_count; i++) {
                if (p->output[i] != first_value(p, s) || p->step[s].in[k] < p->nin) continue;
                q = *p;
                q.output[i] = p->step[s].in[k];
                if (try_instead(lab, p, q)) return true;
            }
    for (int i = 0; i < p->nin; i++) { /* plain memory */
        q = *p;
        q.layouts[i] = LAYOUT_PLAIN;
        if (p->layouts[i] != LAYOUT_PLAIN && try_instead(lab, p, q)) return true;
    }
    return false;
}

/* Replaces the result of a step by an input with the values that it has. */
static bool cut_once(parity *lab, prog *p) {
    context *c = lab->b.c;
    for (int s = 0; s < p->count && p->nin < PROG_INPUTS; s++) {
        int v = first_value(p, s);
        if (op_table[p->step[s].op].nout != 1) continue;
        prog q = *p;
        q.gradients = false;
        q.output_count = 1;
        q.output[0] = v;
        tensor *in[PROG_INPUTS], *out[PROG_RESULTS];
        int count = 0;
        for (int i = 0; i < p->nin; i++) in[i] = host_tensor(c, &p->in[i], p->layouts[i]);
        status code = prog_run(c, &q, in, out, &count);
        for (int i = 0; i < p->nin; i++) tensor_release(in[i]);
        error_clear(&c->err);
        if (code) continue;
        host value = host_read(lab->b.memory, out[0]);
        tensor_release(out[0]);
        q = *p;
        renumber(&q, q.nin, -1); /* room for one more input, number nin */
        for (int t = 0; t < q.count; t++)
            for (int k = 0; k < q.step[t].nin; k++)
                if (q.step[t].in[k] == v + 1) q.step[t].in[k] = q.nin;
        q.in[q.nin] = value;
        q.layouts[q.nin++] = LAYOUT_PLAIN;
        for (int i = 0; i < q.output_count; i++)
            if (q.output[i] == v + 1) q.output[i] = q.nin - 1;
        if (try_instead(lab, p, q)) return true;
    }
    return false;
}

prog parity_shrink(parity *lab, const prog *failing) {
    prog p = *failing;
    for (int round = 0; round < 60; round++)
        if (!shrink_once(lab, &p) && !cut_once(lab, &p)) break;
    return p;
}
