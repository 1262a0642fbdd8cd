/* code_store.h — the folder of compiled kernels, and the run of the compiler that fills it. Used by compiler.c's
 * thread; independent of any context. */
#ifndef TD_DEVICE_CPU_CODE_STORE_H
#define TD_DEVICE_CPU_CODE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COMPILER_WORDS = 8, STORE_MESSAGE = 400 };

typedef struct code_store {
    char *compiler; /* $TAPEDECK_CC or "cc", cut at blanks into words */
    char *words[COMPILER_WORDS + 1];
    char *folder;       /* NULL: not opened yet */
    bool own_folder;    /* made for this process: removed at the end */
    char *headers;      /* folder of the texts that kernels include */
    uint64_t base_key;  /* of compiler, flags, target and headers */
    const char *target; /* "avx512", "avx2", "portable" */
    bool opened;
    char why[STORE_MESSAGE]; /* why it can't be used at all */
    atomic_int child;        /* the compiler's process while it runs, else 0 */
    unsigned count;          /* of temporary names */
} code_store;

/* Copies the environment's settings; false when out of memory. */
bool store_init(code_store *s, const char *target);
void store_close(code_store *s);

/* The library for `source`: loaded from the folder, or compiled and loaded. NULL with a message. *cached: it was there.
 * One thread at a time. */
void *store_load(code_store *s, const char *source, bool *cached, char message[STORE_MESSAGE]);

#endif
