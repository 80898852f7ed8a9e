/* blame.c: regression of log importance weights on the ranks of one latent. */
#include "infer/blame.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/summary.h"

/* With u the rank, between -1 and 1, the Legendre polynomials u and (3 u^2 - 1) / 2 are orthogonal
   and have mean squares 1/3 and 1/5: their shares of the variance add up. */
int blame(size_t n, const double *x, const double *logw, double *share, nami_err *err)
{
    enum { LEAST = 20 };
    struct weighted *d = raw_array(struct weighted, 2 * n + 1), *v;
    double mean = 0, square = 0, first = 0, second = 0;
    size_t m = 0;
    *share = NAN;
    if (!d) return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        if (isfinite(logw[i]) && isfinite(x[i])) d[m++] = (struct weighted){x[i], logw[i]};
    v = weighted_sort(m, d, d + n);
    for (size_t i = 0; i < m; i++) mean += v[i].w / (double)m;
    for (size_t i = 0, j; i < m; i = j) { /* equal values have the same rank */
        for (j = i + 1; j < m && v[j].x == v[i].x;) j++;
        double u = ((double)i + (double)j) / (double)m - 1;
        for (size_t k = i; k < j; k++) {
            double l = v[k].w - mean;
            square += l * l;
            first += l * u;
            second += l * (3 * u * u - 1) / 2;
        }
    }
    if (m >= LEAST && square > 0)
        *share = fmin((3 * first * first + 5 * second * second) / (double)m / square, 1);
    free(d);
    return 0;
}
