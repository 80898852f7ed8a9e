/* file.h: whole files in, whole files out. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/str.h"
#include "nami.h"

/* Appends the contents of path ("-": standard input) to text. */
int file_read(const char *path, struct str *text, nami_err *err);
/* Writes a temporary file beside path and renames it: all or nothing if the program is stopped. */
int file_write(const char *path, const char *data, size_t n, nami_err *err);
/* The same if the machine is: waits until the disk has the bytes, and then the name.  Takes
   milliseconds; for what took long to compute. */
int file_save(const char *path, const char *data, size_t n, nami_err *err);

/* Could it be written?  Makes the temporary file, and removes it. */
int file_check(const char *path, nami_err *err);

/* The same piece by piece. */
struct file_out {
    int fd; /* for reading too, if tmp */
    const char *path;
    struct str tmp; /* its name until it is complete; tmp.s is NULL for pipes and devices */
};
int file_begin(struct file_out *f, const char *path, nami_err *err);
int file_put(struct file_out *f, const char *data, size_t n, nami_err *err);
/* Gives it its name, or, after an error, removes it. */
int file_end(struct file_out *f, int durable, nami_err *err);
void file_drop(struct file_out *f); /* removes it */

/* A file without a name, in the folder of path: *fd, for reading and writing. */
int file_spool(const char *path, int *fd, nami_err *err);

#endif
