/* study_gauss.c: experiments on binary Gaussian trees: inverses with added edges, exact
   posteriors, KL(p || q) by epoch. */
#include "study/study_gauss.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "infer/exact.h"
#include "model/eval.h"
#include "study/study_fit.h"

const struct measure gauss_epoch[] = {
    {"train", "KL(p || q) in nats, on the epoch's draws to train on"},
    {"test", "KL(p || q), on a batch of new draws"},
    {"nll", "-log p(z | x) of draws of q, for the held-out data sets"},
    {"excess", "nll less that of draws of the posterior itself"},
    {NULL, NULL}};
enum { E_TRAIN, E_TEST, E_NLL, E_EXCESS, E_N };

const struct measure gauss_end[] = {
    {"parameters", "of the network"},
    {"edges", "of the inverse"},
    {"best", "the least KL(p || q) that any network with this inverse can have, exactly"},
    {"kl", "KL(p || q) at the end"},
    {"kl_se", "its standard error"},
    {"early", "the geometric mean of test until the rate is cut: how fast it learns"},
    {"excess", "the mean of excess over the last tenth of the epochs"},
    {"entropy", "nll of the posterior itself"},
    {NULL, NULL}};

/* ---- the model ------------------------------------------------------------------------------ */

static int tree_text(const struct job *j, struct str *out)
{
    int n = (1 << j->s->size) - 1;
    struct rng r;
    rng_init(&r, fit_seed(j, FIT_MODEL), 0);
    str_put(out, "model {\n  x[1] ~ normal(0, 1)\n");
    for (int i = 2; i <= n; i++)
        str_printf(out, "  x[%d] ~ normal(%.17g * x[%d], 1)\n", i, 0.5 + 1.5 * rng_unit(&r), i / 2);
    str_printf(out, "}\nobserve x[%d:%d]\n", n / 2 + 1, n);
    return out->oom ? NAMI_ENOMEM : 0;
}

/* ---- edges that are not needed -------------------------------------------------------------- */

/* The number i of x[i], from 1. */
static int place(const struct model *m, int node)
{
    int i = 0;
    sscanf(bn_name(model_bn(m), node), "x[%d]", &i);
    return i;
}

/* Is the edge from x[from] to x[to] among the added ones? */
static int is_added(int added, int levels, int to, int from)
{
    int up = 0, at = from;
    while (at > to) at /= 2, up++;
    if (at != to) return 0;
    return added == SKIP_GRANDCHILDREN ? up == 2 : up >= 2 && from >= 1 << (levels - 1);
}

static int add_parents(const struct fit *f, const struct job *j, struct inverse *to, int i)
{
    const struct inverse *h = f->r.net.inverse;
    const struct model *m = f->r.net.model;
    int v = place(m, h->perm[i]), n = h->nlatent + h->nobserved;
    for (int k = 0; k < n; k++) {
        int has = 0;
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);)
            has |= it.node == h->perm[k];
        if (!has) has = k > i && is_added(j->v->added, j->s->size, v, place(m, h->perm[k]));
        if (has && inverse_add(to, k, 1)) return NAMI_ENOMEM;
    }
    inverse_close(to, i);
    return 0;
}

/* The same inverse with more edges: still faithful, no longer minimal. */
static int add_edges(struct fit *f, const struct job *j, nami_err *err)
{
    const struct inverse *h = f->r.net.inverse;
    struct inverse *to = inverse_new(h->n, h->perm, h->nlatent, h->perm + h->nlatent, h->nobserved);
    if (!to) return err_nomem(err);
    int rc = 0;
    for (int i = 0; i < h->nlatent && !rc; i++) rc = add_parents(f, j, to, i);
    if (rc) err_nomem(err);
    to->method = h->method;
    to->mode = h->mode;
    if (!rc) rc = certify(to, &model_bn(f->r.net.model)->dag, VERIFY_FULL, 0, err);
    if (!rc && (to->edges != h->edges + j->v->added || to->cert.is[FAITHFUL] != 1))
        rc = err_set(err, NAMI_EBUG, "%d edges cannot be added to this inverse", j->v->added);
    inverse_free(rc ? to : f->r.net.inverse);
    if (!rc) f->r.net.inverse = to;
    return rc;
}

/* ---- the posterior, exactly --------------------------------------------------------------------
 */

struct exact {
    struct gnet joint, post; /* post: factors conditioned on all preceding variables */
    double entropy;
};

