/* lkj.c: the LKJ distribution of correlation matrices: its constant, its draws. */
#include "dist/lkj.h"

/* sum_k log Gamma(eta + (n-1)/2) - k/2 log pi - log Gamma(eta + (n-1-k)/2), k = 1 ... n - 1: each
   difference in steps of 1/2, which lose nothing where eta is large */
double lkj_norm(int n, double eta)
{
    double v = 0;
    for (int k = 1; k < n; k++) {
        v -= 0.5 * k * LOG_PI;
        for (int i = 0; i < k; i++) v += lgam_half(eta + 0.5 * (n - 2 - i));
    }
    return v;
}

double lkj_dnorm(int n, double eta)
{
    double v = 0;
    for (int k = 1; k < n; k++)
        v += digamma(eta + 0.5 * (n - 1)) - digamma(eta + 0.5 * (n - 1 - k));
    return v;
}

bool lkj_ok(int n, double k, double eta) { return k == n && is_positive(eta); }

/* Row i has a uniform direction and a squared length of beta(i/2, eta + (n-1-i)/2) left of the
   diagonal: i normals over the root of their squares and twice a gamma. */
void lkj_factor(const struct stream *stream, int n, struct slab s, const struct lanes *a, double *A)
{
    struct stream here = *stream;
    double kbuf[SLAB], ebuf[SLAB], shape[SLAB] = {0}, square[SLAB];
    const double *k = lanes_at(&a[0], s, kbuf), *eta = lanes_at(&a[1], s, ebuf);
    int part = 3 * n; /* those before are the gammas' */
    here.first += (uint64_t)s.first;
    for (int e = 0; e < n * n; e++) fill(A + e * SLAB, 0);
    for (int i = 0; i < n; i++) {
        double *d = A + (i * n + i) * SLAB;
        for (int b = 0; b < s.m; b++)
            shape[b] = lkj_ok(n, k[b], eta[b]) ? eta[b] + 0.5 * (n - 1 - i) : NAN;
        draw_gammas(stream, i, s, shape, d);
        for (int b = 0; b < s.m; b++) square[b] = d[b] *= 2;
        for (int j = 0; j < i; j++) {
            double *z = A + (i * n + j) * SLAB;
            stream_normal_part(&here, part++, s.live, z);
            for (int b = 0; b < s.live; b++) square[b] += z[b] * z[b];
        }
        for (int b = 0; b < s.m; b++) {
            double root = 1 / sqrt(square[b]);
            d[b] = i ? sqrt(d[b]) * root : if_ok(d[b] == d[b], 1);
            for (int j = 0; j < i; j++) A[(i * n + j) * SLAB + b] *= root;
        }
    }
}

int lkj_size(const int *n, const char **why)
{
    if (n[0] >= 2 && n[0] <= 100) return n[0] * n[0];
    *why = "K must be from 2 to 100";
    return -1;
}
