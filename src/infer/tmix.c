/* tmix.c: mixtures of Student t distributions: fit by EM, draws, densities. */
#include "infer/tmix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/dense.h"

static const double NU = 8;        /* degrees of freedom: tails heavier than most posteriors' */
static const double INFLATE = 1.1; /* of the fitted covariance */
enum { ROUNDS = 30, MOST = 2048 }; /* of EM; points that it uses */
static const int sizes[] = {1, 2, 3, 4, 6, 8, 12};

/* ---- normal mixtures by EM ----------------------------------------------------------------- */

struct em {
    int d, k;
    size_t n;
    const double *x;                /* (n, d) points, equally weighted, standardized */
    double worth;                   /* as many independent points */
    double *resp;                   /* (k, n) log densities, then responsibilities */
    double *lw, *mean, *cov, *chol; /* (k), (k, d), (k, d, d) twice */
    double *work;                   /* (d) */
};

static double log_normal(int d, const double *x, const double *mean, const double *chol,
                         double *work)
{
    double sum = 0;
    for (int k = 0; k < d; k++) work[k] = x[k] - mean[k];
    dense_lower(d, chol, work);
    for (int k = 0; k < d; k++) sum += work[k] * work[k];
    return -0.5 * (sum + dense_logdet(d, chol) + d * log(2 * M_PI));
}

/* Mean log density of the points; responsibilities. -inf if a covariance is singular. */
static double expect(struct em *e)
{
    size_t dd = (size_t)e->d * (size_t)e->d;
    double total = 0;
    for (int c = 0; c < e->k; c++) {
        memcpy(e->chol + (size_t)c * dd, e->cov + (size_t)c * dd, sizeof *e->cov * dd);
        if (dense_chol(e->d, e->chol + (size_t)c * dd)) return -INFINITY;
        for (size_t i = 0; i < e->n; i++)
            e->resp[(size_t)c * e->n + i] =
                e->lw[c] + log_normal(e->d, e->x + i * (size_t)e->d,
                                      e->mean + (size_t)c * (size_t)e->d, e->chol + (size_t)c * dd,
                                      e->work);
    }
    for (size_t i = 0; i < e->n; i++) {
        double max = -INFINITY, sum = 0;
        for (int c = 0; c < e->k; c++) max = fmax(max, e->resp[(size_t)c * e->n + i]);
        for (int c = 0; c < e->k; c++) sum += exp(e->resp[(size_t)c * e->n + i] - max);
        for (int c = 0; c < e->k; c++) {
            double *r = &e->resp[(size_t)c * e->n + i];
            *r = exp(*r - max) / sum;
        }
        total += max + log(sum);
    }
    return total / (double)e->n;
}

/* Means and covariances by responsibilities; covariances are shrunk a little towards a small
   multiple of the identity, which is the covariance of all points. */
static void maximize(struct em *e)
{
    size_t d = (size_t)e->d;
    double prior = (double)(d + 1) / 2 * (double)e->n / e->worth, ref = 0.5 / (e->k * e->k);
    for (int c = 0; c < e->k; c++) {
        const double *r = e->resp + (size_t)c * e->n;
        double *mean = e->mean + (size_t)c * d, *cov = e->cov + (size_t)c * d * d, sum = 1e-9;
        memset(mean, 0, sizeof *mean * d);
        memset(cov, 0, sizeof *cov * d * d);
        for (size_t i = 0; i < e->n; i++) {
            sum += r[i];
            for (size_t k = 0; k < d; k++) mean[k] += r[i] * e->x[i * d + k];
        }
        for (size_t k = 0; k < d; k++) mean[k] /= sum;
        for (size_t i = 0; i < e->n; i++) {
            if (r[i] < 1e-12) continue;
            for (size_t k = 0; k < d; k++) e->work[k] = e->x[i * d + k] - mean[k];
            for (size_t k = 0; k < d; k++)
                for (size_t j = 0; j <= k; j++) cov[k * d + j] += r[i] * e->work[k] * e->work[j];
        }
        for (size_t k = 0; k < d; k++) cov[k * d + k] += prior * ref;
        for (size_t k = 0; k < d * d; k++) cov[k] /= sum + prior;
        e->lw[c] = log(sum / (double)e->n);
    }
}

