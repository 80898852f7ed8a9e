/* scaled_gamma.c: scaled gamma distribution of a precision.
   A precision x whose standard deviation 1/sqrt(x) is a half-t with df degrees of freedom and
   scale s.  With t = 1/(s sqrt(x)):
   log p = log Gamma((df+1)/2) - log Gamma(df/2) - log(df pi)/2 - log s
           - (df+1)/2 log(1 + t^2/df) - 3/2 log x */
#include "dist/block.h"

INLINE bool ok(double s, double df) { return is_positive(s) & is_positive(df); }

INLINE double lp(double x, double s, double df)
{
    double t = 1 / (s * sqrt(x));
    double v = lgam_half(0.5 * df) - 0.5 * (log(df) + LOG_PI) - log(s) -
               0.5 * (df + 1) * log1p_square(t / sqrt(df)) - 1.5 * log(x);
    return density(ok(s, df), is_positive(x), x, v);
}

INLINE void dlp(double x, double s, double df, double *g)
{
    double q = 1 / (s * s * x), w = (df + 1) / (1 + df / q); /* q = t^2 */
    g[0] = (0.5 * w - 1.5) / x;
    g[1] = (w - 1) / s;
    g[2] = 0.5 * (digamma(0.5 * (df + 1)) - digamma(0.5 * df) - log1p(q / df) + (w - 1) / df);
}
DENSITY(3, lp, dlp)

/* chi_square(df)/df over (s z)^2, z a normal */
SAMPLE_SLABS
{
    (void)self;
    stream_normal_part(stream, 3, n, out); /* the gamma takes parts 0 to 2 */
    EACH_SLAB(slab, n)
    {
        double x[SLAB], half[SLAB], buf[3][SLAB];
        const double *s = lanes_of(a[0], slab, buf[0]), *df = lanes_of(a[1], slab, buf[1]);
        const double *z = lanes_of(out, slab, buf[2]);
        EACH(b, slab.m) half[b] = 0.5 * df[b];
        draw_log_gammas(stream, 0, slab, half, x);
        EACH(b, slab.m)
        {
            double y = exp(x[b] - log(half[b]) - 2 * (log(s[b]) + log(fabs(z[b]))));
            x[b] = if_ok(ok(s[b], df[b]), y);
        }
        put(slab, x, out);
    }
}

/* df/(df + t^2) is a beta(df/2, 1/2), and this its odds */
INLINE double odds(double x, double s, double df) { return df * s * (s * x); }

INLINE void move(double x, double s, double df, double *g)
{
    double o = odds(x, s, df);
    g[1] = -2 * x / s;
    g[2] = x * (0.5 * logit_beta_slope(0.5 * df, 0.5, o / (1 + o), 1 / (1 + o)) - 1 / df);
}
PATH(3, move)

static double cdf(double x, const double *p)
{
    double o = odds(x, p[0], p[1]), log_o = log(p[1]) + 2 * log(p[0]) + log(x);
    return if_ok(ok(p[0], p[1]), x <= 0 ? 0 : beta_odds(0.5 * p[1], 0.5, o, log_o));
}

static double ccdf(double x, const double *p)
{
    double o = odds(x, p[0], p[1]), log_o = log(p[1]) + 2 * log(p[0]) + log(x);
    return if_ok(ok(p[0], p[1]), x <= 0 ? 1 : beta_odds(0.5, 0.5 * p[1], 1 / o, -log_o));
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, 0, INFINITY); }

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, 0, INFINITY);
}

const struct dist dist_scaled_gamma = {
    "scaled_gamma",
    "precision whose standard deviation is half-t, by scale and degrees of freedom",
    2,
    {{"s", POSITIVE}, {"df", POSITIVE}},
    POSITIVE,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .own = 1,
    .try_at = {TRY_2(2.385, 3.7), TRY_2(0.31, 0.83), TRY_2(7.1, 53.7)},
};
