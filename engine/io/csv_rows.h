/* csv_rows.h — a csv text as rows of fields, whatever they mean: RFC 4180 and what people write besides (a
 * byte order mark, semicolons or tabs, blank lines, any kind of line end). */
#ifndef TD_IO_CSV_ROWS_H
#define TD_IO_CSV_ROWS_H

#include "engine/io/stream.h"

/* One field: bytes of the buffer without blanks and quotes around them, good until the next row is read. */
typedef struct csv_field {
    const char *text;
    size_t length;
    bool quoted;
    bool doubled; /* it holds quotes that stand twice in the file and mean one */
} csv_field;

typedef struct csv_rows {
    io_reader *reader;
    context *c;
    char *buffer; /* [from, end) is kept, [at, end) not read yet */
    size_t from, at, end, capacity;
    bool ended; /* the reader has no more */
    bool held;
    char separator;
    csv_field *fields; /* of the row that was read last; NULL before the first */
    size_t count, field_capacity;
    int64_t line;      /* where that row begins, from 1 */
    int64_t next_line; /* where the next one does */
    int64_t lines_in_row;
} csv_rows;

/* Starts reading; *r is to be closed also after a failure. */
status csv_rows_open(csv_rows *r, io_reader *reader);
void csv_rows_close(csv_rows *r);

/* Reads the next row that is not blank. *more is false at the end. */
status csv_rows_next(csv_rows *r, bool *more);

/* csv_rows_hold keeps all rows from the first one on, until csv_rows_rewind goes back to it; csv_rows_kept is
 * how many bytes that takes by now. */
void csv_rows_hold(csv_rows *r);
size_t csv_rows_kept(const csv_rows *r);
void csv_rows_rewind(csv_rows *r);

#endif
