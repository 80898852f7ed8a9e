/* integral_gamma.c: integrands a log v - b v + c, v > 0: a gamma density.  Rates with priors and
   likelihoods of Poisson, exponential, gamma, normal (a precision), Weibull, Pareto, ... */
#include "base/simd.h"
#include "exact/conjugate.h"

#include <string.h>

static void value(int n, const double *x, double *var) { memcpy(var, x, sizeof *x * (size_t)n); }

WIDE static void logs(int n, const double *v, double *out) { EACH(b, n) out[b] = log(v[b]); }
WIDE static void minus(int n, const double *v, double *out) { EACH(b, n) out[b] = -v[b]; }

static void statistic(const struct fit *f, int k, const double *var, double *out)
{
    (k ? minus : logs)(f->lanes, var, out);
}

static void log_density(const struct fit *f, double *out, double *by_param)
{
    scalar_density(f, &dist_gamma, f->center, out, by_param);
}

static const struct family family = {
    .dist = &dist_gamma, .high = INFINITY, SCALAR_FAMILY, .most = 1e300, .shift = {1, 0}};

static int plan(struct integral *g, nami_err *err) { return conjugate_plan(g, &family, err); }

const struct integral_kind integral_gamma = {
    .name = "gamma", .what = "a gamma density, in closed form", CONJUGATE_KERNELS};
