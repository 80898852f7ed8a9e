/* multi_normal.c: multivariate normal distribution, by mean and covariance.
   log p = -n/2 log(2 pi) - log|L| - |y|^2/2,  Sigma = L L',  L y = x - mu.  Of Sigma the
   lower triangle is read. */
#include "dist/gauss.h"

/* doubles: L, its inverse, Sigma^-1 and y */
static int work_size(const int *dim) { return (3 * dim[2] + dim[1]) * SLAB; }

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    gauss_logp(dim[0], L, out[0], a, work, chol_load, solve_lower, -1);
}

/* With v = Sigma^-1 (x - mu): d/dx = -v, d/dmu = v, d/dSigma = (v v' - Sigma^-1)/2, the
   symmetric G with d log p = sum_ij G_ij dSigma_ij for symmetric dSigma. */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int n = dim[0], nn = n * n, want = 0;
    double *F = work, *inv = F + nn * SLAB, *P = inv + nn * SLAB, *v = P + nn * SLAB;
    double gbuf[SLAB], up[SLAB], down[SLAB];
    for (int e = 0; e < nn; e++) want |= da[2 * n + e] != NULL;
    EACH_SLAB(s, L)
    {
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        chol_load(n, a + 2 * n, s, F);
        difference(n, a, a + n, s, v);
        solve_lower(n, s.m, F, v);
        solve_upper(n, s.m, F, v);
        for (int i = 0; i < n; i++) {
            const double *restrict vi = v + i * SLAB;
            EACH(b, s.m) down[b] = -(up[b] = g[b] * vi[b]);
            add(s, down, da[i]);
            add(s, up, da[n + i]);
        }
        if (want) inverse_spd(n, s.m, F, inv, P);
        for (int e = 0; e < nn && want; e++) {
            const double *y = v + e / n * SLAB, *z = v + e % n * SLAB, *p = P + e * SLAB;
            EACH(b, s.m) up[b] = 0.5 * g[b] * (y[b] * z[b] - p[b]);
            add(s, up, da[2 * n + e]);
        }
    }
}

/* mu + L z */
static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    gauss_draw(stream, dim[0], L, out, a, work, chol_load, times_lower);
}

/* ---- the same by L, where many draws share a Sigma ---- */

/* One row of mu + L z, in the order of times_lower(): the same bits. */
WIDE static void row_times(int L, int i, const struct lanes *l, const double *restrict mu,
                           double *const *z)
{
    double *restrict x = z[i];
    const double *restrict d = l[i].p;
    for (int k = 0; k < i; k++) {
        const double *restrict f = l[k].p, *restrict y = z[k];
        if (k == 0)
            EACH(b, L) x[b] = d[b] * x[b] + f[b] * y[b];
        else
            EACH(b, L) x[b] += f[b] * y[b];
    }
    if (i == 0)
        EACH(b, L) x[b] = if_ok(is_real(mu[b]), mu[b] + d[b] * x[b]);
    else
        EACH(b, L) x[b] = if_ok(is_real(mu[b]), mu[b] + x[b]);
}

static void sample_factored(const void *self, const struct stream *stream, const int *dim, int L,
                            double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int n = dim[0], constant = L % LANES != 0;
    const struct lanes *F = a + n;
    for (int j = 0; j < n + n * n; j++) constant |= a[j].step == 0;
    if (constant) {
        gauss_draw(stream, n, L, out, a, work, mat_load, times_lower);
        return;
    }
    for (int i = 0; i < n; i++) stream_normal_part(stream, i, L, out[i]);
    for (int i = n - 1; i >= 0; i--) /* the last first: it alone needs z_i no more */
        row_times(L, i, F + i * n, a[i].p, out);
}

static void factor(const void *self, const int *dim, int L, double *const *out,
                   const struct lanes *a, double *work)
{
    (void)self;
    int n = matrix_order(dim[0]);
    double zero[SLAB] = {0};
    EACH_SLAB(s, L)
    {
        chol_load(n, a, s, work);
        for (int e = 0; e < n * n; e++) put(s, e % n > e / n ? zero : work + e * SLAB, out[e]);
    }
}

static const struct dist factored = {.bsample = sample_factored, .work = work_size};

static int size(const int *n, const char **why)
{
    if (n[1] == n[0] * n[0]) return n[0];
    *why = "Sigma must have as many rows and columns as mu has elements";
    return -1;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    for (int i = 0; i < n[0]; i++) {
        mean[i] = p[i];
        var[i] = p[n[0] + i * n[0] + i];
    }
    return 0;
}

const struct dist dist_multi_normal = {
    "multi_normal",
    "multivariate normal, by mean and covariance",
    2,
    {{"mu", VECTOR}, {"Sigma", SPD}},
    VECTOR,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = size,
    .moments = moments,
    .factored = &factored,
    .factor_arg = 1,
    .factor = factor,
    .location = 1,
    .try_at = {{{2, 4}, {0.385, -1.7, 2.385, 0.61, 0.61, 0.47}},
               {{3, 9}, {3.1, 0, -0.2, 1.3, 0.2, -0.71, 0.2, 0.31, 0.05, -0.71, 0.05, 4.2}},
               {{1, 1}, {0.7, 2.385}}},
};
