/* study_gmm.c: section 3.3 and Appendix D.3: a Bayesian mixture of Gaussians in the plane. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "model/eval.h"
#include "study/study_fit.h"

enum { K = 3 };

/* Families of q are those of the prior (match): the sticks of phi are beta, which makes phi
   Dirichlet or wider; s1, s2 inverse gamma; (rho + 1) / 2 Kumaraswamy; mu is a mixture of
   Gaussians. */
static const char text[] = "model {\n"
                           "  v[1] ~ beta(1, 2)\n"
                           "  v[2] ~ beta(1, 1)\n"
                           "  phi[1] <- v[1]\n"
                           "  phi[2] <- (1 - v[1]) * v[2]\n"
                           "  phi[3] <- (1 - v[1]) * (1 - v[2])\n"
                           "  for (k in 1:3) {\n"
                           "    mu[k, 1:2] ~ multi_normal(c(0, 0), diag(25, 25))\n"
                           "    s1[k] ~ inv_gamma(4, 3)\n"
                           "    s2[k] ~ inv_gamma(4, 3)\n"
                           "    r[k] ~ kumaraswamy(2, 2.5)\n"
                           "    S[k, 1, 1] <- s1[k]^2\n"
                           "    S[k, 1, 2] <- (2 * r[k] - 1) * s1[k] * s2[k]\n"
                           "    S[k, 2, 1] <- (2 * r[k] - 1) * s1[k] * s2[k]\n"
                           "    S[k, 2, 2] <- s2[k]^2\n"
                           "  }\n"
                           "  for (i in 1:N) {\n"
                           "    z[i] ~ categorical(phi[1:3])\n"
                           "    y[i, 1:2] ~ multi_normal(mu[z[i], 1:2], S[z[i], 1:2, 1:2])\n"
                           "  }\n"
                           "}\n"
                           "observe y\n";

static const struct measure epoch_measures[] = {
    {"train", "E[-log q(z | x)] in nats, on the epoch's draws to train on"},
    {"test", "the same on draws that are held out"},
    {"indices", "KL of the indices' factors from p(z' | x, phi, theta), which is known"},
    {NULL, NULL}};
enum { E_TRAIN, E_TEST, E_INDICES, E_N };

static const struct measure end_measures[] = {
    {"parameters", "of the network"},
    {"edges", "of the inverse"},
    {"loss", "E[-log q(z | x)] at the end, on draws that are held out"},
    {"early", "its mean over the first quarter of the epochs: how fast it learns"},
    {"indices", "KL of the indices' factors at the end; 0 is the best"},
    {"sets", "data sets that were drawn to train on"},
    {NULL, NULL}};

/* ---- the model ------------------------------------------------------------------------------ */

/* Rows of the variables that the indices depend on. */
struct rows {
    int phi[K], mu[K][2], s1[K], s2[K], r[K];
    int *z, (*y)[2];
};

static int row_of(const struct model *m, const char *name)
{
    struct str s = {0};
    int row = -1;
    for (int e = 0; e < model_num_elements(m) && row < 0; e++) {
        s.n = 0;
        elem_name(m, e, &s);
        if (!s.oom && strcmp(s.s, name) == 0) row = element_row(m, e);
    }
    str_free(&s);
    return row;
}

static int row_at(const struct model *m, const char *array, int i, int j)
{
    char name[40];
    if (j)
        snprintf(name, sizeof name, "%s[%d,%d]", array, i + 1, j);
    else
        snprintf(name, sizeof name, "%s[%d]", array, i + 1);
    return row_of(m, name);
}

static int find_rows(const struct model *m, int n, struct rows *r, nami_err *err)
{
    int least = 0;
    r->z = raw_array(int, n);
    r->y = mem_raw((size_t)n, sizeof *r->y);
    if (!r->z || !r->y) return err_nomem(err);
    for (int k = 0; k < K; k++) {
        r->phi[k] = row_at(m, "phi", k, 0);
        r->s1[k] = row_at(m, "s1", k, 0);
        r->s2[k] = row_at(m, "s2", k, 0);
        r->r[k] = row_at(m, "r", k, 0);
        for (int d = 0; d < 2; d++) r->mu[k][d] = row_at(m, "mu", k, d + 1);
        least |= r->phi[k] | r->s1[k] | r->s2[k] | r->r[k] | r->mu[k][0] | r->mu[k][1];
    }
    for (int i = 0; i < n; i++) {
        r->z[i] = row_at(m, "z", i, 0);
        for (int d = 0; d < 2; d++) r->y[i][d] = row_at(m, "y", i, d + 1);
        least |= r->z[i] | r->y[i][0] | r->y[i][1];
    }
    return least < 0 ? err_set(err, NAMI_EBUG, "a variable of the mixture has no row") : 0;
}

