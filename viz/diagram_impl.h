/* diagram_impl.h — between the files of the diagram. */
#ifndef TD_VIZ_DIAGRAM_IMPL_H
#define TD_VIZ_DIAGRAM_IMPL_H

#include "viz/diagram.h"

/* Puts references where arrows would go far; false when out of memory. */
bool diagram_cut_far(diagram *d);

/* Append "1.2 ms", "340 us"; "12.3 kflop", "4 B" or, without a unit, "12.3 k". */
void diagram_time(double ns, text *out);
void diagram_count(double n, const char *unit, text *out);

#endif
