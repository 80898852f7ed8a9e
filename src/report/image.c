/* image.c: PNG by https://www.w3.org/TR/png: a signature, and chunks of length, name, bytes and
   CRC. Gray, 8 bits; each line has a byte 0 before it (no filter: digits compress well without). */
#include "report/image.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/err.h"
#include "base/file.h"
#include "base/vec.h"

enum { GRAY = 127, WHITE = 255 };

/* ---- the picture --------------------------------------------------------------------------- */

static unsigned char shade(float x)
{
    if (isnan(x)) return GRAY;
    return (unsigned char)(x <= 0 ? 0 : x >= 1 ? WHITE : x * 255 + 0.5f);
}

struct canvas {
    size_t ncol, nline, zoom, width, height;
    unsigned char *px; /* (height, 1 + width) */
};

static void paint(const struct canvas *c, const struct image_grid *g, size_t i)
{
    size_t h = (size_t)g->height, w = (size_t)g->width, margin = (size_t)g->margin, z = c->zoom;
    size_t top = i / c->ncol * (h * z + 2 * margin) + margin;
    size_t left = i % c->ncol * (w * z + 2 * margin) + margin + 1;
    for (size_t y = 0; y < h * z; y++) {
        const float *from = g->x + (i * h + y / z) * w;
        unsigned char *to = c->px + (top + y) * (c->width + 1) + left;
        for (size_t x = 0; x < w * z; x++) to[x] = shade(from[x / z]);
    }
}

static int draw(struct canvas *c, const struct image_grid *g, nami_err *err)
{
    int n = g->n, ncol = g->ncol > 0 ? g->ncol : (int)ceil(sqrt(n)), zoom = g->zoom ? g->zoom : 1;
    if (n < 1 || g->height < 1 || g->width < 1 || g->margin < 0 || zoom < 0)
        return err_set(err, NAMI_EINPUT, "there is nothing to draw: %d images of %d x %d pixels", n,
                       g->height, g->width);
    if (ncol > n) ncol = n;
    int nline = n / ncol + (n % ncol > 0);
    double width = ncol * ((double)g->width * zoom + 2.0 * g->margin);
    double height = nline * ((double)g->height * zoom + 2.0 * g->margin);
    if (width > INT_MAX || height > INT_MAX || width * height > INT_MAX)
        return err_set(err, NAMI_ELIMIT, "a picture of %.0f x %.0f pixels is too large", width,
                       height);
    *c = (struct canvas){(size_t)ncol,  (size_t)nline,  (size_t)zoom,
                         (size_t)width, (size_t)height, NULL};
    c->px = raw_array(unsigned char, c->height *(c->width + 1));
    if (!c->px) return err_nomem(err);
    memset(c->px, WHITE, c->height * (c->width + 1));
    for (size_t y = 0; y < c->height; y++) c->px[y * (c->width + 1)] = 0;
    for (size_t i = 0; i < (size_t)n; i++) paint(c, g, i);
    return 0;
}

/* ---- the file ------------------------------------------------------------------------------ */

static void put_u32(struct str *out, uint32_t x)
{
    str_putn(out, (char[]){(char)(x >> 24), (char)(x >> 16), (char)(x >> 8), (char)x}, 4);
}

static void put_chunk(struct str *out, const char *name, const void *data, size_t n)
{
    uLong crc = crc32(crc32(0, (const Bytef *)name, 4), data ? data : (const Bytef *)"", (uInt)n);
    put_u32(out, (uint32_t)n);
    str_putn(out, name, 4);
    str_putn(out, data ? data : "", n);
    put_u32(out, (uint32_t)crc);
}

static int put_png(const struct canvas *c, struct str *out, nami_err *err)
{
    struct str head = {0};
    uLong n = (uLong)(c->height * (c->width + 1));
    uLongf packed = compressBound(n);
    Bytef *data = raw_array(Bytef, packed);
    int rc = data && compress2(data, &packed, c->px, n, 9) == Z_OK ? 0 : err_nomem(err);
    if (!rc) {
        put_u32(&head, (uint32_t)c->width);
        put_u32(&head, (uint32_t)c->height);
        str_putn(&head, "\10\0\0\0\0",
                 5); /* 8 bits, gray; the only ways to compress and filter; no interlace */
        str_putn(out, "\x89PNG\r\n\x1a\n", 8);
        put_chunk(out, "IHDR", head.s, head.n);
        put_chunk(out, "IDAT", data, packed);
        put_chunk(out, "IEND", NULL, 0);
        if (head.oom || out->oom) rc = err_nomem(err);
    }
    str_free(&head);
    free(data);
    return rc;
}

int image_png(const struct image_grid *g, struct str *out, nami_err *err)
{
    struct canvas c = {0};
    int rc = draw(&c, g, err);
    if (!rc) rc = put_png(&c, out, err);
    free(c.px);
    return rc;
}

int image_save(const struct image_grid *g, const char *path, nami_err *err)
{
    struct str out = {0};
    int rc = image_png(g, &out, err);
    if (!rc) rc = file_save(path, out.s, out.n, err);
    str_free(&out);
    return rc;
}
