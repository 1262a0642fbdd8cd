/* gzip.c — see gzip.h. */
#include "engine/io/gzip.h"

#include "engine/base/memory.h"

static void *take(void *user, unsigned items, unsigned size) {
    (void)user;
    return mem_calloc(items, size);
}

static void give_back(void *user, void *block) {
    (void)user;
    mem_free(block);
}

void gzip_memory(z_stream *z) {
    z->zalloc = take;
    z->zfree = give_back;
}
