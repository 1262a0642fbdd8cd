/* builtins_io.h — load and save. */
#ifndef TD_LANG_BUILTINS_IO_H
#define TD_LANG_BUILTINS_IO_H

#include "repl/lang/builtin.h"

extern const builtin builtins_io[];

#endif
