/* bound.c: computes lower bounds on log p(x) from log weights, and the weight of each sample in
   the gradient. */
#include "train/bound.h"

#include <math.h>

/* log sum exp */
static double log_sum(int n, const double *x)
{
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
    if (!isfinite(top)) return top;
    for (int i = 0; i < n; i++) sum += exp(x[i] - top);
    return top + log(sum);
}

/* log p - log q, with the weight `warm` of the latents' terms */
static double warmed(const struct bound *b, int lane)
{
    return b->data[lane] + b->warm * (b->total[lane] - b->data[lane]);
}

/* For one point: its bound, the weights of its lanes, and their gains. */

static double known_point(const struct bound *b, int i, double *share, double *gain)
{
    double sum = 0;
    for (int l = i * b->k; l < (i + 1) * b->k; l++) {
        share[l] = 1. / b->k;
        gain[l] = share[l] * (b->warm + b->labels);
        sum += share[l] * (b->total[l] + (1 + b->labels) * b->score[l]);
    }
    return sum;
}

static double all_point(const struct bound *b, int i, double *share, double *gain)
{
    double sum = 0, warm = 0;
    for (int l = i * b->k; l < (i + 1) * b->k; l++) {
        share[l] = b->score ? exp(b->score[l]) : 1;
        sum += share[l] * b->total[l];
        warm += share[l] * warmed(b, l);
    }
    for (int l = i * b->k; l < (i + 1) * b->k; l++) gain[l] = share[l] * (warmed(b, l) - warm);
    return sum;
}

/* VIMCO baseline: the bound with draw l replaced by the geometric mean of the others. */
static double without(const struct bound *b, int i, int l)
{
    double x[2], mean = 0, top = -INFINITY, sum = 0;
    for (int j = i * b->k; j < (i + 1) * b->k; j++) {
        if (j == l) continue;
        mean += b->total[j] / (b->k - 1);
        top = b->total[j] > top ? b->total[j] : top;
    }
    for (int j = i * b->k; j < (i + 1) * b->k; j++)
        if (j != l) sum += exp(b->total[j] - top);
    x[0] = mean, x[1] = top + log(sum);
    return log_sum(2, x) - log(b->k);
}

static double drawn_point(const struct bound *b, int i, double *share, double *gain)
{
    double sum = log_sum(b->k, b->total + (size_t)i * (size_t)b->k), bound = sum - log(b->k);
    for (int l = i * b->k; l < (i + 1) * b->k; l++) {
        share[l] = b->k > 1 ? exp(b->total[l] - sum) : 1;
        gain[l] = b->score && b->k > 1 ? bound - without(b, i, l) : 0;
    }
    return bound;
}

/* With one draw per point, the baseline is the mean of the other points, if there are any. */
static void compare_points(const struct bound *b, double *gain)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < b->n; i++)
        if (!b->known || !b->known[i]) sum += warmed(b, i), n++;
    for (int i = 0; i < b->n; i++) {
        double x = warmed(b, i);
        if (!b->known || !b->known[i]) gain[i] = n > 1 ? x - (sum - x) / (n - 1) : x;
    }
}

double bound_of(const struct bound *b, double *const *weight, double *share)
{
    double sum = 0, *gain = weight[GRADIENT_SCORE];
    int of = b->of ? b->of : b->n;
    for (int i = 0; i < b->n; i++)
        sum += b->known && b->known[i] ? known_point(b, i, share, gain)
               : b->all                ? all_point(b, i, share, gain)
                                       : drawn_point(b, i, share, gain);
    if (b->score && !b->all && b->k == 1) compare_points(b, gain);
    for (int l = 0; l < b->n * b->k; l++) { /* log q is subtracted from the total */
        double w = -share[l] / of;
        weight[GRADIENT_DATA][l] = w;
        weight[GRADIENT_LATENT][l] = w * b->warm;
        weight[GRADIENT_SCORE][l] = w * b->warm + gain[l] / of;
        share[l] /= b->n;
    }
    return -sum / of;
}
