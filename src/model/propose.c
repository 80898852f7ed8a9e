/* propose.c: proposes priors to replace vague ones, on the scale of the data and covariates, in the
   dialect of the model. */
#include <math.h>
#include <string.h>

#include "model/lang/lang.h"
#include "model/scale.h"

/* Width of a proposal relative to the scale of the data; for link functions, where 1 is a large
   effect. */
static const double WIDER = 5, WIDER_LINK = 2.5;

const char *two_digits(struct model *m, double x)
{
    double unit = fabs(x) >= 100 ? pow(10, floor(log10(fabs(x))) - 1) : 1;
    const char *text = fabs(x) >= 10 && fabs(x) < 1e6
                           ? diag_text(&m->source.diags, "%.0f", unit * round(x / unit))
                           : diag_text(&m->source.diags, "%.2g", x);
    return text ? text : "";
}

/* Did its author write a name of JAGS? */
static int is_jags(const struct stmt *s)
{
    const struct dist_alias *a = alias_find(s->name);
    return a && strcmp(a->whose, "JAGS") == 0;
}

/* A less vague prior of the same family, in the same dialect; NULL: none. */
static const char *mild(const struct stmt *s)
{
    if (!s->dist) return NULL;
    return is_jags(s) && s->dist->mild_jags ? s->dist->mild_jags : s->dist->mild;
}

/* The distribution to propose for a parameter of known size. */
static const char *scaled(struct model *m, const struct stmt *s, const struct prior_scale *p)
{
    int jags = is_jags(s), uniform = strcmp(s->dist->name, "uniform") == 0;
    double lo = -INFINITY, hi = INFINITY, wide = (p->link ? WIDER_LINK : WIDER) * p->size;
    struct diags *d = &m->source.diags;
    model_support(m, m->ir.defined[m->ir.first_defined[s->first]], &lo, &hi);
    switch (p->role) {
    case PRIOR_LOCATION:
        if (p->is_feedback) return jags ? "dunif(-1, 1)" : "uniform(-1, 1)";
        if (lo >= 0)
            return jags ? diag_text(d, "dexp(%s)", two_digits(m, 1 / wide))
                        : diag_text(d, "exponential(%s)", two_digits(m, 1 / wide));
        if (uniform)
            return diag_text(d, "%s(%s, %s)", s->name, two_digits(m, p->center - 2 * wide),
                             two_digits(m, p->center + 2 * wide));
        return jags ? diag_text(d, "dnorm(%s, %s)", two_digits(m, p->center),
                                two_digits(m, 1 / (wide * wide)))
                    : diag_text(d, "normal(%s, %s)", two_digits(m, p->center), two_digits(m, wide));
    case PRIOR_SD:
        if (uniform) return diag_text(d, "%s(0, %s)", s->name, two_digits(m, wide));
        return jags ? diag_text(d, "dnorm(0, %s) T(0,)", two_digits(m, 1 / (wide * wide)))
                    : diag_text(d, "half_normal(%s)", two_digits(m, wide));
    case PRIOR_PRECISION: /* sd = size / 10 / |z|, z standard normal */
        return diag_text(d, "%s(0.5, %s)", jags ? "dgamma" : "gamma",
                         two_digits(m, 0.005 * p->size * p->size));
    case PRIOR_INVERSE: /* scale = size / 10 / e, e standard exponential */
        return diag_text(d, "%s(1, %s)", jags ? "dgamma" : "gamma", two_digits(m, 0.1 * p->size));
    case PRIOR_VARIANCE:
        return jags ? NULL
                    : diag_text(d, "inv_gamma(0.5, %s)", two_digits(m, 0.005 * p->size * p->size));
    case PRIOR_OTHER: break;
    }
    return NULL;
}

const char *scale_reason(struct model *m, const struct prior_scale *p)
{
    static const char *const links[] = {"", "log scale", "log-odds scale"};
    const char *y = source_text(m, m->ir.statements.a[p->response].rel->lhs->all);
    int slope = p->role == PRIOR_LOCATION && !p->is_level;
    if (p->link && slope)
        return diag_text(&m->source.diags, "sd of its covariate %s, %s", two_digits(m, p->slope_sd),
                         links[p->link]);
    if (p->link) return diag_text(&m->source.diags, "effects of about 1 on the %s", links[p->link]);
    if (slope && fabs(p->slope_sd - 1) > 1e-6)
        return diag_text(&m->source.diags, "sd of %s %s, of its covariate %s", y ? y : "",
                         two_digits(m, p->response_sd), two_digits(m, p->slope_sd));
    return diag_text(&m->source.diags, "sd of %s %s", y ? y : "", two_digits(m, p->response_sd));
}

/* "mu ~ dnorm(0, 0.01): sd 10", in words that fit the role. */
static const char *propose_scaled(struct model *m, const struct stmt *s,
                                  const struct prior_scale *p)
{
    const char *lhs = source_text(m, s->rel->lhs->all), *better = scaled(m, s, p);
    double wide = (p->link ? WIDER_LINK : WIDER) * p->size;
    if (!lhs || !better) return NULL;
    if (p->is_feedback)
        return diag_text(&m->source.diags, "%s ~ %s: beyond, %s grows without bound", lhs, better,
                         source_text(m, m->ir.statements.a[p->response].rel->lhs->all));
    if (p->role != PRIOR_LOCATION && p->role != PRIOR_SD)
        return diag_text(&m->source.diags, "%s ~ %s: sds from %s to %s", lhs, better,
                         two_digits(m, 0.05 * p->size), two_digits(m, 1.6 * p->size));
    return diag_text(&m->source.diags, "%s ~ %s: %s %s%s", lhs, better,
                     strcmp(s->dist->name, "uniform") == 0 ? "up to" : "sd", two_digits(m, wide),
                     p->uncentered > 3 ? ", or less if covariates are centered" : "");
}

const char *propose(struct model *m, const struct stmt *s, const struct prior_scale *p, int reasons)
{
    const char *lhs = source_text(m, s->rel->lhs->all), *better = NULL;
    if (s->dist && p->role != PRIOR_OTHER) better = propose_scaled(m, s, p);
    if (better && reasons && !p->is_feedback)
        return diag_text(&m->source.diags, "for instance %s (%s)", better, scale_reason(m, p));
    if (better && (p->role == PRIOR_LOCATION || p->role == PRIOR_SD) && !p->is_feedback)
        return diag_text(&m->source.diags, "for instance %s, still %g times what %s", better,
                         p->link ? WIDER_LINK : WIDER, p->link ? "it suggests" : "they suggest");
    if (better) return diag_text(&m->source.diags, "for instance %s", better);
    better = mild(s);
    if (!better || !lhs) return "choose a narrower prior";
    return diag_text(&m->source.diags, "say what you know; on a unit scale, for instance, %s ~ %s",
                     lhs, better);
}
