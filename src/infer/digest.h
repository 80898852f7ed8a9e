/* digest.h: streaming summaries (as in summary.h) of many numbers from weighted draws that arrive
   in blocks.  The result does not depend on the blocks.

   Up to `room` draws are kept, and the result is that of summarise(): the same bits.  If there are
   to be more, mean, sd, mcse and ess come from running sums, and quantiles from `room` weighted
   points for each number.  When these are full, they are sorted and equal ones become one;
   if more than half are left, so do neighbours up to 4 / room of all weight so far, at their mean.
   A quantile is then off by less than 4 / room in probability (as measured: test_digest), and
   not at all if the number has few values. */
#ifndef INFER_DIGEST_H
#define INFER_DIGEST_H

#include "infer/summary.h"

/* Sums that need no second look (West 1979): weight, mean, sum of w (x - mean)^2. */
struct running {
    double w, mean, square;
};

struct digest_number {
    size_t n;                   /* points */
    double *x, *w;              /* theirs; w: NULL if all draws are kept */
    struct running once, twice; /* with weights w; with (w / (1 - w))^2 */
    double sum2;                /* of w^2 */
    int bad;                    /* there was a NaN */
};

struct digest {
    size_t nnum, per, room;
    const size_t *row; /* (nnum) */
    struct digest_number *of;
    double *x, *w;         /* the points of all */
    struct weighted *sort; /* (2 room) */
    double *logw;          /* (per): if all draws are kept */
    size_t seen;           /* draws */
    int weighted;
};

/* 2^20 for up to 4 numbers, less for more of them, so that all take 64 MB; 4096 at least. */
size_t digest_room(size_t nnum);

/* Number k is row[k] of the blocks; per: draws of a data set.  digest_fini() in any case. */
int digest_init(struct digest *d, size_t nnum, const size_t *row, size_t per, size_t room,
                nami_err *err);
void digest_fini(struct digest *d);

/* n draws more: x[row[k] * stride + i], logarithms of normalised weights or, always or never,
   NULL. */
void digest_put(struct digest *d, size_t n, const double *x, size_t stride, const double *logw);
/* After `per` draws: out[row[k]].  The next draws are those of another data set. */
int digest_end(struct digest *d, struct summary *out, nami_err *err);

#endif
