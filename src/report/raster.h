/* raster.h: paints an SVG as PNG, by librsvg, which is loaded when it is needed. */
#ifndef REPORT_RASTER_H
#define REPORT_RASTER_H

#include "base/str.h"
#include "nami.h"

/* Appends a PNG with `zoom` pixels for each of the SVG's, fewer if it would be huge.  css: rules
   that come before those of the SVG, or NULL.  NAMI_EFILE if there is no librsvg.  It runs in a
   child process: its crashes are errors (NAMI_ELIMIT). */
int raster_png(const char *svg, const char *css, double zoom, struct str *out, nami_err *err);

#endif
