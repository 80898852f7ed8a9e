/* answer.h: weighted posterior draws for data sets: draws of the network, importance weights that
   correct its approximation error, and diagnostics of their reliability. */
#ifndef INFER_ANSWER_H
#define INFER_ANSWER_H

#include "infer/method.h"

/* Draws of some data sets: set s has draws s * per ... of them. */
struct answer {
    size_t nset, per, n;        /* n = nset * per; or part of one set, and nset = 0 */
    size_t first;               /* the number of the first draw: infer.h */
    double *z;                  /* [row * n + i]: all rows of the model */
    double *pred;               /* the observed variables drawn anew; or NULL */
    double *logq, *logp, *logw; /* logp and logw: NULL for direct ones; logw is smoothed and
                                   normalised in each set */
    struct diagnostics *found;  /* (nset): all NaN for direct ones; if particles were
                                   resampled, khat is NaN and logw not smoothed */
    size_t islands;             /* of each set, for SMC (infer/smc.h); else 0 */
};

/* Sets first .. first+nset-1 of the query.  answer_free() in any case. */
int answer_sets(const struct infer *a, const struct query *q, const struct infer_method *method,
                size_t first, size_t nset, int predict, int threads, struct answer *out,
                nami_err *err);
/* Draws first .. first+n-1 alone, by a method that streams: weights are as they are. */
int answer_draws(const struct infer *a, const struct query *q, const struct infer_method *method,
                 size_t first, size_t n, int predict, int threads, struct answer *out,
                 nami_err *err);
/* Smooths and normalises the weights of all n draws of a data set; what they say. */
int answer_smooth(size_t n, double *logw, struct diagnostics *out, nami_err *err);
void answer_free(struct answer *x);

#endif
