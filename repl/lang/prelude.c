/* prelude.c — the functions that are written in the language itself (repl/lang/prelude/), and asking about any
 * function that comes with the language.
 *
 * A prelude file holds definitions only. The comment line right above one is its documentation. */
#include <string.h>

#include "engine/base/embed.h"
#include "engine/base/memory.h"
#include "repl/lang/call.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/parser.h"

static status define(session *s, ast *tree, const ast_node *n) {
    const prototype *p;
    value f = {0};
    if (n->kind != AST_DEF)
        return fail(&s->c->err, STATUS_SYNTAX, E_WRONG_KIND, "the prelude holds definitions only");
    s->tree = tree;
    s->in_prelude = true;
    status st = prototype_of(s, tree, n, true, &p);
    if (!st) st = make_closure(s, p, &f);
    s->in_prelude = false;
    s->tree = NULL;
    if (!st) st = add_base(s, n->text, f, NULL, NULL);
    value_release(f);
    return st;
}

status load_prelude(session *s) {
    for (const embedded_file *file = embedded_prelude; file->name; file++) {
        ast *tree;
        status st = session_parse(s, file->name, file->text, file->length, &tree);
        if (st) return st;
        const ast_node *root = ast_root(tree);
        for (uint32_t i = 0; i < root->count && !st; i++) st = define(s, tree, root->child[i]);
        ast_release(tree);
        if (st) return st;
    }
    return STATUS_OK;
}

/* The comment line above a definition, without its `#`. */
static void add_doc(session *s, const prototype *p, text *out) {
    size_t length;
    span w = p->node->where;
    const char *content = source_text(s->sources, w.source, &length);
    if (!content || w.begin > length) return;
    size_t end = w.begin;
    while (end > 0 && content[end - 1] != '\n') end--;
    if (end == 0) return;
    size_t begin = --end;
    while (begin > 0 && content[begin - 1] != '\n') begin--;
    if (content[begin] != '#') return;
    begin++;
    while (begin < end && content[begin] == ' ') begin++;
    text_add_bytes(out, content + begin, end - begin);
}

static void describe(session *s, const symbol *name, const binding *b, session_function *out) {
    text_clear(&s->signature_text);
    text_clear(&s->doc_text);
    *out = (session_function){
        .name = name->text, .signature = b->signature, .doc = b->doc ? b->doc : "", .value = b->base};
    if (b->base.kind == VALUE_OP) {
        op_signature_text(b->base.op, &s->signature_text);
        out->signature = text_str(&s->signature_text);
    } else if (b->base.kind == VALUE_FUNCTION) {
        const prototype *p = b->base.function->proto;
        prototype_signature(p, s->sources, &s->signature_text);
        add_doc(s, p, &s->doc_text);
        /* "f(x, y)" without the name and the parentheses */
        char *full = s->signature_text.data;
        size_t skip = name->length + 1;
        if (full && s->signature_text.length > skip) {
            full[s->signature_text.length - 1] = '\0';
            out->signature = full + skip;
        }
        out->doc = text_str(&s->doc_text);
    }
}

status session_each_function(session *s, bool (*visit)(void *user, const session_function *f), void *user) {
    for (uint32_t i = 0; i < s->symbols.count && i < s->env.capacity; i++) {
        const symbol *name = s->symbols.items[i];
        session_function f;
        if (s->env.items[i].base.kind == VALUE_ABSENT) continue;
        describe(s, name, &s->env.items[i], &f);
        if (s->signature_text.failed || s->doc_text.failed) return fail_memory(&s->c->err, 1);
        if (!visit(user, &f)) break;
    }
    return STATUS_OK;
}

bool session_find_function(session *s, const char *name, session_function *out) {
    const symbol *known = symbol_find(&s->symbols, symbol_hash(name, strlen(name)));
    binding *b = known ? bindings_at(s, known) : NULL;
    if (!b || b->base.kind == VALUE_ABSENT) return false;
    describe(s, known, b, out);
    if (s->signature_text.failed || s->doc_text.failed) return fail_memory(&s->c->err, 1), false;
    return true;
}
