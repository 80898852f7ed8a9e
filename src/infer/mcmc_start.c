/* mcmc_start.c: where chains start, and chains that are taken away from where next to no
   probability is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/dense.h"
#include "infer/mcmc.h"

enum { SCALES = 4 };
static const double NEGLIGIBLE = 20; /* nats */

/* Chain c starts at a random point within 2, 1/2, 1/8 or 1/32 of the origin by turns, on the
   unconstrained scale: vague priors tell little of where the posterior is, and where numbers are
   multiplied by large ones, only those near 0 are a good guess.  A prior that is narrower than 1
   gives scale and center itself.  Coordinates are in sds of the prior, from its median. */
void mcmc_scatter(struct mcmc *s, const int *wanted)
{
    const struct qnet *q = s->joint.q;
    for (int i = 0; i < q->inverse->nlatent; i++) {
        const struct encoding *e = &s->joint.encoding[q->inverse->perm[i]];
        for (int j = 0; j < e->ncoord; j++) {
            int k = e->coord - s->joint.coord + j;
            double *u = s->u + (size_t)k * MCMC_CHAINS, z[MCMC_CHAINS];
            double unit = e->sd[j] > 1 ? 1 / e->sd[j] : 1,
                   middle = e->sd[j] > 1 ? -e->mean[j] / e->sd[j] : 0;
            struct stream at = {s->seed ^ 0x7374617274, (uint32_t)k, 0};
            stream_uniform(&at, MCMC_CHAINS, z);
            for (int c = 0; c < MCMC_CHAINS; c++)
                if (wanted[c]) u[c] = middle + unit * ldexp(4 * z[c] - 2, -2 * (c % SCALES));
        }
    }
}

/* ---- chains that are stuck ---------------------------------------------------------------------
 */

/* What a chain has seen: n positions u[k * stride + i * step], log densities at row dim. */
struct seen {
    size_t n, stride, step;
    const double *u;
};

static double at(const struct seen *x, size_t k, size_t i)
{
    return x->u[k * x->stride + i * x->step];
}

static double square(double x) { return x * x; }

static double mean_of(const struct seen *x, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < x->n; i++) sum += at(x, k, i);
    return sum / (double)x->n;
}

size_t mcmc_rescue_work(int dim) { return (size_t)dim * (dim <= MCMC_DENSE ? (size_t)dim + 2 : 2); }

/* The logarithm of the volume that it covers: of the square root of the determinant of its
   covariance, by L L' of the correlations if there are enough positions for these; without them,
   coordinates that move together would count as a volume each.  work:
   mcmc_rescue_work() */
static double volume(const struct seen *x, size_t dim, double *work)
{
    double sum = 0, *mean = work, *sd = mean + dim, *L = sd + dim;
    for (size_t k = 0; k < dim; k++) {
        double var = 0;
        mean[k] = mean_of(x, k);
        for (size_t i = 0; i < x->n; i++) var += square(at(x, k, i) - mean[k]) / (double)x->n;
        sd[k] = sqrt(var + 1e-200);
        sum += log(sd[k]);
    }
    if (dim > MCMC_DENSE || x->n < 4 * dim) return sum;
    for (size_t k = 0; k < dim; k++)
        for (size_t l = 0; l <= k; l++) {
            double c = k == l ? 1e-6 : 0;
            for (size_t i = 0; i < x->n; i++)
                c += (at(x, k, i) - mean[k]) / sd[k] * ((at(x, l, i) - mean[l]) / sd[l]) /
                     (double)x->n;
            L[k * dim + l] = c;
        }
    if (dense_chol((int)dim, L)) return sum;
    for (size_t k = 0; k < dim; k++) sum += log(L[k * dim + k]);
    return sum;
}

/* A chain is stuck if its log densities, and also its log densities and volume together, an
   estimate of the logarithm of the probability around it, are far below those of another chain. The
   second condition spares chains that are in a wide region of low density, the first those that
   hardly move where the density is high, as in the neck of a funnel. */
int mcmc_rescue(struct mcmc *s, size_t n, size_t stride, size_t step, size_t chain, const double *u,
                double *work)
{
    size_t d = (size_t)s->dim;
    double density[MCMC_CHAINS], mass[MCMC_CHAINS], low = NEGLIGIBLE + (double)d;
    int best = -1, stuck[MCMC_CHAINS], good[MCMC_CHAINS], num_good = 0, num_stuck = 0;
    for (int c = 0; c < MCMC_CHAINS; c++) {
        struct seen x = {n, stride, step, u + (size_t)c * chain};
        density[c] = mean_of(&x, d);
        mass[c] = density[c] + volume(&x, d, work);
        if (isfinite(mass[c]) && (best < 0 || mass[c] > mass[best])) best = c;
    }
    for (int c = 0; c < MCMC_CHAINS && best >= 0; c++) {
        stuck[c] =
            !isfinite(mass[c]) || (density[c] < density[best] - low && mass[c] < mass[best] - low);
        if (stuck[c])
            num_stuck++;
        else
            good[num_good++] = c;
    }
    for (int c = 0, k = 0; c < MCMC_CHAINS && num_stuck; c++) {
        if (!stuck[c]) continue;
        int from = good[k++ % num_good];
        s->value[c] = s->value[from];
        for (size_t j = 0; j < d; j++) {
            s->u[j * MCMC_CHAINS + (size_t)c] = s->u[j * MCMC_CHAINS + (size_t)from];
            s->grad[j * MCMC_CHAINS + (size_t)c] = s->grad[j * MCMC_CHAINS + (size_t)from];
        }
    }
    return num_stuck;
}
