/* plot.h: small multiples as SVG: a grid of panels, each with two axes and a few layers.

   The palette is safe for color-blind readers (Okabe and Ito 2008); text remains text.  Points that
   are not finite are omitted, and layers are clipped to the axes.  Colors are attributes, which
   classes overrule by variables of CSS: light and dark follow the reader's setting, and a page may
   choose others.  Viewers that know no variables show the light ones. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "base/str.h"

enum plot_kind {
    PLOT_BAND,     /* band from lo to hi as a function of x */
    PLOT_BARS,     /* bars from 0 to y with left edges x; x[n] is the right edge of the last */
    PLOT_LINE,     /* y as a function of x */
    PLOT_POINTS,   /* points (x, y), with error bars from lo to hi if given; y NULL: bars alone */
    PLOT_DOTS,     /* the same for many points, small and without bars */
    PLOT_RINGS,    /* points that are circled */
    PLOT_SPANS,    /* horizontal lines at y from lo to hi, with a point at x if given */
    PLOT_DIAGONAL, /* y = x */
    PLOT_LEVEL,    /* y = y[0] */
    PLOT_UPRIGHT   /* x = x[0], from the bottom to the top */
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
    double width; /* of lines, in pixels; 0: the usual one */
};

struct plot_panel {
    const char *title, *note; /* above the panel, left and right; may be NULL */
    int alarm;                /* highlight the note in red, with a mark */
    double x0, x1, y0, y1;    /* ranges of the axes; an empty range is widened */
    int log;                  /* y, lo and hi are base-10 logarithms */
    int no_x, no_y;           /* axes without ticks */
    int whole;                /* x has ticks at integers alone */
    int high;                 /* in pixels, at most that of the plot; 0: that of the plot */
    const char *const *row;   /* names at y = 0, 1, ... num_rows - 1 instead of ticks; or NULL */
    int num_rows;
    const char *text; /* in the middle of a panel without layers; or NULL */
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
    int left;     /* room for numbers or names beside a panel; 0: default */
    int together; /* the grid is one picture, also on pages */
    int nkey;
    const struct plot_key *key; /* legend */
    int ncol;                   /* columns of the grid; 0: automatic */
    int npanel;
    const struct plot_panel *panel;
};

typedef void plot_put(const struct plot *p, struct str *out);
/* Appends an SVG document. */
plot_put plot_svg;
/* Appends a figure of an HTML page, with its title as the caption and an SVG for each panel, so
   that they find their places on any screen.  The page has the rules of plot_css. */
plot_put plot_html;
/* Rules of CSS for classes of colors, and the values of their variables in the dark; rules of the
   dark colors alone, for programs that do not know variables. */
void plot_css(struct str *out);
void plot_css_dark(struct str *out);
void plot_css_only_dark(struct str *out);

/* Text with what XML and HTML reserve escaped, and what they forbid replaced. */
void put_xml(struct str *out, const char *s);

/* A round tick distance that divides [lo, hi] into about n parts, n > 0: 1, 2 or 5 times a power of
   ten. */
double plot_step(double lo, double hi, int n);
/* Extends [*lo, *hi] to include the finite values of x[n]; start with *lo > *hi. */
void plot_include(const double *x, int n, double *lo, double *hi);

#endif
