/* ordered_probit.c: ordered probit distribution, by predictor and cutpoints.
   p(k) = F(eta - c_{k-1}) - F(eta - c_k), F normal */
#include "dist/ordered.h"

/* From the lower tails: those of -b and -a if need be */
static double link(double a, double b, double d, double *by_a, double *by_b)
{
    double top = log_normal_p(b > 0 ? -b : a), low = log_normal_p(b > 0 ? -a : b);
    double v = top + log1m_exp(top - low), m = 0.5 * (a + b);
    if (d < 1e-3 && fabs(m) * d < 1e-3) /* d phi(m) (1 + (m^2 - 1) d^2 / 24 + ...) */
        v = log(d) - 0.5 * m * m - HALF_LOG_2PI + log1p((m * m - 1) * d * d / 24);
    *by_a = exp(-0.5 * a * a - HALF_LOG_2PI - v);
    *by_b = -exp(-0.5 * b * b - HALF_LOG_2PI - v);
    return v;
}

ORDERED_DENSITY(link)

static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    stream_normal(stream, L, out[0]);
    ordered_draw(dim, L, out[0], a);
}

const struct dist dist_ordered_probit = {
    "ordered_probit",
    "1, 2, ..., by a normal variable around eta and cutpoints",
    2,
    {{"eta", REAL}, {"c", ORDERED}},
    INDEX,
    .blogp = logp,
    .bgrad = grad,
    .bsample = sample,
    .size = ordered_size,
    .largest = ordered_states,
    .try_at = {{{1, 3}, {0.385, -1.7, 0.3, 2.385}}, {{1, 1}, {-2.1, -1.3}}},
};
