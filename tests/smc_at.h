/* smc_at.h: small models whose posteriors are known, and networks for them, for tests of methods
   that weigh draws. */
#ifndef TESTS_SMC_AT_H
#define TESTS_SMC_AT_H

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/answer.h"
#include "infer/exact.h"
#include "model/model.h"
#include "train/training.h"

/* Of a model's rows; NaN for what is not a latent. */
struct truth {
    double log_z, *mean, *sd;
};

struct known_model {
    const char *name, *text, *data;
    void (*exact)(struct model *m, struct truth *t);
};

/* ---- exact answers -------------------------------------------------------------------- */

static inline void gauss_exact(struct model *m, struct truth *t)
{
    struct gnet g;
    struct gpost p;
    nami_err err = {0};
    if (gnet_read(m, &g, &err)) fail_msg("%s", err.msg);
    double *x = calloc((size_t)g.n, sizeof *x), *cov = calloc((size_t)(g.n * g.n), sizeof *cov);
    assert_true(x && cov);
    if (gnet_evidence(&g, m, m->source.data.set.a, x, &err) || gpost_new(&g, x, &p, &err) ||
        gpost_cov(&p, cov, &err))
        fail_msg("%s", err.msg);
    t->log_z = p.log_evidence;
    for (int i = 0; i < p.nz; i++) {
        t->mean[g.row[p.z[i]]] = p.x[p.z[i]];
        t->sd[g.row[p.z[i]]] = sqrt(cov[i * p.nz + i]);
    }
    gpost_free(&p);
    gnet_free(&g);
    free(x), free(cov);
}

static inline void states_exact(struct model *m, struct truth *t)
{
    struct dnet d;
    struct ctree c;
    nami_err err = {0};
    double p[64];
    if (dnet_read(m, &d, &err)) fail_msg("%s", err.msg);
    int *state = calloc((size_t)d.n, sizeof *state);
    if (dnet_evidence(&d, m, m->source.data.set.a, state, &err) ||
        ctree_new(&d, state, CTREE_MOST, &c, &err) || ctree_calibrate(&c, &err))
        fail_msg("%s", err.msg);
    t->log_z = c.log_evidence;
    for (int v = 0; v < d.n; v++) {
        double s = 0, ss = 0;
        if (state[v] >= 0) continue;
        ctree_marginal(&c, v, p);
        for (int k = 0; k < d.card[v]; k++)
            s += p[k] * (d.low[v] + k), ss += p[k] * pow(d.low[v] + k, 2);
        t->mean[d.row[v]] = s;
        t->sd[d.row[v]] = sqrt(ss - s * s);
    }
    ctree_free(&c);
    dnet_free(&d);
    free(state);
}

static inline int row_named(const struct model *m, const char *name)
{
    for (size_t a = 0; a < m->ir.arrays.n; a++)
        if (strcmp(m->ir.arrays.a[a].name, name) == 0) return m->ir.row[m->ir.arrays.a[a].first];
    fail_msg("no %s", name);
    return -1;
}

/* Two means on a grid; the labels are summed out. */
static inline void mixture_exact(struct model *m, struct truth *t)
{
    const struct value *x = dataset_find(&m->source.data.set.a[0], "x", 1);
    double h = 0.02, z = 0, s[2] = {0}, ss[2] = {0};
    for (double a = -10; a < 10; a += h)
        for (double b = -10; b < 10; b += h) {
            double l = -0.5 * ((a + 2) * (a + 2) + (b - 2) * (b - 2)) / 4 - log(2 * M_PI * 4),
                   p = 1;
            for (size_t i = 0; i < x->n; i++)
                p *= (0.3 * exp(-0.5 * pow(x->x[i] - a, 2)) +
                      0.7 * exp(-0.5 * pow(x->x[i] - b, 2))) /
                     sqrt(2 * M_PI);
            p *= exp(l) * h * h;
            z += p;
            s[0] += p * a, ss[0] += p * a * a;
            s[1] += p * b, ss[1] += p * b * b;
        }
    t->log_z = log(z);
    for (int k = 0; k < 2; k++) {
        int r = row_named(m, "mu") + k;
        t->mean[r] = s[k] / z;
        t->sd[r] = sqrt(ss[k] / z - pow(s[k] / z, 2));
    }
}

/* ---- models ----------------------------------------------------------------------------- */

static const struct known_model known_tree = {
    "tree",
    "model { x[1] ~ normal(0, 1)\n for (i in 2:15) { x[i] ~ normal(0.9 * x[i %/% 2], 0.7) } }\n"
    "observe x[8:15]\n",
    "{\"x\": [null, null, null, null, null, null, null, 1.5, 0.4, 0.9, 1.2, -0.3, 0.2, 0.8, -1.1]}",
    gauss_exact};

