/* format.h — the formats that io_load and io_save (file.c) choose between. Paths are for messages. */
#ifndef TD_IO_FORMAT_H
#define TD_IO_FORMAT_H

#include "engine/io/io.h"
#include "engine/io/stream.h"

status csv_read(io_reader *r, const io_options *options, io_value *out);
status csv_check(context *c, const io_value *v, const char *path);
status csv_write(context *c, const io_value *v, io_writer *w);

status npy_read(io_reader *r, io_value *out);
/* NAME_check is called before a file is opened: can v be saved in this format? */
status npy_check(context *c, const io_value *v, const char *path);
status npy_write(context *c, const io_value *v, io_writer *w);

/* Bytes of a file shown in a message: at most some forty, what can't be printed as \xNN. Returns buffer. */
enum { IO_QUOTE = 200 };
const char *io_quote(char buffer[IO_QUOTE], const char *s, size_t length);

#endif
