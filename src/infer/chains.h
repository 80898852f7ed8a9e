/* chains.h: convergence diagnostics of Markov chains (Vehtari, Gelman, Simpson, Carpenter, Bürkner
   2021, Bayesian Analysis 16): rank-normalized split R-hat, bulk and tail effective sample size. */
#ifndef INFER_CHAINS_H
#define INFER_CHAINS_H

#include <stddef.h>

#include "data/summary.h"
#include "nami.h"

struct chain_stats {
    double rhat;       /* the larger of R-hat of ranks and of folded ranks */
    double bulk, tail; /* effective sample sizes */
    double mean;       /* effective sample size for the mean of x itself */
};

/* Of n draws x[i * stride]: chain k has draws k * (n / chains) ..., at least 8 each; the remainder
   of the division is left out.  A number that never changes has R-hat 1 and effective size n; one
   that is not finite, or differs between chains that do not move, has R-hat +inf. */
int chain_stats(size_t n, const double *x, size_t stride, size_t chains, struct chain_stats *out,
                nami_err *err);
/* Are R-hat and effective sample sizes good enough? */
int chains_agree(const struct diagnostics *d);
#define RHAT_LIMIT 1.01
#define CHAINS_ESS 400
/* mcse and ess of a summary of equally weighted draws, in chains. */
int summarise_chains(size_t n, const double *x, size_t chains, struct summary *out, nami_err *err);

#endif