static const struct known_model known_chain = {
    "chain",
    "model { z[1] ~ normal(0, 1)\n for (t in 2:24) { z[t] ~ normal(0.9 * z[t-1], 0.6) }\n"
    " for (t in 1:24) { m[t] <- 2 * z[t]\n y[t] ~ normal(m[t], 0.5) } }\nobserve y\n",
    "{\"y\": [0.5, 1.1, 2.0, 2.6, 1.9, 0.7, -0.6, -1.9, -2.4, -1.0, 0.3, 0.2,"
    " 1.6, 2.2, 3.1, 3.6, 2.4, 2.0, 1.4, 0.1, -0.5, -1.5, -0.2, 0.9]}",
    gauss_exact};

/* What all latents have in common is drawn last in forward mode, and none has a prior before. */
static const struct known_model known_drift = {
    "drift",
    "model { c ~ normal(0, 1)\n h[1] ~ normal(c, 0.5)\n"
    " for (t in 2:20) { h[t] ~ normal(0.8 * h[t-1] + c, 0.5) }\n"
    " for (t in 1:20) { y[t] ~ normal(h[t], 1.5) } }\nobserve y\n",
    "{\"y\": [0.5, 2.1, 0.3, 2.6, 4.9, 1.7, 2.6, 4.9, 3.4, 5.0, 2.3, 4.2, 3.6, 5.2, 3.1, 1.6, 4.4,"
    " 3.0, 4.4, 2.1]}",
    gauss_exact};

static const struct known_model known_hmm = {
    "hmm",
    "model { z[1] ~ categorical(c(0.5, 0.3, 0.2))\n"
    " for (t in 2:12) { z[t] ~ categorical(A[z[t-1], ]) }\n"
    " for (t in 1:12) { y[t] ~ categorical(B[z[t], ]) } }\nobserve y\nconst A[3, 3], B[3, 4]\n",
    "{\"A\": [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]],"
    " \"B\": [[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.05, 0.05, 0.2, 0.7]],"
    " \"y\": [1, 1, 2, 4, 4, 3, 2, 2, 1, 1, 4, 1]}",
    states_exact};

static const struct known_model known_mixture = {
    "mixture",
    "model { mu[1] ~ normal(-2, 2)\n mu[2] ~ normal(2, 2)\n"
    " for (i in 1:6) { k[i] ~ bernoulli(0.7)\n x[i] ~ normal(mu[k[i] + 1], 1) } }\nobserve x\n",
    "{\"x\": [-2.5, 0.3, 1.7, 2.9, -1.1, 2.2]}", mixture_exact};

/* ---- networks --------------------------------------------------------------------------- */

/* A model, its exact answer, and a network after so many steps (0: as it starts). */
struct fixture {
    struct training r;
    struct infer a;
    struct truth t;
    double *x;
};

static inline void fixture_make(struct fixture *f, const struct known_model *k, const char *mode,
                                int steps)
{
    nami_err err = {0};
    struct source *s;
    struct training *r = &f->r;
    int checked, rc;
    *f = (struct fixture){0};
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){
        .invert = {.mode = mode, .exact = "none"},
        .net = {.arch = &arch_mlp, .nhidden = 2, .hidden = {24, 24}, .act = ACT_RELU, .skip = 1},
        .train = {.steps = steps > 0 ? steps : 1,
                  .batch = 100,
                  .rate = steps > 0 ? 3e-3 : 1e-9,
                  .check = 500,
                  .valid = 500,
                  .patience = 100,
                  .cooldown = 0.5}};
    rc = data_parse(&r->net.model->source.data, k->data, strlen(k->data), &err);
    if (!rc) rc = model_parse(r->net.model, "model", k->text, strlen(k->text), NATIVE, NULL, &err);
    if (!rc) rc = training_prepare(r, 2, &err);
    if (!rc) rc = source_model(r->net.model, 1, 100, 500, &s, &err);
    if (!rc) rc = training_start(r, s, 2, &err);
    while (!rc && !r->train.done) rc = train_step(&r->train, &checked, &err);
    if (!rc) rc = infer_init(&f->a, &r->net.q, r->train.best_param, &err);
    size_t n = (size_t)r->net.model->ir.num_rows;
    f->x = calloc(n, sizeof *f->x);
    f->t.mean = calloc(n, sizeof *f->x);
    f->t.sd = calloc(n, sizeof *f->x);
    assert_true(f->x && f->t.mean && f->t.sd);
    if (!rc) rc = infer_data(r->net.model, &r->net.model->source.data.set.a[0], 1, 0, f->x, &err);
    if (rc) fail_msg("%s: %s", k->name, err.msg);
    for (size_t i = 0; i < n; i++) f->t.mean[i] = f->t.sd[i] = NAN;
    k->exact(r->net.model, &f->t);
}

static inline void fixture_drop(struct fixture *f)
{
    infer_fini(&f->a);
    training_free(&f->r);
    free(f->x), free(f->t.mean), free(f->t.sd);
}

#endif