/* Centers far from each other (k-means++), points to the nearest. */
static void begin(struct em *e, struct rng *r)
{
    size_t d = (size_t)e->d, n = e->n;
    double *best = e->resp + (size_t)(e->k - 1) * n; /* squared distance to the nearest center */
    for (size_t i = 0; i < n; i++) best[i] = 1;
    for (int c = 0; c < e->k; c++) {
        double sum = 0, u = rng_unit(r);
        size_t pick = 0;
        for (size_t i = 0; i < n; i++) sum += best[i];
        for (u *= sum; pick + 1 < n && u >= best[pick]; pick++) u -= best[pick];
        memcpy(e->mean + (size_t)c * d, e->x + pick * d, sizeof *e->mean * d);
        for (size_t i = 0; i < n; i++) {
            double far = 0;
            for (size_t k = 0; k < d; k++) {
                double x = e->x[i * d + k] - e->mean[(size_t)c * d + k];
                far += x * x;
            }
            if (c == 0 || far < best[i]) best[i] = far;
        }
    }
    for (size_t i = 0; i < n; i++) {
        int near = 0;
        double least = INFINITY;
        for (int c = 0; c < e->k; c++) {
            double far = 0;
            for (size_t k = 0; k < d; k++) {
                double x = e->x[i * d + k] - e->mean[(size_t)c * d + k];
                far += x * x;
            }
            if (far < least) least = far, near = c;
        }
        for (int c = 0; c < e->k; c++) e->resp[(size_t)c * n + i] = c == near;
    }
}

/* Log likelihood of as many points as the weights are worth, minus the number of parameters (as AIC
   has it); larger is better, -inf if it fails. */
static double em_run(struct em *e, struct rng *r)
{
    double score = -INFINITY, d = e->d;
    begin(e, r);
    for (int round = 0; round < ROUNDS; round++) {
        maximize(e);
        double now = expect(e);
        if (!(now > -INFINITY)) return -INFINITY;
        if (now < score + 1e-4) break;
        score = now;
    }
    return e->worth * score - (e->k * (1 + d + d * (d + 1) / 2) - 1);
}

/* ---- the fit ------------------------------------------------------------------------------- */

/* Systematic resampling to equally weighted points. */
static void resample(size_t n, const double *weight, size_t m, size_t *pick)
{
    double sum = 0;
    for (size_t i = 0, k = 0; i < n && k < m; i++)
        for (sum += weight[i]; k < m && ((double)k + 0.5) / (double)m < sum;) pick[k++] = i;
    /* rounding at the end */
    for (size_t k = m; k-- > 0;)
        if (pick[k] >= n) pick[k] = n - 1;
}

static int keep(struct tmix *t, const struct em *e, const double *center, const double *scale)
{
    size_t d = (size_t)e->d, k = (size_t)e->k;
    arena_free(&t->mem);
    t->num_comps = e->k;
    t->log_weight = arena_array(&t->mem, double, k);
    t->mean = arena_array(&t->mem, double, k *d);
    t->chol = arena_array(&t->mem, double, k *d *d);
    if (!t->log_weight || !t->mean || !t->chol) return NAMI_ENOMEM;
    double widen = sqrt(INFLATE * (NU - 2) / NU);
    for (size_t c = 0; c < k; c++) {
        t->log_weight[c] = e->lw[c];
        for (size_t j = 0; j < d; j++) {
            t->mean[c * d + j] = center[j] + scale[j] * e->mean[c * d + j];
            for (size_t l = 0; l <= j; l++)
                t->chol[(c * d + j) * d + l] = widen * scale[j] * e->chol[(c * d + j) * d + l];
        }
    }
    return 0;
}

static int standardize(int dim, size_t n, const double *u, const double *weight, size_t m,
                       const size_t *pick, double *center, double *scale, double *x)
{
    for (size_t k = 0; k < (size_t)dim; k++) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < n; i++) mean += weight[i] > 0 ? weight[i] * u[k * n + i] : 0;
        for (size_t i = 0; i < n; i++)
            if (weight[i] > 0) var += weight[i] * (u[k * n + i] - mean) * (u[k * n + i] - mean);
        if (!(var > 0) || !isfinite(var)) return NAMI_EINPUT;
        center[k] = mean;
        scale[k] = sqrt(var);
        for (size_t i = 0; i < m; i++)
            x[i * (size_t)dim + k] = (u[k * n + pick[i]] - mean) / scale[k];
    }
    return 0;
}

