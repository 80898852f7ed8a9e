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

#endif
