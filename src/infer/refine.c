/* refine.c: summaries of exact latents by their conditional means and variances. */
#include "infer/refine.h"

#include <math.h>

void refined_put(struct refined *r, size_t n, const double *mean, const double *variance,
                 const double *w)
{
    for (size_t i = 0; i < n; i++) {
        if (w[i] == 0) continue; /* moments may be NaN */
        r->bad |= !isfinite(mean[i]) || !isfinite(variance[i]) || isnan(w[i]);
        if (r->bad) return;
        running_add(&r->once, mean[i], w[i]);
        running_add(&r->twice, mean[i], summary_leave_one_out(w[i]));
        r->variance += w[i] * variance[i];
        r->sum2 += w[i] * w[i];
    }
}

struct weight_sums weight_sums(size_t n, const double *w)
{
    struct weight_sums s = {0};
    for (size_t i = 0; i < n; i++) {
        s.once += w[i];
        s.twice += summary_leave_one_out(w[i]);
        s.square += w[i] * w[i];
    }
    return s;
}

void refined_put_same(struct refined *r, double mean, double variance, struct weight_sums s)
{
    if (s.once == 0) return;
    r->bad |= !isfinite(mean) || !isfinite(variance) || isnan(s.once);
    if (r->bad) return;
    running_add(&r->once, mean, s.once);
    running_add(&r->twice, mean, s.twice);
    r->variance += s.once * variance;
    r->sum2 += s.square;
}

int refined_means(const struct refined *r, size_t n, struct summary *out)
{
    if (r->bad || !(r->once.w > 0)) return 0;
    digest_moments(&r->once, &r->twice, r->sum2, n, out);
    return !isnan(out->sd);
}

void refined_apply(const struct refined *r, const struct summary *means, size_t n,
                   struct summary *out)
{
    double total = r->once.w;
    out->mean = means->mean;
    out->sd = sqrt(means->sd * means->sd + r->variance / total);
    out->mcse = means->mcse;
    out->ess = summary_effective(out->sd, out->mcse, fmin(total * total / r->sum2, (double)n));
}
