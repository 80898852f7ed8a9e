/* draw.h: exact samplers by rejection, shared by several distributions.  All end
   for any argument; invalid ones give NaN. */
#ifndef DIST_DRAW_H
#define DIST_DRAW_H

#include "base/stream.h"

double draw_gamma(struct rng *r, double shape);     /* rate 1; may underflow to 0 for tiny shapes */
double draw_log_gamma(struct rng *r, double shape); /* its logarithm, which does not underflow */
/* The generator of draw first + i for its k-th purpose, k < 2^20. */
void draw_rng(const struct stream *s, int i, int k, struct rng *r);
double draw_poisson(struct rng *r, double mean);
double draw_binomial(struct rng *r, double n, double p);

#endif
