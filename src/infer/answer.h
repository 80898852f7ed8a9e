/* answer.h: weighted posterior draws for data sets: draws of the network, importance weights that
   correct its approximation error, and diagnostics of their reliability. */
#ifndef INFER_ANSWER_H
#define INFER_ANSWER_H

#include "infer/method.h"

/* Weighted draws of some data sets: set s has draws s * per ... */
struct answer {
    size_t nset, per, n;        /* n = nset * per; or nset = 0: part of one set */
    size_t first;               /* the number of the first draw: infer.h */
    double *z;                  /* [row * n + i]: all rows of the model */
    double *pred;               /* posterior predictive draws of the observed variables; or NULL */
    double *logq, *logp, *logw; /* logp and logw: NULL without weights; logw is smoothed and
                                   normalized in each set */
    struct diagnostics *found; /* (nset): all NaN without weights; if particles were resampled, khat
                                  is NaN and logw is not smoothed */
    size_t islands;            /* number for each set, for SMC (infer/smc.h); otherwise 0 */
    struct found_message *message; /* (nset): found, while it is sent; or NULL */
};

/* Sets first .. first+nset-1 of the query. Call answer_free() also after an error. */
int answer_sets(const struct infer *a, const struct query *q, const struct infer_method *method,
                size_t first, size_t nset, int predict, int threads, struct answer *out,
                nami_err *err);
/* Draws first .. first+n-1 only, by a method that streams; weights are neither smoothed nor
   normalized. */
int answer_draws(const struct infer *a, const struct query *q, const struct infer_method *method,
                 size_t first, size_t n, int predict, int threads, struct answer *out,
                 nami_err *err);
/* Smooths and normalizes the weights of all n draws of a data set; their diagnostics.  If the
   network has no latents, all weights are p(x): k-hat is NO_TAIL for any number of draws. */
int answer_smooth(const struct infer *a, size_t n, double *logw, struct diagnostics *out,
                  nami_err *err);
void answer_free(struct answer *x);

/* Sends an answer of answer_sets to process 0.  It must stay until exchange_wait. */
int answer_send(const struct infer *a, const nami_exchange *with, struct answer *x, nami_err *err);
/* The answer that process `from` has sent; arguments as those of answer_sets. */
int answer_receive(const struct infer *a, const nami_exchange *with, int from,
                   const struct query *q, const struct infer_method *method, size_t first,
                   size_t nset, int predict, struct answer *out, nami_err *err);

#endif
