/* multi_normal_prec.c: multivariate normal distribution, by mean and precision matrix.
   log p = -n/2 log(2 pi) + log|L| - |y|^2/2,  Omega = L L',  y = L'(x - mu).  Of Omega the
   lower triangle is read. */
#include "dist/gauss.h"

/* doubles: L, its inverse, Omega^-1, the residual and Omega times it */
static int work_size(const int *dim) { return (3 * dim[2] + 2 * dim[1]) * SLAB; }

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    gauss_logp(dim[0], L, out[0], a, work, chol_load, times_upper, 1);
}

/* With d = x - mu, v = Omega d: d/dx = -v, d/dmu = v, d/dOmega = (Omega^-1 - d d')/2, the
   symmetric G with d log p = sum_ij G_ij dOmega_ij for symmetric dOmega. */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int n = dim[0], nn = n * n, want = 0;
    double *F = work, *inv = F + nn * SLAB, *P = inv + nn * SLAB, *v = P + nn * SLAB;
    double gbuf[SLAB], up[SLAB], down[SLAB];
    double *res = v + n * SLAB;
    for (int e = 0; e < nn; e++) want |= da[2 * n + e] != NULL;
    EACH_SLAB(s, L)
    {
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        chol_load(n, a + 2 * n, s, F);
        difference(n, a, a + n, s, res);
        memcpy(v, res, sizeof(double) * (size_t)(n * SLAB));
        times_upper(n, s.m, F, v);
        times_lower(n, s.m, F, v);
        for (int i = 0; i < n; i++) {
            const double *restrict vi = v + i * SLAB;
            EACH(b, s.m) down[b] = -(up[b] = g[b] * vi[b]);
            add(s, down, da[i]);
            add(s, up, da[n + i]);
        }
        if (want) inverse_spd(n, s.m, F, inv, P);
        for (int e = 0; e < nn && want; e++) {
            const double *y = res + e / n * SLAB, *z = res + e % n * SLAB, *p = P + e * SLAB;
            EACH(b, s.m) up[b] = 0.5 * g[b] * (p[b] - y[b] * z[b]);
            add(s, up, da[2 * n + e]);
        }
    }
}

/* mu + L^-T z */
static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    gauss_draw(stream, dim[0], L, out, a, work, chol_load, solve_upper);
}

static int size(const int *n, const char **why)
{
    if (n[1] == n[0] * n[0]) return n[0];
    *why = "Omega must have as many rows and columns as mu has elements";
    return -1;
}

/* The variances are the diagonal of Omega^-1. */
static int moments(const int *n, const double *p, double *mean, double *var)
{
    enum { MOST = 4 };
    int k = n[0];
    double A[MOST * MOST * SLAB], M[MOST * MOST * SLAB], P[MOST * MOST * SLAB];
    if (k > MOST) return -1;
    for (int e = 0; e < k * k; e++) fill(A + e * SLAB, p[k + e]);
    chol(k, LANES, A);
    inverse_spd(k, LANES, A, M, P);
    for (int i = 0; i < k; i++) {
        mean[i] = p[i];
        var[i] = P[(i * k + i) * SLAB];
    }
    return 0;
}

const struct dist dist_multi_normal_prec = {
    "multi_normal_prec",
    "multivariate normal, by mean and precision",
    2,
    {{"mu", VECTOR}, {"Omega", SPD}},
    VECTOR,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = size,
    .moments = moments,
    .location = 1,
    .try_at = {{{2, 4}, {0.385, -1.7, 2.385, 0.61, 0.61, 0.47}},
               {{3, 9}, {3.1, 0, -0.2, 1.3, 0.2, -0.71, 0.2, 0.31, 0.05, -0.71, 0.05, 4.2}},
               {{1, 1}, {0.7, 2.385}}},
};
