/* io.h — files in and out.
 *
 * Loading goes by content, then by name, and sees through gzip; saving goes by name. A file gives one tensor,
 * or, when it is a csv with text in it, columns: numeric ones are tensors of rank 1, text ones lists of
 * strings. Nothing that a file says about itself is trusted. Errors have the numbers 601-699 and name the
 * file and, in texts, line and column. */
#ifndef TD_IO_IO_H
#define TD_IO_IO_H

#include "engine/core/tensor.h"

typedef enum io_header { IO_HEADER_AUTO, IO_HEADER_YES, IO_HEADER_NO } io_header;

typedef struct io_options {
    bool has_dtype; /* csv: numbers are read as `dtype`, else as f32; npy keeps its own dtype */
    dtype dtype;
    io_header header; /* csv: is the first line names? */
} io_options;

/* A column of text: string i is text[ends[i - 1] .. ends[i]) (from 0 for i = 0), not NUL-terminated. */
typedef struct io_texts {
    char *text;
    size_t *ends;
    size_t count;               /* strings */
    size_t used, text_capacity; /* bytes */
    size_t ends_capacity;       /* strings */
} io_texts;

typedef struct io_column {
    char *name;      /* UTF-8 as it was in the file */
    tensor *numbers; /* rank 1, or NULL: */
    io_texts texts;
} io_column;

typedef struct io_value {
    tensor *tensor; /* or NULL: */
    io_column *columns;
    int64_t column_count, rows;
} io_value;

/* Loads a file; *out is to be freed with io_value_free (after a failure it is empty). c->err must be clear.
 * `options` may be NULL. Without dtype a numeric csv gives one f32[rows, columns]. */
status io_load(context *c, const char *path, const io_options *options, io_value *out);

/* Saves to .npy or .csv (either with .gz behind it). The file appears whole or not at all: it is written
 * beside its place and then renamed. Files that are no regular files (a pipe, a device) are written to
 * directly. */
status io_save(context *c, const io_value *v, const char *path);

void io_value_free(io_value *v);

/* Makes room for `count` columns, zeroed, in a value that has none; the names and texts that are put into
 * them are allocated with mem_alloc. */
status io_value_add_columns(context *c, io_value *v, int64_t count);
void io_value_drop_columns(io_value *v);
/* Appends a string to a text column; false when out of memory. */
bool io_texts_add(io_texts *t, const char *s, size_t length);
void io_texts_get(const io_texts *t, size_t row, const char **s, size_t *length);

#endif
