/* wishart_slab.c: what the Wishart and inverse Wishart distributions share, for a slab of lanes:
   traces, normalizing constant log Gamma_n, Bartlett's decomposition for draws. */
#include "dist/wishart.h"

#define AT(A, i, j) ((A) + ((i)*n + (j)) * SLAB)

/* X, S, their inverses, two scratches, y */
int wishart_work(const int *dim) { return 7 * dim[0] * SLAB; }

int wishart_size(const int *n, const char **why)
{
    int k = matrix_order(n[1]);
    if (k > 0 && k <= 200) return n[1]; /* 3 k + k(k-1)/2 parts of the stream */
    *why = "S must be a square matrix of at most 200 rows";
    return -1;
}

/* tr((A A')^-1 B B') = |A^-1 B|^2, column by column */
WIDE static void trace_of(int n, int m, const double *A, const double *B, double *y, double *trace)
{
    fill(trace, 0);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (i < j)
                fill(y + i * SLAB, 0);
            else
                memcpy(y + i * SLAB, AT(B, i, j), sizeof(double) * (size_t)m);
        solve_lower(n, m, A, y);
        for (int i = 0; i < n; i++) {
            const double *restrict yi = y + i * SLAB;
            EACH(b, m) trace[b] += yi[b] * yi[b];
        }
    }
}

WIDE void wishart_load(struct wishart_slab *w, int n, int inverse, const struct lanes *a,
                       struct slab s, double *work)
{
    int nn = n * n;
    w->X = work;
    w->S = work + nn * SLAB;
    w->y = work + 6 * nn * SLAB;
    w->nu = lanes_at(&a[nn], s, w->nu_buf);
    mat_load(n, a, s, w->X);
    mat_load(n, a + nn + 1, s, w->S);
    fill(w->known, 0);
    for (int e = 0; e < nn; e++) {
        const double *x = w->X + e * SLAB;
        EACH(b, s.m) w->known[b] += x[b] == x[b] ? 0 : NAN;
    }
    chol(n, s.m, w->X);
    chol(n, s.m, w->S);
    log_diagonal(n, s.m, w->X, w->logX);
    log_diagonal(n, s.m, w->S, w->logS);
    EACH(b, s.m)
    {
        w->logX[b] *= 2;
        w->logS[b] *= 2;
    }
    trace_of(n, s.m, inverse ? w->X : w->S, inverse ? w->S : w->X, w->y, w->trace);
}

/* log Gamma_n(a) = n(n-1)/4 log pi + sum_{i<n} log Gamma(a - i/2) */
WIDE void wishart_norm(int n, int m, const double *nu, double *out)
{
    double c = 0.25 * n * (n - 1) * LOG_PI;
    EACH(b, m) out[b] = if_ok((nu[b] > n - 1) & is_positive(nu[b]), 0.5 * nu[b] * n * LOG_2 + c);
    for (int i = 0; i < n; i++) EACH(b, m) out[b] += lgam(0.5 * (nu[b] - i));
}

WIDE void wishart_dnorm(int n, int m, const double *nu, double *out)
{
    fill(out, 0.5 * n * LOG_2);
    for (int i = 0; i < n; i++) EACH(b, m) out[b] += 0.5 * digamma(0.5 * (nu[b] - i));
}

/* Lower triangular: chi(nu - i) on the diagonal, normals below. */
WIDE void bartlett(const struct stream *stream, int n, struct slab s, const double *nu, double *A)
{
    struct stream here = *stream;
    int part = 3 * n; /* those before are the gammas' */
    here.first += (uint64_t)s.first;
    for (int i = 0; i < n; i++) {
        double half[SLAB], *d = AT(A, i, i);
        EACH(b, s.m) half[b] = 0.5 * (nu[b] - i);
        draw_gammas(stream, i, s, half, d);
        EACH(b, s.m) d[b] = sqrt(2 * d[b]);
        for (int j = 0; j < n; j++) {
            if (j != i) fill(AT(A, i, j), 0);
            if (j < i) stream_normal_part(&here, part++, s.live, AT(A, i, j));
        }
    }
}

WIDE void outer_square(int n, struct slab s, const double *B, double *const *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double t[SLAB];
            fill(t, 0);
            for (int k = 0; k < n; k++) {
                const double *restrict p = AT(B, i, k), *restrict q = AT(B, j, k);
                EACH(b, s.m) t[b] += p[b] * q[b];
            }
            put(s, t, out[i * n + j]);
            put(s, t, out[j * n + i]);
        }
}

WIDE void sandwich(int n, int m, const double *P, const double *Y, double *scratch, double *T)
{
    for (int pass = 0; pass < 2; pass++) { /* scratch = P Y, T = scratch P */
        const double *A = pass ? scratch : P, *B = pass ? P : Y;
        for (int e = 0; e < n * n; e++) {
            double t[SLAB];
            fill(t, 0);
            for (int k = 0; k < n; k++) {
                const double *restrict p = AT(A, e / n, k), *restrict q = AT(B, k, e % n);
                EACH(b, m) t[b] += p[b] * q[b];
            }
            memcpy((pass ? T : scratch) + e * SLAB, t, sizeof t);
        }
    }
}
