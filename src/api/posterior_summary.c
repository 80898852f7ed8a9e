/* posterior_summary.c: summaries of the draws of a query; of exact latents also means, sds and errors
   by their conditional moments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"
#include "infer/chains.h"
#include "infer/mcmc.h"

/* ---- conditional moments of exact latents ------------------------------------------------------
 */

/* The model's row of a row of draws; -1: a constant, whose row is behind those of the model. */
static int model_row(const nami_posterior *p, size_t row)
{
    const struct model *m = p->net->net.model;
    size_t rows = (size_t)model_num_rows(m);
    int of = row < rows ? (int)row : element_row(m, p->layout.elem[row - rows]);
    return of < (int)rows ? of : -1;
}

int find_moments(nami_posterior *p, nami_err *err)
{
    const struct collapse *c = p->net->net.q.collapse;
    size_t rows = (size_t)model_num_rows(p->net->net.model);
    if (!c || !c->moment.n) return 0;
    int *of = raw_array(int, rows + 1); /* by row of the model: the number of its moments, or -1 */
    p->moment = arena_array(&p->mem, size_t, p->num_rows + 1);
    p->moment_row = arena_array(&p->mem, size_t, p->num_rows + 1);
    p->refined = new_array(struct refined, p->num_rows + 1);
    int rc = of && p->moment && p->moment_row && p->refined ? 0 : err_nomem(err);
    for (size_t r = 0; r < rows && !rc; r++) of[r] = -1;
    for (size_t k = 0; k < c->moment.n && !rc; k++) of[c->moment.a[k].row] = (int)k;
    for (size_t k = 0; k < p->num_rows && !rc; k++) {
        int r = model_row(p, p->row[k]);
        if (r < 0 || of[r] < 0) continue;
        p->moment[p->num_moments] = (size_t)of[r];
        p->moment_row[p->num_moments++] = p->row[k];
    }
    free(of);
    return rc;
}

/* Moments of the present block: those of point i of n are mean[k * n + i], variance[k * n + i]. */
struct block_moments {
    size_t n;
    int once; /* the point is the data set: all of its draws have the same moments */
    double *mean, *variance;
};

static size_t set_of(const nami_posterior *p, size_t i) { return (p->answer.first + i) / p->q.per; }

/* The first draw of each data set of the block, z[row * n + s]. */
static double *first_draws(const nami_posterior *p, size_t n)
{
    const struct answer *a = &p->answer;
    size_t rows = (size_t)model_num_rows(p->net->net.model);
    double *z = raw_array(double, rows *n + 1);
    for (size_t s = 0; s < n && z; s++) {
        size_t i = s ? (set_of(p, 0) + s) * p->q.per - a->first : 0;
        for (size_t r = 0; r < rows; r++) z[r * n + s] = a->z[r * a->n + i];
    }
    return z;
}

static int block_moments(const nami_posterior *p, struct block_moments *b, nami_err *err)
{
    const struct answer *a = &p->answer;
    const struct infer *net = &p->net->infer;
    double *first = NULL;
    *b = (struct block_moments){.n = a->n};
    if (!p->num_moments || !a->n) return 0;
    b->once = infer_is_exact(net) && net->q->collapse->step.n == 1;
    if (b->once) {
        b->n = set_of(p, a->n - 1) - set_of(p, 0) + 1;
        if (!(first = first_draws(p, b->n))) return err_nomem(err);
    }
    b->mean = raw_array(double, p->num_moments * b->n);
    b->variance = raw_array(double, p->num_moments * b->n);
    int rc = b->mean && b->variance ? 0 : err_nomem(err);
    if (!rc)
        rc = infer_moments(net, b->n, first ? first : a->z, p->num_moments, p->moment, p->threads,
                           b->mean, b->variance, err);
    free(first);
    return rc;
}

/* ---- summaries ----------------------------------------------------------------------------------
 */

