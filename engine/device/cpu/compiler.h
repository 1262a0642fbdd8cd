/* compiler.h — emitted C becomes machine code: the system's compiler, run in the background, behind a cache on disk. */
#ifndef TD_DEVICE_CPU_COMPILER_H
#define TD_DEVICE_CPU_COMPILER_H

struct code_cache;

/* Waits for the background thread and frees everything; NULL is fine. */
void code_cache_free(struct code_cache *cache);

#endif
