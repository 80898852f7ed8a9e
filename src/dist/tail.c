/* tail.c: logarithms of tail probabilities, also where the probabilities underflow. */
#include "dist/dist.h"
#include "dist/math.h"

enum { MOST_TERMS = 5000 };
static const double tiny = 1e-290; /* below, a probability has lost digits, or all of them */

static double log_density(const struct dist *d, double x, const double *p, double *slope)
{
    const double *a[1 + DIST_ARGS] = {&x}, one = 1;
    double v, *da[1 + DIST_ARGS] = {slope};
    for (int k = 0; k < d->narg; k++) a[1 + k] = &p[k];
    d->logp(d, 1, &v, a);
    if (slope) d->grad(d, 1, &v, &one, a, da);
    return v;
}

/* The log of p(k) + p(k + step) + ...: far out terms fall fast, and in the end like powers of r. */
static double sum_beyond(const struct dist *d, double k, const double *p, int step)
{
    double top = log_density(d, k, p, NULL), sum = 1, term = 1, r = 0;
    for (int i = 1; i < MOST_TERMS && term > 1e-17 * sum; i++) {
        double last = term;
        sum += term = exp(log_density(d, k + (double)i * step, p, NULL) - top);
        r = term / last;
    }
    return top + log(sum + (r < 1 ? term * r / (1 - r) : 0));
}

/* Nodes and weights of Gauss and Laguerre's quadrature: integrals of exp(-s) h(s) from 0 on. */
static const double laguerre[][2] = {
    {0.08764941047892784, 0.20615171495780099},   {0.46269632891508083, 0.33105785495088417},
    {1.1410577748312269, 0.26579577764421415},    {2.1292836450983806, 0.13629693429637754},
    {3.4370866338932066, 0.047328928694125219},   {5.0780186145497679, 0.011299900080339453},
    {7.0703385350482341, 0.0018490709435263109},  {9.4383143363919388, 0.00020427191530827846},
    {12.214223368866159, 1.4844586873981299e-5},  {15.441527368781617, 6.8283193308711996e-7},
    {19.180156856753135, 1.8810248410796732e-8},  {23.515905693991909, 2.8623502429738816e-10},
    {28.57872974288214, 2.127079033224103e-12},   {34.583398702286626, 6.2979670025178678e-15},
    {41.940452647688333, 5.0504737000355128e-18}, {51.701160339543318, 4.1614623703728552e-22},
};

static void support(const struct dist *d, const double *p, double *lo, double *hi)
{
    *lo = domains[d->domain].lo;
    *hi = domains[d->domain].hi;
    if (d->bounds) d->bounds(p, lo, hi);
}

/* With g = -d log f / dx outwards, the integral of f from x outwards is
       f(x) / g  times the integral of  f(x +- s/g) / f(x)  over s from 0 on,
   which is nearly that of exp(-s): far out, log f is nearly straight.  Towards an end of the
   support it is so over the logarithm of the distance r from it: in place of f there is r f. */
static double integral_beyond(const struct dist *d, double x, const double *p, int step)
{
    double slope = 0, top = log_density(d, x, p, &slope), g = -slope * step, sum = 0, lo, hi;
    support(d, p, &lo, &hi);
    double end = step > 0 ? hi : lo, r = fabs(end - x);
    int ends = is_real(end);
    if (ends) g = 1 + r * g;
    if (!is_real(top) || !is_positive(g) || r == 0) return -INFINITY;
    for (size_t i = 0; i < sizeof laguerre / sizeof *laguerre; i++) {
        double s = laguerre[i][0], t = ends ? s / g : 0;
        double y = ends ? end - step * r * exp(-t) : x + step * s / g;
        sum += laguerre[i][1] * exp(log_density(d, y, p, NULL) - top - t + s);
    }
    return top - log(g) + log(sum) + (ends ? log(r) : 0);
}

double dist_log_tail(const struct dist *d, double x, const double *p, int upper)
{
    double below = isnan(x) ? NAN : d->cdf(x, p);
    double above = d->ccdf && !isnan(x) ? d->ccdf(x, p) : 1 - below;
    double this = upper ? above : below, other = upper ? below : above;
    if (this > 0.5) return log1p(-other);
    if (!(this < tiny) || isinf(x)) return log(this);
    double far;
    if (domains[d->domain].discrete)
        far = upper ? sum_beyond(d, floor(x) + 1, p, 1) : sum_beyond(d, floor(x), p, -1);
    else
        far = integral_beyond(d, x, p, upper ? 1 : -1);
    return is_real(far) && far < log(tiny) + 1 ? far : log(this); /* if they agree at all */
}
