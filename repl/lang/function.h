/* function.h — functions that are written in the language: what a def or lambda is, and one made by running
 * it.
 *
 * The prototype is what the text says; a session keeps one per def or lambda of its texts. A function value
 * adds what the text can't know: the values of default expressions, evaluated when the function is made, and
 * those names of enclosing functions that the body mentions, captured by value. */
#ifndef TD_LANG_FUNCTION_H
#define TD_LANG_FUNCTION_H

#include "repl/lang/ast.h"
#include "repl/lang/source.h"
#include "repl/lang/value.h"

/* A name with a value: a local of a running function, a capture. */
typedef struct local {
    uint64_t hash; /* name->hash */
    const symbol *name;
    value value;
} local;

typedef struct prototype {
    ast *tree;            /* keeps node alive */
    const ast_node *node; /* AST_DEF or AST_LAMBDA; or an expression, for freeze (params 0) */
    const ast_node *body;
    const symbol *name;     /* of a def; else NULL */
    const symbol *assigned; /* the first name that was given to a lambda, or NULL */
    int params;
    int defaults;           /* how many of them, the last ones, have a default */
    bool annotated;         /* some parameter has a type */
    bool prelude;           /* its text is the prelude's: names are not looked up among the user's */
    const symbol **param;   /* [params] */
    size_t mentioned;       /* names that the body reads from outside, at most */
    const symbol **mention; /* [mentioned] */
} prototype;

typedef struct function_object {
    object head;
    const prototype *proto; /* the session's */
    bool nested;            /* made while a function ran: it knows itself by its name */
    size_t captured;
    size_t defaults;
    value *fallback; /* [defaults] values of the defaults; behind the captures in the same block */
    local capture[]; /* [captured] */
} function_object;

typedef struct session session;

/* The prototype of a def, lambda, or frozen expression; made when it is new. `tree` is retained. */
status prototype_of(session *s, ast *tree, const ast_node *n, bool prelude, const prototype **out);
void prototype_free(prototype *p);
/* Tells that a name was given to a function. */
void prototype_assigned(session *s, const prototype *p, const symbol *name);

/* The name of a def, or the one that a lambda was given; NULL. */
const symbol *prototype_name(const prototype *p);
/* The same, or the beginning of its text. */
void prototype_title(const prototype *p, const source_table *sources, char *out, size_t size);

/* "f(x: f32[batch, 64], w, b=0)", as written; appended. */
void prototype_signature(const prototype *p, const source_table *sources, text *out);

#endif
