/* c2st.c: classifier two-sample test by ridge logistic regression on selected features,
   cross-validated. */
#include "infer/c2st.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/vec.h"
#include "infer/dense.h"
#include "infer/sims.h"
#include "infer/uniform.h"

enum { CAP = 160, FEW = 10, PAIRS_EACH = 10, ROUNDS = 25, FOLDS = 5, MOST_COLUMNS = 500 };
static const double RIDGE = 5;

/* A feature: column i, or the product of columns i and j. */
struct feature {
    int i, j; /* j = -1: none */
    double tells, mean, scale;
};

struct bench {
    int n, k;      /* pairs, columns; pair p is rows 2 p (of a) and 2 p + 1 (of b) */
    double *x;     /* (2 n, k): standardized columns */
    int ncand, nf; /* number of candidate features; of selected ones, followed by the constant */
    struct feature *f;
    int *pair;           /* (n): training pairs, then test pairs */
    double *row;         /* (2 n, nf + 1): features, in the order of `pair` */
    double *beta, *step; /* (nf + 1) */
    double *hess;        /* (nf + 1)^2 */
    struct rng rng;
};

static double value(const struct bench *b, const struct feature *f, int row)
{
    const double *x = b->x + (size_t)row * (size_t)b->k;
    return f->j < 0 ? x[f->i] : x[f->i] * x[f->j];
}

static int by_tells(const void *a, const void *b)
{
    const struct feature *f = a, *g = b;
    if (f->tells != g->tells) return f->tells < g->tells ? 1 : -1;
    return f->i != g->i ? f->i - g->i : f->j - g->j;
}

/* Sorts features by how well they discriminate the first `ntrain` pairs (Student's t of the
   differences), and standardizes them. Uses no other pairs. */
static void choose(struct bench *b, int ntrain, int ntry)
{
    for (int c = 0; c < b->ncand; c++) {
        struct feature *f = &b->f[c];
        double sum = 0, square = 0, d1 = 0, d2 = 0;
        for (int p = 0; p < ntrain; p++) {
            double u = value(b, f, 2 * b->pair[p]), v = value(b, f, 2 * b->pair[p] + 1);
            sum += u + v;
            square += u * u + v * v;
            d1 += u - v;
            d2 += (u - v) * (u - v);
        }
        f->mean = sum / (2 * ntrain);
        double var = square / (2 * ntrain) - f->mean * f->mean;
        f->scale = var > 1e-12 ? 1 / sqrt(var) : 0;
        f->tells = d2 > 0 ? d1 * d1 / d2 : 0; /* grows with t */
    }
    b->nf = ntrain / PAIRS_EACH < FEW ? FEW : ntrain / PAIRS_EACH < CAP ? ntrain / PAIRS_EACH : CAP;
    if (b->nf > b->ncand) b->nf = b->ncand;
    if (b->ncand > b->nf) qsort(b->f, (size_t)b->ncand, sizeof *b->f, by_tells);
    size_t nf = (size_t)b->nf;
    for (int p = 0; p < ntrain + ntry; p++)
        for (int side = 0; side < 2; side++) {
            double *r = b->row + (size_t)(2 * p + side) * (nf + 1);
            for (size_t c = 0; c < nf; c++)
                r[c] = (value(b, &b->f[c], 2 * b->pair[p] + side) - b->f[c].mean) * b->f[c].scale;
            r[nf] = 1;
        }
}

static double score(const struct bench *b, int row)
{
    const double *r = b->row + (size_t)row * (size_t)(b->nf + 1);
    double s = 0;
    for (int c = 0; c <= b->nf; c++) s += r[c] * b->beta[c];
    return s;
}

/* The loss of beta: sum of log(1 + exp(-+score)) over the training rows, and the ridge. */
static double loss(const struct bench *b, int ntrain)
{
    double sum = 0;
    for (int c = 0; c <= b->nf; c++) sum += RIDGE / 2 * b->beta[c] * b->beta[c];
    for (int r = 0; r < 2 * ntrain; r++) {
        double s = r % 2 ? score(b, r) : -score(b, r);
        sum += (s > 0 ? s : 0) + log1p(exp(-fabs(s)));
    }
    return sum;
}

/* Newton's method with step halving. */
static void fit(struct bench *b, int ntrain)
{
    int n = b->nf + 1;
    memset(b->beta, 0, (size_t)n * sizeof *b->beta);
    double now = loss(b, ntrain);
    for (int round = 0; round < ROUNDS; round++) {
        memset(b->hess, 0, (size_t)n * (size_t)n * sizeof *b->hess);
        for (int c = 0; c < n; c++) {
            b->hess[(size_t)c * (size_t)(n + 1)] = RIDGE;
            b->step[c] = -RIDGE * b->beta[c];
        }
        for (int r = 0; r < 2 * ntrain; r++) {
            const double *x = b->row + (size_t)r * (size_t)n;
            double p = 1 / (1 + exp(-score(b, r))), w = p * (1 - p), e = (r % 2 == 0) - p;
            for (int c = 0; c < n; c++) {
                double *h = b->hess + (size_t)c * (size_t)n, wx = w * x[c];
                b->step[c] += e * x[c];
                for (int l = 0; l <= c; l++) h[l] += wx * x[l];
            }
        }
        if (dense_chol(n, b->hess)) return; /* impossible because of the ridge */
        dense_lower(n, b->hess, b->step);
        dense_upper(n, b->hess, b->step);
        double was = now, t = 1;
        for (int c = 0; c < n; c++) b->beta[c] += b->step[c];
        while (!((now = loss(b, ntrain)) <= was) && t > 1e-6) {
            t /= 2;
            for (int c = 0; c < n; c++) b->beta[c] -= t * b->step[c];
        }
        if (was - now < 1e-6) return;
    }
}

