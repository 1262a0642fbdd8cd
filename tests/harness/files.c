/* files.c — see files.h. */
#include "tests/harness/check.h"

#include "tests/harness/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char tree[FILES_PATH / 2];

const char *files_in_tree(char buffer[FILES_PATH], const char *name) {
    snprintf(buffer, FILES_PATH, "%s/%s", tree, name);
    return buffer;
}

int files_setup(void **state) {
    if (!getcwd(tree, sizeof tree)) return -1;
    /* In memory where there is such a place: saving waits for the disk. */
    char memory[] = "/dev/shm/tapedeck-test.XXXXXX", disk[] = "/tmp/tapedeck-test.XXXXXX";
    char *folder = mkdtemp(memory);
    if (!folder) folder = mkdtemp(disk);
    if (!folder || chdir(folder) != 0) return -1;
    *state = strdup(folder);
    return *state ? 0 : -1;
}

/* Calls `visit` for every file. */
static int each_file(void (*visit)(const char *name)) {
    DIR *folder = opendir(".");
    if (!folder) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        if (visit) visit(entry->d_name);
    }
    closedir(folder);
    return count;
}

static void remove_file(const char *name) {
    unlink(name);
}

int files_teardown(void **state) {
    each_file(remove_file);
    int code = chdir("/");
    code |= rmdir(*state);
    free(*state);
    return code;
}

int files_count(void) {
    return each_file(NULL);
}

void files_write(const char *name, const void *data, size_t length) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

void files_write_text(const char *name, const char *content) {
    files_write(name, content, strlen(content));
}

void files_write_gzip(const char *name, const void *data, size_t length) {
    gzFile f = gzopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, data, (unsigned)length), length);
    assert_int_equal(gzclose(f), Z_OK);
}

char *files_read(const char *name, size_t *length) {
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    size_t capacity = 1 << 16, used = 0;
    char *data = malloc(capacity + 1);
    assert_non_null(data);
    for (size_t got; (got = fread(data + used, 1, capacity - used, f)) > 0;) {
        used += got;
        if (used < capacity) continue;
        capacity *= 2;
        data = realloc(data, capacity + 1);
        assert_non_null(data);
    }
    fclose(f);
    data[used] = '\0';
    if (length) *length = used;
    return data;
}