static int exact_init(struct exact *e, struct model *m, nami_err *err)
{
    struct inversion v = {0};
    struct inverse *h = NULL;
    nami_options all = {.method = "full"};
    int rc = gnet_read(m, &e->joint, err);
    if (!rc) rc = inversion_init(&v, model_bn(m), &all, err);
    if (!rc) rc = inversion_run(&v, &h, err);
    if (!rc) rc = gnet_invert(&e->joint, h, &e->post, err);
    for (int k = 0; k < e->post.nfactor && !rc; k++) e->entropy += gfactor_entropy(&e->post.f[k]);
    inverse_free(h);
    inversion_fini(&v);
    return rc;
}

static void exact_fini(struct exact *e)
{
    gnet_free(&e->joint);
    gnet_free(&e->post);
}

/* log p(z | x) of points x[row * n + i]; each factor has one scalar. */
static void exact_logp(const struct exact *e, size_t n, const double *x, double *out)
{
    const int *row = e->joint.row;
    for (size_t i = 0; i < n; i++) out[i] = 0;
    for (int k = 0; k < e->post.nfactor; k++) {
        const struct gfactor *f = &e->post.f[k];
        for (size_t i = 0; i < n; i++) {
            double d = x[(size_t)row[f->var[0]] * n + i] - f->a[0];
            for (int p = 0; p < f->npar; p++) d -= f->b[p] * x[(size_t)row[f->par[p]] * n + i];
            out[i] -= 0.5 * (log(2 * M_PI * f->cov[0]) + d * d / f->cov[0]);
        }
    }
}

/* The optimum for factors with these parents. */
static int exact_best(const struct exact *e, const struct model *m, const struct inverse *h,
                      double *out, nami_err *err)
{
    struct gnet best = {0};
    unsigned char *given = new_array(unsigned char, e->joint.n + 1);
    int rc = given ? gnet_invert(&e->joint, h, &best, err) : err_nomem(err);
    for (int v = 0; v < e->joint.nnode && !rc; v++)
        for (int s = e->joint.first[v]; s < e->joint.first[v + 1]; s++)
            given[s] = model_bn(m)->node.a[v].observed;
    if (!rc) rc = gnet_kl(&e->joint, &best, given, out, err);
    if (!rc && fabs(*out) < 1e-9) *out = 0; /* rounding */
    gnet_free(&best);
    free(given);
    return rc;
}

/* ---- a job -------------------------------------------------------------------------------------
 */

struct gauss {
    struct fit f;
    struct exact e;
    size_t nset, per;
    double *x, *logp; /* space for the largest set of draws */
    double *held;     /* data sets: x[row * nset + s] */
    double *value;    /* (epochs, E_N) */
};

