/* multi_student_t.c: multivariate Student t distribution.
   log p = log Gamma((nu+n)/2) - log Gamma(nu/2) - n/2 log(nu pi) - log|L| - (nu+n)/2 log(1 + q/nu),
   Sigma = L L',  q = |y|^2,  L y = x - mu.  Of Sigma the lower triangle is read. */
#include "dist/gauss.h"

/* doubles: L, its inverse, Sigma^-1 and y */
static int work_size(const int *dim) { return (3 * dim[3] + dim[2]) * SLAB; }

/* L, y = L^-1 (x - mu), q */
WIDE static void load(int n, const struct lanes *a, struct slab s, double *F, double *y, double *q)
{
    chol_load(n, a + 2 * n + 1, s, F);
    difference(n, a, a + n + 1, s, y);
    solve_lower(n, s.m, F, y);
    fill(q, 0);
    for (int i = 0; i < n; i++) {
        const double *restrict yi = y + i * SLAB;
        EACH(b, s.m) q[b] += yi[b] * yi[b];
    }
}

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[0];
    double *F = work, *y = work + n * n * SLAB, q[SLAB], v[SLAB], buf[SLAB];
    EACH_SLAB(s, L)
    {
        const double *restrict nu = lanes_at(&a[n], s, buf);
        load(n, a, s, F, y, q);
        log_diagonal(n, s.m, F, v);
        for (int i = 0; i < n; i++) EACH(b, s.m) v[b] -= lgam_half(0.5 * (nu[b] + i));
        EACH(b, s.m)
        {
            double rest = 0.5 * n * (log(nu[b]) + LOG_PI);
            double t = -v[b] - rest - 0.5 * (nu[b] + n) * log1p(q[b] / nu[b]);
            v[b] = if_ok(is_positive(nu[b]), t);
        }
        put(s, v, out[0]);
    }
}

/* With v = Sigma^-1 (x - mu), w = (nu+n)/(nu+q): d/dx = -w v, d/dmu = w v,
   d/dSigma = (w v v' - Sigma^-1)/2, the symmetric G of multi_normal.c */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int n = dim[0], nn = n * n, want = 0;
    double *F = work, *inv = F + nn * SLAB, *P = inv + nn * SLAB, *v = P + nn * SLAB;
    double gbuf[SLAB], nbuf[SLAB], up[SLAB], down[SLAB], q[SLAB], w[SLAB];
    for (int e = 0; e < nn; e++) want |= da[2 * n + 1 + e] != NULL;
    EACH_SLAB(s, L)
    {
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        const double *restrict nu = lanes_at(&a[n], s, nbuf);
        load(n, a, s, F, v, q);
        solve_upper(n, s.m, F, v);
        EACH(b, s.m)
        {
            double m = nu[b];
            w[b] = (m + n) / (m + q[b]);
            up[b] = 0.5 * g[b] *
                    (digamma(0.5 * (m + n)) - digamma(0.5 * m) - log1p(q[b] / m) +
                     (w[b] * q[b] - n) / m);
        }
        add(s, up, da[n]);
        for (int i = 0; i < n; i++) {
            const double *restrict vi = v + i * SLAB;
            EACH(b, s.m) down[b] = -(up[b] = g[b] * w[b] * vi[b]);
            add(s, down, da[i]);
            add(s, up, da[n + 1 + i]);
        }
        if (want) inverse_spd(n, s.m, F, inv, P);
        for (int e = 0; e < nn && want; e++) {
            const double *y = v + e / n * SLAB, *z = v + e % n * SLAB, *p = P + e * SLAB;
            EACH(b, s.m) up[b] = 0.5 * g[b] * (w[b] * y[b] * z[b] - p[b]);
            add(s, up, da[2 * n + 1 + e]);
        }
    }
}

/* mu + L z / sqrt(chi_square(nu)/nu), the root in logs for small nu */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[0];
    double *F = work, *y = work + n * n * SLAB, half[SLAB], x[SLAB], buf[SLAB];
    for (int i = 0; i < n; i++) stream_normal_part(stream, 3 + i, L, out[i]); /* 0 to 2: a gamma */
    EACH_SLAB(s, L)
    {
        const double *nu = lanes_at(&a[0], s, buf);
        EACH(b, s.m) half[b] = 0.5 * nu[b];
        draw_log_gammas(stream, 0, s, half, x);
        EACH(b, s.m) x[b] = if_ok(is_positive(half[b]), exp(0.5 * (log(half[b]) - x[b])));
        chol_load(n, a + n + 1, s, F);
        for (int i = 0; i < n; i++)
            memcpy(y + i * SLAB, lanes_of(out[i], s, buf), sizeof(double) * (size_t)s.m);
        times_lower(n, s.m, F, y);
        for (int i = 0; i < n; i++) {
            const double *restrict mu = lanes_at(&a[1 + i], s, buf);
            double *restrict yi = y + i * SLAB;
            EACH(b, s.m) yi[b] = if_ok(is_real(mu[b]), mu[b] + yi[b] * x[b]);
            put(s, yi, out[i]);
        }
    }
}

static int size(const int *n, const char **why)
{
    if (n[2] == n[1] * n[1]) return n[1];
    *why = "Sigma must have as many rows and columns as mu has elements";
    return -1;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    if (p[0] <= 2) return -1;
    for (int i = 0; i < n[1]; i++) {
        mean[i] = p[1 + i];
        var[i] = p[1 + n[1] + i * n[1] + i] * p[0] / (p[0] - 2);
    }
    return 0;
}

const struct dist dist_multi_student_t = {
    "multi_student_t",
    "multivariate t, by degrees of freedom, location and scale matrix",
    3,
    {{"nu", POSITIVE}, {"mu", VECTOR}, {"Sigma", SPD}},
    VECTOR,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = size,
    .moments = moments,
    .location = 2,
    .try_at = {{{1, 2, 4}, {7.385, 0.385, -1.7, 2.385, 0.61, 0.61, 0.47}},
               {{1, 3, 9},
                {31.7, 3.1, 0, -0.2, 1.3, 0.2, -0.71, 0.2, 0.31, 0.05, -0.71, 0.05, 4.2}},
               {{1, 1, 1}, {5.3, 0.7, 2.385}}},
};
