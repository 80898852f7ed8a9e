/* quadrature.h: integrals over one continuous scalar by quadrature, on an unconstrained scale:

       integral of f(v) dv = integral of exp(h(u)) du,  h(u) = log f(v(u)) + log |dv / du|

   with v = u, low + exp(u), high - exp(u) or low + (high - low) / (1 + exp(-u)), by the support. */
#ifndef EXACT_QUADRATURE_H
#define EXACT_QUADRATURE_H

#include "exact/integral.h"

enum line_state { LINE_MOVING, LINE_FOUND, LINE_IMPOSSIBLE, LINE_FAILED };

enum { LINE_ROWS = 40 };

/* The integral over one variable, for the draws of a slab.  Rows of draws; those that are called
   wide have all lanes of the body, copy by copy (visit_copies). */
struct line {
    double low, high;
    int concave;     /* the integrand is log-concave */
    int live, lanes; /* draws; lanes of all copies, rounded up to groups of 8 */
    double *var;     /* the variable in the body: wide */
    union {
        struct {
            /* wide */
            double *u;                /* where the body is evaluated */
            double *jacobian, *slope; /* log |dv / du| there; dv / du */
            double *h;                /* h(u), after line_value; the weight of the node */
            double *t;                /* of the node that is evaluated */
            double *open; /* 1: it is a node of this draw; 0: the body is evaluated at the mode */
            double *at_mode, *at_scale, *at_peak; /* copies of mode, scale, peak */
            /* of draws */
            double *state;        /* enum line_state */
            double *mode, *scale; /* the mode, nearly; 1 / sqrt(- h'') there */
            double *peak;         /* h(mode) */
            /* the search for the mode */
            double *by_u; /* wide: d jacobian / du after line_place; h'(u) in the search */
            double *from, *by_from; /* the point before, and h' there; NaN: none */
            double *left, *by_left, *right,
                *by_right; /* the mode is between; h' there; infinite: unknown */
            double *best;  /* the smallest |h'| so far */
            /* the rule: nodes at mode + scale * stretch(t), t = k * STEP / 2^level,
               k = -before * 2^level .. after * 2^level */
            double *before, *after, *level;
            /* one pass over nodes: t = first + k * pitch, k = 0 .. nodes - 1 */
            double *first, *pitch, *nodes;
            double *sum, *total; /* of weights: so far; of the level before, or of all nodes */
            double *lean, *lean_total; /* the same of weights times t */
            double *tail;              /* error of log Z by tails that are cut off */
            double *error;             /* of log Z, estimated */
            double *target;            /* draws: what the sum must reach; moments: v at the mode */
            /* nodes outward */
            double *quiet;       /* the last so many are negligible */
            double *last, *rise; /* the logarithm of the last weight; how much more it is than the
                                    one before */
            double *bumpy;       /* 1: there may be another mode */
            /* for derivatives: the smallest level that is enough for them, its total */
            double *coarse, *coarse_total;
        };
        double *row[LINE_ROWS]; /* all of these */
    };
};
static inline size_t line_size(const struct integral *g) /* of a row */
{
    return ((size_t)g->lanes + 7) / 8 * 8;
}

static inline struct line line_of(const struct visit *v, int c)
{
    size_t size = line_size(v->g);
    double *at = v->extra + (size_t)c * LINE_ROWS * size;
    struct line l = {.low = v->g->var[c].low,
                     .high = v->g->var[c].high,
                     .concave = ((const unsigned char *)v->g->own)[c],
                     .live = v->draws,
                     .lanes = visit_width(v),
                     .var = visit_var(v, c)};
    for (int k = 0; k < LINE_ROWS; k++) l.row[k] = at + (size_t)k * size;
    return l;
}

/* Copy j of the wide rows that are looked at node by node. */
static inline struct line line_copy(const struct visit *v, int c, int j)
{
    struct line l = line_of(v, c);
    l.var += j * v->draws;
    l.h += j * v->draws;
    l.t += j * v->draws;
    return l;
}

/* By component: 1 if the integrand is known to be log-concave in the unconstrained variable. */
int find_concave(const struct integral *g, unsigned char *concave, nami_err *err);

/* Sets variable, jacobian and slope for u. */
void line_place(const struct line *l);
/* After visit_run: h. */
void line_value(const struct visit *v, int c);

/* Finds modes and scales of all components. */
void find_modes(struct visit *v);

#endif
