/* resolve.h: private to name resolution. */
#ifndef MODEL_LANG_RESOLVE_H
#define MODEL_LANG_RESOLVE_H

#include "model/lang/lang.h"

struct scope {
    struct model *m;
    struct stmt *s;
    const int *depth_of; /* by name: depth of the counter, or -1 */
    /* while the definition of an alias is resolved: its formal arguments */
    const struct syntax *syntax;
    const struct dist_arg *formal;
    struct term *const *actual;
    int nformal;
    const struct expr *instead; /* the call whose position its terms get */
    vec(struct term *) refs;
    int oom;
};

/* The term of an expression; NULL after an error, which is reported, or if c->oom. */
struct term *resolve(struct scope *c, const struct expr *x);
struct term *new_term(struct scope *c, enum term_kind kind, const struct expr *x, int narg);

/* resolve_dist.c: the distribution of a relation, to c->s; 0 or -1. */
int resolve_stochastic(struct scope *c, const struct expr *x);
/* dnorm(x, mu, tau), normal_cdf(x | mu, sigma): functions of a distribution. */
struct term *resolve_density(struct scope *c, const struct expr *x, const struct density_name *f);

#endif
