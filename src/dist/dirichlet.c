/* dirichlet.c: Dirichlet distribution, by concentrations.
   log p = log Gamma(S) + sum_j (alpha_j - 1) log x_j - log Gamma(alpha_j),  S = sum alpha,
   a density of the first n - 1 elements.  Where alpha_j is 0, as JAGS allows, x_j is 0 for certain,
   and this is a density of the others.  By Stirling's formula and the deviances of alpha_j from
   S x_j, as in gamma.c: large concentrations would cancel all digits. */
#include "dist/block.h"

/* S <- sum alpha; X <- sum x - 1, and `rest` what its rounding lost */
WIDE static void totals(const struct lanes *a, int n, struct slab s, double *restrict S,
                        double *restrict X, double *restrict rest)
{
    double xbuf[SLAB], abuf[SLAB];
    fill(S, 0);
    fill(X, -1);
    fill(rest, 0);
    for (int j = 0; j < n; j++) {
        const double *restrict x = lanes_at(&a[j], s, xbuf);
        const double *restrict al = lanes_at(&a[n + j], s, abuf);
        EACH(b, s.m)
        {
            double y = x[b] >= 0 ? x[b] : x[b] - INFINITY; /* NaN stays NaN */
            double sum = X[b] + y, part = sum - X[b];
            rest[b] += (X[b] - (sum - part)) + (y - part);
            X[b] = sum;
            S[b] += al[b] >= 0 ? al[b] : NAN;
        }
    }
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    EACH_SLAB(s, L)
    {
        double S[SLAB], X[SLAB], rest[SLAB], v[SLAB], xbuf[SLAB], abuf[SLAB];
        totals(a, n, s, S, X, rest);
        fill(v, 0);
        for (int j = 0; j < n; j++) {
            const double *restrict x = lanes_at(&a[j], s, xbuf);
            const double *restrict al = lanes_at(&a[n + j], s, abuf);
            EACH(b, s.m)
            {
                double t = 0.5 * log(al[b]) - HALF_LOG_2PI - stirling_error(al[b]) -
                           deviance(al[b], S[b] * x[b]) - log(x[b]);
                double edge = al[b] == 1 ? log(S[b]) : -INFINITY;
                double never = x[b] == 0 ? 0 : -INFINITY; /* alpha is 0 */
                t = x[b] > 0 ? t : edge;
                v[b] += al[b] == 0 ? never : t;
            }
        }
        EACH(b, s.m)
        {
            double t = HALF_LOG_2PI + stirling_error(S[b]) - 0.5 * log(S[b]);
            t += v[b] + S[b] * (X[b] + rest[b]);
            v[b] = density(is_positive(S[b]), fabs(X[b]) <= 1e-6, X[b], t);
        }
        put(s, v, out[0]);
    }
}

WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out, (void)work;
    int n = dim[0];
    EACH_SLAB(s, L)
    {
        double S[SLAB], xbuf[SLAB], abuf[SLAB], gbuf[SLAB], dx[SLAB], da_[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        fill(S, 0);
        for (int j = 0; j < n; j++) {
            const double *restrict al = lanes_at(&a[n + j], s, abuf);
            EACH(b, s.m) S[b] += al[b];
        }
        EACH(b, s.m) S[b] = digamma(S[b]);
        for (int j = 0; j < n; j++) {
            const double *restrict x = lanes_at(&a[j], s, xbuf);
            const double *restrict al = lanes_at(&a[n + j], s, abuf);
            EACH(b, s.m)
            {
                double d = g[b] * (al[b] - 1) / x[b];
                dx[b] = al[b] == 0 ? 0 : d;
            }
            if (da[n + j]) EACH(b, s.m)
                {
                    double d = g[b] * (log(x[b]) + S[b] - digamma(al[b]));
                    da_[b] = al[b] == 0 ? 0 : d;
                }
            add(s, dx, da[j]);
            add(s, da_, da[n + j]);
        }
    }
}

/* Gammas over their sum, in logs: with tiny shapes all of them may underflow.  (If even the
   logarithms are infinite, shapes below 1e-305, the elements are equal.) */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    int n = dim[0];
    EACH_SLAB(s, L)
    {
        double top[SLAB], sum[SLAB], x[SLAB], buf[SLAB];
        int some[SLAB] = {0}; /* is an alpha positive? */
        fill(top, -DBL_MAX);
        fill(sum, 0);
        for (int j = 0; j < n; j++) {
            const double *restrict al = lanes_at(&a[j], s, buf);
            draw_log_gammas(stream, j, s, al, x);
            EACH(b, s.m)
            {
                double l = ((x[b] < -DBL_MAX) | (al[b] == 0)) ? -DBL_MAX : x[b];
                some[b] |= al[b] > 0;
                x[b] = l;
                top[b] = l <= top[b] ? top[b] : l; /* NaN too */
            }
            put(s, x, out[j]);
        }
        for (int j = 0; j < n; j++) {
            const double *restrict l = lanes_of(out[j], s, buf);
            EACH(b, s.m)
            {
                x[b] = exp(l[b] - top[b]);
                sum[b] += x[b];
            }
            put(s, x, out[j]);
        }
        for (int j = 0; j < n; j++)
            for (int b = 0; b < s.live; b++) out[j][s.first + b] /= some[b] ? sum[b] : NAN;
    }
}

static int size(const int *n, const char **why)
{
    if (n[0] >= 2 && n[0] <= MOST_GAMMAS) return n[0];
    *why = "alpha must have from 2 to 10000 elements";
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
    "dirichlet",
    "Dirichlet: a random probability vector",
    1,
    {{"alpha", POSITIVES}},
    SIMPLEX,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .size = size,
    .moments = moments,
    .try_at = {{{3}, {2.385, 0.7, 1.3}}, {{2}, {0.31, 0.42}}, {{4}, {13.1, 71.3, 8.2, 2.9}}},
};