int tmix_fit(struct tmix *t, int dim, size_t n, const double *u, const double *weight,
             uint64_t seed, nami_err *err)
{
    enum { LARGEST = 12 };
    size_t d = (size_t)dim, m = n < MOST ? n : MOST, *pick = raw_array(size_t, m);
    double *x = raw_array(double, m *d), *center = raw_array(double, 2 * d), sum2 = 0;
    double best = -INFINITY;
    struct em e = {.d = dim, .n = m, .x = x};
    struct rng r;
    int rc = 0;
    *t = (struct tmix){.dim = dim};
    e.resp = raw_array(double, LARGEST *m);
    e.lw = raw_array(double, LARGEST);
    e.mean = raw_array(double, LARGEST *d);
    e.cov = raw_array(double, LARGEST *d *d);
    e.chol = raw_array(double, LARGEST *d *d);
    e.work = raw_array(double, d);
    if (!pick || !x || !center || !e.resp || !e.lw || !e.mean || !e.cov || !e.chol || !e.work)
        rc = err_nomem(err);
    for (size_t i = 0; i < n && !rc; i++) sum2 += weight[i] * weight[i];
    e.worth = fmin(1 / sum2, (double)m);
    if (!rc) {
        for (size_t i = 0; i < m; i++) pick[i] = n;
        resample(n, weight, m, pick);
        rc = standardize(dim, n, u, weight, m, pick, center, center + d, x);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && !rc; s++) {
        e.k = sizes[s];
        if (s && e.k * (1 + d + d * (d + 1) / 2) > e.worth) break;
        rng_init(&r, seed, s);
        double score = em_run(&e, &r);
        if (score > best) {
            best = score;
            if (keep(t, &e, center, center + d)) rc = err_nomem(err);
        } else if (s > 2) {
            break;
        }
    }
    if (!rc && !t->num_comps) rc = NAMI_EINPUT;
    free(pick), free(x), free(center);
    free(e.resp), free(e.lw), free(e.mean), free(e.cov), free(e.chol), free(e.work);
    return rc;
}

void tmix_free(struct tmix *t) { arena_free(&t->mem); }

/* ---- draws and densities --------------------------------------------------------------------- */

void tmix_draw(const struct tmix *t, const struct stream *s, size_t n, size_t stride, double *u)
{
    size_t d = (size_t)t->dim;
    for (size_t i = 0; i < n; i++) {
        struct rng r;
        stream_rng(s, (int)i, &r);
        double x = rng_open(&r), chi = 0;
        int c = 0;
        for (; c + 1 < t->num_comps && x >= exp(t->log_weight[c]); c++) x -= exp(t->log_weight[c]);
        for (int k = 0; k < (int)NU; k++) {
            double z = rng_normal(&r);
            chi += z * z;
        }
        double widen = sqrt(NU / chi);
        const double *L = t->chol + (size_t)c * d * d;
        for (size_t k = 0; k < d; k++) u[k * stride + i] = t->mean[(size_t)c * d + k];
        for (size_t j = 0; j < d; j++) {
            double z = widen * rng_normal(&r);
            for (size_t k = j; k < d; k++) u[k * stride + i] += L[k * d + j] * z;
        }
    }
}

void tmix_logp(const struct tmix *t, size_t n, size_t stride, const double *u, double *work,
               double *logp)
{
    size_t d = (size_t)t->dim;
    double base = lgamma((NU + (double)d) / 2) - lgamma(NU / 2) - 0.5 * (double)d * log(NU * M_PI);
    for (size_t i = 0; i < n; i++) logp[i] = -INFINITY;
    for (int c = 0; c < t->num_comps; c++) {
        const double *L = t->chol + (size_t)c * d * d, *mean = t->mean + (size_t)c * d;
        double front = t->log_weight[c] + base - 0.5 * dense_logdet(t->dim, L);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) work[k] = u[k * stride + i] - mean[k];
            dense_lower(t->dim, L, work);
            for (size_t k = 0; k < d; k++) sum += work[k] * work[k];
            double x = front - (NU + (double)d) / 2 * log1p(sum / NU);
            double max = fmax(logp[i], x);
            logp[i] = max + log(exp(logp[i] - max) + exp(x - max));
        }
    }
}
