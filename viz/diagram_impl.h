/* diagram_impl.h — between the files of the diagram. */
#ifndef TD_VIZ_DIAGRAM_IMPL_H
#define TD_VIZ_DIAGRAM_IMPL_H

#include "viz/diagram.h"

/* Puts references where arrows would go far; false when out of memory. */
bool diagram_cut_far(diagram *d);

#endif
