/* weights.c: importance weights: Pareto smoothing, k-hat, effective sample size, evidence. */
#include "infer/weights.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"

static double largest(size_t n, const double *x)
{
    double max = -INFINITY;
    for (size_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    return max;
}

double weights_normalise(size_t n, double *logw)
{
    double max = largest(n, logw), sum = 0;
    if (max == -INFINITY) return max;
    for (size_t i = 0; i < n; i++) sum += exp(logw[i] - max);
    double log_sum = max + log(sum);
    for (size_t i = 0; i < n; i++) logw[i] -= log_sum;
    return log_sum;
}

double weights_ess(size_t n, const double *logw)
{
    double max = largest(n, logw), sum = 0, sum2 = 0;
    if (max == -INFINITY) return 0;
    for (size_t i = 0; i < n; i++) {
        double w = exp(logw[i] - max);
        sum += w;
        sum2 += w * w;
    }
    return sum / sum2 * sum;
}

double weights_log_mean(size_t n, const double *logw, double *se)
{
    double max = largest(n, logw), mean = 0, var = 0;
    *se = INFINITY;
    if (max == -INFINITY) return max;
    for (size_t i = 0; i < n; i++) mean += exp(logw[i] - max);
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = exp(logw[i] - max) - mean;
        var += d * d;
    }
    if (n > 1) *se = sqrt(var / (double)(n - 1) / (double)n) / mean;
    return max + log(mean);
}

double khat_limit(size_t n) { return n > 1 ? fmin(1 - 1 / log10((double)n), 0.7) : -INFINITY; }

/* ---- the generalized Pareto distribution -------------------------------------------- */

/* With theta = -k / sigma, the likelihood is largest at k(theta) = mean log(1 - theta x). */
static double shape_at(double theta, size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += log1p(-theta * x[i]);
    return sum / (double)n;
}

/* 1/sigma = -theta / k(theta); at theta = 0 it is 1 / mean x, the exponential distribution. */
static double rate_at(double theta, double k, size_t n, const double *x)
{
    double sum = 0;
    if (theta != 0 && k != 0) return -theta / k;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return (double)n / sum;
}

/* The mean of theta under its profile likelihood and a prior scaled by the data, on a grid of m
   quantiles of that prior: Zhang and Stephens, (3) to (6). */
void gpd_fit(size_t n, const double *x, double *k, double *sigma)
{
    size_t m = 30 + (size_t)sqrt((double)n);
    double quartile = x[(size_t)((double)n / 4 + 0.5) - 1];
    double max = -INFINITY, weight = 0, theta = 0;
    for (size_t j = 0; j < m; j++) {
        double t = 1 / x[n - 1] + (1 - sqrt((double)m / ((double)j + 0.5))) / (3 * quartile);
        double kt = shape_at(t, n, x), l = (double)n * (log(rate_at(t, kt, n, x)) - kt - 1);
        if (l > max) { /* sums so far, on the new scale */
            weight *= exp(max - l);
            theta *= exp(max - l);
            max = l;
        }
        weight += exp(l - max);
        theta += t * exp(l - max);
    }
    theta /= weight;
    *k = shape_at(theta, n, x);
    *sigma = 1 / rate_at(theta, *k, n, x);
}

static double gpd_quantile(double p, double k, double sigma)
{
    double l = -log1p(-p);
    return sigma * (k != 0 ? expm1(k * l) / k : l);
}

/* ---- Pareto smoothing --------------------------------------------------------------- */

enum { TAIL_MIN = 5 };
static const double TWICE = 2;    /* see struct psis */
static const double EQUAL = 1e-8; /* weights that differ by less are equal: rounding errors */

struct at {
    double logw;
    size_t i;
};

static int less(const struct at *a, const struct at *b)
{
    return a->logw < b->logw || (a->logw == b->logw && a->i < b->i);
}

static int by_weight(const void *a, const void *b) { return less(a, b) ? -1 : less(b, a); }

/* Restores the heap h[n] with minimum h[0] after h[0] has changed. */
static void sink(struct at *h, size_t n)
{
    struct at x = h[0];
    size_t i = 0, c;
    for (; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && less(&h[c + 1], &h[c])) c++;
        if (!less(&h[c], &x)) break;
        h[i] = h[c];
    }
    h[i] = x;
}

/* The m largest of n > m, increasing. */
static void take_largest(size_t n, const double *logw, size_t m, struct at *h)
{
    for (size_t i = 0; i < m; i++) h[i] = (struct at){logw[i], i};
    qsort(h, m, sizeof *h, by_weight); /* is a heap */
    for (size_t i = m; i < n; i++)
        if (logw[i] > h[0].logw) {
            h[0] = (struct at){logw[i], i};
            sink(h, m);
        }
    qsort(h, m, sizeof *h, by_weight);
}

/* h[0] is the cutoff, h[m - 1] the largest; x: space for m. */
static void smooth(size_t m, const struct at *h, double log_mean, double *x, double *logw,
                   struct psis *out)
{
    double max = h[m - 1].logw,
           cut = fmax(h[0].logw - max, -650); /* below this, exp loses precision */
    double w_cut = exp(cut), k, sigma;
    size_t n = 0; /* those strictly above the cutoff are the last n */
    while (n < m - 1 && exp(h[m - 1 - n].logw - max) > w_cut) n++;
    if (1 - w_cut < EQUAL) { /* unless they are equal only by rounding */
        if (fabs(max) * DBL_EPSILON < EQUAL) out->khat = NO_TAIL;
        return;
    }
    if (max < log_mean + log(TWICE)) { /* there is no tail */
        out->khat = NO_TAIL;
        return;
    }
    if (n < TAIL_MIN) return;
    for (size_t i = 0; i < n; i++) x[i] = exp(h[m - n + i].logw - max) - w_cut;
    gpd_fit(n, x, &k, &sigma);
    k = ((double)n * k + 10 * 0.5) /
        ((double)n + 10); /* weak prior: as if 10 additional draws gave k = 0.5 */
    if (!isfinite(k) || !isfinite(sigma)) return;
    out->khat = k;
    out->tail = n;
    for (size_t i = 0; i < n; i++) {
        double q = gpd_quantile(((double)i + 0.5) / (double)n, k, sigma);
        logw[h[m - n + i].i] = max + fmin(log(w_cut + q), 0);
    }
}

int psis(size_t n, double *logw, struct psis *out, nami_err *err)
{
    *out = (struct psis){.khat = INFINITY, .log_mean = -INFINITY};
    for (size_t i = 0; i < n; i++)
        if (!(logw[i] < WEIGHTS_VANISH))
            return err_set(err, NAMI_EINPUT,
                           "the log weight of draw %zu, log p(x, z) - log q(z | x), is %s: the "
                           "network is damaged, or the model's density is not finite",
                           i + 1, isnan(logw[i]) ? "NaN" : "infinite, or as good as");
    size_t tail = (size_t)ceil(fmin(0.2 * (double)n, 3 * sqrt((double)n)));
    if (tail >= TAIL_MIN && largest(n, logw) > -INFINITY) {
        struct at *h = raw_array(struct at, tail + 1);
        double *x = raw_array(double, tail + 1), se;
        if (h && x) {
            take_largest(n, logw, tail + 1, h);
            smooth(tail + 1, h, weights_log_mean(n, logw, &se), x, logw, out);
        }
        int ok = h && x;
        free(h);
        free(x);
        if (!ok) return err_nomem(err);
    }
    out->log_mean = weights_normalise(n, logw) - log((double)n);
    return 0;
}
