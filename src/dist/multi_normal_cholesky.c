/* multi_normal_cholesky.c: multivariate normal, by mean and Cholesky factor of the covariance.
   log p = -n/2 log(2 pi) - log|L| - |y|^2/2,  L y = x - mu: multi_normal(mu, L L') */
#include "dist/gauss.h"

/* doubles: L, y, v */
static int work_size(const int *dim) { return (dim[2] + 2 * dim[1]) * SLAB; }

/* A <- elements a; NaN on the diagonal where they are no factor */
WIDE static void load(int n, const struct lanes *a, struct slab s, double *A)
{
    mat_load(n, a, s, A);
    for (int e = 0; e < n * n; e++) {
        double *restrict d = A + (e / n * n + e / n) * SLAB;
        const double *restrict x = A + e * SLAB;
        if (e % n == e / n)
            EACH(b, s.m) d[b] = if_ok(is_positive(d[b]), d[b]);
        else if (e % n > e / n)
            EACH(b, s.m) d[b] = if_ok(x[b] == 0, d[b]);
        else
            EACH(b, s.m) d[b] = if_ok(is_real(x[b]), d[b]);
    }
}

static void logp(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    gauss_logp(dim[0], L, out[0], a, work, load, solve_lower, -1);
}

/* With v = L^-T y: d/dx = -v, d/dmu = v, d/dL_ij = v_i y_j - [i = j]/L_ii for j <= i */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int n = dim[0];
    double *F = work, *y = F + n * n * SLAB, *v = y + n * SLAB, gbuf[SLAB], up[SLAB], down[SLAB];
    EACH_SLAB(s, L)
    {
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        load(n, a + 2 * n, s, F);
        difference(n, a, a + n, s, y);
        solve_lower(n, s.m, F, y);
        memcpy(v, y, sizeof(double) * (size_t)(n * SLAB));
        solve_upper(n, s.m, F, v);
        for (int i = 0; i < n; i++) {
            const double *restrict vi = v + i * SLAB, *restrict d = F + (i * n + i) * SLAB;
            EACH(b, s.m) down[b] = -(up[b] = g[b] * vi[b]);
            add(s, down, da[i]);
            add(s, up, da[n + i]);
            for (int j = 0; j <= i; j++) {
                const double *restrict yj = y + j * SLAB;
                EACH(b, s.m) up[b] = g[b] * (vi[b] * yj[b] - (i == j ? 1 / d[b] : 0));
                add(s, up, da[2 * n + i * n + j]);
            }
        }
    }
}

/* mu + L z */
static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    gauss_draw(stream, dim[0], L, out, a, work, load, times_lower);
}

static int size(const int *n, const char **why)
{
    if (n[1] == n[0] * n[0]) return n[0];
    *why = "L must have as many rows and columns as mu has elements";
    return -1;
}

static int moments(const int *n, const double *p, double *mean, double *var)
{
    int k = n[0];
    for (int i = 0; i < k; i++) {
        mean[i] = p[i];
        var[i] = 0;
        for (int j = 0; j <= i; j++) var[i] += p[k + i * k + j] * p[k + i * k + j];
    }
    return 0;
}

const struct dist dist_multi_normal_cholesky = {
    "multi_normal_cholesky",
    "multivariate normal, by mean and Cholesky factor of the covariance",
    2,
    {{"mu", VECTOR}, {"L", CHOLESKY}},
    VECTOR,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .work = work_size,
    .size = size,
    .moments = moments,
    .location = 1,
    .try_at = {{{2, 4}, {0.385, -1.7, 2.385, 0, 0.61, 0.47}},
               {{3, 9}, {3.1, 0, -0.2, 1.3, 0, 0, 0.2, 0.31, 0, -0.71, 0.05, 4.2}},
               {{1, 1}, {0.7, 2.385}}},
};
