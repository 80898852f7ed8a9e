/* sbc.c: simulation-based calibration: ranks, histograms and ECDF tests of every scalar. */
#include "infer/sbc.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dist/math.h"

/* A divisor of m + 1 if possible, so that bins contain equal numbers of ranks. */
static int suitable_bins(int m, int n)
{
    int most = n / 10 < 5 ? 5 : n / 10 > 25 ? 25 : n / 10;
    if (most > m + 1) most = m + 1;
    for (int b = most; b >= most / 2 && b > 1; b--)
        if ((m + 1) % b == 0) return b;
    return most;
}

/* Simultaneous bounds of the counts of all bins of all scalars. */
static void bin_bounds(struct sbc *b)
{
    double p = 1.0 / b->nbin, q = 1 - p, tail = b->alpha / ((double)b->d * b->nbin) / 2;
    b->bin_lo = 0;
    while (binomial_lower(b->n, p, q, b->bin_lo) <= tail) b->bin_lo++;
    b->bin_hi = b->n;
    while (binomial_upper(b->n, p, q, b->bin_hi) <= tail) b->bin_hi--;
}

static void test_scalar(struct sbc *b, int k)
{
    size_t at = (size_t)k * (size_t)b->n;
    int *count = b->count + (size_t)k * (size_t)b->nbin;
    int *below = b->below + (size_t)k * (size_t)(b->band.k - 1);
    struct sbc_scalar *t = &b->scalar[k];
    for (int i = 0; i < b->n; i++) {
        double u = b->u[at + (size_t)i];
        b->rank[at + (size_t)i] = (int)(u * (b->m + 1.0));
        count[(int)(u * b->nbin)]++;
    }
    uniform_count(b->u + at, b->n, b->band.k, below);
    t->ecdf = uniform_test(&b->band, below);
    double expected = (double)b->n / b->nbin;
    for (int i = 0; i < b->nbin; i++) t->chi2 += pow(count[i] - expected, 2) / expected;
    t->chi2_p = b->nbin > 1 ? gamma_q((b->nbin - 1) / 2.0, t->chi2 / 2) : 1;
    b->p = fmin(b->p, b->d * t->ecdf.p);
    b->inside &= t->ecdf.inside;
}

int sbc_run(const struct sims *s, double alpha, int nbin, uint64_t seed, struct sbc *out,
            nami_err *err)
{
    struct sbc *b = out;
    *b = (struct sbc){.d = s->d, .m = s->m, .n = s->n, .alpha = alpha, .p = 1, .inside = 1};
    if (s->d < 1 || s->m < 1 || s->n < 1)
        return err_set(err, NAMI_EUSAGE, "diagnostics need at least one scalar, draw and data set");
    b->nbin = nbin > 0 ? nbin : suitable_bins(s->m, s->n);
    int rc = uniform_band(s->n, uniform_cells(s->m + 1), alpha / s->d, &b->band, err);
    if (rc) return rc;
    size_t d = (size_t)s->d;
    b->u = raw_array(double, d *(size_t)s->n);
    b->rank = raw_array(int, d *(size_t)s->n);
    b->below = raw_array(int, d *(size_t)b->band.k);
    b->count = new_array(int, d *(size_t)b->nbin);
    b->scalar = new_array(struct sbc_scalar, d);
    if (!b->u || !b->rank || !b->below || !b->count || !b->scalar) return err_nomem(err);
    if ((rc = sims_pit(s, seed, b->u, err))) return rc;
    bin_bounds(b);
    for (int k = 0; k < s->d; k++) test_scalar(b, k);
    return 0;
}

void sbc_free(struct sbc *b)
{
    uniform_band_free(&b->band);
    free(b->rank);
    free(b->u);
    free(b->below);
    free(b->count);
    free(b->scalar);
    *b = (struct sbc){0};
}
