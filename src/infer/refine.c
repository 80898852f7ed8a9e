/* refine.c: summaries of exact latents by their conditional means and variances. */
#include "infer/refine.h"

#include <math.h>

void refined_put(struct refined *r, size_t n, const double *mean, const double *variance,
                 size_t step, const double *logw, size_t per)
{
    for (size_t i = 0; i < n; i++) {
        double m = mean[i * step], v = variance[i * step];
        double w = logw ? exp(logw[i]) : 1 / (double)per;
        if (w == 0) continue; /* moments may be NaN */
        r->bad |= !isfinite(m) || !isfinite(v) || isnan(w);
        if (r->bad) return;
        running_add(&r->once, m, w);
        running_add(&r->twice, m, summary_leave_one_out(w));
        r->variance += w * v;
        r->sum2 += w * w;
    }
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
