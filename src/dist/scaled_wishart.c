/* scaled_wishart.c: scaled Wishart distribution of a precision matrix.
   A precision matrix whose standard deviations are half-t(df) with scales s and whose correlations
   are marginally uniform for df = 2 (Huang and Wand 2013):
   log p = (df-2)/2 log|X| - (df+n)/2 sum_i log(df X_ii + s_i^-2) + n (df+n-1)/2 log df
           + sum_i (log Gamma((df+n)/2) - log(pi)/2 - log s_i) - log Gamma_n((df+n-1)/2),
   a density of the lower triangle.  Terms with a large df cancel; with the factor L of X it is
   (df-2)/2 sum_i log(L_ii^2/X_ii) - sum_i ((df+n)/2 log(1 + s_i^-2/(df X_ii)) + (n+2)/2 log X_ii).
 */
#include "dist/wishart.h"

/* doubles: X, its inverse, a scratch */
static int work_size(const int *dim) { return 3 * dim[0] * SLAB; }

/* What depends on df alone, and its derivative in the formula above.  A ratio of gamma functions is
   a product of ratios at arguments that differ by 1/2. */
INLINE double norm(int n, double df)
{
    double v = -0.5 * n * log(df) - 0.25 * n * (n + 1) * LOG_PI;
    for (int i = 0; i < n; i++) v += (n - i) * lgam_half(0.5 * (df + n - 1 - i));
    return v;
}

INLINE double dnorm(int n, double df)
{
    double v = 0.5 * n * (log(df) + (df + n - 1) / df + digamma(0.5 * (df + n)));
    for (int i = 0; i < n; i++) v -= 0.5 * digamma(0.5 * (df + n - 1 - i));
    return v;
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[1], nn = n * n;
    EACH_SLAB(s, L)
    {
        double v[SLAB], known[SLAB], rest[SLAB], sbuf[SLAB], xbuf[SLAB], dbuf[SLAB];
        const double *restrict df = lanes_at(&a[nn + n], s, dbuf);
        mat_load(n, a, s, work);
        fill(known, 0);
        for (int e = 0; e < nn; e++) {
            const double *restrict x = work + e * SLAB;
            EACH(b, s.m) known[b] += x[b] == x[b] ? 0 : NAN;
        }
        chol(n, s.m, work);
        fill(v, 0);
        EACH(b, s.m) rest[b] = if_ok(is_positive(df[b]), norm(n, df[b]));
        for (int i = 0; i < n; i++) {
            const double *restrict scale = lanes_at(&a[nn + i], s, sbuf);
            const double *restrict x = lanes_at(&a[i * n + i], s, xbuf);
            const double *restrict l = work + (i * n + i) * SLAB;
            double own = i > 0; /* the first l is the root of its x */
            EACH(b, s.m)
            {
                double t = scale[b], ratio = l[b] * (l[b] / x[b]);
                v[b] += own * 0.5 * (df[b] - 2) * log(ratio) - (0.5 * n + 1) * log(x[b]);
                v[b] -= 0.5 * (df[b] + n) * log1p(1 / (t * t) / (df[b] * x[b]));
                v[b] += l[b] == l[b] ? 0 : NAN; /* not positive definite */
                rest[b] -= if_ok(is_positive(t), log(t));
            }
        }
        EACH(b, s.m) v[b] = density(rest[b] == rest[b], v[b] == v[b], known[b], v[b] + rest[b]);
        put(s, v, out[0]);
    }
}

/* d/dX = (df-2)/2 X^-1 - diag((df+n)/2 df/w),  w_i = df X_ii + s_i^-2 */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int n = dim[1], nn = n * n;
    double *F = work, *inv = F + nn * SLAB, *P = inv + nn * SLAB;
    EACH_SLAB(s, L)
    {
        double by_df[SLAB], d[SLAB], ds[SLAB], sbuf[SLAB], xbuf[SLAB], dbuf[SLAB], gbuf[SLAB];
        const double *restrict df = lanes_at(&a[nn + n], s, dbuf);
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        mat_load(n, a, s, F);
        chol(n, s.m, F);
        log_diagonal(n, s.m, F, by_df);
        inverse_spd(n, s.m, F, inv, P);
        EACH(b, s.m) by_df[b] += dnorm(n, df[b]);
        for (int i = 0; i < n; i++) {
            const double *restrict scale = lanes_at(&a[nn + i], s, sbuf);
            const double *restrict x = lanes_at(&a[i * n + i], s, xbuf);
            EACH(b, s.m)
            {
                double q = 1 / (scale[b] * scale[b]), w = df[b] * x[b] + q;
                by_df[b] -= 0.5 * (log(w) + (df[b] + n) * x[b] / w);
                ds[b] = g[b] * ((df[b] + n) * q / w - 1) / scale[b];
                d[b] = -0.5 * g[b] * (df[b] + n) * df[b] / w;
            }
            add(s, ds, da[nn + i]);
            add(s, d, da[i * n + i]);
        }
        for (int e = 0; e < nn; e++) {
            const double *restrict p = P + e * SLAB;
            EACH(b, s.m) d[b] = 0.5 * g[b] * (df[b] - 2) * p[b];
            add(s, d, da[e]);
        }
        EACH(b, s.m) by_df[b] *= g[b];
        add(s, by_df, da[nn + n]);
    }
}

/* wishart(df + n - 1, S) with S diagonal, S_ii = 1/(df s_i^2 z_i^2), z normal */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[1], part = 3 * n + n * (n - 1) / 2; /* those before are Bartlett's */
    EACH_SLAB(s, L)
    {
        struct stream here = *stream;
        double nu[SLAB], z[SLAB], dbuf[SLAB], sbuf[SLAB], zbuf[SLAB];
        const double *restrict df = lanes_at(&a[n], s, dbuf);
        here.first += (uint64_t)s.first;
        EACH(b, s.m) nu[b] = if_ok(is_positive(df[b]), df[b] + n - 1);
        bartlett(stream, n, s, nu, work);
        for (int i = 0; i < n; i++) {
            const double *restrict scale = lanes_at(&a[i], s, sbuf);
            stream_normal_part(&here, part + i, s.live, zbuf);
            for (int b = 0; b < s.m; b++) z[b] = zbuf[b < s.live ? b : 0];
            EACH(b, s.m)
            {
                double t = 1 / (sqrt(df[b]) * scale[b] * fabs(z[b]));
                z[b] = if_ok(is_positive(scale[b]), t);
            }
            for (int j = 0; j <= i; j++) {
                double *restrict x = work + (i * n + j) * SLAB;
                EACH(b, s.m) x[b] *= z[b];
            }
        }
        outer_square(n, s, work, out);
    }
}

static int size(const int *n, const char **why)
{
    if (n[0] <= 200) return n[0] * n[0];
    *why = "s must have at most 200 elements";
    return -1;
}

const struct dist dist_scaled_wishart = {
    "scaled_wishart",
    "precision matrix with half-t standard deviations, by their scales and degrees of freedom",
    2,
    {{"s", POSITIVES}, {"df", POSITIVE}},
    SPD,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = size,
    .own = 1,
    .try_at = {{{2, 1}, {2.385, 0.7, 4.1}}, {{3, 1}, {1.3, 0.2, 7.1, 2}}, {{1, 1}, {0.71, 2.385}}},
};
