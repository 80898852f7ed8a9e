/* ppc.c: statistics of posterior predictive checks. */
#include "infer/ppc.h"

#include <math.h>

#define PPC_NAME(id, name, least)  name,
#define PPC_LEAST(id, name, least) least,
const char *const ppc_name[NPPC] = {PPC_STATISTICS(PPC_NAME)};
static const size_t least[NPPC] = {PPC_STATISTICS(PPC_LEAST)};

double ppc_statistic(int k, size_t n, const double *y, size_t stride)
{
    double sum = 0, square = 0, product = 0, min = INFINITY, max = -INFINITY;
    if (n < least[k]) return NAN;
    for (size_t i = 0; i < n; i++) {
        sum += y[i * stride];
        min = fmin(min, y[i * stride]);
        max = fmax(max, y[i * stride]);
    }
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = y[i * stride] - mean;
        square += d * d;
        if (i) product += d * (y[(i - 1) * stride] - mean);
    }
    if (isnan(sum)) return NAN;
    return k == PPC_MEAN  ? mean
           : k == PPC_SD  ? sqrt(square / (double)(n - 1))
           : k == PPC_MIN ? min
           : k == PPC_MAX ? max
           : square > 0   ? product / square
                          : NAN;
}

void ppc_put(struct ppc *p, double value, double weight)
{
    if (isnan(value)) return;
    p->weight += weight;
    p->predicted += weight / p->weight * (value - p->predicted);
    if (value > p->observed) p->above += weight;
    if (value == p->observed) p->equal += weight;
}

double ppc_p(const struct ppc *p)
{
    return isnan(p->observed) || !(p->weight > 0) ? NAN : (p->above + p->equal / 2) / p->weight;
}
