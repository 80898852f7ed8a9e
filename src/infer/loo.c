/* loo.c: PSIS-LOO, differences between models, and stacking weights. */
#include "infer/loo.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/weights.h"

/* log sum exp(a + b); b NULL: 0 */
static double log_sum(size_t n, const double *a, const double *b)
{
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) max = fmax(max, a[i] + (b ? b[i] : 0));
    if (!(max > -INFINITY)) return max;
    for (size_t i = 0; i < n; i++) sum += exp(a[i] + (b ? b[i] : 0) - max);
    return max + log(sum);
}

int loo_point(size_t n, const double *loglik, const double *logw, double *work,
              struct loo_point *out, nami_err *err)
{
    struct psis tail;
    int impossible = 0;
    for (size_t i = 0; i < n; i++) {
        double w = logw ? logw[i] : 0;
        work[i] = w > -INFINITY ? w - loglik[i] : -INFINITY;
        impossible |= w > -INFINITY && !(fabs(loglik[i]) < WEIGHTS_VANISH);
    }
    *out = (struct loo_point){-INFINITY, -INFINITY, INFINITY};
    if (impossible) return 0; /* a draw of the posterior has density 0, or none */
    out->lpd = log_sum(n, loglik, logw) - (logw ? 0 : log((double)n));
    int rc = psis(n, work, &tail, err);
    if (rc) return rc;
    for (size_t i = 0; i < n; i++)
        if (work[i] > -INFINITY) work[i] += loglik[i];
    out->elpd = log_sum(n, work, NULL);
    out->khat = tail.khat;
    return 0;
}

struct loo loo_of(size_t n, const struct loo_point *point, size_t draws)
{
    struct loo all = {.n = n, .worst = NO_TAIL};
    double mean, square = 0, limit = khat_limit(draws);
    for (size_t i = 0; i < n; i++) {
        all.elpd += point[i].elpd;
        all.p += point[i].lpd - point[i].elpd;
        all.worst = fmax(all.worst, point[i].khat);
        all.bad += point[i].khat != NO_TAIL && !(point[i].khat < limit);
    }
    mean = all.elpd / (double)n;
    for (size_t i = 0; i < n; i++) square += (point[i].elpd - mean) * (point[i].elpd - mean);
    all.se = n > 1 ? sqrt(square / (double)(n - 1) * (double)n) : NAN;
    return all;
}

double loo_difference(size_t n, const struct loo_point *a, const struct loo_point *b, double *se)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) sum += a[i].elpd - b[i].elpd;
    for (size_t i = 0; i < n; i++) {
        double d = a[i].elpd - b[i].elpd - sum / (double)n;
        square += d * d;
    }
    *se = n > 1 ? sqrt(square / (double)(n - 1) * (double)n) : NAN;
    return sum;
}

/* EM for the weights of a mixture of known densities: the function is concave, and each step
   increases it; it ends when the bound on what is left to gain, max_k gradient_k - 1 (per
   observation), is small. */
int loo_stack(size_t n, size_t num, const struct loo_point *const *points, double *weight,
              nami_err *err)
{
    enum { STEPS = 100000 };
    double *ratio = raw_array(double, n *num + 1), *gradient = raw_array(double, num + 1);
    int rc = ratio && gradient ? 0 : err_nomem(err);
    for (size_t k = 0; k < num; k++) weight[k] = 1 / (double)num;
    for (size_t i = 0; i < n && !rc; i++) { /* densities relative to the best model */
        double max = -INFINITY;
        for (size_t k = 0; k < num; k++) max = fmax(max, points[k][i].elpd);
        for (size_t k = 0; k < num; k++)
            ratio[i * num + k] = max > -INFINITY ? exp(points[k][i].elpd - max) : 1;
    }
    for (int step = 0; step < STEPS && !rc; step++) {
        double gain = 0;
        for (size_t k = 0; k < num; k++) gradient[k] = 0;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < num; k++) sum += weight[k] * ratio[i * num + k];
            for (size_t k = 0; k < num; k++) gradient[k] += ratio[i * num + k] / sum / (double)n;
        }
        for (size_t k = 0; k < num; k++) {
            gain = fmax(gain, gradient[k] - 1);
            weight[k] *= gradient[k];
        }
        if (gain * (double)n < 1e-6) break;
    }
    free(ratio);
    free(gradient);
    return rc;
}
