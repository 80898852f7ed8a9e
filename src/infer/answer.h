/* answer.h: weighted posterior draws for data sets: draws of the network, importance weights that
   correct its approximation error, and diagnostics of their reliability. */
#ifndef INFER_ANSWER_H
#define INFER_ANSWER_H

#include "data/summary.h"
#include "infer/infer.h"

/* Weights p(x, z) / q(z | x) correct the network's errors where its draws reach; they need the
   model's density, and a factor of the network for each latent. */
enum answer_method { ANSWER_DIRECT, ANSWER_IS, ANSWER_SMC, NANSWER };
extern const char *const answer_methods[]; /* NULL at the end */
/* NAMI_EINPUT if a network of this model cannot have such weights. */
int answer_can(const struct model *m, enum answer_method method, nami_err *err);
enum answer_method answer_default(const struct model *m); /* importance sampling, where it can */
enum answer_method answer_find(const char *name);         /* one of answer_methods */

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
int answer_sets(const struct infer *a, const struct query *q, enum answer_method method,
                size_t first, size_t nset, int predict, int threads, struct answer *out,
                nami_err *err);
/* Draws first .. first+n-1 alone, direct or of importance sampling: logw = logp - logq as it is. */
int answer_draws(const struct infer *a, const struct query *q, enum answer_method method,
                 size_t first, size_t n, int predict, int threads, struct answer *out,
                 nami_err *err);
/* Smooths and normalises the weights of all n draws of a data set; what they say. */
int answer_smooth(size_t n, double *logw, struct diagnostics *out, nami_err *err);
void answer_free(struct answer *x);

/* Inside infer/: fills what there is of x, weights and `found`; but this is left as it is for sets
   where nothing was resampled: weights are then those of importance sampling. */
int answer_smc(const struct infer *a, const struct query *q, size_t first, int threads,
               struct answer *x, nami_err *err);

#endif