/* Trains on pairs outside [from, to), or only before it, and tests those in it. */
static void one_fold(struct bench *b, const int *order, int from, int to, int before,
                     struct c2st *out)
{
    int ntrain = 0;
    for (int p = 0; p < from; p++) b->pair[ntrain++] = order[p];
    for (int p = to; !before && p < b->n; p++) b->pair[ntrain++] = order[p];
    for (int p = from, at = ntrain; p < to; p++) b->pair[at++] = order[p];
    choose(b, ntrain, to - from);
    fit(b, ntrain);
    for (int p = ntrain; p < ntrain + to - from; p++) {
        double u = score(b, 2 * p), v = score(b, 2 * p + 1);
        if (before) {
            out->wins += u != v ? u > v : (int)rng_below(&b->rng, 2);
            out->n++;
        } else
            out->accuracy += ((u > 0) + (v < 0) + (u == 0) * 0.5 + (v == 0) * 0.5) / (2 * b->n);
    }
}

/* Rows of both samples, paired, standardized by both together. */
static int load(struct bench *b, const double *side[2], const int *len, int *const *pick)
{
    double *all = raw_array(double, 2 * (size_t)b->n);
    int bad = 0;
    if (!all) return -1;
    for (int j = 0; j < b->k; j++) {
        double mean, sd;
        for (int r = 0; r < 2 * b->n; r++)
            all[r] = side[r % 2][(size_t)j * (size_t)len[r % 2] + (size_t)pick[r % 2][r / 2]];
        sims_moments(all, 2 * b->n, &mean, &sd);
        if (isnan(sd) && !bad) bad = j + 1;
        for (int r = 0; r < 2 * b->n; r++)
            b->x[(size_t)r * (size_t)b->k + (size_t)j] = sd > 0 ? (all[r] - mean) / sd : 0;
    }
    free(all);
    return bad;
}

static int allocate(struct bench *b)
{
    size_t n = (size_t)b->n, k = (size_t)b->k, f;
    b->ncand = (int)(k + k * (k + 1) / 2);
    f = (size_t)(b->ncand < CAP ? b->ncand : CAP) + 1;
    b->x = raw_array(double, 2 * n * k);
    b->f = raw_array(struct feature, b->ncand);
    b->pair = raw_array(int, n);
    b->row = raw_array(double, 2 * n * f);
    b->beta = new_array(double, f);
    b->step = new_array(double, f);
    b->hess = new_array(double, f *f);
    if (!b->x || !b->f || !b->pair || !b->row || !b->beta || !b->step || !b->hess) return -1;
    int c = 0;
    for (int i = 0; i < b->k; i++) b->f[c++] = (struct feature){.i = i, .j = -1};
    for (int i = 0; i < b->k; i++)
        for (int j = i; j < b->k; j++) b->f[c++] = (struct feature){.i = i, .j = j};
    return 0;
}

int c2st_run(const double *a, int na, const double *b, int nb, int k, int paired, int folds,
             uint64_t seed, struct c2st *out, nami_err *err)
{
    struct bench t = {.n = na < nb ? na : nb, .k = k};
    int rc = 0, len[2] = {na, nb}, *pick[2] = {NULL, NULL}, *order = NULL;
    const double *side[2] = {a, b};
    *out = (struct c2st){0};
    if (!folds) folds = FOLDS;
    if (k < 1 || folds < 2 || folds > 20 || t.n < 2 * folds || (paired && na != nb))
        return err_set(err, NAMI_EUSAGE,
                       "the two-sample test needs columns, 2 to 20 folds, and "
                       "two rows of each sample a fold");
    if (k > MOST_COLUMNS)
        return err_set(err, NAMI_ELIMIT, "the two-sample test takes at most %d columns, not %d",
                       MOST_COLUMNS, k);
    pick[0] = raw_array(int, na);
    pick[1] = raw_array(int, nb);
    order = raw_array(int, t.n);
    if (!pick[0] || !pick[1] || !order || allocate(&t)) {
        rc = err_nomem(err);
        goto out;
    }
    rng_init(&t.rng, seed, 2);
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < len[s]; i++) pick[s][i] = i;
        if (!paired) rng_shuffle(&t.rng, pick[s], len[s]);
    }
    for (int i = 0; i < t.n; i++) order[i] = i;
    rng_shuffle(&t.rng, order, t.n);
    int bad = load(&t, side, len, pick);
    if (bad) {
        rc = bad < 0 ? err_nomem(err)
                     : err_set(err, NAMI_EINPUT, "column %d has values that are not finite", bad);
        goto out;
    }
    for (int f = 0; f < folds; f++) {
        int from = (int)((int64_t)t.n * f / folds), to = (int)((int64_t)t.n * (f + 1) / folds);
        one_fold(&t, order, from, to, 0, out);
        if (f) one_fold(&t, order, from, to, 1, out);
    }
    out->p = binomial_upper(out->n, 0.5, 0.5, out->wins);
out:
    free(pick[0]);
    free(pick[1]);
    free(order);
    free(t.x);
    free(t.f);
    free(t.pair);
    free(t.row);
    free(t.beta);
    free(t.step);
    free(t.hess);
    return rc;
}
