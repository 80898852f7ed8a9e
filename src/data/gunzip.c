/* gunzip.c: decompresses gzip data in memory (zlib), including several members in a row. */
#include "data/gunzip.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"

enum { PART = 1 << 16, GZIP_ONLY = 16 };

int is_gzip(const char *s, size_t n) { return n >= 2 && memcmp(s, "\x1f\x8b", 2) == 0; }

static int damaged(const z_stream *z, int why, nami_err *err)
{
    if (why == Z_MEM_ERROR) return err_nomem(err);
    return err_set(err, NAMI_EINPUT, "what gzip has compressed is %s%s%s",
                   why == Z_BUF_ERROR ? "cut off" : "damaged", z->msg ? ": " : "",
                   z->msg ? z->msg : "");
}

size_t inflate_limit(size_t compressed)
{
    enum { RATIO = 100 };
    const size_t least = (size_t)64 << 20;
    return compressed < (SIZE_MAX - least) / RATIO ? least + RATIO * compressed : SIZE_MAX;
}

int inflate_refuse(size_t compressed, nami_err *err)
{
    return err_set(err, NAMI_ELIMIT,
                   "%zu bytes of compressed data become more than %zu MiB, as in a file made to "
                   "exhaust memory; if you trust it, decompress it first",
                   compressed, inflate_limit(compressed) >> 20);
}

/* One file; *n: what is left behind it; most: the size of *out that is too large. */
static int inflate_one(z_stream *z, size_t *n, size_t most, struct str *out, nami_err *err)
{
    char part[PART];
    int why = Z_OK;
    while (why == Z_OK) {
        uInt in = *n < UINT_MAX ? (uInt)*n : UINT_MAX;
        z->avail_in = in;
        z->next_out = (Bytef *)part;
        z->avail_out = PART;
        why = inflate(z, Z_NO_FLUSH);
        *n -= in - z->avail_in;
        str_putn(out, part, PART - z->avail_out);
        if (out->oom) return err_nomem(err);
        if (out->n > most) return NAMI_ELIMIT;
    }
    return why == Z_STREAM_END ? 0 : damaged(z, why, err);
}

int gunzip(const char *s, size_t n, struct str *out, nami_err *err)
{
    z_stream z = {.next_in = (z_const Bytef *)s};
    int why = inflateInit2(&z, MAX_WBITS + GZIP_ONLY);
    int rc = why == Z_OK ? 0 : damaged(&z, why, err);
    size_t compressed = n, most = inflate_limit(n);
    str_putn(out, "", 0); /* nothing compressed is an empty text, not NULL */
    while (!rc && n) {
        rc = inflate_one(&z, &n, most, out, err);
        if (!rc) inflateReset(&z);
        if (rc == NAMI_ELIMIT) inflate_refuse(compressed, err);
    }
    if (why == Z_OK) inflateEnd(&z);
    return !rc && out->oom ? err_nomem(err) : rc;
}
