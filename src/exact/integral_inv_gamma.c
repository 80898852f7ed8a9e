/* integral_inv_gamma.c: integrands a log v - b / v + c, v > 0: an inverse gamma density.  Variances
   and scales with priors and likelihoods of normal, exponential, gamma, Weibull, ... */
#include "base/simd.h"
#include "exact/conjugate.h"

/* x = 1 / v has a gamma density. */
WIDE static void value(int n, const double *x, double *var) { EACH(b, n) var[b] = 1 / x[b]; }

WIDE static void minus_logs(int n, const double *v, double *out) { EACH(b, n) out[b] = -log(v[b]); }
WIDE static void inverses(int n, const double *v, double *out) { EACH(b, n) out[b] = -1 / v[b]; }

static void statistic(const struct fit *f, int k, const double *var, double *out)
{
    (k ? inverses : minus_logs)(f->lanes, var, out);
}

/* p(v) = p(x) |dx / dv| = p(x) x^2 */
WIDE static void add_jacobian(int n, const double *x, double *out)
{
    EACH(b, n) out[b] += 2 * log(x[b]);
}

static void log_density(const struct fit *f, double *out, double *by_param)
{
    scalar_density(f, &dist_gamma, f->center, out, by_param);
    add_jacobian(f->lanes, f->center, out);
}

static const struct family family = {
    .dist = &dist_inv_gamma, .high = INFINITY, SCALAR_FAMILY, .most = 1e300, .shift = {-1, 0}};

static int plan(struct integral *g, nami_err *err) { return conjugate_plan(g, &family, err); }

const struct integral_kind integral_inv_gamma = {
    .name = "inv_gamma", .what = "an inverse gamma density, in closed form", CONJUGATE_KERNELS};
