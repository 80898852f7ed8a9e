/* coverage.c: empirical coverage of central intervals and joint highest-density regions, with
   tests. */
#include "infer/coverage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static void one_row(struct coverage *c, int r, const double *level)
{
    const double *reach = c->reach + (size_t)r * (size_t)c->n;
    int *below = c->below + (size_t)r * (size_t)(c->band.k - 1);
    for (int l = 0; l < c->nlevel; l++) {
        struct coverage_at *a = &c->at[(size_t)r * (size_t)c->nlevel + (size_t)l];
        int held = 0;
        for (int i = 0; i < c->n; i++) held += reach[i] <= level[l];
        *a = (struct coverage_at){.level = level[l], .share = (double)held / c->n};
        binomial_interval(c->n, held, 0.05, &a->lo, &a->hi);
        a->p = binomial_test(c->n, level[l], held);
    }
    uniform_count(reach, c->n, c->band.k, below);
    c->test[r] = uniform_test(&c->band, below);
    c->p = fmin(c->p, c->nrow * c->test[r].p);
    c->inside &= c->test[r].inside;
}

/* Joint regions: a draw of higher density than the true value lies inside. */
static int reach_joint(const struct sims *s, const double *logq, const double *logq0, uint64_t seed,
                       double *reach, nami_err *err)
{
    struct sims_weights w;
    int rc = sims_weights(s, &w, err);
    if (!rc) rc = sims_place(&w, logq0, logq, seed, (uint32_t)s->d, "a log density", reach, err);
    for (int i = 0; !rc && i < s->n; i++) reach[i] = 1 - reach[i];
    sims_weights_free(&w);
    return rc;
}

int coverage_run(const struct sims *s, const double *logq, const double *logq0, double alpha,
                 const double *level, int nlevel, uint64_t seed, struct coverage *out,
                 nami_err *err)
{
    struct coverage *c = out;
    int joint = logq && logq0;
    *c = (struct coverage){
        .n = s->n, .nrow = s->d + joint, .joint = joint, .nlevel = nlevel, .p = 1, .inside = 1};
    if (s->d < 1 || s->m < 1 || s->n < 1)
        return err_set(err, NAMI_EUSAGE, "diagnostics need at least one scalar, draw and data set");
    for (int l = 0; l < nlevel; l++)
        if (!(level[l] > 0 && level[l] < 1))
            return err_set(err, NAMI_EUSAGE, "a level of coverage is between 0 and 1, not %g",
                           level[l]);
    int rc = uniform_band(s->n, uniform_cells((s->m + 1) / 2), alpha / c->nrow, &c->band, err);
    if (rc) return rc;
    size_t rows = (size_t)c->nrow, n = (size_t)s->n, d = (size_t)s->d;
    c->reach = raw_array(double, rows *n);
    c->at = new_array(struct coverage_at, rows * (size_t)nlevel);
    c->below = raw_array(int, rows *(size_t)c->band.k);
    c->test = new_array(struct uniform_test, rows);
    if (!c->reach || !c->at || !c->below || !c->test) return err_nomem(err);
    if ((rc = sims_pit(s, seed, c->reach, err))) return rc;
    for (size_t i = 0; i < d * n; i++) c->reach[i] = fabs(2 * c->reach[i] - 1);
    if (joint && (rc = reach_joint(s, logq, logq0, seed, c->reach + d * n, err))) return rc;
    for (int r = 0; r < c->nrow; r++) one_row(c, r, level);
    return 0;
}

void coverage_free(struct coverage *c)
{
    uniform_band_free(&c->band);
    free(c->reach);
    free(c->at);
    free(c->below);
    free(c->test);
    *c = (struct coverage){0};
}
