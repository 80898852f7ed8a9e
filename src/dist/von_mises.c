/* von_mises.c: von Mises distribution on the circle, by mean direction and concentration.
   p = exp(kappa cos(x - mu)) / (2 pi I0(kappa)) on [-pi, pi];
   mu may be any number */
#include "dist/loops.h"

static bool ok(double mu, double kappa) { return is_real(mu) && is_positive(kappa); }

/* log(exp(-kappa) I0(kappa)), and 1 - I1/I0, which is about 1/(2 kappa) for large ones: by powers
   of kappa^2 or of 1/kappa (Abramowitz and Stegun 1964, 9.6.10 and 9.7.1) */
static void bessel(double kappa, double *log_i0, double *gap)
{
    double i0 = 1, i1 = 1, t = 1, s = 1;
    if (kappa > 20) {
        double diff = 0; /* of both series: their terms have opposite signs */
        for (int k = 1; k < 30 && t > 1e-17; k++) {
            double odd = 2 * k - 1;
            t *= odd * odd / (8 * kappa * k);
            s *= (odd * odd - 4) / (8 * kappa * k);
            i0 += t;
            diff += t - s;
        }
        *log_i0 = log(i0) - 0.5 * (LOG_2PI + log(kappa));
        *gap = diff / i0;
        return;
    }
    for (int k = 1; k < 100 && t > i0 * 1e-17; k++) {
        i0 += t *= kappa * kappa / 4 / ((double)k * k);
        i1 += t / (k + 1);
    }
    *log_i0 = log(i0) - kappa;
    *gap = 1 - 0.5 * kappa * i1 / i0;
}

static double lp(double x, double mu, double kappa)
{
    double log_i0, gap, s = sin(0.5 * (x - mu));
    if (!ok(mu, kappa) || isnan(x)) return NAN;
    if (!(fabs(x) <= M_PI)) return -INFINITY;
    bessel(kappa, &log_i0, &gap);
    return -2 * kappa * s * s - LOG_2PI - log_i0;
}

static void dlp(double x, double mu, double kappa, double *g)
{
    double log_i0, gap, s = sin(0.5 * (x - mu));
    bessel(kappa, &log_i0, &gap);
    g[0] = -kappa * sin(x - mu);
    g[1] = -g[0];
    g[2] = gap - 2 * s * s;
}
DENSITY(3, lp, dlp)

/* The angle from mu.  Small kappa: by rejection from the circle; large: 2 asin(z/(2 sqrt(kappa)))
   is nearly a normal z; otherwise Best and Fisher (1979). */
static double angle(struct rng *r, double kappa)
{
    enum { TRIES = 10000 };
    double t = 1 + sqrt(1 + 4 * kappa * kappa), rho = (t - sqrt(2 * t)) / (2 * kappa);
    double q = (1 + rho * rho) / (2 * rho);
    for (int i = 0; i < TRIES; i++) {
        double u = rng_open(r);
        if (kappa < 1e-3) {
            double x = M_PI * (2 * rng_open(r) - 1);
            if (log(u) < kappa * (cos(x) - 1)) return x;
        } else if (kappa > 1000) {
            double s = 0.5 * rng_normal(r) / sqrt(kappa); /* |s| > 1/2 has probability 1e-219 */
            if (fabs(s) < 0.5 && u * sqrt(1 - s * s) < sqrt(0.75)) return 2 * asin(s);
        } else {
            double z = cos(M_PI * rng_open(r)), f = (1 + q * z) / (q + z), c = kappa * (q - f);
            double sign = rng_open(r) < 0.5 ? -1 : 1;
            if (u < c * (2 - c) || log(c / u) + 1 - c >= 0) return sign * acos(f);
        }
    }
    return NAN;
}

static double draw(struct rng *r, double mu, double kappa)
{
    return ok(mu, kappa) ? remainder(mu + angle(r, kappa), 2 * M_PI) : NAN;
}
SAMPLE_RNG(2, draw)

/* ---- the distribution function of the angle, by integrals over [a, pi] -------------- */

