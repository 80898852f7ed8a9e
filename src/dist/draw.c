/* draw.c: exact samplers of the gamma, Poisson and binomial distributions by rejection or
   search. */
#include "dist/draw.h"

#include "dist/math.h"

enum { TRIES = 100000 }; /* every loop below accepts at least one time in three */

/* 2^14 words apart: far more than any of the loops below takes. */
void draw_rng(const struct stream *s, int i, int k, struct rng *r)
{
    stream_rng(s, i, r);
    r->ctr[0] = (uint32_t)k << 12;
}

/* Marsaglia and Tsang (2000): d v with v = (1 + c z)^3, for shapes from 1. */
static double large_gamma(struct rng *r, double shape)
{
    double d = shape - 1. / 3, c = 1 / sqrt(9 * d);
    for (int k = 0; k < TRIES; k++) {
        double z = rng_normal(r), v = 1 + c * z, u = rng_open(r);
        if (v <= 0) continue;
        v = v * v * v;
        if (log(u) < 0.5 * z * z + d * (1 - v + log(v))) return d * v;
    }
    return NAN;
}

/* G(a) is G(a + 1) U^(1/a) in law: in logs, because U^(1000) is 0. */
double draw_log_gamma(struct rng *r, double shape)
{
    if (!is_positive(shape)) return NAN;
    if (shape >= 1) return log(large_gamma(r, shape));
    double u = rng_open(r);
    return log(large_gamma(r, shape + 1)) + log(u) / shape;
}

double draw_gamma(struct rng *r, double shape)
{
    if (!is_positive(shape)) return NAN;
    return shape >= 1 ? large_gamma(r, shape) : exp(draw_log_gamma(r, shape));
}

/* Inversion by search from 0. */
static double small_poisson(struct rng *r, double mean)
{
    double u = rng_open(r), p = exp(-mean), k = 0;
    for (; u > p && p > 0; p *= mean / k) u -= p, k++;
    return k;
}

/* PTRS: transformed rejection with squeeze (Hoermann 1993). */
static double large_poisson(struct rng *r, double mean)
{
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), vr = 0.9277 - 3.6224 / (b - 2);
    for (int i = 0; i < TRIES; i++) {
        double u = rng_open(r) - 0.5, v = rng_open(r), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= vr) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v * inv_alpha / (a / (us * us) + b)) <= poisson_lp(k, mean)) return k;
    }
    return NAN;
}

double draw_poisson(struct rng *r, double mean)
{
    if (!(mean >= 0) || mean > DBL_MAX) return NAN;
    /* beyond 2^53 not every integer is a double, and the skewness is below 1e-8 */
    if (mean > 0x1p53) return rint(mean + sqrt(mean) * rng_normal(r));
    return mean < 10 ? small_poisson(r, mean) : large_poisson(r, mean);
}

/* Inversion by search from 0; n p < 10, p <= 1/2. */
static double small_binomial(struct rng *r, double n, double p)
{
    double u = rng_open(r), odds = p / (1 - p), f = exp(n * log1p(-p)), k = 0;
    for (; u > f && k < n && f > 0; f *= odds * (n - k + 1) / k) u -= f, k++;
    return k;
}

/* BTRS: transformed rejection with squeeze (Hoermann 1993). */
static double large_binomial(struct rng *r, double n, double p)
{
    double q = 1 - p, sd = sqrt(n * p * q), b = 1.15 + 2.53 * sd;
    double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5, vr = 0.92 - 4.2 / b;
    double alpha = (2.83 + 5.1 / b) * sd, mode = floor((n + 1) * p);
    double top = binomial_lp(mode, n - mode, p, q);
    for (int i = 0; i < TRIES; i++) {
        double u = rng_open(r) - 0.5, v = rng_open(r), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + c);
        if (k < 0 || k > n) continue;
        if (us >= 0.07 && v <= vr) return k;
        if (log(v * alpha / (a / (us * us) + b)) <= binomial_lp(k, n - k, p, q) - top) return k;
    }
    return NAN;
}

double draw_binomial(struct rng *r, double n, double p)
{
    if (!is_count(n) || !is_unit(p)) return NAN;
    if (p > 0.5) return n - draw_binomial(r, n, 1 - p);
    if (n > 0x1p53 && n * p > 0x1p53) return rint(n * p + sqrt(n * p * (1 - p)) * rng_normal(r));
    return n * p < 10 ? small_binomial(r, n, p) : large_binomial(r, n, p);
}
