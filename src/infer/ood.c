/* ood.c: out-of-distribution test: Mahalanobis distance and largest robust z-score, with p-values
   calibrated on held-out draws. */
#include "infer/ood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/vec.h"
#include "infer/dense.h"
#include "infer/sims.h"

enum { LEAST = 20, MOST_RELATED = 256 };
static const double LINEAR = 3, LEAST_SHRINK = 1e-3;

static double robust_z(const struct ood *o, int j, double x)
{
    if (o->scale[j] > 0) return (x - o->centre[j]) / o->scale[j];
    return x == o->centre[j] ? 0 : copysign(INFINITY, x - o->centre[j]);
}

static double tame(const struct ood *o, int j, double x)
{
    return o->scale[j] > 0 ? LINEAR * asinh(robust_z(o, j, x) / LINEAR) : 0;
}

static double standard(const struct ood *o, int j, double x)
{
    return o->sd[j] > 0 ? (tame(o, j, x) - o->mean[j]) / o->sd[j] : 0;
}

/* Median and spread of scalar j from v[n], which is sorted here, then moments of y. */
static void fit_scalar(struct ood *o, int j, double *v, int n)
{
    sort_doubles(v, (size_t)n);
    o->centre[j] = v[n / 2];
    o->scale[j] = (v[n - 1 - n / 20] - v[n / 20]) / 3.29;
    if (!(o->scale[j] > 0)) { /* nearly constant */
        double mean;
        sims_moments(v, n, &mean, &o->scale[j]);
    }
    for (int i = 0; i < n; i++) v[i] = tame(o, j, v[i]);
    sims_moments(v, n, &o->mean[j], &o->sd[j]);
}

/* Correlations r and the variances of their estimates, summed: shrink = sum var r / sum r^2; at
   most k / n, since many draws need no shrinkage, and scalars that are weakly correlated on average
   may include a strongly correlated pair. */
static int correlate(struct ood *o, const double *x, const int *order, int n)
{
    size_t k = (size_t)o->k;
    double *y = raw_array(double, k), *square = new_array(double, k *k), *r = o->factor;
    double vars = 0, squares = 0;
    if (!y || !square) {
        free(y);
        free(square);
        return -1;
    }
    for (int t = 0; t < n; t++) {
        for (size_t j = 0; j < k; j++)
            y[j] = standard(o, (int)j, x[j * (size_t)o->n + (size_t)order[t]]);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j <= i; j++) {
                double w = y[i] * y[j];
                r[i * k + j] += w / n;
                square[i * k + j] += w * w / n;
            }
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < i; j++) {
            double v = r[i * k + j];
            vars += (square[i * k + j] - v * v) / (n - 1);
            squares += v * v;
        }
    double most = fmin(1, o->k / (double)n);
    o->shrink = squares > 0 ? fmax(LEAST_SHRINK, fmin(most, vars / squares)) : 1;
    for (size_t i = 0; i < k; i++) {
        r[i * k + i] = 1;
        for (size_t j = 0; j < i; j++) r[i * k + j] *= 1 - o->shrink;
    }
    free(y);
    free(square);
    return 0;
}

static int relate(struct ood *o, const double *x, const int *order, int n, double *work,
                  nami_err *err)
{
    int k = o->k;
    if (correlate(o, x, order, n)) return err_nomem(err);
    if (dense_chol(k, o->factor)) return err_set(err, NAMI_EBUG, "a shrunk covariance is singular");
    for (int j = 0; j < k; j++) { /* 1 / (R^-1)_jj */
        double square = 0;
        memset(work, 0, (size_t)k * sizeof *work);
        work[j] = 1;
        dense_lower(k, o->factor, work);
        for (int i = j; i < k; i++) square += work[i] * work[i];
        o->given_sd[j] = 1 / sqrt(square);
    }
    return 0;
}

/* Distances of one data set, scalar j at x[j * stride]; y[k] is scratch, and L^-1 y after. */
static void distances(const struct ood *o, const double *x, size_t stride, double *y,
                      double *distance, double *largest)
{
    double square = 0;
    *largest = 0;
    for (int j = 0; j < o->k; j++) {
        y[j] = standard(o, j, x[(size_t)j * stride]);
        *largest = fmax(*largest, fabs(robust_z(o, j, x[(size_t)j * stride])));
    }
    if (o->factor) dense_lower(o->k, o->factor, y);
    for (int j = 0; j < o->k; j++) square += y[j] * y[j];
    *distance = sqrt(square);
}

