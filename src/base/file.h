/* file.h: reads and atomically writes entire files. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/str.h"
#include "nami.h"

/* Appends the contents of path ("-": standard input) to text.  What is not a regular file may never
   end (/dev/zero), and is limited to FILE_STREAM_MAX bytes. */
#define FILE_STREAM_MAX ((size_t)1 << 30)
int file_read(const char *path, struct str *text, nami_err *err);
/* Writes a temporary file next to path and renames it: atomic if the program is killed. */
int file_write(const char *path, const char *data, size_t n, nami_err *err);
/* The same, also durable if the machine crashes: flushes the data and then the directory entry to
   disk.  Takes milliseconds; for results that took long to compute. */
int file_save(const char *path, const char *data, size_t n, nami_err *err);

/* Tests whether path can be written, by creating and removing the temporary file. */
int file_check(const char *path, nami_err *err);

/* The same, incrementally. */
struct file_out {
    int fd; /* also readable, if tmp */
    const char *path;
    struct str tmp; /* temporary name until it is complete; tmp.s is NULL for pipes and devices */
    int unnamed;    /* no file is called tmp yet: if the program is killed, nothing is left */
};
int file_begin(struct file_out *f, const char *path, nami_err *err);
/* Gives the file its temporary name, for libraries that open it once more. */
int file_give_name(struct file_out *f, nami_err *err);
int file_put(struct file_out *f, const char *data, size_t n, nami_err *err);
/* Renames it to its final name or, after an error, removes it. */
int file_end(struct file_out *f, int durable, nami_err *err);
void file_drop(struct file_out *f); /* removes it */

/* Creates an unnamed temporary file in the directory of path; *fd is open for reading and writing.
 */
int file_spool(const char *path, int *fd, nami_err *err);

#endif
