/* ast_impl.h — how the parser makes a tree; everybody else uses ast.h. */
#ifndef TD_LANG_AST_IMPL_H
#define TD_LANG_AST_IMPL_H

#include "engine/base/arena.h"
#include "repl/lang/ast.h"

/* A tree without a root, with one reference. It owns `memory` from then on; NULL when out of memory (then it
 * does not). */
ast *ast_new(arena *memory, uint32_t source);
void ast_set_root(ast *tree, const ast_node *root);

#endif
