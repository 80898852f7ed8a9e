/* noncentral_t.c: noncentral t distribution.
   A normal(mu, sigma) over sqrt(chi_square(nu)/nu).  With t = x/sigma, delta = mu/sigma,
   h = t^2 + nu and m = delta t / sqrt(h):
   p = nu^(nu/2) exp(-nu delta^2/(2 h)) h^(-(nu+1)/2) J / (sqrt(pi) 2^((nu-1)/2) Gamma(nu/2) sigma),
   J the integral of y^nu exp(-(y - m)^2/2) over y > 0: all terms positive, far out too. */
#include "dist/loops.h"

enum { MOST_STEPS = 2000 };

static bool ok(double nu, double mu, double sigma)
{
    return is_positive(nu) && is_real(mu) && is_positive(sigma);
}

/* log J, and the means of y - m and log y under its integrand: the trapezoidal rule over log y,
   outwards from the top; what is left of such a rule falls exponentially with the steps. */
struct moment {
    double log_j, gap, log_y;
};

static struct moment moment(double nu, double m)
{
    double root = sqrt(m * m + 4 * (nu + 1));
    double top = m > 0 ? 0.5 * (m + root) : 2 * (nu + 1) / (root - m), s0 = log(top);
    double h = 0.3 / sqrt(top * top + nu + 1), best = (nu + 1) * s0 - 0.5 * (top - m) * (top - m);
    double sum = 1, gap = top - m, log_y = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        double f = 1;
        for (int i = 1; i < MOST_STEPS && f > 1e-18; i++) {
            double s = sign * i * h, y = top * exp(s), d = y - m;
            f = exp((nu + 1) * (s0 + s) - 0.5 * d * d - best);
            sum += f;
            gap += f * d;
            log_y += f * s;
        }
    }
    return (struct moment){best + log(h * sum), gap / sum, s0 + log_y / sum};
}

static double lp(double x, double nu, double mu, double sigma)
{
    if (!ok(nu, mu, sigma) || isnan(x)) return NAN;
    double t = x / sigma, delta = mu / sigma, root = hypot(t, sqrt(nu)), share = sqrt(nu) / root;
    if (!is_real(t) || !is_real(delta) || !is_real(root)) return -INFINITY;
    struct moment j = moment(nu, delta * (t / root));
    return 0.5 * nu * log(nu) - 0.5 * share * share * delta * delta - (nu + 1) * log(root) +
           j.log_j - 0.5 * LOG_PI - 0.5 * (nu - 1) * LOG_2 - lgam(0.5 * nu) - log(sigma);
}

static void dlp(double x, double nu, double mu, double sigma, double *g)
{
    double t = x / sigma, d = mu / sigma, h = t * t + nu, root = sqrt(h), m = d * t / root;
    struct moment j = moment(nu, m);
    /* by t, by delta and by nu; m moves by delta nu / h^1.5, t / root, -m / (2 h) */
    double by_t = nu * d * d * t / (h * h) - (nu + 1) * t / h + j.gap * d * nu / (h * root);
    double by_d = -nu * d / h + j.gap * t / root;
    g[0] = by_t / sigma;
    g[1] = 0.5 * (log(nu) + 1 - d * d * t * t / (h * h) - log(h) - (nu + 1) / h - LOG_2 -
                  digamma(0.5 * nu)) +
           j.log_y - j.gap * 0.5 * m / h;
    g[2] = by_d / sigma;
    g[3] = -(1 + by_t * t + by_d * d) / sigma;
}
DENSITY(4, lp, dlp)

static double draw(struct rng *r, double nu, double mu, double sigma)
{
    double z = rng_normal(r), l = draw_log_gamma(r, 0.5 * nu);
    return if_ok(ok(nu, mu, sigma), (mu + sigma * z) * exp(0.5 * (log(0.5 * nu) - l)));
}
SAMPLE_RNG(3, draw)

