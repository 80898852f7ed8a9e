/* gunzip.h: decompression of gzip files. */
#ifndef DATA_GUNZIP_H
#define DATA_GUNZIP_H

#include "base/str.h"
#include "nami.h"

int is_gzip(const char *s, size_t n);
/* Appends the decompressed contents, of all members if there are several. */
int gunzip(const char *s, size_t n, struct str *out, nami_err *err);

#endif
