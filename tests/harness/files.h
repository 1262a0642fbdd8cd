/* files.h — files for tests: a folder of its own for each test program, and what is in a file. */
#ifndef TD_HARNESS_FILES_H
#define TD_HARNESS_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* A group setup that makes an empty folder the current one, and the teardown that removes it with the files
 * in it. */
int files_setup(void **state);
int files_teardown(void **state);

/* Writes a file in the current folder; the test fails when that fails. */
void files_write(const char *name, const void *data, size_t length);
void files_write_text(const char *name, const char *content);
void files_write_gzip(const char *name, const void *data, size_t length);

/* The bytes of a file, followed by a NUL; freed with free. */
char *files_read(const char *name, size_t *length);
/* Number of files in the current folder. */
int files_count(void);

/* The path of a file of the source tree, from where tests are started. Returns buffer. */
enum { FILES_PATH = 1000 };
const char *files_in_tree(char buffer[FILES_PATH], const char *name);

#endif
