/* student_t.c: Student t distribution, by degrees of freedom, location and scale.
   log p = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - log sigma
           - (nu+1)/2 log(1 + z^2/nu),  z = (x - mu)/sigma */
#include "dist/block.h"

INLINE bool ok(double nu, double mu, double sigma)
{
    return is_positive(nu) & is_real(mu) & is_positive(sigma);
}

INLINE double lp(double x, double nu, double mu, double sigma)
{
    double z = (x - mu) / sigma;
    double v = lgam_half(0.5 * nu) - 0.5 * (log(nu) + LOG_PI) - log(sigma) -
               0.5 * (nu + 1) * log1p_square(z / sqrt(nu));
    return density(ok(nu, mu, sigma), true, x, v);
}

INLINE void dlp(double x, double nu, double mu, double sigma, double *g)
{
    double z = (x - mu) / sigma, w = (nu + 1) / (nu / z + z); /* (nu+1) z / (nu + z^2) */
    g[0] = -w / sigma;
    g[1] = 0.5 * (digamma(0.5 * (nu + 1)) - digamma(0.5 * nu) - log1p_square(z / sqrt(nu)) +
                  (w * z - 1) / nu);
    g[2] = w / sigma;
    g[3] = (w * z - 1) / sigma;
}
DENSITY(4, lp, dlp)

/* A normal over sqrt(chi_square(nu) / nu), the root in logs for small nu. */
SAMPLE_SLABS
{
    (void)self;
    stream_normal_part(stream, 3, n, out); /* the gamma takes parts 0 to 2 */
    EACH_SLAB(s, n)
    {
        double x[SLAB], half[SLAB], buf[4][SLAB];
        const double *nu = lanes_of(a[0], s, buf[0]), *mu = lanes_of(a[1], s, buf[1]);
        const double *sigma = lanes_of(a[2], s, buf[2]), *z = lanes_of(out, s, buf[3]);
        EACH(b, s.m) half[b] = 0.5 * nu[b];
        draw_log_gammas(stream, 0, s, half, x);
        EACH(b, s.m)
        {
            double y = mu[b] + sigma[b] * z[b] * exp(0.5 * (log(half[b]) - x[b]));
            x[b] = if_ok(ok(nu[b], mu[b], sigma[b]), y);
        }
        put(s, x, out);
    }
}

/* dz/dnu at a fixed probability, that of nu / (nu + z^2), a beta(nu/2, 1/2).  Near z = 0 for large
   nu, where that cancels, by powers of 1/nu (from those of Cornish and Fisher). */
INLINE double turn(double z, double nu)
{
    double q = z * z, r = 1 / nu, t = q * r;
    if (nu > 1000 && t < 0.01)
        return -z * r * r *
               ((q + 1) / 4 - r * (q * (q - 1) / 12 - r * (q * (q * (q - 1) - 1) - 3) / 24));
    return z * (0.5 * r - 0.25 * logit_beta_slope(0.5 * nu, 0.5, 1 / (1 + t), t / (1 + t)));
}

INLINE void move(double x, double nu, double mu, double sigma, double *g)
{
    double z = (x - mu) / sigma;
    g[1] = sigma * turn(z, nu);
    g[2] = 1;
    g[3] = z;
}
PATH(4, move)

/* P(T > |z|) = I(nu/2, 1/2; nu / (nu + z^2)) / 2 at z = d / sigma; far out, where z^2 may overflow,
   the first term of its series, z^-nu */
static double upper(double d, double sigma, double nu)
{
    if (isinf(d)) return d < 0;
    double t = fabs(d) / sigma / sqrt(nu), tail;
    if (t > 1e8) {
        double log_t = log(fabs(d)) - log(sigma) - 0.5 * log(nu);
        tail = exp(lgam_half(0.5 * nu) - nu * log_t - log(0.5 * nu) - 0.5 * LOG_PI) / 2;
    } else {
        double r = 1 / (1 + t * t);
        tail = beta_i(0.5 * nu, 0.5, r, t * r * t) / 2;
    }
    return d < 0 ? 1 - tail : tail;
}

static double cdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), upper(p[1] - x, p[2], p[0]));
}

static double ccdf(double x, const double *p)
{
    return if_ok(ok(p[0], p[1], p[2]), upper(x - p[1], p[2], p[0]));
}

static double upper_of(double z, const double *p) { return upper(z, 1, p[0]); }

static double cquantile(double u, const double *p)
{
    if (!ok(p[0], p[1], p[2])) return NAN;
    double z = u < 0.5 ? cdf_inverse(upper_of, -1, u, p, 0, INFINITY)
                       : -cdf_inverse(upper_of, -1, 1 - u, p, 0, INFINITY);
    return p[1] + p[2] * z;
}

static double quantile(double u, const double *p)
{
    double flip[] = {p[0], -p[1], p[2]};
    return -cquantile(u, flip);
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    (void)n;
    if (p[0] <= 2) return -1;
    *mean = p[1];
    *var = p[2] * p[2] * p[0] / (p[0] - 2);
    return 0;
}

const struct dist dist_student_t = {
    "student_t",
    "Student's t, by degrees of freedom, location and scale",
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
    .mild = "student_t(7, 0, 2.5)",
    .mild_jags = "dt(0, 0.16, 7)",
    .location = 2,
    .scale = 3,
    .try_at = {TRY_3(4.385, 0.7, 2.385), TRY_3(0.83, -3.1, 0.21), TRY_3(153.7, 11.3, 4.1)},
};
