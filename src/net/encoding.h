/* encoding.h: encodings of variables: how inference networks represent them.

   A continuous variable of n elements has coordinates: numbers on the unconstrained scale,
   standardized by the prior predictive distribution.  A discrete one has states, or is a count.
   Its features are the inputs of networks: the coordinates (outliers compressed
   logarithmically), or one number for each state. */
#ifndef NET_ENCODING_H
#define NET_ENCODING_H

#include "model/view.h"

enum encoding_kind {
    ENCODING_REAL,   /* coordinates */
    ENCODING_STATES, /* a few states: low, low + 1, ...; one-hot */
    ENCODING_COUNTS  /* discrete, with no or too many bounds: log(1 + x) */
};

/* The encoding of one variable. */
struct encoding {
    enum encoding_kind kind;
    int node; /* of bn */
    int inst; /* of the model */
    enum domain domain;
    const struct dist *dist; /* NULL: not known, or truncated */
    int atoms;               /* it has point masses besides a density: no family fits it */
    double lo, hi;
    int num_elements, *row; /* rows of its elements */
    int states, low;
    int ncoord; /* ENCODING_STATES: 1, the state from 0 */
    double *mean, *sd;
    int coord; /* the first row of its coordinates, or -1 */
    int nfeature;
    int feature; /* the first unit of its features, or -1 */
};

enum { ENCODING_STATES_MOST = 64 };

/* Standardized coordinates beyond ENCODING_FAR grow as logarithms in features; none is beyond
   ENCODING_FARTHEST. */
enum { ENCODING_FAR = 6, ENCODING_FARTHEST = 10000 };

/* The encodings of all nodes of a model: encoding[node], with arrays from mem.  Scales come from
   draws of the model, draw[row * num_draws + i]; with num_draws = 0 the caller sets them. */
int encodings_make(const struct model *model, size_t num_draws, const double *draw,
                   struct arena *mem, struct encoding *encoding, nami_err *err);

/* Instructions that fill the coordinates of the nodes with want[node] & 1, and the features of
   those with & 2 (units of prog). */
int encodings_compile(struct encoding *encoding, int num_encodings, const unsigned char *want,
                      struct prog *prog);

/* Features of one draw: x[num_elements] in the order of encoding->row, out[nfeature + ncoord], of
   which the last ncoord are scratch. */
void encoding_features(const struct encoding *encoding, const double *x, double *out);

/* log |d coordinates / d x|, added to the total under this tag. */
int encoding_jacobian(const struct encoding *encoding, struct prog *prog, int tag);

/* The coordinates u[k * n + i] of n points z[row * n + i].  work: num_elements + ncoord doubles. */
void encoding_coordinates(const struct encoding *encoding, size_t n, const double *z, double *u,
                          double *work);

/* For draws, where a node's coordinates become known one by one: instructions that give its
   coordinates from its elements (their rows), its elements from its coordinates, and the features
   of one coordinate, whose units are set. */
int encoding_encode(const struct encoding *encoding, struct prog *prog);
int encoding_decode(const struct encoding *encoding, struct prog *prog);
int encoding_feature(const struct encoding *encoding, int coordinate, struct prog *prog);

/* How log |dx / d coordinates| counts: instr.sum, gradient_group, tag; and, if not NULL, where to
   put the rows of logit(x) of elements in (0, 1): logit[row of x]. */
struct decoding {
    int sum, gradient_group, tag;
    int *logit;
};
/* Instructions for many encodings, as few as possible: their elements from their coordinates, and
   the log-Jacobian of those that are not discrete. */
int encodings_decode(const struct encoding *const *encoding, int num_encodings, struct prog *prog,
                     const struct decoding *how);

/* Which kernel of encoding.c or decode.c an instruction runs, for those who write programs down in
   another language (export_encoding.c). */
enum encoding_kernel {
    KERNEL_NONE,
    KERNEL_STANDARD,
    KERNEL_FEATURE,
    KERNEL_STATE,
    KERNEL_TWO,
    KERNEL_COORDINATES,
    KERNEL_ELEMENTS,
    KERNEL_JACOBIAN,
    KERNEL_LINE,
    KERNEL_HALF,
    KERNEL_INTERVAL,
    KERNEL_LINE_LOG,
    KERNEL_HALF_LOG,
    KERNEL_INTERVAL_LOG,
    NKERNEL
};
enum encoding_kernel encoding_kernel_of(const struct instr *instr);
/* What element-wise instructions have as `self`: &encoding_kernels[kernel].  (Addresses of
   functions that exist for several machines are not unique.) */
extern const enum encoding_kernel encoding_kernels[NKERNEL];

#endif
