/* gunzip.h: what gzip has compressed. */
#ifndef DATA_GUNZIP_H
#define DATA_GUNZIP_H

#include "base/str.h"
#include "nami.h"

int is_gzip(const char *s, size_t n);
/* Appends the contents: of several files, one after another, if there are. */
int gunzip(const char *s, size_t n, struct str *out, nami_err *err);

#endif
