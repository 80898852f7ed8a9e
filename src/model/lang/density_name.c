/* density_name.c: the names of densities, distribution functions and quantiles.  They follow from
   those of the distributions: dnorm, pnorm, qnorm and logdensity.norm as in JAGS, normal_lpdf,
   normal_cdf, ... as in Stan. */
#include "model/lang/lang.h"

const struct density_form density_forms[] = {
    {"dNAME", "x, arguments", "density of a distribution of JAGS: dnorm(x, mu, tau)", "d", "",
     FUN_DENSITY, 1, -1},
    {"pNAME", "x, arguments", "its distribution function, P(X <= x): pnorm(x, mu, tau)", "p", "",
     FUN_CDF, 1, -1},
    {"qNAME", "p, arguments", "its quantile, the least x with P(X <= x) >= p: qnorm(p, mu, tau)",
     "q", "", FUN_QUANTILE, 1, -1},
    {"logdensity.NAME", "x, arguments", "its log density: logdensity.norm(x, mu, tau)",
     "logdensity.", "", FUN_LOG_DENSITY, 1, -1},
    {"NAME_lpdf", "x, arguments",
     "log density of a distribution without a d: normal_lpdf(x, mu, sigma)", "", "_lpdf",
     FUN_LOG_DENSITY, 0, 0},
    {"NAME_lpmf", "x, arguments", "the same of a discrete one: poisson_lpmf(x, lambda)", "",
     "_lpmf", FUN_LOG_DENSITY, 0, 1},
    {"NAME_cdf", "x, arguments", "P(X <= x): normal_cdf(x, mu, sigma)", "", "_cdf", FUN_CDF, 0, -1},
    {"NAME_lcdf", "x, arguments", "log P(X <= x)", "", "_lcdf", FUN_LOG_CDF, 0, -1},
    {"NAME_lccdf", "x, arguments", "log P(X > x)", "", "_lccdf", FUN_LOG_CCDF, 0, -1},
    {"NAME_quantile", "p, arguments", "the least x with P(X <= x) >= p", "", "_quantile",
     FUN_QUANTILE, 0, -1},
    {NULL, NULL, NULL, NULL, NULL, FUN_LOG_DENSITY, 0, 0},
};

static const struct dist_alias *find_alias(const char *rest, size_t len)
{
    for (const struct dist_alias *a = dist_aliases; a->name; a++)
        if (strlen(a->name + 1) == len && memcmp(a->name + 1, rest, len) == 0) return a;
    return NULL;
}

/* The definition of a JAGS name begins with the name of the record. */
static const struct dist *alias_dist(const struct dist_alias *a)
{
    return dist_find(a->meaning, strcspn(a->meaning, "("));
}

struct density_name density_find(const char *name)
{
    size_t len = strlen(name);
    for (const struct density_form *f = density_forms; f->name; f++) {
        size_t before = strlen(f->before), behind = strlen(f->behind);
        if (len <= before + behind || memcmp(name, f->before, before) != 0 ||
            memcmp(name + len - behind, f->behind, behind) != 0)
            continue;
        const char *rest = name + before;
        size_t n = len - before - behind;
        const struct dist_alias *a = f->jags ? find_alias(rest, n) : NULL;
        const struct dist *d = a ? alias_dist(a) : f->jags ? NULL : dist_find(rest, n);
        if (d) return (struct density_name){f, d, a};
    }
    return (struct density_name){NULL, NULL, NULL};
}

/* The name of the log density of the same distribution, which each has. */
static const char *log_density_text(struct diags *d, const struct density_name *f, const char *text)
{
    if (f->alias) return diag_text(d, text, "logdensity.", f->alias->name + 1, "");
    return diag_text(d, text, "", f->dist->name,
                     domains[f->dist->domain].discrete ? "_lpmf" : "_lpdf");
}

static int right_values(const struct density_name *f)
{
    return f->form->discrete < 0 || f->form->discrete == domains[f->dist->domain].discrete;
}

static int is_there(const struct density_name *f)
{
    if (f->form->kind == FUN_LOG_DENSITY) return 1;
    return f->form->kind == FUN_DENSITY ? f->dist->logp != NULL : f->dist->cdf != NULL;
}

int density_refuse(struct diags *d, struct place at, const struct density_name *f)
{
    static const char *const values[] = {"", "vectors", "matrices"};
    const struct domain_info *domain = &domains[f->dist->domain];
    const char *name = f->alias ? f->alias->name : f->dist->name;
    if (!right_values(f))
        diag_error(d, at, log_density_text(d, f, "write %s%s%s()"), "%s() is %s", name,
                   domain->discrete ? "discrete" : "continuous");
    else if (is_there(f))
        return 0;
    else if (f->form->kind == FUN_DENSITY)
        diag_error(d, at, log_density_text(d, f, "use its log density: exp(%s%s%s(...))"),
                   "%s() is a distribution, not a function", name);
    else if (domain->rank)
        diag_error(d, at, log_density_text(d, f, "its log density is a function: %s%s%s()"),
                   "%s() has no distribution function: its values are %s", name,
                   values[domain->rank]);
    else
        diag_error(d, at, log_density_text(d, f, "its log density is a function: %s%s%s()"),
                   "the distribution function of %s() is not implemented", name);
    return 1;
}

static void try_name(struct diags *d, const char *s, const struct density_name *f,
                     struct near *best)
{
    struct str text = {0};
    int far = best->far;
    if (!right_values(f) || !is_there(f)) return;
    str_printf(&text, "%s%s%s", f->form->before, f->alias ? f->alias->name + 1 : f->dist->name,
               f->form->behind);
    if (text.s) near_try(best, s, strlen(s), text.s, 0);
    if (best->far < far) best->word = diag_text(d, "%s", text.s); /* which is freed */
    str_free(&text);
}

void density_near(struct diags *d, const char *s, struct near *best)
{
    for (const struct density_form *f = density_forms; f->name; f++) {
        for (const struct dist_alias *a = dist_aliases; f->jags && a->name; a++)
            try_name(d, s, &(struct density_name){f, alias_dist(a), a}, best);
        for (int i = 0; !f->jags && dists[i]; i++)
            try_name(d, s, &(struct density_name){f, dists[i], NULL}, best);
    }
}
