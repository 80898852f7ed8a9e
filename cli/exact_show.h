/* exact_show.h: what `nami exact` prints, and the evidence it is given by hand. */
#ifndef CLI_EXACT_SHOW_H
#define CLI_EXACT_SHOW_H

#include "base/str.h"
#include "infer/exact.h"
#include "opt.h"

/* What is shown; shown[v]: of node v, or NULL for all that is latent. */
struct exact_view {
    const struct bn *bn;
    const int *shown;
    int json;
};

/* Names of the scalars; their variances. */
void show_gauss(const struct exact_view *w, const struct gnet *g, const struct gpost *p,
                const char *const *name, const double *var, struct str *out);
/* best, if not NULL: the most probable states, of log probability logp with the evidence. */
void show_discrete(const struct exact_view *w, const struct ctree *t, const int *best, double logp,
                   struct str *out);
/* The name of a state, or its number: from 1, or a model's value. */
void state_label(const struct bn *bn, const struct dnet *d, int v, int s, struct str *out);

/* Structures: {"node": "state"} of files, and what --given says; numbers count states from 1.
 *file is the file that is read when something is wrong, or NULL. */
int read_states(const struct bn *bn, const struct dnet *d, const struct opt_many *data, int *state,
                const char **file, nami_err *err);
/* "node=text" */
int split_given(const struct bn *bn, const char *given, int *node, const char **text,
                nami_err *err);
int state_of(const struct bn *bn, const struct dnet *d, int v, const char *text, int *state,
             nami_err *err);

#endif
