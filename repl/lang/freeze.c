/* freeze.c — the place of freeze, which is refused until it is there. */
#include "repl/lang/freeze.h"
#include "repl/lang/freeze_impl.h"
#include "repl/lang/value_impl.h"
static status run_freeze(session *s, const value *args, value *out) {
    (void)args;
    (void)out;
    return fail(&s->c->err, STATUS_UNSUPPORTED, 223, "freezing is not there yet");
}
const builtin freeze_builtin = {"freeze", "f, *types", run_freeze, "a fast graph"};
status eval_freeze(session *s, const ast_node *call, value *out) {
    (void)call;
    (void)out;
    return fail(&s->c->err, STATUS_UNSUPPORTED, 223, "freezing is not there yet");
}
status frozen_call(session *s, frozen *f, const arguments *a, span where, value *out) {
    (void)f;
    (void)a;
    (void)where;
    (void)out;
    return s->c->err.code;
}
void frozen_destroy(object *o, object **dead) {
    (void)o;
    (void)dead;
}
const value *freezing_read(session *s, const symbol *name) {
    (void)s;
    (void)name;
    return NULL;
}
const value *freezing_captured(session *s, const value *capture) {
    (void)s;
    return capture;
}
status freezing_write(session *s, const symbol *name, value v) {
    (void)s;
    (void)name;
    (void)v;
    return 0;
}
value *freezing_open(session *s, const symbol *name) {
    (void)s;
    (void)name;
    return NULL;
}
status freezing_number(session *s, tensor *t, const char *what, int64_t *out) {
    (void)s;
    (void)t;
    (void)what;
    (void)out;
    return 0;
}
bool freezing_dim(session *s, tensor *t, dim *out) {
    (void)s;
    (void)t;
    (void)out;
    return false;
}
status freezing_refuse_effect(session *s, const char *function) {
    (void)s;
    (void)function;
    return 0;
}
