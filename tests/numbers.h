/* numbers.h: densities, distribution functions, quantiles and functions by name, at one point. */
#ifndef TESTS_NUMBERS_H
#define TESTS_NUMBERS_H

#include <string.h>

#include "dist/dist.h"
#include "dist/math.h"
#include "tensor/tensor.h"

enum { NUMBER_ARGS = 48 };

struct special {
    const char *name;
    int narg;
    double (*f1)(double);
    double (*f2)(double, double);
    double (*f4)(double, double, double, double);
};

static double at_lgam(double x) { return lgam(x); }
static double at_digamma(double x) { return digamma(x); }
static double at_stirling_error(double x) { return stirling_error(x); }
static double at_lgam_half(double x) { return lgam_half(x); }
static double at_log1m_exp(double x) { return log1m_exp(x); }
static double at_softplus(double x) { return softplus(x); }
static double at_lbeta(double a, double b) { return lbeta(a, b); }
static double at_deviance(double x, double m) { return deviance(x, m); }
static double at_poisson_lp(double x, double m) { return poisson_lp(x, m); }
static double at_binomial_lp(double x, double y, double p, double q)
{
    return binomial_lp(x, y, p, q);
}

static const struct special specials[] = {
    {"lgam", 1, .f1 = at_lgam},
    {"digamma", 1, .f1 = at_digamma},
    {"stirling_error", 1, .f1 = at_stirling_error},
    {"lgam_half", 1, .f1 = at_lgam_half},
    {"log1m_exp", 1, .f1 = at_log1m_exp},
    {"softplus", 1, .f1 = at_softplus},
    {"normal_p", 1, .f1 = normal_p},
    {"log_normal_p", 1, .f1 = log_normal_p},
    {"normal_hazard", 1, .f1 = normal_hazard},
    {"normal_quantile", 1, .f1 = normal_quantile},
    {"lbeta", 2, .f2 = at_lbeta},
    {"deviance", 2, .f2 = at_deviance},
    {"poisson_lp", 2, .f2 = at_poisson_lp},
    {"gamma_p", 2, .f2 = gamma_p},
    {"gamma_q", 2, .f2 = gamma_q},
    {"beta_i", 4, .f4 = beta_i},
    {"binomial_lp", 4, .f4 = at_binomial_lp},
};

static const struct special *special_find(const char *name)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0) return &specials[i];
    return NULL;
}

static double special_at(const struct special *f, const double *a)
{
    return f->f1 ? f->f1(a[0]) : f->f2 ? f->f2(a[0], a[1]) : f->f4(a[0], a[1], a[2], a[3]);
}

/* `what` of distribution d at a[0] with the arguments a[1...]; *known is 0 if d has no such
   function. */
static double dist_number(const struct dist *d, const char *what, const double *a, int *known)
{
    double v = NAN;
    const double *at[1 + DIST_ARGS], *p = a + 1;
    *known = 1;
    for (int k = 0; k <= d->narg; k++) at[k] = &a[k];
    if (strcmp(what, "lp") == 0 && d->logp) {
        d->logp(d, 1, &v, at);
        return v;
    }
    if (d->cdf) {
        if (strcmp(what, "cdf") == 0) return d->cdf(a[0], p);
        if (strcmp(what, "ccdf") == 0) return d->ccdf(a[0], p);
        if (strcmp(what, "quantile") == 0) return d->quantile(a[0], p);
        if (strcmp(what, "cquantile") == 0) return d->cquantile(a[0], p);
        if (strcmp(what, "log_cdf") == 0) return dist_log_tail(d, a[0], p, 0);
        if (strcmp(what, "log_ccdf") == 0) return dist_log_tail(d, a[0], p, 1);
    }
    *known = 0;
    return NAN;
}

/* The log density of d, whose value or arguments are vectors: a begins with the numbers of elements
   of the value and of each argument. */
static double block_number(const struct dist *d, const double *a)
{
    static double work[1 << 16];
    struct lanes l[NUMBER_ARGS];
    int dim[1 + DIST_ARGS], n = 0;
    double v, *out = &v;
    for (int k = 0; k <= d->narg; k++) n += dim[k] = (int)a[k];
    if (n < 1 || n > NUMBER_ARGS - 1 - d->narg) return NAN;
    for (int j = 0; j < n; j++) l[j] = (struct lanes){a + 1 + d->narg + j, 0};
    d->blogp(d, dim, 1, &out, l, work);
    return v;
}

/* "mixture(normal,cauchy)" as a record; 0 if it is none. */
static int compound_find(const char *name, struct dist *out)
{
    const struct dist *part[DIST_PARTS] = {NULL};
    const char *at = strchr(name, '(');
    const struct dist_form *f = at ? dist_form_find(name, (size_t)(at - name)) : NULL;
    for (int k = 0; f && k < DIST_PARTS && *at && *at != ')'; k++) {
        size_t n = strcspn(++at, ",)");
        if (!(part[k] = dist_find(at, n))) return 0;
        at += n;
    }
    return f && !dist_make(f, part, out);
}

/* An element-wise function of the model language. */
static double op_number(const char *name, const double *a, int *known)
{
    const struct op *op = op_find(name, strlen(name));
    const double *at[] = {a, a + 1, a + 2};
    double v = NAN;
    *known = op && op->map && op->max_arg >= 1 && op->max_arg <= 3;
    if (*known) op->map(op, 1, &v, at);
    return v;
}

/* The same for a special function (`who` is "-", `what` its name), for a function of the model
   language ("function"), or for a distribution. */
static double number(const char *who, const char *what, const double *a, int *known)
{
    const struct special *f = strcmp(who, "-") == 0 ? special_find(what) : NULL;
    const struct dist *d = dist_find(who, strlen(who));
    struct dist compound;
    *known = 0;
    if (strcmp(who, "function") == 0) return op_number(what, a, known);
    if (f) *known = 1;
    if (f) return special_at(f, a);
    if (!d && compound_find(who, &compound)) d = &compound;
    if (d && strcmp(what, "at") == 0 && d->blogp) {
        *known = 1;
        return block_number(d, a);
    }
    return d ? dist_number(d, what, a, known) : NAN;
}

#endif
