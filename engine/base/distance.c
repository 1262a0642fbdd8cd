/* distance.c — see distance.h. */
#include "engine/base/distance.h"

enum { LONGEST = 24 };

int name_distance(const char *a, size_t n, const char *b, size_t m, int most) {
    if (n > LONGEST || m > LONGEST) return most + 1;
    int row[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++) row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            now[j] = best;
        }
    }
    int slips = row[n % 3][m];
    return slips < most + 1 ? slips : most + 1;
}

int name_slips(size_t length) {
    return length <= 5 ? 1 : 2;
}
