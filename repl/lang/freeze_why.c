/* freeze_why.c — what the viewers ask of a frozen value, and the text of :why. */
#include <stdio.h>
#include <string.h>

#include "repl/lang/freeze_impl.h"

const char *frozen_name(const frozen *f) {
    return f->name;
}

void frozen_assigned(frozen *f, const symbol *name) {
    if (f->named || f->count) return; /* graphs that were made have the name already */
    snprintf(f->name, sizeof f->name, "%.40s", name->text);
    f->named = true;
}

int frozen_count(const frozen *f) {
    return f->count;
}

int frozen_current(const frozen *f) {
    return f->current;
}

program *frozen_program(const frozen *f, int i) {
    return f->specials[i]->program;
}

const graph *frozen_traced(const frozen *f, int i) {
    return f->specials[i]->traced;
}

static void add_place(session *s, span where, text *out) {
    source_place at = source_locate(s->sources, where.source, where.begin);
    if (at.line) text_printf(out, " (%s:%u)", source_title(s->sources, where.source), at.line);
}

static void add_inputs(const special *sp, text *out) {
    const graph *g = sp->traced;
    text_add(out, "    holds for");
    for (int i = 0; i < g->input_count; i++) {
        text_add(out, i ? ", " : " ");
        if (g->input_names && g->input_names[i] && g->input_names[i][0])
            text_printf(out, "%s ", g->input_names[i]);
        meta_print(g->dims, graph_meta(g, g->inputs[i]), out);
    }
    text_add(out, g->input_count ? "\n" : " any call\n");
}

static void add_guards(session *s, const special *sp, text *out) {
    static const char *const signs[] = {[DIM_EQ] = "==", [DIM_NE] = "!=", [DIM_LT] = "<", [DIM_GE] = ">="};
    const dims *t = sp->traced->dims;
    for (uint32_t i = 0; i < t->guard_count; i++) {
        const dim_guard *g = &t->guards[i];
        text_add(out, "    where ");
        dim_print(t, g->a, out);
        text_printf(out, " %s ", signs[g->relation]);
        dim_print(t, g->b, out);
        add_place(s, g->where, out);
        text_char(out, '\n');
    }
}

/* The value that a known leaf has in this specialisation: leaf number n of a pattern. */
static value leaf_of(value pattern, size_t *n) {
    bool tuple = pattern.kind == VALUE_TUPLE;
    if (!tuple && pattern.kind != VALUE_RECORD) return (*n)-- == 0 ? pattern : (value){0};
    size_t count = tuple ? pattern.tuple->count : pattern.record->count;
    for (size_t i = 0; i < count; i++) {
        value v = leaf_of(tuple ? pattern.tuple->item[i] : pattern.record->entry[i].value, n);
        if (v.kind != VALUE_ABSENT) return v;
    }
    return (value){0};
}

static void add_known(session *s, const frozen *f, const special *sp, text *out) {
    for (size_t i = 0; i < f->known_count; i++) {
        const known_leaf *k = &f->known[i];
        size_t n = k->leaf;
        value v = {0};
        if (k->arg >= 0 && k->arg < sp->npos + sp->nkw) v = leaf_of(sp->args[k->arg], &n);
        for (size_t g = 0; k->arg < 0 && g < sp->global_count; g++)
            if (sp->globals[g].name == k->name && sp->globals[g].read)
                v = leaf_of(sp->globals[g].pattern, &n);
        if (v.kind == VALUE_ABSENT) continue;
        text_add(out, "    baked in: ");
        if (k->name)
            text_add(out, k->name->text);
        else
            text_printf(out, "argument %d", k->arg);
        text_add(out, " = ");
        value_dump(v, 1, out);
        text_printf(out, ", because %s needs it", k->what);
        add_place(s, k->where, out);
        text_char(out, '\n');
    }
}

static void add_statics(const special *sp, text *out) {
    for (size_t i = 0; i < sp->global_count; i++) {
        const global_use *g = &sp->globals[i];
        if (!g->read || g->unbound || g->pattern.kind < VALUE_STRING || g->pattern.kind == VALUE_TUPLE ||
            g->pattern.kind == VALUE_RECORD)
            continue;
        text_printf(out, "    baked in: %s = ", g->name->text);
        value_dump(g->pattern, 1, out);
        text_char(out, '\n');
    }
}

void freeze_explain(session *s, const frozen *f, special *sp, const char *reason) {
    text *out = &sp->why;
    if (reason[0]) text_printf(out, "    made because %s\n", reason);
    add_inputs(sp, out);
    add_guards(s, sp, out);
    add_known(s, f, sp, out);
    add_statics(sp, out);
}

void frozen_why(const frozen *f, text *out) {
    if (f->count == 0) text_printf(out, "%s has not been called yet: nothing is specialised\n", f->name);
    for (int i = 0; i < f->count; i++) {
        text_printf(out, "%s, specialisation %d%s\n", f->name, i + 1, i == f->current ? " (ran last)" : "");
        text_add(out, text_str(&f->specials[i]->why));
    }
}
