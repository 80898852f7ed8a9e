/* integral_beta.c: integrands a log v + b log(1 - v) + c, 0 < v < 1: a beta density.  Probabilities
   with priors and likelihoods of Bernoulli, binomial, geometric, negative binomial, ... */
#include "base/simd.h"
#include "exact/conjugate.h"

/* x: odds */
WIDE static void value(int n, const double *x, double *var)
{
    EACH(b, n) var[b] = x[b] / (1 + x[b]);
}

WIDE static void logs(int n, const double *v, double *out) { EACH(b, n) out[b] = log(v[b]); }
/* Of the rounded v, as in the body: near 1 this is not the logarithm of the odds. */
WIDE static void logs_rest(int n, const double *v, double *out)
{
    EACH(b, n) out[b] = log1p(-v[b]);
}

static void statistic(const struct fit *f, int k, const double *var, double *out)
{
    (k ? logs_rest : logs)(f->lanes, var, out);
}

static void log_density(const struct fit *f, double *out, double *by_param)
{
    value(f->lanes, f->center, f->work);
    scalar_density(f, &dist_beta, f->work, out, by_param);
}

static const struct family family = {
    .dist = &dist_beta, .high = 1, SCALAR_FAMILY, .most = 1e13, .shift = {1, 1}};

static int plan(struct integral *g, nami_err *err) { return conjugate_plan(g, &family, err); }

const struct integral_kind integral_beta = {
    .name = "beta", .what = "a beta density, in closed form", CONJUGATE_KERNELS};
