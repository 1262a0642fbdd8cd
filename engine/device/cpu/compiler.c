/* compiler.c — see compiler.h. Nothing compiles yet, so a context's cache is always NULL. */
#include "engine/device/cpu/compiler.h"

void code_cache_free(struct code_cache *cache) {
    (void)cache;
}
