/* ais.c: annealed importance sampling: the temperature schedule, initial distributions, a run
   that tunes step sizes and the run that gives the weights. */
#include "infer/ais.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/weights.h"

const char *const ais_starts[] = {"network", "prior", NULL};

/* ---- what is common to all data sets -------------------------------------------------- */

/* Sigmoid-shaped: small steps at both ends (Grosse, Ghahramani, Adams 2015). */
static double *schedule(int temps)
{
    double *beta = raw_array(double, temps + 1), edge = 1 / (1 + exp(4.0));
    for (int t = 0; t <= temps && beta; t++)
        beta[t] = (1 / (1 + exp(4 - 8.0 * t / temps)) - edge) / (1 - 2 * edge);
    if (beta) beta[0] = 0, beta[temps] = 1;
    return beta;
}

static int compile_prior(struct qnet *q, struct prog *p)
{
    unsigned char *only = new_array(unsigned char, model_num_instances(q->model) + 1);
    if (!only) return NAMI_ENOMEM;
    for (int i = 0; i < q->inverse->nlatent; i++) only[q->encoding[q->inverse->perm[i]].inst] = 1;
    int rc = model_program(q->model, p, 0, only);
    free(only);
    return rc;
}

/* The prior of what stays is known if it does not depend on what was integrated out. */
static int prior_known(const struct qnet *q, nami_err *err)
{
    const struct dag *g = &model_bn(q->model)->dag;
    for (int i = 0; i < q->inverse->nlatent && q->collapse; i++)
        for_parents (g, q->inverse->perm[i], u)
            if (q->collapse->kind[u])
                return err_set(err, NAMI_EINPUT,
                               "the prior of %s depends on %s, which is integrated out: chains "
                               "cannot start there; start them at the network",
                               bn_name(model_bn(q->model), q->inverse->perm[i]),
                               bn_name(model_bn(q->model), u));
    return 0;
}

int ais_init(struct ais *s, const struct infer *a, const struct ais_options *o, nami_err *err)
{
    const struct model *m = a->q->model;
    *s = (struct ais){.a = a, .o = *o};
    if (o->temps < 1 || o->temps > AIS_TEMPS || o->leapfrog < 1)
        return err_set(err, NAMI_EUSAGE, "there must be 1 to %d temperatures, and a leapfrog step",
                       AIS_TEMPS);
    int rc = o->start == AIS_PRIOR ? prior_known(a->q, err) : 0;
    if (!rc) rc = joint_make(&s->joint, a->q, err);
    if (rc) return rc;
    s->param = raw_array(float, model_num_weights(m));
    s->beta = schedule(o->temps);
    if (!s->param || !s->beta || (o->start == AIS_PRIOR && compile_prior(a->q, &s->prior)))
        return err_nomem(err);
    for (size_t i = 0; i < model_num_weights(m); i++) s->param[i] = (float)model_weights(m)[i];
    return 0;
}

void ais_fini(struct ais *s)
{
    joint_free(&s->joint);
    prog_free(&s->prior);
    free(s->param);
    free(s->beta);
}

/* ---- where chains begin ----------------------------------------------------------------- */

enum {
    FIT = 200,
    NUMBERS = 1 << 22
}; /* draws of the network; approximate number of values in memory */

static void moments(const double *u, double *mean, double *sd)
{
    double m = 0, v = 0;
    for (int i = 0; i < FIT; i++) m += u[i] / FIT;
    for (int i = 0; i < FIT; i++) v += (u[i] - m) * (u[i] - m) / (FIT - 1);
    *mean = m;
    *sd = v > 1e-12 ? sqrt(v) : 1e-6;
}

/* Means and sds of the draws of the network, for a block of sets at a time. */
static int fit(const struct ais *s, const struct query *q, size_t first, struct ais_guide *g,
               int threads, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(s->joint.q->model), n = (size_t)s->joint.num_coordinates;
    size_t most = NUMBERS / (rows * FIT) + 1;
    struct query ask = {.x = q->x, .nset = q->nset, .per = FIT, .seed = q->seed ^ 0x666974};
    double *z = raw_array(double, rows *FIT *most), *u = raw_array(double, n *FIT *most);
    int rc = z && u ? 0 : err_nomem(err);
    for (size_t s0 = 0, sets; s0 < g->nset && !rc; s0 += sets) {
        sets = g->nset - s0 < most ? g->nset - s0 : most;
        rc = infer_draws(s->a, &ask, (first + s0) * FIT, sets * FIT, threads, z, NULL, NULL, err);
        if (!rc && joint_coordinates(&s->joint, sets * FIT, z, u)) rc = err_nomem(err);
        for (size_t k = 0; k < n && !rc; k++)
            for (size_t i = 0; i < sets; i++)
                moments(u + (k * sets + i) * FIT, &g->mean[k * g->nset + s0 + i],
                        &g->sd[k * g->nset + s0 + i]);
    }
    free(z);
    free(u);
    return rc;
}

/* ---- two runs: a short one to tune step sizes, and one for the weights --------------------
 */

static int run(const struct ais *s, const struct query *q, size_t first, struct ais_guide *g,
               int threads, const struct ais_out *out, double *accept, nami_err *err)
{
    double *beta = schedule(g->temps);
    struct ais_run pilot = {s, q, first, AIS_TUNERS, q->seed ^ 0x74756e65, beta, g->temps,
                            g, 1, NULL,  NULL};
    struct ais_run full = {s, q, first,     q->per, q->seed ^ 0x616973, s->beta, s->o.temps,
                           g, 0, out->logw, accept};
    int rc = beta ? 0 : err_nomem(err);
    if (!rc && g->mean) rc = fit(s, q, first, g, threads, err);
    if (!rc && s->o.temps > 1) rc = ais_chains(&pilot, threads, err);
    if (!rc) rc = ais_chains(&full, threads, err);
    free(beta);
    return rc;
}

int ais_sets(const struct ais *s, const struct query *q, size_t first, size_t nset, int threads,
             const struct ais_out *out, nami_err *err)
{
    size_t per = q->per, n = (size_t)s->joint.num_coordinates;
    int network = s->o.start == AIS_NETWORK, tenth = s->o.temps / 10;
    struct ais_guide g = {.nset = nset, .temps = tenth > 50 ? tenth : 50};
    if (g.temps > s->o.temps) g.temps = s->o.temps;
    g.step = new_array(double, nset *(size_t)g.temps);
    if (network) g.mean = raw_array(double, n *nset), g.sd = raw_array(double, n *nset);
    double *accept = raw_array(double, nset *per);
    int rc = 0;
    if (!g.step || !accept || (network && (!g.mean || !g.sd))) rc = err_nomem(err);
    if (!rc) rc = run(s, q, first, &g, threads, out, accept, err);
    for (size_t i = 0; i < nset && !rc; i++) {
        const double *w = out->logw + i * per, *share = accept + i * per;
        struct diagnostics *f = &out->found[i];
        *f = (struct diagnostics){.khat = NAN, .ess = weights_ess(per, w)};
        f->log_z = weights_log_mean(per, w, &f->log_se);
        if (!out->accept) continue;
        out->accept[i] = 0;
        for (size_t c = 0; c < per; c++) out->accept[i] += share[c] / (double)per;
    }
    free(g.step);
    free(g.mean);
    free(g.sd);
    free(accept);
    return rc;
}