static double weight(double t, const double *p) /* p: kappa, 1 - I1/I0 */
{
    double s = sin(0.5 * t);
    return exp(-2 * p[0] * s * s);
}

static double slope(double t, const double *p)
{
    double s = sin(0.5 * t);
    return (p[1] - 2 * s * s) * exp(-2 * p[0] * s * s);
}

/* of f from a >= 0 to where it no longer matters */
static double tail(double (*f)(double, const double *), double a, double kappa)
{
    double log_i0, p[2] = {kappa}, s = sin(0.5 * a), b = s * s + 22.5 / kappa;
    bessel(kappa, &log_i0, &p[1]);
    return integral(f, p, a, b < 1 ? 2 * asin(sqrt(b)) : M_PI, 8) * exp(-LOG_2PI - log_i0);
}

/* P(angle <= t), t in [-pi, pi] */
static double below(double t, double kappa)
{
    return t < 0 ? tail(weight, -t, kappa) : 1 - tail(weight, t, kappa);
}

/* and its derivative by kappa, which is odd and has period 2 pi */
static double turn(double t, double kappa)
{
    t = remainder(t, 2 * M_PI);
    return t < 0 ? tail(slope, -t, kappa) : -tail(slope, t, kappa);
}

/* P(-pi < X <= x): from the angle a of -pi on, over that of the antipode of mu if need be */
static double cdf(double x, const double *p)
{
    if (!ok(p[0], p[1]) || isnan(x)) return NAN;
    if (fabs(x) >= M_PI) return x > 0;
    double mu = remainder(p[0], 2 * M_PI), kappa = p[1], a = -M_PI - mu, t = x - mu, u;
    if (mu > 0)
        u = t <= -M_PI ? below(-a - 2 * M_PI, kappa) - below(-t - 2 * M_PI, kappa)
                       : below(-a - 2 * M_PI, kappa) + below(t, kappa);
    else
        u = t <= M_PI ? below(t, kappa) - below(a, kappa)
                      : 1 - below(a, kappa) + below(t - 2 * M_PI, kappa);
    return u > 0 ? u < 1 ? u : 1 : 0;
}

static double ccdf(double x, const double *p)
{
    double flip[] = {-p[0], p[1]};
    return cdf(-x, flip);
}

static double quantile(double u, const double *p) { return cdf_inverse(cdf, 1, u, p, -M_PI, M_PI); }

static double cquantile(double u, const double *p)
{
    return cdf_inverse(ccdf, -1, u, p, -M_PI, M_PI);
}

/* With F(x) = G(x - mu) - G(-pi - mu) */
static void dcdf(double x, const double *p, double *g)
{
    bool in = fabs(x) < M_PI;
    g[0] = in ? exp(lp(-M_PI, p[0], p[1])) - exp(lp(x, p[0], p[1])) : 0;
    g[1] = in ? turn(x - p[0], p[1]) - turn(-M_PI - p[0], p[1]) : 0;
}

static void move(double x, double mu, double kappa, double *g)
{
    double p[] = {mu, kappa}, f = exp(lp(x, mu, kappa)), d[2];
    dcdf(x, p, d);
    g[1] = -d[0] / f;
    g[2] = -d[1] / f;
}
PATH(3, move)

static void bounds(const double *p, double *lo, double *hi)
{
    (void)p;
    *lo = -M_PI;
    *hi = M_PI;
}

const struct dist dist_von_mises = {
    "von_mises",
    "von Mises: an angle from -pi to pi, by mean direction and concentration",
    2,
    {{"mu", REAL}, {"kappa", POSITIVE}},
    REAL,
    KERNELS,
    .path = path,
    .cdf = cdf,
    .quantile = quantile,
    .ccdf = ccdf,
    .cquantile = cquantile,
    .dcdf = dcdf,
    .bounds = bounds,
    .try_at = {TRY_2(0.785, 2.385), TRY_2(-2.9, 0.31), TRY_2(1.3, 137.1)},
};
