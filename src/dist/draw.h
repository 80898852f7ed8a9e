/* draw.h: exact rejection samplers shared by several distributions.  They terminate for any
   argument; invalid arguments return NaN. */
#ifndef DIST_DRAW_H
#define DIST_DRAW_H

#include "base/stream.h"

double draw_gamma(struct rng *r, double shape);     /* rate 1; may underflow to 0 for tiny shapes */
double draw_log_gamma(struct rng *r, double shape); /* its logarithm, which does not underflow */
/* The random number generator of draw first + i for its k-th use, k < 2^20. */
void draw_rng(const struct stream *s, int i, int k, struct rng *r);
double draw_poisson(struct rng *r, double mean);
double draw_binomial(struct rng *r, double n, double p);

#endif
