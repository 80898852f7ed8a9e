/* ordered_logistic.c: ordered logistic distribution, by predictor and cutpoints.
   p(k) = F(eta - c_{k-1}) - F(eta - c_k), F logistic */
#include "dist/ordered.h"

/* F(a) - F(b) = F(a) F(-b) (1 - exp(b - a)) */
static double link(double a, double b, double width, double *by_a, double *by_b)
{
    double odds = 1 / expm1(width);
    *by_a = sigmoid(-a) + odds;
    *by_b = -sigmoid(b) - odds;
    return log1m_exp(width) - softplus(-a) - softplus(b);
}

ORDERED_DENSITY(link)

static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)work;
    stream_uniform(stream, L, out[0]);
    for (int b = 0; b < L; b++) out[0][b] = log(out[0][b]) - log1p(-out[0][b]);
    ordered_draw(dim, L, out[0], a);
}

const struct dist dist_ordered_logistic = {
    "ordered_logistic",
    "1, 2, ..., by a logistic variable around eta and cutpoints",
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
