/* exact.h: exact posteriors as tables or JSON. */
#ifndef REPORT_EXACT_H
#define REPORT_EXACT_H

#include "base/str.h"
#include "infer/exact.h"

/* What is shown; shown[v]: of node v, or NULL for all that is latent. */
struct exact_view {
    const struct bn *bn;
    const int *shown;
    int json;
};

/* log p(x); that of nothing is 0, without rounding. */
double gauss_evidence(const struct gpost *p);
double discrete_evidence(const struct ctree *t);

/* Names of the scalars; variances of the latent ones. */
void show_gauss(const struct exact_view *w, const struct gnet *g, const struct gpost *p,
                const char *const *name, const double *var, struct str *out);
/* best, if not NULL: the most probable states, of log probability logp with the evidence. */
void show_discrete(const struct exact_view *w, const struct ctree *t, const int *best, double logp,
                   struct str *out);

#endif