/* The number of sorted v[n] below x. */
static int count_below(const double *v, int n, double x)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (v[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* above[i]: the number of v[n] that are at least v[i]; work[n]. */
static void count_above(const double *v, int n, double *work, int *above)
{
    memcpy(work, v, (size_t)n * sizeof *work);
    sort_doubles(work, (size_t)n);
    for (int i = 0; i < n; i++) above[i] = n - count_below(work, n, v[i]);
}

static int fit(struct ood *o, const double *x, int *order, double *work, nami_err *err)
{
    int k = o->k, nfit = o->n - o->ncal, rc;
    size_t n = (size_t)o->n;
    for (int j = 0; j < k; j++) {
        const double *all = x + (size_t)j * n;
        for (int i = 0; i < o->n; i++)
            if (!isfinite(all[i]))
                return err_set(err, NAMI_EINPUT, "scalar %d has draws that are not finite", j + 1);
        for (int i = 0; i < nfit; i++) work[i] = all[order[i]];
        fit_scalar(o, j, work, nfit);
    }
    if (o->factor && (rc = relate(o, x, order, nfit, work, err))) return rc;
    for (int i = 0; i < o->ncal; i++)
        distances(o, x + order[nfit + i], n, work, &o->distance[i], &o->largest[i]);
    count_above(o->distance, o->ncal, work, o->further);
    count_above(o->largest, o->ncal, work, o->larger);
    return 0;
}

int ood_fit(const double *x, int k, int n, uint64_t seed, struct ood *out, nami_err *err)
{
    struct ood *o = out;
    *o = (struct ood){.k = k, .n = n, .ncal = n - n / 3};
    if (k < 1 || n < LEAST)
        return err_set(err, NAMI_EUSAGE, "a check for unusual data needs %d draws at least", LEAST);
    size_t m = (size_t)k;
    double **column[] = {&o->centre, &o->scale, &o->mean, &o->sd, &o->given_sd};
    int ok = 1, *order = raw_array(int, n);
    double *work = raw_array(double, n > k ? n : k);
    for (int i = 0; i < 5; i++) ok &= (*column[i] = new_array(double, m)) != NULL;
    if (k <= MOST_RELATED) ok &= (o->factor = new_array(double, m *m)) != NULL;
    o->distance = raw_array(double, o->ncal);
    o->largest = raw_array(double, o->ncal);
    o->further = raw_array(int, o->ncal);
    o->larger = raw_array(int, o->ncal);
    ok &= order && work && o->distance && o->largest && o->further && o->larger;
    int rc = ok ? 0 : err_nomem(err);
    if (!rc) {
        struct rng r;
        rng_init(&r, seed, 3);
        for (int i = 0; i < n; i++) order[i] = i;
        rng_shuffle(&r, order, n);
        rc = fit(o, x, order, work, err);
    }
    free(order);
    free(work);
    return rc;
}

/* Ranks among the calibration draws and x itself, from the extreme end; p-values are fractions of
   these, and the smaller rank of each draw is compared with that of x. */
static void calibrate(const struct ood *o, double largest, struct ood_answer *a)
{
    int further = 1, larger = 1, as_rare = 1;
    for (int i = 0; i < o->ncal; i++) {
        further += o->distance[i] >= a->distance;
        larger += o->largest[i] >= largest;
    }
    int rank = further < larger ? further : larger;
    for (int i = 0; i < o->ncal; i++)
        as_rare += o->further[i] + (a->distance >= o->distance[i]) <= rank ||
                   o->larger[i] + (largest >= o->largest[i]) <= rank;
    a->p_distance = further / (o->ncal + 1.0);
    a->p_largest = larger / (o->ncal + 1.0);
    a->p = as_rare / (o->ncal + 1.0);
}

int ood_query(const struct ood *o, const double *x, struct ood_answer *out, nami_err *err)
{
    struct ood_answer *a = out;
    *a = (struct ood_answer){.p = NAN};
    for (int j = 0; j < o->k; j++)
        if (!isfinite(x[j]))
            return err_set(err, NAMI_EINPUT, "scalar %d of the data is not finite", j + 1);
    double *y = raw_array(double, o->k), largest;
    if (!y) return err_nomem(err);
    distances(o, x, 1, y, &a->distance, &largest);
    calibrate(o, largest, a);
    if (o->factor) dense_upper(o->k, o->factor, y); /* R^-1 y */
    for (int j = 0; j < o->k; j++) {
        struct ood_scalar s = {j, robust_z(o, j, x[j]), o->factor ? y[j] * o->given_sd[j] : 0};
        int at = a->ntop;
        double size = fmax(fabs(s.z), fabs(s.given));
        while (at > 0 && size > fmax(fabs(a->top[at - 1].z), fabs(a->top[at - 1].given))) at--;
        if (at == OOD_TOP) continue;
        if (a->ntop < OOD_TOP) a->ntop++;
        for (int i = a->ntop - 1; i > at; i--) a->top[i] = a->top[i - 1];
        a->top[at] = s;
    }
    free(y);
    return 0;
}

void ood_free(struct ood *o)
{
    free(o->centre);
    free(o->scale);
    free(o->mean);
    free(o->sd);
    free(o->factor);
    free(o->given_sd);
    free(o->distance);
    free(o->largest);
    free(o->further);
    free(o->larger);
    *o = (struct ood){0};
}
