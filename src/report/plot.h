/* plot.h: small multiples as SVG: a grid of panels, each a few layers over two axes.

   The colours are told apart by all (Okabe and Ito 2008); text is text.  Points that are not
   finite are left out, what lies outside the axes is cut off. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "base/str.h"

enum plot_kind {
    PLOT_BAND,     /* from lo to hi along x */
    PLOT_BARS,     /* from 0 to y, x the left sides; x[n] is where the last one ends */
    PLOT_LINE,     /* y along x */
    PLOT_POINTS,   /* y at x, with lines from lo to hi if there are any */
    PLOT_DIAGONAL, /* y = x */
    PLOT_LEVEL     /* y = y[0] */
};

/* Bands of any but the light one can be seen through. */
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
    const char *title, *note; /* above, left and right; may be NULL */
    int alarm;                /* the note in red, with a mark */
    double x0, x1, y0, y1;    /* axes; where one has no length, it gets some */
    int log;                  /* y, lo and hi are logarithms, to the base of ten */
    int nlayer;
    const struct plot_layer *layer; /* from back to front */
};

struct plot_key {
    const char *name;
    enum plot_colour colour;
};

struct plot {
    const char *title, *subtitle, *xlabel, *ylabel; /* may be NULL */
    int wide, high;                                 /* of a panel, in pixels; 0: as usual */
    int nkey;
    const struct plot_key *key; /* what the colours mean */
    int ncol;                   /* of the grid; 0: what looks good */
    int npanel;
    const struct plot_panel *panel;
};

/* Appends an SVG document. */
void plot_svg(const struct plot *p, struct str *out);

/* A round step that divides [lo, hi] by about n, n > 0: 1, 2 or 5 times a power of ten. */
double plot_step(double lo, double hi, int n);
/* Widens [*lo, *hi] to hold the finite values of x[n]; begin with *lo > *hi. */
void plot_include(const double *x, int n, double *lo, double *hi);

#endif
