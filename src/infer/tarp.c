/* tarp.c: tests of accuracy with random points: expected coverage by distances to reference
   points. */
#include "infer/tarp.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/vec.h"

/* References: r[k * n + i] is the true value of a set other than i; each is used once. */
static int other_truths(const struct sims *s, uint64_t seed, double *r)
{
    struct rng g;
    int n = s->n, *order = new_array(int, n);
    if (!order) return -1;
    rng_init(&g, seed, 1);
    for (int i = 0; i < n; i++) order[i] = i;
    rng_shuffle(&g, order, n);
    for (int k = 0; k < s->d; k++)
        for (int i = 0; i < n; i++) /* the next on one large circle */
            r[(size_t)k * n + order[i]] = s->theta[(size_t)k * n + order[(i + 1) % n]];
    free(order);
    return 0;
}

/* The sd of scalar k over all truths and draws: invariant under exchange of the truth with a draw,
   so that they remain exchangeable. (The sd of the truths alone is not: an outlier would reduce its
   own distance.) */
static double spread(const struct sims *s, int k)
{
    size_t n = (size_t)s->n, all = n * (size_t)s->m;
    const double *theta = s->theta + (size_t)k * n, *z = s->z + (size_t)k * all;
    double m0, sd0, m1, sd1, share = 1 / (s->m + 1.0);
    sims_moments(theta, n, &m0, &sd0);
    sims_moments(z, all, &m1, &sd1);
    double mean = share * m0 + (1 - share) * m1; /* of groups: within and between */
    return sqrt(share * (sd0 * sd0 + pow(m0 - mean, 2)) +
                (1 - share) * (sd1 * sd1 + pow(m1 - mean, 2)));
}

/* Adds the squared distances to the references in one scalar, for truths and draws. */
static void add_scalar(const struct sims *s, int k, const double *r, double *truth, double *draws)
{
    size_t n = (size_t)s->n, m = (size_t)s->m;
    const double *theta = s->theta + (size_t)k * n;
    double sd = spread(s, k), scale = sd == 0 ? 0 : 1 / sd;
    r += (size_t)k * n;
    for (size_t i = 0; i < n; i++) {
        double e = (theta[i] - r[i]) * scale;
        truth[i] += e * e;
    }
    for (size_t j = 0; j < m; j++) {
        const double *z = s->z + ((size_t)k * m + j) * n;
        for (size_t i = 0; i < n; i++) {
            double e = (z[i] - r[i]) * scale;
            draws[j * n + i] += e * e;
        }
    }
}

static int reach(const struct sims *s, const double *ref, uint64_t seed, double *u, nami_err *err)
{
    struct sims_weights w;
    int rc = sims_weights(s, &w, err);
    if (rc) return rc;
    size_t n = (size_t)s->n;
    double *r = ref ? NULL : raw_array(double, (size_t)s->d *n);
    double *truth = new_array(double, n), *draws = new_array(double, (size_t)s->m *n);
    if ((!ref && !r) || !truth || !draws || (!ref && other_truths(s, seed, r))) {
        rc = err_nomem(err);
        goto out;
    }
    for (int k = 0; k < s->d; k++) add_scalar(s, k, ref ? ref : r, truth, draws);
    rc = sims_place(&w, truth, draws, seed, 0, "a distance", u, err);
out:
    sims_weights_free(&w);
    free(r);
    free(truth);
    free(draws);
    return rc;
}

int tarp_run(const struct sims *s, const double *ref, double alpha, uint64_t seed, struct tarp *out,
             nami_err *err)
{
    struct tarp *t = out;
    *t = (struct tarp){.n = s->n};
    if (s->n < 2 && !ref)
        return err_set(err, NAMI_EUSAGE, "random references need two data sets at least");
    int rc = uniform_band(s->n, uniform_cells(s->m + 1), alpha, &t->band, err);
    if (rc) return rc;
    t->reach = raw_array(double, s->n);
    t->below = raw_array(int, t->band.k);
    if (!t->reach || !t->below) return err_nomem(err);
    if ((rc = reach(s, ref, seed, t->reach, err))) return rc;
    uniform_count(t->reach, s->n, t->band.k, t->below);
    t->test = uniform_test(&t->band, t->below);
    for (int i = 0; i < s->n; i++) {
        /* integral of (u <= c) - c for c from 1/2 to 1 */
        double u = t->reach[i];
        t->atc += ((u < 0.5 ? 0.5 : 1 - u) - 0.375) / 0.5 / s->n;
    }
    return 0;
}

void tarp_free(struct tarp *t)
{
    uniform_band_free(&t->band);
    free(t->reach);
    free(t->below);
    *t = (struct tarp){0};
}
