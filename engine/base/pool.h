/* pool.h — the one worker pool: parallel loops over task numbers.
 *
 * A pool has a fixed number of lanes, the calling thread being lane 0. Tasks are handed out in order from a
 * shared counter, so results must not depend on which lane runs a task: callers decide the split from sizes
 * alone. */
#ifndef TD_BASE_POOL_H
#define TD_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pool pool;

/* One task; `lane` (0 .. pool_lanes-1) picks per-thread scratch. Must not call pool_run. */
typedef void (*pool_task)(void *user, int64_t task, int lane);

/* A pool of `lanes` lanes (at least 1; 0: one per available processor). NULL when out of memory or threads.
 */
pool *pool_new(int lanes);
void pool_free(pool *p); /* joins the workers */
int pool_lanes(const pool *p);

/* Called by each lane that took part in a loop, with the ticks (clock.h) between which it did. NULL: by none. Set between
 * loops. */
typedef void (*pool_watch)(void *user, int lane, uint64_t begin, uint64_t end);
void pool_set_watch(pool *p, pool_watch watch, void *user);

/* Runs task(user, 0) .. task(user, count - 1) and returns when all are done. When `stop` is not NULL and
 * becomes non-zero, tasks not yet started are skipped. One caller at a time. */
void pool_run(pool *p, int64_t count, pool_task task, void *user, const atomic_int *stop);

#endif
