/* figure.h: figures of a posterior, a training run or a calibration, one row of figure.def each.

   A figure is put by plot_svg or plot_html (plot.h).  Draws are equally weighted.  Numbers that are
   not finite are left out, and the same input gives the same bytes. */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include "data/summary.h"
#include "report/plot.h"

struct calibration;

/* What a figure is drawn from: bits. */
enum {
    FIGURE_DRAWS = 1,
    FIGURE_CHAINS = 2,
    FIGURE_PREDICTED = 4,
    FIGURE_PRIOR_PREDICTED = 8,
    FIGURE_HISTORY = 16,
    FIGURE_CALIBRATION = 32
};

/* A number that is inferred. */
struct figure_scalar {
    const char *name;
    int array;           /* the variable that it is an element of */
    int discrete;        /* its values are integers */
    double lo, hi;       /* bounds of its values; may be infinite */
    const double *draws; /* (num_draws) */
    const double *prior; /* (num_prior), or NULL */
    struct summary summary;
};

/* A variable: consecutive scalars. */
struct figure_array {
    const char *name;
    int first, num;
};

/* An observed variable: draws of its elements are [element * num + i]. */
struct figure_observed {
    const char *name;
    int num, discrete;
    const double *data;      /* (num) */
    const double *predicted; /* (num, num_predicted), or NULL */
    const double *prior;     /* (num, num_prior), or NULL */
};

/* The history of a training run: validations, by row; NaN: not known. */
struct figure_history {
    int num_rows, num_terms;
    const double *step, *train, *valid; /* (num_rows) */
    const double *term;                 /* (num_terms, num_rows): loss terms */
    const char *const *name;            /* (num_terms) */
};

struct figure_input {
    int num_scalars, num_arrays, num_observed;
    const struct figure_scalar *scalar;
    const struct figure_array *array;
    const struct figure_observed *observed;
    size_t num_draws, num_prior, num_predicted;
    size_t chains; /* draws of a chain follow each other; 0: they are not of chains */
    struct figure_history history;
    const struct calibration *calibration; /* or NULL */
    int most; /* panels or rows of a figure at most; 0: the usual number of each */
};

struct figure {
    const char *name, *what;
    unsigned needs;                                                            /* one of the bits */
    int (*put)(const struct figure_input *in, plot_put *put, struct str *out); /* 0, NAMI_ENOMEM */
};

#define FIGURE(id) extern const struct figure figure_##id;
#include "report/figure.def"
#undef FIGURE
extern const struct figure *const figures[];        /* NULL at the end */
const struct figure *figure_find(const char *name); /* or NULL */
/* Has the input what the figure needs? */
int figure_can(const struct figure *f, const struct figure_input *in);

/* ---- for the files of figures ------------------------------------------------------------- */

/* At most `most` scalars that are worth a panel, in their order: those of small variables first.
   which: room for num_scalars.  How many. */
int figure_choose(const struct figure_input *in, int most, int *which);
/* "; N of M are shown", if not all are. */
void figure_say_shown(struct str *out, int shown, int all);
/* Shared by predictive and prior: the observed data among draws of them. */
int figure_put_predicted(const struct figure_input *in, int of_prior, plot_put *put,
                         struct str *out);

#endif
