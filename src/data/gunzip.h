/* gunzip.h: decompression of gzip files. */
#ifndef DATA_GUNZIP_H
#define DATA_GUNZIP_H

#include "base/str.h"
#include "nami.h"

int is_gzip(const char *s, size_t n);
/* The largest size that compressed data may expand to: 64 MiB and 100 times their own.  Deflate can
   expand data a thousandfold, so that a small file could exhaust the memory. */
size_t inflate_limit(size_t compressed);
/* Reports that it was exceeded: NAMI_ELIMIT. */
int inflate_refuse(size_t compressed, nami_err *err);
/* Appends the decompressed contents, of all members if there are several. */
int gunzip(const char *s, size_t n, struct str *out, nami_err *err);

#endif