static double mean(size_t n, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

static int gauss_make(struct gauss *g, const struct job *j, nami_err *err)
{
    struct str text = {0};
    const struct settings *s = j->s;
    struct fit *f = &g->f;
    int sized = !j->v->fit && s->params == j->x->full.params; /* as in the paper */
    int rc = tree_text(j, &text) ? err_nomem(err) : fit_model(f, text.s, err);
    str_free(&text);
    if (!rc) rc = exact_init(&g->e, f->r.net.model, err);
    if (!rc) rc = fit_invert(f, j, err);
    if (!rc && j->v->added) rc = add_edges(f, j, err);
    if (!rc) rc = fit_network(f, j, sized ? 0 : s->params, err);
    if (rc) return rc;
    size_t rows = (size_t)model_num_rows(f->r.net.model), most = (size_t)s->judge;
    g->nset = (size_t)s->sets, g->per = (size_t)s->draws;
    if (g->nset * g->per > most) most = g->nset * g->per;
    if ((size_t)s->batch > most) most = (size_t)s->batch;
    g->x = raw_array(double, rows *most + 1);
    g->logp = raw_array(double, 2 * most + 1);
    g->held = raw_array(double, rows * g->nset + 1);
    g->value = raw_array(double, (size_t)s->epochs *E_N + 1);
    if (!g->x || !g->logp || !g->held || !g->value) return err_nomem(err);
    return model_simulate(f->r.net.model, fit_seed(j, FIT_HELD), 0, g->nset, 1, g->held, err);
}

static void gauss_free(struct gauss *g)
{
    fit_free(&g->f);
    exact_fini(&g->e);
    free(g->x);
    free(g->logp);
    free(g->held);
    free(g->value);
}

/* A batch of draws, and its mean log p(z | x). */
static int draw(struct gauss *g, const struct job *j, enum fit_seed seed, uint64_t number,
                struct batch *b, double *logp, nami_err *err)
{
    size_t n = (size_t)j->s->batch;
    int rc = model_simulate(g->f.r.net.model, fit_seed(j, seed), number * trainer_stride(&g->f.t), n, 1,
                            g->x, err);
    *b = (struct batch){.x = g->x, .n = n};
    exact_logp(&g->e, n, g->x, g->logp);
    *logp = mean(n, g->logp);
    return rc;
}

static int epoch(struct gauss *g, const struct job *j, int at, double *v, nami_err *err)
{
    struct fit *f = &g->f;
    struct batch b;
    double logp, sum = 0;
    int rc = 0, used = 0;
    for (int k = 0; k < j->s->steps && !rc; k++) {
        uint64_t step = (uint64_t)at * (uint64_t)j->s->steps + (uint64_t)k;
        if ((rc = draw(g, j, FIT_TRAIN, step, &b, &logp, err))) break;
        fit_step(f, &b, fit_rate(j->s, at));
        if (isfinite(f->t.total)) sum += f->t.total + logp, used++;
    }
    v[E_TRAIN] = used ? sum / used : NAN;
    if (!rc) rc = draw(g, j, FIT_TEST, (uint64_t)at, &b, &logp, err);
    if (rc) return rc;
    trainer_loss(&f->t, &b);
    v[E_TEST] = f->t.total + logp;
    struct query q = {.x = g->held, .nset = g->nset, .per = g->per, .seed = fit_seed(j, FIT_DRAWS) + ((uint64_t)at << 32)};
    size_t n = g->nset * g->per;
    rc = infer_draws(&f->a, &q, 0, n, 1, g->x, NULL, NULL, err);
    exact_logp(&g->e, n, g->x, g->logp);
    v[E_NLL] = -mean(n, g->logp);
    v[E_EXCESS] = v[E_NLL] - g->e.entropy;
    return rc;
}

/* KL(p || q) on many draws, and its standard error. */
static int judge(struct gauss *g, struct job *j, nami_err *err)
{
    size_t n = (size_t)j->s->judge;
    double *logq = g->logp + n, var = 0;
    int rc = model_simulate(g->f.r.net.model, fit_seed(j, FIT_JUDGE), 0, n, 1, g->x, err);
    if (!rc) rc = infer_logq(&g->f.a, n, g->x, 1, logq, err);
    if (rc) return rc;
    exact_logp(&g->e, n, g->x, g->logp);
    for (size_t i = 0; i < n; i++) g->logp[i] -= logq[i];
    double kl = mean(n, g->logp);
    for (size_t i = 0; i < n; i++) var += (g->logp[i] - kl) * (g->logp[i] - kl);
    job_end(j, "kl", kl);
    job_end(j, "kl_se", sqrt(var) / (double)n);
    return 0;
}

/* The geometric mean of the first n tests; values that are not positive, by chance, are replaced by
   a small one. */
static double early(const struct gauss *g, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log(fmax(g->value[i * E_N + E_TEST], 1e-3));
    return exp(sum / n);
}

/* The mean of excess over epochs from .. to-1. */
static double excess(const struct gauss *g, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++) sum += g->value[i * E_N + E_EXCESS];
    return sum / (to - from);
}

static int ends(struct gauss *g, struct job *j, nami_err *err)
{
    double best = NAN;
    int n = j->s->epochs, rc = judge(g, j, err);
    if (!rc) rc = exact_best(&g->e, g->f.r.net.model, g->f.r.net.inverse, &best, err);
    job_end(j, "parameters", (double)g->f.t.nparam);
    job_end(j, "edges", (double)g->f.r.net.inverse->edges);
    job_end(j, "best", best);
    job_end(j, "early", early(g, j->s->cut && j->s->cut < n ? j->s->cut : n));
    job_end(j, "excess", excess(g, n - (n > 10 ? n / 10 : 1), n));
    job_end(j, "entropy", g->e.entropy);
    return rc;
}

int gauss_run(struct job *j, nami_err *err)
{
    struct gauss g = {0};
    int rc = gauss_make(&g, j, err);
    for (int i = 0; i < j->s->epochs && !rc; i++) {
        double *v = g.value + (size_t)i * E_N;
        rc = epoch(&g, j, i, v, err);
        if (!rc) rc = job_epoch(j, v, err);
    }
    if (!rc) rc = ends(&g, j, err);
    gauss_free(&g);
    return rc;
}
