/* builtins.h — the functions that come with the language, by file. Each list ends with a NULL name. */
#ifndef TD_LANG_BUILTINS_H
#define TD_LANG_BUILTINS_H

#include "repl/lang/session_impl.h"

extern const builtin builtins_basic[];  /* print assert len shape dtype ... */
extern const builtin builtins_create[]; /* zeros full arange randn ... */
extern const builtin builtins_shape[];  /* reshape transpose stack ... */
extern const builtin builtins_grad[];   /* grad vjp ... */

/* Fill the base names: rows of ops.def, then everything above and the constants. */
status add_op_functions(session *s);
status add_builtin_functions(session *s);

#endif
