/* chains.c: R-hat and effective sample sizes of Markov chains. */
#include "infer/chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/normal.h"
#include "base/vec.h"
#include "infer/summary.h"

/* Half-chains, one after the other: (num, length). */
struct halves {
    size_t num, length;
    double *x;
};

static double mean_of(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* Variance between half-chains, times their length, and within. */
static void variances(const struct halves *h, double *between, double *within)
{
    double mean = mean_of(h->num * h->length, h->x), n = (double)h->length;
    *between = *within = 0;
    for (size_t k = 0; k < h->num; k++) {
        const double *x = h->x + k * h->length;
        double m = mean_of(h->length, x);
        *between += n * (m - mean) * (m - mean) / (double)(h->num - 1);
        for (size_t i = 0; i < h->length; i++)
            *within += (x[i] - m) * (x[i] - m) / (n - 1) / (double)h->num;
    }
}

static double rhat_of(const struct halves *h)
{
    double between, within, n = (double)h->length;
    variances(h, &between, &within);
    if (within > 0) return sqrt((n - 1) / n + between / within / n);
    return between > 0 ? INFINITY : 1;
}

/* Autocovariance at lag t, mean over half-chains; m: their means. */
static double covariance(const struct halves *h, const double *m, size_t t)
{
    double sum = 0;
    for (size_t k = 0; k < h->num; k++) {
        const double *x = h->x + k * h->length;
        for (size_t i = 0; i + t < h->length; i++) sum += (x[i] - m[k]) * (x[i + t] - m[k]);
    }
    return sum / (double)(h->num * h->length);
}

/* Geyer's initial monotone sequence: correlations are summed in pairs while these are positive and
   decrease. */
static double ess_of(const struct halves *h, double *m)
{
    double between, within, n = (double)h->length, all = n * (double)h->num, sum = 0, least = 2;
    variances(h, &between, &within);
    if (!(within > 0)) return between > 0 ? 1 : all;
    double total = (n - 1) / n * within + between / n;
    for (size_t k = 0; k < h->num; k++) m[k] = mean_of(h->length, h->x + k * h->length);
    for (size_t t = 0; t + 1 < h->length; t += 2) {
        double pair = 0;
        for (size_t s = t; s < t + 2; s++)
            pair += s ? 1 - (within - covariance(h, m, s) * n / (n - 1)) / total : 1;
        if (!(pair > 0)) break;
        least = fmin(least, pair);
        sum += least;
    }
    double tau = fmax(2 * sum - 1, 1 / log10(all)); /* antithetic chains: not beyond n log10 n */
    return all / tau;
}

/* ---- transformations ----------------------------------------------------------------------- */

/* x -> normal quantiles of its ranks; ties get their mean rank. */
static void normalize_ranks(size_t n, double *x, struct weighted *work)
{
    for (size_t i = 0; i < n; i++) work[i] = (struct weighted){x[i], (double)i};
    struct weighted *d = weighted_sort(n, work, work + n);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && d[k].x == d[i].x; k++) continue;
        double rank = (double)(i + 1 + k) / 2;
        for (size_t j = i; j < k; j++)
            x[(size_t)d[j].w] = normal_quantile((rank - 0.375) / ((double)n + 0.25));
    }
}

static double quantile(size_t n, const double *x, double p, struct weighted *work)
{
    for (size_t i = 0; i < n; i++) work[i] = (struct weighted){x[i], 0};
    double at = p * (double)(n - 1);
    const struct weighted *d = weighted_sort(n, work, work + n);
    size_t i = (size_t)at;
    return i + 1 < n ? d[i].x + (at - (double)i) * (d[i + 1].x - d[i].x) : d[i].x;
}

/* ---- all ----------------------------------------------------------------------------------- */

/* The effective size for the probability of x <= its quantile p. */
static double tail_ess(struct halves *h, const double *x, double p, double *m, struct weighted *w)
{
    size_t n = h->num * h->length;
    double q = quantile(n, x, p, w);
    for (size_t i = 0; i < n; i++) h->x[i] = x[i] <= q;
    return ess_of(h, m);
}

static void stats(struct halves *h, const double *x, double *m, struct weighted *w,
                  struct chain_stats *out)
{
    size_t n = h->num * h->length;
    memcpy(h->x, x, sizeof *x * n);
    out->mean = ess_of(h, m);
    normalize_ranks(n, h->x, w);
    out->rhat = rhat_of(h);
    out->bulk = ess_of(h, m);
    double median = quantile(n, x, 0.5, w);
    for (size_t i = 0; i < n; i++) h->x[i] = fabs(x[i] - median);
    normalize_ranks(n, h->x, w);
    out->rhat = fmax(out->rhat, rhat_of(h));
    out->tail = fmin(tail_ess(h, x, 0.05, m, w), tail_ess(h, x, 0.95, m, w));
}

int chain_stats(size_t n, const double *x, size_t stride, size_t chains, struct chain_stats *out,
                nami_err *err)
{
    size_t each = n / chains, half = each / 2;
    struct halves h = {2 * chains, half, raw_array(double, 2 * chains * half + 1)};
    double *copy = raw_array(double, 2 * chains * half + 1), *m = raw_array(double, 2 * chains);
    struct weighted *w = raw_array(struct weighted, 4 * chains * half + 1);
    int rc = h.x && copy && m && w ? 0 : err_nomem(err), finite = 1;
    for (size_t k = 0; k < 2 * chains && !rc; k++)
        for (size_t i = 0; i < half; i++) {
            size_t at = k / 2 * each + (k % 2 ? each - half : 0) + i;
            copy[k * half + i] = x[at * stride];
            finite &= isfinite(x[at * stride]) != 0;
        }
    if (!rc && finite && half > 3)
        stats(&h, copy, m, w, out);
    else
        *out = (struct chain_stats){INFINITY, 1, 1, 1};
    free(h.x), free(copy), free(m), free(w);
    return rc;
}

int chains_agree(const struct diagnostics *d) { return d->rhat < RHAT_LIMIT && d->ess >= CHAINS_ESS; }

int summarise_chains(size_t n, const double *x, size_t chains, struct summary *out, nami_err *err)
{
    struct chain_stats s;
    int rc = chain_stats(n, x, 1, chains, &s, err);
    if (rc) return rc;
    out->ess = fmin(s.mean, (double)n);
    out->mcse = out->sd / sqrt(out->ess);
    return 0;
}
