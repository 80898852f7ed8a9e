/* sims.c: the rank of true values among weighted posterior draws (the probability integral
   transform), with random tie-breaking. */
#include "infer/sims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stream.h"
#include "base/vec.h"

/* The weights of set i, the largest scaled to 1. */
static int scale_set(const struct sims *s, size_t i, struct sims_weights *out)
{
    size_t n = (size_t)s->n;
    double top = s->logw0 ? s->logw0[i] : -INFINITY, sum = 0, squares = 0;
    for (size_t m = 0; m < (size_t)s->m; m++) {
        double v = s->logw[m * n + i];
        top = v > top || isnan(v) ? v : top;
        if (isnan(top)) return -1;
    }
    if (!isfinite(top)) return -1;
    for (size_t m = 0; m < (size_t)s->m; m++) {
        double w = exp(s->logw[m * n + i] - top);
        out->w[m * n + i] = w;
        sum += w;
        squares += w * w;
    }
    out->total[i] = sum;
    out->w0[i] = s->logw0 ? exp(s->logw0[i] - top) : squares / sum;
    return 0;
}

int sims_weights(const struct sims *s, struct sims_weights *out, nami_err *err)
{
    *out = (struct sims_weights){.s = s};
    if (s->d < 1 || s->m < 1 || s->n < 1)
        return err_set(err, NAMI_EUSAGE, "diagnostics need at least one scalar, draw and data set");
    size_t n = (size_t)s->n, rows = s->logw ? (size_t)s->m : 1;
    out->w = raw_array(double, rows *n);
    out->w0 = raw_array(double, n);
    out->total = raw_array(double, n);
    if (!out->w || !out->w0 || !out->total) {
        sims_weights_free(out);
        return err_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (!s->logw) {
            out->w[i] = out->w0[i] = 1;
            out->total[i] = s->m;
        } else if (scale_set(s, i, out)) {
            sims_weights_free(out);
            return err_set(err, NAMI_EINPUT, "data set %zu: its weights are zero or not numbers",
                           i + 1);
        }
    }
    return 0;
}

void sims_weights_free(struct sims_weights *w)
{
    free(w->w);
    free(w->w0);
    free(w->total);
    *w = (struct sims_weights){0};
}

int sims_place(const struct sims_weights *w, const double *truth, const double *draws,
               uint64_t seed, uint32_t which, const char *what, double *u, nami_err *err)
{
    int n = w->s->n;
    double *below = new_array(double, n), *tied = new_array(double, n);
    int *bad = new_array(int, n), rc = 0;
    if (!below || !tied || !bad) {
        rc = err_nomem(err);
        goto out;
    }
    for (int m = 0; m < w->s->m; m++) {
        const double *z = draws + (size_t)m * (size_t)n, *wm = sims_weights_of(w, m);
        for (int i = 0; i < n; i++) {
            below[i] += z[i] < truth[i] ? wm[i] : 0;
            tied[i] += z[i] == truth[i] ? wm[i] : 0;
            bad[i] |= z[i] != z[i];
        }
    }
    stream_uniform(&(struct stream){seed, which, 0}, n, u);
    for (int i = 0; i < n; i++) {
        if (bad[i] || isnan(truth[i])) {
            rc = err_set(err, NAMI_EINPUT, "data set %d: %s is not a number", i + 1, what);
            goto out;
        }
        u[i] = (below[i] + u[i] * (w->w0[i] + tied[i])) / (w->w0[i] + w->total[i]);
        if (!(u[i] < 1)) u[i] = nextafter(1, 0); /* different summation order */
    }
out:
    free(below);
    free(tied);
    free(bad);
    return rc;
}

int sims_pit(const struct sims *s, uint64_t seed, double *u, nami_err *err)
{
    struct sims_weights w;
    int rc = sims_weights(s, &w, err);
    size_t n = (size_t)s->n, m = (size_t)s->m;
    for (int k = 0; !rc && k < s->d; k++) {
        char what[32];
        snprintf(what, sizeof what, "scalar %d", k + 1);
        rc = sims_place(&w, s->theta + (size_t)k * n, s->z + (size_t)k * m * n, seed, (uint32_t)k,
                        what, u + (size_t)k * n, err);
    }
    sims_weights_free(&w);
    return rc;
}

void sims_moments(const double *x, size_t n, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += (x[i] - *mean) * (x[i] - *mean);
    *sd = sqrt(squares / (double)n);
    if (!isfinite(*mean) || !isfinite(*sd)) *mean = *sd = NAN;
}
