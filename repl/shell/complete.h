/* complete.h — what Tab offers. */
#ifndef TD_SHELL_COMPLETE_H
#define TD_SHELL_COMPLETE_H

#include "repl/shell/shell.h"

typedef enum complete_kind {
    COMPLETE_NAMES, /* the candidates below */
    COMPLETE_FILES  /* names of files */
} complete_kind;

/* Candidates for the word line[start .. end), whole words; `call`: it is a function, to be followed by a
 * bracket. What `add` is given is borrowed. */
typedef void (*complete_add)(void *user, const char *word, bool call);
complete_kind complete_at(shell *sh, const char *line, size_t start, size_t end, complete_add add,
                          void *user);

/* The characters that end a word. */
extern const char complete_breaks[];

#endif
