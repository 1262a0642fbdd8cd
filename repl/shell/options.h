/* options.h — the command line. */
#ifndef TD_SHELL_OPTIONS_H
#define TD_SHELL_OPTIONS_H

#include <stdbool.h>

#include "engine/base/text.h"

typedef struct shell_options {
    const char **statements; /* of each -e, in order; the array is owned */
    int statement_count;
    const char *file; /* NULL: none */
    char **args;      /* what follows the file */
    int arg_count;
    bool json, no_init, help, version;
    int threads;   /* 0: one per processor */
    size_t memory; /* bytes that tensors may take; 0: any number */
} shell_options;

/* Reads argv. False with a message in *problem when it is wrong (or memory ran out). To be freed either
 * way. */
bool options_parse(int argc, char **argv, shell_options *out, text *problem);
void options_free(shell_options *o);

/* What --help prints. */
extern const char options_usage[];

#endif