/* log phi_k + log N(y | mu_k, Sigma_k) of draw i of n, up to a constant in k */
static double log_weight(const struct rows *r, const double *x, size_t n, size_t i, int k, int at)
{
#define X(row) x[(size_t)(row)*n + i]
    double s1 = X(r->s1[k]), s2 = X(r->s2[k]), rho = 2 * X(r->r[k]) - 1, one = 1 - rho * rho;
    double a = (X(r->y[at][0]) - X(r->mu[k][0])) / s1, b = (X(r->y[at][1]) - X(r->mu[k][1])) / s2;
    return log(X(r->phi[k])) - log(s1 * s2) - 0.5 * log(one) -
           0.5 * (a * a - 2 * rho * a * b + b * b) / one;
#undef X
}

/* The mean of log p(z' | x, phi, theta) over n draws. */
static double indices_logp(const struct rows *r, int points, const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (int p = 0; p < points; p++) {
            double w[K], most = -INFINITY, all = 0;
            for (int k = 0; k < K; k++) most = fmax(most, w[k] = log_weight(r, x, n, i, k, p));
            for (int k = 0; k < K; k++) all += exp(w[k] - most);
            sum += w[(int)x[(size_t)r->z[p] * n + i] - 1] - most - log(all);
        }
    return sum / (double)n;
}

/* ---- a job -------------------------------------------------------------------------------------
 */

struct gmm {
    struct fit f;
    struct rows rows;
    size_t nset, ntest; /* numbers of draws of a data set, and of held-out ones */
    double *x;          /* room for one */
    double *point;      /* the data set, draw after draw */
    double *test;
    int *index;
    double indices; /* log p(z' | x, phi, theta) of the test */
    int set;        /* number of data sets so far */
    double best;    /* test loss with this one */
};

static int new_set(struct gmm *g, const struct job *j, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(g->f.r.net.model), n = g->nset, room = (n + 7) / 8 * 8;
    int rc = model_simulate(g->f.r.net.model, fit_seed(j, FIT_TRAIN), (uint64_t)g->set++ * room, n, 1, g->x,
                            err);
    for (size_t i = 0; i < n && !rc; i++)
        for (size_t r = 0; r < rows; r++) g->point[i * rows + r] = g->x[r * n + i];
    g->best = INFINITY;
    return rc;
}

static int gmm_make(struct gmm *g, const struct job *j, nami_err *err)
{
    struct str all = {0};
    const struct settings *s = j->s;
    struct fit *f = &g->f;
    str_printf(&all, "const N = %d\n%s", s->size, text);
    int rc = all.oom ? err_nomem(err) : fit_model(f, all.s, err);
    str_free(&all);
    if (!rc) rc = fit_invert(f, j, err);
    if (!rc) rc = fit_network(f, j, s->params, err);
    if (!rc) rc = find_rows(f->r.net.model, s->size, &g->rows, err);
    if (rc) return rc;
    size_t rows = (size_t)model_num_rows(f->r.net.model);
    g->nset = (size_t)s->steps * (size_t)s->batch;
    g->ntest = (size_t)(s->judge / s->batch) * (size_t)s->batch;
    g->x = raw_array(double, rows * g->nset + 1);
    g->point = raw_array(double, rows * g->nset + 1);
    g->test = raw_array(double, rows * g->ntest + 1);
    g->index = raw_array(int, g->nset + 1);
    if (!g->x || !g->point || !g->test || !g->index) return err_nomem(err);
    rc = model_simulate(f->r.net.model, fit_seed(j, FIT_TEST), 0, g->ntest, 1, g->test, err);
    g->indices = rc ? NAN : indices_logp(&g->rows, s->size, g->test, g->ntest);
    return rc ? rc : new_set(g, j, err);
}

static void gmm_free(struct gmm *g)
{
    fit_free(&g->f);
    free(g->rows.z);
    free(g->rows.y);
    free(g->x);
    free(g->point);
    free(g->test);
    free(g->index);
}

/* The loss on held-out draws, and that of the indices alone. */
static void test(struct gmm *g, const struct job *j, double *v)
{
    struct trainer *t = &g->f.t;
    int n = j->s->judge / j->s->batch;
    v[E_TEST] = 0;
    v[E_INDICES] = g->indices;
    for (int b = 0; b < n; b++) {
        trainer_loss(t, &(struct batch){.x = g->test,
                                        .n = g->ntest,
                                        .first = (uint64_t)b * (uint64_t)j->s->batch});
        v[E_TEST] += t->total / n;
        for (int k = 0; k < t->num_loss_terms; k++)
            if (strncmp(t->loss_term[k].name, "z[", 2) == 0) v[E_INDICES] += t->loss[k] / n;
    }
}

static int epoch(struct gmm *g, const struct job *j, int at, double *v, nami_err *err)
{
    struct rng r;
    double sum = 0;
    int used = 0;
    rng_init(&r, fit_seed(j, FIT_DRAWS), (uint64_t)at);
    for (size_t i = 0; i < g->nset; i++) g->index[i] = (int)i;
    rng_shuffle(&r, g->index, (int)g->nset);
    for (int k = 0; k < j->s->steps; k++) {
        struct batch b = {.point = g->point, .index = g->index + (size_t)k * (size_t)j->s->batch};
        fit_step(&g->f, &b, fit_rate(j->s, at));
        if (isfinite(g->f.t.total)) sum += g->f.t.total, used++;
    }
    v[E_TRAIN] = used ? sum / used : NAN;
    test(g, j, v);
    if (v[E_TEST] < g->best) { /* still improving on this data set */
        g->best = v[E_TEST];
        return 0;
    }
    return new_set(g, j, err);
}

