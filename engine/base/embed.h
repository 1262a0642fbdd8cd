/* embed.h — texts that the program carries in itself. The build writes the arrays
 * (scripts/cmake/EmbedText.cmake). */
#ifndef TD_BASE_EMBED_H
#define TD_BASE_EMBED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *name; /* path from the root of the source tree: "engine/math/exp.h" */
    const char *text; /* the file's bytes, followed by a NUL */
    size_t length;    /* without the NUL */
} embedded_file;

/* The headers that emitted C and CUDA include, and the prelude of the language, ordered by name. A row whose
 * name is NULL ends each. The prelude is there only in programs that link the room repl. */
extern const embedded_file embedded_headers[];
extern const embedded_file embedded_prelude[];

#endif
