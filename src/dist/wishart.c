/* wishart.c: Wishart distribution, by degrees of freedom and scale matrix.
   log p = (nu-n-1)/2 log|X| - tr(S^-1 X)/2 - nu/2 log|S| - nu n/2 log 2 - log Gamma_n(nu/2),
   a density of the lower triangle */
#include "dist/wishart.h"

WIDE static void logp(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self;
    int n = matrix_order(dim[0]);
    EACH_SLAB(s, L)
    {
        struct wishart_slab w;
        double norm[SLAB];
        wishart_load(&w, n, 0, a, s, work);
        wishart_norm(n, s.m, w.nu, norm);
        EACH(b, s.m)
        {
            double nu = w.nu[b], rest = -0.5 * nu * w.logS[b] - norm[b];
            double v = 0.5 * ((nu - n - 1) * w.logX[b] - w.trace[b]) + rest;
            norm[b] = density(rest == rest, w.logX[b] == w.logX[b], w.known[b], v);
        }
        put(s, norm, out[0]);
    }
}

/* d/dX = ((nu-n-1) X^-1 - S^-1)/2,  d/dS = (S^-1 X S^-1 - nu S^-1)/2: the symmetric G with
   d log p = sum_ij G_ij dX_ij for symmetric dX */
static void grad(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *a, double *const *da, double *work)
{
    (void)self, (void)out;
    int n = matrix_order(dim[0]), nn = n * n;
    double *Xi = work + 2 * nn * SLAB, *Si = work + 3 * nn * SLAB, *t1 = work + 4 * nn * SLAB,
           *t2 = work + 5 * nn * SLAB;
    EACH_SLAB(s, L)
    {
        struct wishart_slab w;
        const double *g = dout[0] + s.first;
        double dnorm[SLAB];
        wishart_load(&w, n, 0, a, s, work);
        inverse_spd(n, s.m, w.X, t1, Xi);
        inverse_spd(n, s.m, w.S, t1, Si);
        mat_load(n, a, s, w.X);
        sandwich(n, s.m, Si, w.X, t1, t2);
        for (int e = 0; e < nn; e++) {
            double *dx = da[e], *ds = da[nn + 1 + e];
            const double *xi = Xi + e * SLAB, *si = Si + e * SLAB, *sxs = t2 + e * SLAB;
            for (int b = 0; b < s.live && dx; b++)
                dx[s.first + b] += 0.5 * g[b] * ((w.nu[b] - n - 1) * xi[b] - si[b]);
            for (int b = 0; b < s.live && ds; b++)
                ds[s.first + b] += 0.5 * g[b] * (sxs[b] - w.nu[b] * si[b]);
        }
        wishart_dnorm(n, s.m, w.nu, dnorm);
        for (int b = 0; b < s.live && da[nn]; b++)
            da[nn][s.first + b] += g[b] * (0.5 * (w.logX[b] - w.logS[b]) - dnorm[b]);
    }
}

/* (L A)(L A)', with Bartlett's A and S = L L' */
static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int n = matrix_order(dim[0]), nn = n * n;
    double *S = work, *A = work + nn * SLAB, *y = work + 2 * nn * SLAB, buf[SLAB];
    EACH_SLAB(s, L)
    {
        chol_load(n, a + 1, s, S);
        bartlett(stream, n, s, lanes_at(&a[0], s, buf), A);
        for (int j = 0; j < n; j++) { /* A <- L A, column by column */
            size_t row = sizeof(double) * SLAB;
            for (int i = 0; i < n; i++) memcpy(y + i * SLAB, A + (i * n + j) * SLAB, row);
            times_lower(n, s.m, S, y);
            for (int i = 0; i < n; i++) memcpy(A + (i * n + j) * SLAB, y + i * SLAB, row);
        }
        outer_square(n, s, A, out);
    }
}

/* E X = nu S,  var X_ij = nu (S_ij^2 + S_ii S_jj) */
static int moments(const int *size, const double *p, double *mean, double *var)
{
    int n = matrix_order(size[1]);
    const double *S = p + 1;
    for (int e = 0; e < n * n; e++) {
        int i = e / n, j = e % n;
        mean[e] = p[0] * S[e];
        var[e] = p[0] * (S[e] * S[e] + S[i * n + i] * S[j * n + j]);
    }
    return 0;
}

const struct dist dist_wishart = {
    "wishart",
    "Wishart: a random SPD matrix, by degrees of freedom and scale",
    2,
    {{"nu", POSITIVE}, {"S", SPD}},
    SPD,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = wishart_work,
    .size = wishart_size,
    .moments = moments,
    .mild = "wishart with more degrees of freedom",
    .try_at = {{{1, 4}, {3.385, 1.3, 0.41, 0.41, 0.7}},
               {{1, 9}, {17.3, 1.3, 0.2, -0.71, 0.2, 0.31, 0.05, -0.71, 0.05, 4.2}},
               {{1, 1}, {0.71, 2.385}}},
};
