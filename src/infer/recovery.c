/* recovery.c: parameter recovery: correlation, error, contraction and z-scores of posterior means
   against true values. */
#include "infer/recovery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Posterior moments of scalar k of all sets; two passes, for accurate variances. */
static void posterior(const struct sims_weights *w, int k, double *mean, double *var)
{
    const struct sims *s = w->s;
    size_t n = (size_t)s->n;
    const double *z = s->z + (size_t)k * (size_t)s->m * n;
    memset(mean, 0, n * sizeof *mean);
    memset(var, 0, n * sizeof *var);
    for (int m = 0; m < s->m; m++) {
        const double *zm = z + (size_t)m * n, *wm = sims_weights_of(w, m);
        for (size_t i = 0; i < n; i++) mean[i] += wm[i] * zm[i];
    }
    for (size_t i = 0; i < n; i++) mean[i] /= w->total[i];
    for (int m = 0; m < s->m; m++) {
        const double *zm = z + (size_t)m * n, *wm = sims_weights_of(w, m);
        for (size_t i = 0; i < n; i++) var[i] += wm[i] * (zm[i] - mean[i]) * (zm[i] - mean[i]);
    }
    for (size_t i = 0; i < n; i++) var[i] /= w->total[i];
}

static struct recovery compare(const double *theta, const double *mean, const double *var, int n)
{
    struct recovery r = {0};
    double m0, sd0, m1, sd1, cov = 0, square = 0, v = 0, z = 0, zz = 0;
    sims_moments(theta, n, &m0, &sd0);
    sims_moments(mean, n, &m1, &sd1);
    for (int i = 0; i < n; i++) {
        double e = mean[i] - theta[i];
        cov += (theta[i] - m0) * (mean[i] - m1) / n;
        square += e * e / n;
        v += var[i] / n;
        if (var[i] > 0) {
            z += e / sqrt(var[i]);
            zz += e * e / var[i];
        } else
            r.nflat++;
    }
    int nz = n - r.nflat;
    r.corr = sd0 > 0 && sd1 > 0 ? cov / (sd0 * sd1) : NAN;
    r.rmse = sd0 > 0 ? sqrt(square) / sd0 : NAN;
    r.contraction = sd0 > 0 ? 1 - v / (sd0 * sd0) : NAN;
    r.z_mean = nz ? z / nz : NAN;
    r.z_sd = nz ? sqrt(fmax(0, zz / nz - r.z_mean * r.z_mean)) : NAN;
    return r;
}

int recovery_run(const struct sims *s, struct recovery *out, double *mean, double *sd,
                 nami_err *err)
{
    struct sims_weights w;
    int rc = sims_weights(s, &w, err);
    if (rc) return rc;
    size_t n = (size_t)s->n;
    double *a = raw_array(double, n), *b = raw_array(double, n);
    if (!a || !b) rc = err_nomem(err);
    for (int k = 0; !rc && k < s->d; k++) {
        const double *theta = s->theta + (size_t)k * n;
        double m0, sd0, m1, sd1;
        posterior(&w, k, a, b);
        sims_moments(theta, s->n, &m0, &sd0);
        sims_moments(b, s->n, &m1, &sd1);
        if (isnan(sd0) || isnan(sd1)) {
            rc = err_set(err, NAMI_EINPUT, "scalar %d has truths or draws that are not finite",
                         k + 1);
            break;
        }
        out[k] = compare(theta, a, b, s->n);
        for (size_t i = 0; i < n; i++) {
            if (mean) mean[(size_t)k * n + i] = a[i];
            if (sd) sd[(size_t)k * n + i] = sqrt(b[i]);
        }
    }
    free(a);
    free(b);
    sims_weights_free(&w);
    return rc;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void recovery_interval(const struct sims *s, int k, int i, double level, double *work, double *lo,
                       double *hi)
{
    double sum = 0, below = 0, tail = (1 - level) / 2, top = -INFINITY;
    size_t n = (size_t)s->n, first = (size_t)k * (size_t)s->m * n + (size_t)i;
    for (int m = 0; s->logw && m < s->m; m++) top = fmax(top, s->logw[(size_t)m * n + (size_t)i]);
    for (int m = 0; m < s->m; m++) {
        work[2 * m] = s->z[first + (size_t)m * n];
        work[2 * m + 1] = s->logw ? exp(s->logw[(size_t)m * n + (size_t)i] - top) : 1;
        sum += work[2 * m + 1];
    }
    qsort(work, (size_t)s->m, 2 * sizeof *work, by_value);
    *lo = *hi = NAN;
    for (int m = 0, lower = 0, upper = 0; m < s->m;
         m++) { /* half of the weight of a draw is counted as below it */
        double z = work[2 * m], w = work[2 * m + 1], at = (below + w / 2) / sum;
        if (w == 0) continue;
        if (!lower) *lo = z, lower = at >= tail;
        if (!upper) *hi = z, upper = at >= 1 - tail;
        below += w;
    }
}
