/* random_prog.h — random programs over the rows of the op table, each a function of its number. */
#ifndef TD_SUPPORT_RANDOM_PROG_H
#define TD_SUPPORT_RANDOM_PROG_H

#include "tests/support/parity.h"

/* Program `number`: 3 to 20 steps over shapes that fit together, mostly of one dtype. c checks shapes while it is made;
 * m keeps its inputs. */
prog random_prog(context *c, arena *m, uint64_t number);

#endif