/* mcse and ess of draws i ... of a data set that are in islands or chains; x: their values. */
static int dependent(const nami_posterior *p, size_t i, const double *x, struct summary *out,
                     nami_err *err)
{
    const struct answer *a = &p->answer;
    const struct diagnostics *d = &p->blocks.found[set_of(p, i)];
    if (d->rhat) return summarise_chains(p->q.per, x, MCMC_CHAINS, out, err);
    if (a->islands && isnan(d->khat)) summarise_islands(p->q.per, x, a->logw + i, a->islands, out);
    return 0;
}

/* What the conditional moments give, beside the summary of the draws. */
static void add_exact(const struct refined *r, const struct summary *means, size_t n,
                      struct summary *out)
{
    struct summary exact = *out;
    refined_apply(r, means, n, &exact);
    out->has_exact = 1;
    out->exact_mean = exact.mean;
    out->exact_sd = exact.sd;
    out->exact_mcse = exact.mcse;
}

/* Of draws i ..., the last of which are n; out: summaries of their data set. */
static int refine(nami_posterior *p, const struct block_moments *b, size_t i, size_t n,
                  struct summary *out, nami_err *err)
{
    const struct answer *a = &p->answer;
    size_t at = b->once ? set_of(p, i) - set_of(p, 0) : i;
    int end = (a->first + i + n) % p->q.per == 0;
    double *w = p->num_moments ? raw_array(double, n) : NULL;
    int rc = p->num_moments && !w ? err_nomem(err) : 0;
    for (size_t k = 0; k < n && w; k++) w[k] = a->logw ? exp(a->logw[i + k]) : 1 / (double)p->q.per;
    struct weight_sums all = weight_sums(b->once && w ? n : 0, w);
    for (size_t k = 0; k < p->num_moments && !rc; k++) {
        struct refined *r = &p->refined[k];
        const double *mean = b->mean + k * b->n + at, *variance = b->variance + k * b->n + at;
        struct summary means;
        if (b->once)
            refined_put_same(r, *mean, *variance, all);
        else
            refined_put(r, n, mean, variance, w);
        if (!end) continue;
        if (refined_means(r, p->q.per, &means)) {
            if (!b->once) rc = dependent(p, i, mean, &means, err);
            if (!rc) add_exact(r, &means, p->q.per, &out[p->moment_row[k]]);
        }
        *r = (struct refined){0};
    }
    free(w);
    return rc;
}

/* Data set by data set: a block may have the end of one, some, or a piece. */
static int summarise_sets(nami_posterior *p, const struct block_moments *b, nami_err *err)
{
    const struct answer *a = &p->answer;
    size_t per = p->q.per;
    int rc = 0;
    for (size_t i = 0, n; i < a->n && !rc; i += n) {
        size_t s = set_of(p, i), left = (s + 1) * per - (a->first + i);
        struct summary *summary = p->summary + s * p->stride;
        n = left < a->n - i ? left : a->n - i;
        digest_put(&p->digest, n, a->z + i, a->n, a->logw ? a->logw + i : NULL,
                   p->equal ? p->copies.a + i : NULL);
        states_put(p, i, n);
        if (n == left) rc = states_end(p, s, err);
        if (n == left && !rc) rc = digest_end(&p->digest, summary, err);
        for (size_t k = 0; k < p->num_rows && n == left && !rc; k++)
            rc = dependent(p, i, a->z + p->row[k] * a->n + i, &summary[p->row[k]], err);
        if (!rc) rc = refine(p, b, i, n, summary, err);
        if (n == left && !rc) rc = blame_set(p, s, i, err);
        if (n == left)
            p->found[s] = (struct posterior_found){p->blocks.found[s], summary, p->asked.ood_p[s]};
    }
    return rc;
}

int summarise_block(nami_posterior *p, nami_err *err)
{
    struct block_moments b;
    int rc = block_moments(p, &b, err);
    if (!rc) rc = summarise_sets(p, &b, err);
    free(b.mean);
    free(b.variance);
    return rc;
}