/* ---- distribution function ---------------------------------------------------------- */

/* P(T <= t), its derivatives by delta and nu: integrals over s = log u of Phi(t u - delta) times
   the density of u = sqrt(chi_square(nu)/nu), by the trapezoidal rule.  `sign` is -1 for the upper
   tail.  u ranges over what its density leaves or, in a far tail, over where t u is near delta. */
struct tail {
    double p, by_delta, by_nu;
};

static struct tail tail(double t, double nu, double delta, double sign)
{
    struct tail v = {0};
    double step = 0.25 / sqrt(1 + 2 * nu + delta * delta), l = log(0.5 * nu);
    double norm = LOG_2 + 0.5 * nu * l - lgam(0.5 * nu);
    double dnorm = 0.5 * (l + 1 - digamma(0.5 * nu));
    double first = -40 / nu - 6 / sqrt(nu), last = fmin(3, 7 / sqrt(nu)) + 3 / (1 + nu);
    double far = log((fabs(delta) + 1) / fabs(t));
    if (far < 0) first += fmax(far, -700);
    if ((last - first) / step > MOST_STEPS) step = (last - first) / MOST_STEPS;
    for (double s = first; s < last; s += step) {
        double u = exp(s), z = t * u - delta, w = exp(norm + nu * (s - 0.5 * u * u));
        double f = w * normal_p(sign * z);
        v.p += step * f;
        v.by_delta -= step * w * sign * exp(-0.5 * z * z - HALF_LOG_2PI);
        v.by_nu += step * f * (dnorm + s - 0.5 * u * u);
    }
    return v;
}

static double cdf(double x, const double *p)
{
    if (!ok(p[0], p[1], p[2]) || isnan(x)) return NAN;
    double t = x / p[2], d = p[1] / p[2];
    if (!is_real(t) || !is_real(d)) return isinf(t) ? t > 0 : d < 0;
    double v = t < d ? tail(t, p[0], d, 1).p : 1 - tail(t, p[0], d, -1).p;
    return v > 0 ? v < 1 ? v : 1 : 0;
}

static double ccdf(double x, const double *p)
{
    double flip[] = {p[0], -p[1], p[2]};
    return cdf(-x, flip);
}

static double quantile(double u, const double *p)
{
    return cdf_inverse(cdf, 1, u, p, -INFINITY, INFINITY);
}

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, -INFINITY, INFINITY);
}

/* t moves by -(dF/d...)/p; with sigma as t - delta dt/ddelta */
static void move(double x, double nu, double mu, double sigma, double *g)
{
    double t = x / sigma, d = mu / sigma, sign = t < d ? 1 : -1;
    struct tail v = tail(t, nu, d, sign);
    double f = sign * sigma * exp(lp(x, nu, mu, sigma));
    g[1] = -sigma * v.by_nu / f;
    g[2] = -v.by_delta / f;
    g[3] = t - d * g[2];
}
PATH(4, move)

/* With c = sqrt(nu/2) Gamma((nu-1)/2)/Gamma(nu/2): mean mu c, E X^2 = (mu^2 + sigma^2) nu/(nu-2) */
static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    double nu = p[0];
    if (nu <= 2) return -1;
    *mean = p[1] * sqrt(0.5 * nu) * exp(-lgam_half(0.5 * (nu - 1)));
    *var = (p[1] * p[1] + p[2] * p[2]) * nu / (nu - 2) - *mean * *mean;
    return 0;
}

const struct dist dist_noncentral_t = {
    "noncentral_t",
    "normal(mu, sigma) over the root of a chi_square(nu)/nu",
    3,
    {{"nu", POSITIVE}, {"mu", REAL}, {"sigma", POSITIVE}},
    REAL,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .moments = moments,
    .own = 1,
    .try_at = {TRY_3(5.385, 0.7, 2.385), TRY_3(53.7, -11.3, 4.1)},
};
