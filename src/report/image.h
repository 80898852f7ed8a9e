/* image.h: gray images in a grid, as PNG. */
#ifndef REPORT_IMAGE_H
#define REPORT_IMAGE_H

#include "base/str.h"
#include "nami.h"

struct image_grid {
    int n, height, width;
    const float
        *x;     /* (n, height, width): 0 black, 1 white; beyond, the nearer of both; NaN: gray */
    int ncol;   /* images in a line; 0: about as many as there are lines */
    int margin; /* pixels around each, white */
    int zoom;   /* pixels of the picture for one of an image, each way; 0: 1 */
};

/* Appends a PNG file to *out. */
int image_png(const struct image_grid *g, struct str *out, nami_err *err);
/* Writes one, all or nothing (file_save). */
int image_save(const struct image_grid *g, const char *path, nami_err *err);

#endif