static int gmm_run(struct job *j, nami_err *err)
{
    struct gmm g = {0};
    double v[E_N] = {0}, early = 0;
    int rc = gmm_make(&g, j, err), quarter = j->s->epochs > 4 ? j->s->epochs / 4 : 1;
    for (int i = 0; i < j->s->epochs && !rc; i++) {
        rc = epoch(&g, j, i, v, err);
        if (i < quarter) early += v[E_TEST] / quarter;
        if (!rc) rc = job_epoch(j, v, err);
    }
    if (!rc) {
        job_end(j, "parameters", (double)g.f.t.nparam);
        job_end(j, "edges", (double)g.f.r.net.inverse->edges);
        job_end(j, "loss", v[E_TEST]);
        job_end(j, "early", early);
        job_end(j, "indices", v[E_INDICES]);
        job_end(j, "sets", g.set);
    }
    gmm_free(&g);
    return rc;
}

/* ---- what is compared ------------------------------------------------------------------------ */

#define NETWORK(family_, size_, arch_)                                                             \
    {                                                                                              \
        .family = family_, .size = size_, .arch = arch_, .nhidden = 2, .hidden = {1, 1},           \
        .act = ACT_RELU, .skip = 1, .shared = 64                                                   \
    }
#define REVERSE .method = "nami", .mode = "reverse", .fit = 1

static const struct variant variants[] = {{.name = "full",
                                           .what = "fully connected, masked network",
                                           .method = "full",
                                           .mode = "reverse",
                                           .net = NETWORK(&family_match, 5, &arch_made),
                                           .fit = 1},
                                          {.name = "reverse",
                                           .what = "reverse inverse; the indices share a network",
                                           REVERSE,
                                           .net = NETWORK(&family_match, 5, NULL),
                                           .cost = 2},
                                          {.name = "reverse-made",
                                           .what = "reverse inverse, one masked network",
                                           .ours = 1,
                                           REVERSE,
                                           .net = NETWORK(&family_match, 5, &arch_made)},
                                          {.name = "reverse-spline",
                                           .what = "reverse inverse; splines",
                                           .ours = 1,
                                           REVERSE,
                                           .net = NETWORK(&family_spline, 0, NULL),
                                           .cost = 2},
                                          {0}};

static const struct claim claims[] = {
    {"Learning is faster for reverse than for fully connected", CLAIM_LESS, "early", "reverse",
     "full"},
    {"... and converges to a better solution", CLAIM_LESS, "loss", "reverse", "full"},
    {"Ours: also without sharing, in the same masked network: faster", CLAIM_LESS, "early",
     "reverse-made", "full"},
    {"Ours: ... and better", CLAIM_LESS, "loss", "reverse-made", "full"},
    {"Ours: splines are better than the families of the paper", CLAIM_LESS, "loss",
     "reverse-spline", "reverse"},
    {"Ours: indices of reverse are nearer to their exact posterior", CLAIM_LESS, "indices",
     "reverse", "full"},
    {0}};

static const struct study_figure figures[] = {
    {"train", "Training: E[-log q(z|x)], nats", "train", 1, 1, 0, NULL},
    {"test", "Test: E[-log q(z|x)], nats", "test", 1, 1, 0, NULL},
    {"indices", "KL of the indices' factors from their exact posterior, nats", "indices", 1, 1, 1,
     NULL},
    {0}};

const struct experiment study_gmm = {
    .name = "gmm",
    .what = "a Bayesian mixture of Gaussians (section 3.3)",
    .epoch = epoch_measures,
    .end = end_measures,
    .variant = variants,
    .quick = {.epochs = 40,
              .steps = 10,
              .batch = 100,
              .rate = 1e-3,
              .size = 30,
              .judge = 500,
              .params = 60000},
    .full = {.epochs = 300,
             .steps = 10,
             .batch = 200,
             .rate = 1e-3,
             .size = 200,
             .judge = 1000,
             .params = 820000},
    .run = gmm_run,
    .claim = claims,
    .figure = figures,
    .remarks =
        "The paper gives no priors, and no number of epochs: 300 here. A data set of 2,000 draws "
        "is "
        "used until the loss of held-out draws no longer falls, then a new one is drawn (the "
        "paper: "
        "\"when the validation error decreased\"). phi is drawn by sticks with beta factors, which "
        "hold the Dirichlet; mu has mixtures of five Gaussians. The loss is KL(p || q) but for the "
        "posterior's entropy, which is not known; of the indices alone it is known exactly. "
        "Networks "
        "have as many units as give 820,000 parameters; the indices' shared network has 64 a "
        "layer."};
