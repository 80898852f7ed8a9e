/* plot.h: small multiples as SVG: a grid of panels, each with two axes and a few layers.

   The palette is safe for color-blind readers (Okabe and Ito 2008); text remains text.  Points that
   are not finite are omitted, and layers are clipped to the axes. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "base/str.h"

enum plot_kind {
    PLOT_BAND,     /* band from lo to hi as a function of x */
    PLOT_BARS,     /* bars from 0 to y with left edges x; x[n] is the right edge of the last */
    PLOT_LINE,     /* y as a function of x */
    PLOT_POINTS,   /* points (x, y), with error bars from lo to hi if given */
    PLOT_DIAGONAL, /* y = x */
    PLOT_LEVEL     /* y = y[0] */
};

/* Bands are transparent, except for PLOT_LIGHT. */
enum plot_colour {
    PLOT_BLUE,
    PLOT_RED,
    PLOT_GREY,
    PLOT_LIGHT,
    PLOT_GREEN,
    PLOT_ORANGE,
    PLOT_PURPLE,
    PLOT_SKY,
    PLOT_COLOURS
};

struct plot_layer {
    enum plot_kind kind;
    enum plot_colour colour;
    int n;
    const double *x, *y, *lo, *hi;
};

struct plot_panel {
    const char *title, *note; /* above the panel, left and right; may be NULL */
    int alarm;                /* highlight the note in red, with a mark */
    double x0, x1, y0, y1;    /* ranges of the axes; an empty range is widened */
    int log;                  /* y, lo and hi are base-10 logarithms */
    int nlayer;
    const struct plot_layer *layer; /* from back to front */
};

struct plot_key {
    const char *name;
    enum plot_colour colour;
};

struct plot {
    const char *title, *subtitle, *xlabel, *ylabel; /* may be NULL */
    int wide, high;                                 /* size of a panel in pixels; 0: default */
    int nkey;
    const struct plot_key *key; /* legend */
    int ncol;                   /* columns of the grid; 0: automatic */
    int npanel;
    const struct plot_panel *panel;
};

/* Appends an SVG document. */
void plot_svg(const struct plot *p, struct str *out);

/* A round tick distance that divides [lo, hi] into about n parts, n > 0: 1, 2 or 5 times a power of
   ten. */
double plot_step(double lo, double hi, int n);
/* Extends [*lo, *hi] to include the finite values of x[n]; start with *lo > *hi. */
void plot_include(const double *x, int n, double *lo, double *hi);

#endif
