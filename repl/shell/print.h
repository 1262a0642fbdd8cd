/* print.h — values as people read them at the prompt.
 *
 * Tensors have a header line (dtype, shape, place, statistics) and then elements fitted to the window;
 * scalars are bare. Nothing printed here is rounded in the value itself; the exact form is json.h. */
#ifndef TD_SHELL_PRINT_H
#define TD_SHELL_PRINT_H

#include "repl/lang/session.h"

typedef struct print_options {
    int width, height;       /* of the window, in characters */
    const char *dim, *plain; /* terminal codes around headers; "" without colour */
} print_options;

/* The value in full: what an expression echoes. Ends with a newline. Fails on an interrupt and when out of
 * memory. */
status print_value(session *s, value v, const print_options *o, text *out);

/* One line about it, without a newline: a tensor's header, a scalar, the gist of anything else. */
status print_headline(session *s, value v, const print_options *o, text *out);

/* As print() shows it: strings without quotes, tensors without header; no newline at the end. */
status print_plain(session *s, value v, const print_options *o, text *out);

/* The elements of a tensor of rank 1 or more in brackets (print_tensor.c); lines after the first are indented
 * by `indent`. */
status print_elements(const tensor *t, int width, int height, int indent, text *out);

/* A rank-0 tensor: the fewest digits that read back; reals have a point or an exponent. */
void print_scalar(const tensor *t, text *out);

/* A string in quotes with escapes, as the language reads it. */
void print_quoted(const char *s, size_t length, text *out);

#endif
