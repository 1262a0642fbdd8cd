/* distance.h — how many slips of the finger are between two names, for "did you mean". */
#ifndef TD_BASE_DISTANCE_H
#define TD_BASE_DISTANCE_H

#include <stddef.h>

/* Characters left out, added, exchanged or swapped with their neighbour (Damerau-Levenshtein without long transpositions),
 * counted up to `most` + 1. Names are short: longer ones than 24 bytes are far from all others. */
int name_distance(const char *a, size_t n, const char *b, size_t m, int most);

/* How many slips a name of that length may have and still be recognised. */
int name_slips(size_t length);

#endif
