/* session.c — the life of a session, and running texts in it; see session.h. */
#include "repl/lang/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/device/cpu/compiler.h"
#include "repl/lang/builtins.h"
#include "repl/lang/eval.h"
#include "repl/lang/eval_errors.h"
#include "repl/lang/parser.h"

context *session_context(const session *s) {
    return s->c;
}

const source_table *session_sources(const session *s) {
    return s->sources;
}

symbol_table *session_symbols(session *s) {
    return &s->symbols;
}

static status intern_known(session *s) {
    error *e = &s->c->err;
#define X(name)                                                                                              \
    if (!(s->known.name = symbol_intern(&s->symbols, #name, strlen(#name), e))) return e->code;
    KNOWN_SYMBOLS(X)
#undef X
    s->known.underscore = symbol_intern(&s->symbols, "_", 1, e);
    return e->code;
}

/* How far the machine's stack may be used: three quarters of what the process has, counted from here. */
static uintptr_t stack_floor(void) {
    struct rlimit limit;
    size_t bytes = (size_t)8 << 20;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
        bytes = (size_t)limit.rlim_cur;
    return (uintptr_t)__builtin_frame_address(0) - bytes / 4 * 3;
}

static status set_up(session *s) {
    error *e = &s->c->err;
    s->stack = stack_floor();
    s->sources = source_table_new();
    s->env.done = mem_calloc(SESSION_UNDO, sizeof *s->env.done);
    s->env.undone = mem_calloc(SESSION_UNDO, sizeof *s->env.undone);
    if (!s->sources || !s->env.done || !s->env.undone) return fail_memory(e, sizeof *s);
    for (int i = 0; i < 2; i++)
        if (!(s->truth[i] = tensor_scalar_bool(s->c, i != 0))) return e->code;
    status st = intern_known(s);
    if (!st) st = add_op_functions(s);
    if (!st) st = load_prelude(s);
    if (!st) st = add_builtin_functions(s);
    return st;
}

session *session_new(context *c) {
    error_clear(&c->err);
    session *s = mem_calloc(1, sizeof *s);
    if (!s) {
        fail_memory(&c->err, sizeof *s);
        return NULL;
    }
    s->c = c;
    if (!set_up(s)) return s;
    session_free(s);
    return NULL;
}

static void free_map_of(map *m, void (*free_one)(void *)) {
    for (size_t i = 0; i < m->capacity; i++)
        if (m->keys[i]) free_one((void *)m->values[i]);
    map_free(m);
}

static void free_prototype(void *p) {
    prototype_free(p);
}

void session_free(session *s) {
    if (!s) return;
    for (int i = 0; i < SESSION_OUTPUTS; i++) value_drop(&s->outputs[i]);
    value_drop(&s->returned);
    bindings_free(s);
    free_map_of(&s->prototypes, free_prototype);
    free_map_of(&s->signatures, mem_free);
    mem_free(s->op_signatures);
    text_free(&s->signature_text);
    text_free(&s->doc_text);
    for (int i = 0; i < 2; i++) tensor_release(s->truth[i]);
    symbol_table_free(&s->symbols);
    if (s->sources) source_table_free(s->sources);
    mem_free(s);
}

status error_at(session *s, span where, status st) {
    error *e = &s->c->err;
    if (st && e->code && e->where.source == 0 && !s->in_prelude) e->where = where;
    return st;
}

void session_render_error(const session *s, int width, text *out) {
    source_render_error(out, s->sources, &s->c->err, width);
}

/* Every name of a tree gets its symbol, so that equal hashes mean equal names from here on. */
static status intern_names(session *s, const ast_node *n) {
    if (!n) return STATUS_OK;
    bool names = n->kind != AST_STRING && n->kind != AST_COMMAND;
    if (n->text && names && !symbol_intern(&s->symbols, n->text, n->length, &s->c->err))
        return error_at(s, n->where, s->c->err.code);
    for (uint32_t i = 0; i < n->count; i++) {
        status st = intern_names(s, n->child[i]);
        if (st) return st;
    }
    return STATUS_OK;
}

status session_parse(session *s, const char *name, const char *content, size_t length, ast **out) {
    error *e = &s->c->err;
    uint32_t source = source_add(s->sources, name, content, length);
    if (!source) return fail_memory(e, length);
    ast *tree;
    status st = parse_program(s->sources, source, e, &tree);
    if (st) return st;
    st = intern_names(s, ast_root(tree));
    if (st)
        ast_release(tree);
    else
        *out = tree;
    return st;
}

static status echo_value(session *s, const ast_node *n, value v) {
    if (v.kind == VALUE_NONE || v.kind == VALUE_ABSENT || (n->flags & AST_SILENT)) return STATUS_OK;
    int number = ++s->output_count;
    value *place = &s->outputs[(number - 1) % SESSION_OUTPUTS];
    value_release(*place);
    *place = value_retain(v);
    if (!s->host || !s->host->echo) return STATUS_OK;
    session_echo what = {ECHO_VALUE, v, NULL, number, n->where};
    return s->host->echo(s->host->user, s, &what);
}

/* One header line per name in the target. */
static status echo_names(session *s, const ast_node *n, const ast_node *target) {
    if ((n->flags & AST_SILENT) || !s->host || !s->host->echo) return STATUS_OK;
    if (target->kind == AST_TUPLE) {
        for (uint32_t i = 0; i < target->count; i++) {
            status st = echo_names(s, n, target->child[i]);
            if (st) return st;
        }
        return STATUS_OK;
    }
    while (target->kind != AST_NAME) target = target->child[0];
    const value *bound = lookup(s, target->hash);
    if (!bound) return STATUS_OK;
    session_echo what = {ECHO_ASSIGN, *bound, target->text, 0, n->where};
    return s->host->echo(s->host->user, s, &what);
}

static status run_and_echo(session *s, const ast_node *n) {
    value v = {0};
    status st = eval_statement(s, n, &v);
    if (!st)
        st = n->kind == AST_ASSIGN || n->kind == AST_UPDATE ? echo_names(s, n, n->child[0])
                                                            : echo_value(s, n, v);
    value_release(v);
    return st;
}

static void reset(session *s) {
    s->frame = NULL;
    s->calls = 0;
    s->in_prelude = false;
    s->leave = LEAVE_NOTHING;
    value_drop(&s->returned);
}

static status run_statement(session *s, ast *tree, const ast_node *n) {
    bindings_begin(s);
    s->tree = tree;
    status st = run_and_echo(s, n);
    s->tree = NULL;
    reset(s);
    if (!st) {
        bindings_commit(s);
        return st;
    }
    bindings_rollback(s);
    if (st == STATUS_INTERRUPT) atomic_store(&s->c->interrupt, 0);
    return error_at(s, n->where, st);
}

static status run_command(session *s, const ast_node *n) {
    if (s->host && s->host->command)
        return error_at(s, n->where, s->host->command(s->host->user, s, n->text, n->length, n->where));
    fail(&s->c->err, STATUS_UNSUPPORTED, E_UNFINISHED, "commands can't be used here");
    return error_at(s, n->where, s->c->err.code);
}

/* What the thread that compiles kernels has to say, once a session. */
static void pass_on_notice(session *s) {
    if (!s->c->code || !s->host || !s->host->warn) return;
    const char *notice = code_cache_notice(s->c->code);
    if (notice) s->host->warn(s->host->user, s, (span){0}, notice);
}

/* Runs a tree (consumed). */
static status run_tree(session *s, ast *tree, const session_host *host) {
    status st = STATUS_OK;
    const session_host *outer = s->host;
    s->host = host;
    s->stack = stack_floor();
    const ast_node *root = ast_root(tree);
    for (uint32_t i = 0; i < root->count && !st; i++) {
        const ast_node *n = root->child[i];
        st = n->kind == AST_COMMAND ? run_command(s, n) : run_statement(s, tree, n);
        s->c->here = (span){0};
        pass_on_notice(s);
    }
    s->host = outer;
    ast_release(tree);
    return st;
}

status session_run(session *s, const char *name, const char *content, size_t length,
                   const session_host *host) {
    error_clear(&s->c->err);
    ast *tree;
    status st = session_parse(s, name, content, length, &tree);
    return st ? st : run_tree(s, tree, host);
}

status session_run_part(session *s, span where, const session_host *host) {
    error_clear(&s->c->err);
    ast *tree;
    status st = parse_program_part(s->sources, where.source, where.begin, where.end, &s->c->err, &tree);
    if (st) return st;
    st = intern_names(s, ast_root(tree));
    if (!st) return run_tree(s, tree, host);
    ast_release(tree);
    return st;
}

status session_evaluate(session *s, span where, value *out) {
    ast *tree, *outer = s->tree;
    error_clear(&s->c->err);
    status st = parse_program_part(s->sources, where.source, where.begin, where.end, &s->c->err, &tree);
    if (st) return st;
    const ast_node *root = ast_root(tree);
    st = intern_names(s, root);
    if (!st && root->count != 1) {
        fail(&s->c->err, STATUS_SYNTAX, E_ONE_EXPRESSION, "one expression is wanted here");
        st = error_at(s, where, s->c->err.code);
    }
    value v = {0};
    if (!st) {
        bindings_begin(s);
        s->tree = tree;
        st = eval_statement(s, root->child[0], &v);
        s->tree = outer;
        reset(s);
        if (st)
            bindings_rollback(s);
        else
            bindings_commit(s);
        if (st == STATUS_INTERRUPT) atomic_store(&s->c->interrupt, 0);
    }
    ast_release(tree);
    if (st)
        value_release(v);
    else
        *out = v;
    return st;
}

/* The statements of a tree, one after the other, up to the first that fails. */
static status perform_all(session *s, const ast_node *root) {
    status st = intern_names(s, root);
    for (uint32_t i = 0; i < root->count && !st; i++) {
        const ast_node *n = root->child[i];
        value v = {0};
        if (n->kind == AST_COMMAND)
            fail(&s->c->err, STATUS_UNSUPPORTED, E_UNFINISHED, "commands can't be used here");
        st = n->kind == AST_COMMAND ? s->c->err.code : eval_statement(s, n, &v);
        value_release(v);
        if (st) error_at(s, n->where, st);
    }
    return st;
}

status session_perform(session *s, span where, bool keep) {
    ast *tree, *outer = s->tree;
    const session_host *host = s->host;
    error_clear(&s->c->err);
    status st = parse_program_part(s->sources, where.source, where.begin, where.end, &s->c->err, &tree);
    if (st) return st;
    bindings_begin(s);
    s->tree = tree;
    if (!keep) s->host = NULL;
    st = perform_all(s, ast_root(tree));
    s->tree = outer;
    s->host = host;
    reset(s);
    if (st || !keep)
        bindings_rollback(s);
    else
        bindings_commit(s);
    if (st == STATUS_INTERRUPT) atomic_store(&s->c->interrupt, 0);
    ast_release(tree);
    return st;
}

const value *session_output(const session *s, int n) {
    if (n < 1 || n > s->output_count || n <= s->output_count - SESSION_OUTPUTS) return NULL;
    const value *v = &s->outputs[(n - 1) % SESSION_OUTPUTS];
    return v->kind == VALUE_ABSENT ? NULL : v;
}

int session_output_count(const session *s) {
    return s->output_count;
}

const value *session_get(const session *s, const char *name) {
    const symbol *found = symbol_find(&s->symbols, symbol_hash(name, strlen(name)));
    if (!found || found->index >= s->env.capacity) return NULL;
    const value *v = &s->env.items[found->index].user;
    return v->kind == VALUE_ABSENT ? NULL : v;
}

status session_set(session *s, const char *name, value v) {
    const symbol *found = symbol_intern(&s->symbols, name, strlen(name), &s->c->err);
    return found ? bindings_set(s, found, v) : s->c->err.code;
}

void session_each(const session *s, bool (*visit)(void *user, const symbol *name, value v), void *user) {
    for (size_t i = 0; i < s->env.order_count; i++) {
        const symbol *name = s->env.order[i];
        value v = s->env.items[name->index].user;
        if (v.kind != VALUE_ABSENT && !visit(user, name, v)) return;
    }
}
