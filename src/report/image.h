/* image.h: writes a grid of grayscale images as PNG. */
#ifndef REPORT_IMAGE_H
#define REPORT_IMAGE_H

#include "base/str.h"
#include "nami.h"

struct image_grid {
    int n, height, width;
    const float *x; /* (n, height, width): 0 black, 1 white, clamped; NaN: gray */
    int ncol;       /* images per row; 0: a grid that is about square */
    int margin;     /* width of the white margin around each, in pixels */
    int zoom;       /* magnification factor; 0: 1 */
};

/* Appends a PNG file to *out. */
int image_png(const struct image_grid *g, struct str *out, nami_err *err);
/* Writes a PNG file atomically (file_save). */
int image_save(const struct image_grid *g, const char *path, nami_err *err);

#endif
