/* refine.h: summaries of exact latents by their conditional means and variances (Rao-Blackwell), in
   place of those of their draws: with m_i and v_i of draw i,
       mean  sum w m
       sd    that of the m_i, and sum w v, added in squares
       mcse  as in summary.h, of the m_i
   The quantiles remain those of the draws. */
#ifndef INFER_REFINE_H
#define INFER_REFINE_H

#include "infer/digest.h"

struct refined {
    struct running once, twice; /* of m_i, as in digest.h */
    double variance, sum2;      /* sum w v, sum w^2 */
    int bad;                    /* a moment of a draw that counts is not finite */
};

/* Adds n draws with these moments and normalized weights. */
void refined_put(struct refined *r, size_t n, const double *mean, const double *variance,
                 const double *w);
/* Sums of n normalized weights: w, (w / (1 - w))^2, w^2. */
struct weight_sums {
    double once, twice, square;
};
struct weight_sums weight_sums(size_t n, const double *w);
/* Adds draws with these sums of weights that have the same moments. */
void refined_put_same(struct refined *r, double mean, double variance, struct weight_sums s);
/* The summary of the m_i of n draws, without quantiles.  0: there is none, and the summary of the
   draws is to be kept: moments are infinite, or one draw has all the weight. */
int refined_means(const struct refined *r, size_t n, struct summary *out);
/* out: the summary of the draws; means: that of the m_i. */
void refined_apply(const struct refined *r, const struct summary *means, size_t n,
                   struct summary *out);

#endif
