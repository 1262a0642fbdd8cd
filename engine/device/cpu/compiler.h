/* compiler.h — emitted C becomes machine code: the system's compiler, run in the background, behind a cache on disk.
 *
 * A translation unit is handed over as text; a thread compiles it (or finds it in the cache) and loads it. The thread
 * touches neither context nor tensors. The owner asks for the state, which changes once. */
#ifndef TD_DEVICE_CPU_COMPILER_H
#define TD_DEVICE_CPU_COMPILER_H

#include "engine/core/context.h"

typedef struct code_cache code_cache;
typedef struct code_unit code_unit;

typedef enum code_state {
    CODE_WAITING, /* for the thread */
    CODE_READY,
    CODE_FAILED /* code_unit_message says why */
} code_state;

/* The context's cache, opened when first asked for; NULL with the error set when out of memory. The compiler is
 * $TAPEDECK_CC, else cc; the folder is ${XDG_CACHE_HOME:-~/.cache}/tapedeck, which must belong to the user alone (else a
 * folder of this process serves until it ends). */
code_cache *code_cache_of(context *c);
/* Ends the compiler that may be running, waits for the thread, frees everything; NULL is fine. All units must have
 * been released. */
void code_cache_free(code_cache *cache);

/* Compiles source (copied): in the background, or before returning (`now`). `about` says for whom: the graph and the
 * place that its event shows. NULL with the error set when out of memory. */
code_unit *code_unit_new(code_cache *cache, const char *source, bool now, event about, error *e);
void code_unit_release(code_unit *u); /* NULL is fine; loaded code must not be in use */
code_state code_unit_state(const code_unit *u);
void code_unit_wait(code_unit *u); /* until the state is not CODE_WAITING */
const char *code_unit_message(const code_unit *u);
bool code_unit_cached(const code_unit *u); /* ready without the compiler's help */
/* A function or constant of a ready unit; NULL when it has none of that name. */
void *code_unit_symbol(const code_unit *u, const char *name);

/* Writes the compilations that ended since the sink was started (the last few dozen) into the sink, as events on a lane of
 * their own. Called by the main thread, once before the sink stops. */
void code_cache_write_events(code_cache *cache, event_sink *s);

/* A sentence for the user, once, after the first unit that could not be compiled ("no C compiler ..."); NULL when there
 * is none, or it was taken. Lives as long as the cache. */
const char *code_cache_notice(code_cache *cache);

#endif
