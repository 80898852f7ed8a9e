/* digest.h: streaming summaries (as in summary.h) of many numbers from weighted draws that arrive
   in blocks.  The result does not depend on the blocks.

   Up to `room` draws are stored, and the result is bit-identical to that of summarise().  For more
   draws, mean, sd, mcse and ess are computed from running sums, and quantiles from `room` weighted
   points for each number.  When these are full, they are sorted and equal points are merged; if
   more than half are left, neighbors of up to 4 / room of the total weight so far are replaced by
   their mean.  The error of a quantile is then less than 4 / room in probability (as measured by
   test_digest), and zero if the number has few distinct values. */
#ifndef INFER_DIGEST_H
#define INFER_DIGEST_H

#include "infer/summary.h"

/* One-pass moments (West 1979): weight, mean, sum of w (x - mean)^2. */
struct running {
    double w, mean, square;
};
void running_add(struct running *r, double x, double w);
/* mean, sd, mcse and ess of n draws from sums with weights w and (w / (1 - w))^2; sum2: of w^2. */
void digest_moments(const struct running *once, const struct running *twice, double sum2, size_t n,
                    struct summary *out);

struct digest_number {
    size_t n;                   /* points */
    double *x, *w;              /* values and weights; w: NULL if all draws are stored */
    struct running once, twice; /* with weights w; with (w / (1 - w))^2 */
    struct running copied, rounded; /* with copies; with summary_rounding() */
    double sum2;                /* of w^2 */
    int bad;                    /* a value was NaN, of a draw that counts */
};

struct digest {
    size_t nnum, per, room;
    const size_t *row; /* (nnum) */
    struct digest_number *of;
    double *x, *w;         /* the points of all */
    struct weighted *sort; /* (2 room) */
    double *logw;          /* (per): if all draws are stored */
    unsigned *copies;      /* the same */
    size_t seen;           /* draws */
    int weighted, resampled;
};

/* 2^20 for up to 4 numbers, less for more, to use 64 MB in total; at least 4096. */
size_t digest_room(size_t nnum);

/* Number k is row[k] of the blocks; per: draws of a data set. Call digest_fini() also after an
   error. */
int digest_init(struct digest *d, size_t nnum, const size_t *row, size_t per, size_t room,
                nami_err *err);
void digest_fini(struct digest *d);

/* Adds n draws: x[row[k] * stride + i], logarithms of normalized weights, or NULL; with weights,
   how often each is among the equally weighted draws to be summarized (summary.h), or NULL.
   In all calls of a data set alike. */
void digest_put(struct digest *d, size_t n, const double *x, size_t stride, const double *logw,
                const unsigned *copies);
/* After `per` draws: out[row[k]].  The next draws belong to the next data set. */
int digest_end(struct digest *d, struct summary *out, nami_err *err);

#endif
