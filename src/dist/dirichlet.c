/* log p = log Gamma(S) + sum_j (alpha_j - 1) log x_j - log Gamma(alpha_j),  S = sum alpha,
   a density of the first n - 1 elements */
#include "dist/block.h"

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    EACH_SLAB(b0, m, L)
    {
        double S[SLAB], X[SLAB], v[SLAB], xbuf[SLAB], abuf[SLAB], *restrict o = out[0] + b0;
        fill(S, 0);
        fill(X, 0);
        fill(v, 0);
        for (int j = 0; j < n; j++) {
            const double *restrict x = lanes_at(&a[j], b0, m, xbuf);
            const double *restrict al = lanes_at(&a[n + j], b0, m, abuf);
            EACH(b, m)
            {
                double t = (al[b] - 1) * log(x[b]), edge = al[b] == 1 ? 0 : -INFINITY;
                S[b] += al[b] > 0 ? al[b] : NAN;
                X[b] += x[b] >= 0 ? x[b] : x[b] - INFINITY; /* NaN stays NaN */
                v[b] += (x[b] > 0 ? t : edge) - lgam(al[b]);
            }
        }
        EACH(b, m)
        {
            bool in = fabs(X[b] - 1) <= 1e-6;
            o[b] = density(is_positive(S[b]), in, X[b], v[b] + lgam(S[b]));
        }
    }
}

static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out, (void)work;
    int n = dim[0];
    EACH_SLAB(b0, m, L)
    {
        double S[SLAB], xbuf[SLAB], abuf[SLAB];
        const double *restrict g = dout[0] + b0;
        fill(S, 0);
        for (int j = 0; j < n; j++) {
            const double *restrict al = lanes_at(&a[n + j], b0, m, abuf);
            EACH(b, m) S[b] += al[b];
        }
        EACH(b, m) S[b] = digamma(S[b]);
        for (int j = 0; j < n; j++) {
            const double *restrict x = lanes_at(&a[j], b0, m, xbuf);
            const double *restrict al = lanes_at(&a[n + j], b0, m, abuf);
            if (da[j]) {
                double *restrict d = da[j] + b0;
                EACH(b, m) d[b] += g[b] * (al[b] - 1) / x[b];
            }
            if (da[n + j]) {
                double *restrict d = da[n + j] + b0;
                EACH(b, m) d[b] += g[b] * (log(x[b]) + S[b] - digamma(al[b]));
            }
        }
    }
}

/* Gammas over their sum, in logs: with tiny shapes all of them may underflow. */
static void sample(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    for (int b = 0; b < L; b++) {
        struct rng r;
        double top = -INFINITY, sum = 0;
        stream_rng(s, b, &r);
        for (int j = 0; j < n; j++) {
            double g = draw_log_gamma(&r, a[j].p[(ptrdiff_t)b * a[j].step]);
            out[j][b] = g;
            top = g > top || isnan(g) ? g : top;
        }
        if (isinf(top)) top = out[0][b] = 0; /* shapes below 1e-306: one of them takes all */
        for (int j = 0; j < n; j++) sum += out[j][b] = exp(out[j][b] - top);
        for (int j = 0; j < n; j++) out[j][b] /= sum;
    }
}

static int size(const int *n, const char **why)
{
    if (n[0] >= 2) return n[0];
    *why = "alpha needs two elements or more";
    return -1;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    double s = 0;
    for (int j = 0; j < n[0]; j++) s += p[j];
    for (int j = 0; j < n[0]; j++) {
        mean[j] = p[j] / s;
        var[j] = mean[j] * (1 - mean[j]) / (s + 1);
    }
    return 0;
}

const struct dist dist_dirichlet = {
    "dirichlet", "Dirichlet: a random probability vector", 1, {{"alpha", POSITIVES}}, SIMPLEX,
    .blogp = logp, .bgrad = grad, .bsample = sample, .size = size, .moments = moments,
    .try_at = {{{3}, {2.385, 0.7, 1.3}}, {{2}, {0.31, 0.42}}, {{4}, {13.1, 71.3, 8.2, 2.9}}}};
