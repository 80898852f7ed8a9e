/* code.h: encodings of variables: how inference networks represent them.

   A continuous variable of n elements has coordinates: numbers on the unconstrained scale,
   standardized by the prior predictive distribution.  A discrete one has states, or is a count.
   Its features are the inputs of networks: the coordinates (outliers compressed
   logarithmically), or one number for each state. */
#ifndef NET_CODE_H
#define NET_CODE_H

#include "model/view.h"

enum code_kind {
    CODE_REAL,   /* coordinates */
    CODE_STATES, /* a few states: low, low + 1, ...; one-hot */
    CODE_COUNTS  /* discrete, with no or too many bounds: log(1 + x) */
};

/* The encoding of one variable. */
struct code {
    enum code_kind kind;
    int node; /* of bn */
    int inst; /* of the model */
    enum domain domain;
    const struct dist *dist; /* NULL: not known, or truncated */
    int atoms;               /* it has point masses besides a density: no family fits it */
    double lo, hi;
    int n, *row; /* its elements' rows */
    int states, low;
    int ncoord; /* CODE_STATES: 1, the state from 0 */
    double *mean, *sd;
    int coord; /* the first row of its coordinates, or -1 */
    int nfeature;
    int feature; /* the first unit of its features, or -1 */
};

enum { CODE_STATES_MOST = 64 };

/* The codes of all nodes of a model from n draws of it, x[row * n + i]; with n = 0, the scales are
   left to the caller.  `code` is as long as there are nodes; its arrays are taken from mem. */
int codes_make(const struct model *m, size_t n, const double *x, struct arena *mem,
               struct code *code, nami_err *err);

/* Instructions that fill the coordinates of the nodes with want[node] & 1, and the features of
   those with & 2 (units of p). */
int codes_compile(struct code *code, int ncode, const unsigned char *want, struct prog *p);

/* Features of one draw: x[n] in the order of c->row, out[nfeature]; ncoord numbers behind them are
   work. */
void code_features(const struct code *c, const double *x, double *out);

/* log |d coordinates / d x|, added to the total under this tag. */
int code_jacobian(const struct code *c, struct prog *p, int tag);

/* The coordinates u[k * n + i] of points z[row * n + i].  work: c->n + c->ncoord doubles. */
void code_coordinates(const struct code *c, size_t n, const double *z, double *u, double *work);

/* For draws, where a node's coordinates become known one by one: instructions that give its
   coordinates from its elements (their rows), its elements from its coordinates, and the features
   of coordinate k, whose units are set. */
int code_encode(const struct code *c, struct prog *p);
int code_decode(const struct code *c, struct prog *p);
int code_feature(const struct code *c, int k, struct prog *p);

/* How log |dx / d coordinates| counts: instr.sum, gradient_group, tag; and, if not NULL, where to
   put the rows of logit(x) of elements in (0, 1): logit[row of x]. */
struct decoding {
    int sum, gradient_group, tag;
    int *logit;
};
/* For n codes, as far as can be at once: their elements from their coordinates, and the
   jacobian of those that are not discrete. */
int codes_decode(const struct code *const *c, int n, struct prog *p, const struct decoding *how);

#endif
