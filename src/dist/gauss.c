/* gauss.c: densities and draws of the multivariate normals. */
#include "dist/gauss.h"

WIDE void gauss_logp(int n, int L, double *out, const struct lanes *a, double *work, load_fn *load,
                     apply_fn *apply, int sign)
{
    double *F = work, *y = work + n * n * SLAB, v[SLAB]; /* F: the factor L */
    EACH_SLAB(s, L)
    {
        load(n, a + 2 * n, s, F);
        difference(n, a, a + n, s, y);
        apply(n, s.m, F, y);
        log_diagonal(n, s.m, F, v);
        EACH(b, s.m) v[b] = sign * v[b] - n * HALF_LOG_2PI;
        for (int i = 0; i < n; i++) {
            const double *restrict yi = y + i * SLAB;
            EACH(b, s.m) v[b] -= 0.5 * yi[b] * yi[b];
        }
        put(s, v, out);
    }
}

WIDE void gauss_draw(const struct stream *stream, int n, int L, double *const *out,
                     const struct lanes *a, double *work, load_fn *load, apply_fn *apply)
{
    double *F = work, *y = work + n * n * SLAB, buf[SLAB];
    for (int i = 0; i < n; i++) stream_normal_part(stream, i, L, out[i]);
    EACH_SLAB(s, L)
    {
        load(n, a + n, s, F);
        for (int i = 0; i < n; i++)
            memcpy(y + i * SLAB, lanes_of(out[i], s, buf), sizeof(double) * (size_t)s.m);
        apply(n, s.m, F, y);
        for (int i = 0; i < n; i++) {
            const double *restrict mu = lanes_at(&a[i], s, buf);
            double *restrict yi = y + i * SLAB;
            EACH(b, s.m) yi[b] = if_ok(is_real(mu[b]), mu[b] + yi[b]);
            put(s, yi, out[i]);
        }
    }
}
