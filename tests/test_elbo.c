/* test_elbo.c: the ELBO program agrees in value with densities computed one by one, and in its
   gradients with finite differences for the same random numbers. */
#include "model/model.h"
#include "net/elbo.h"
#include "net/sampler.h"
#include "net_at.h"

enum { LANES = 16 };

static const struct {
    const char *name, *text;
    int rejects; /* match draws by rejection: no smooth function of its arguments; see test_path */
} models[] = {
    {"normal", "model { z ~ normal(0, 1); w ~ normal(z, 2); x ~ normal(z * w, 1) } observe x", 0},
    {"plate",
     "const N = 4\nmodel { mu ~ normal(0, 2); s ~ lognormal(0, 0.5);\n"
     "for (i in 1:N) { z[i] ~ normal(mu, s); x[i] ~ normal(z[i], 0.5) } } observe x",
     0},
    {"bounded",
     "model { a ~ beta(2, 3); b ~ gamma(2, 1); c ~ uniform(-1, 2);\n"
     "x ~ normal(a * b + c, 0.3); y ~ binomial(5, a) } observe x, y",
     1},
    {"simplex",
     "model { p[1:3] ~ dirichlet(c(1, 2, 3)); S[1:2,1:2] ~ inv_wishart(5, diag(c(1, 1)));\n"
     "x[1:2] ~ multi_normal(c(0, 1), S); k ~ categorical(p) } observe x, k",
     0},
    {"decoder",
     "network f : real[2] -> real[5] { dense(6, tanh); dense(5) }\n"
     "network g : real[1] -> real[1] { dense(3, tanh); dense(1) }\n"
     "model { for (l in 1:2) { h[l] ~ relaxed_bernoulli(1.5, 0.4) }\n"
     "a[1:5] <- f(h[1:2])\n b <- g(h[1]); d <- g(h[2])\n"
     "for (p in 1:5) { x[p] ~ bernoulli_logit(a[p]) } y ~ normal(b + d, 1) }\n"
     "observe x, y\nlearn f\nlearn g",
     0},
    {"onehot",
     "model { z[1:3] ~ relaxed_onehot(0.7, c(0.2, 0.3, 0.5)); x ~ normal(z[1] - z[3], 0.2) }\n"
     "observe x",
     0},
    {"states",
     "model { k ~ categorical(c(0.2, 0.3, 0.5)); z ~ normal(k, 1); x ~ normal(z, 0.5) }\n"
     "observe x",
     0},
};

static struct net_options options_of(const char *family, const struct arch *arch)
{
    static const struct net_options o = {.nhidden = 1, .hidden = {7}, .act = ACT_TANH, .skip = -1};
    struct net_options r = o;
    r.family = family_find(family, strlen(family));
    assert_true(r.family && r.family->path);
    r.arch = arch;
    if (strcmp(family, "mixture") == 0) r.size = 1; /* more: see test_path */
    return r;
}

static double *weights_of(const struct elbo *e)
{
    double *q = random_weights(e->q, 3), *w = calloc(e->prog.nparam + 1, sizeof *w);
    assert_non_null(w);
    /* small: near the ends of an interval draws are rounded, and differences are noise */
    for (size_t i = 0; i < e->q->prog.nparam; i++) w[i] = 0.4 * q[i];
    for (size_t i = e->q->prog.nparam; i < e->prog.nparam; i++)
        w[i] = e->q->model->programs.weights.a[i - e->q->prog.nparam] + 0.1 * (double)(i % 3);
    free(q);
    return w;
}

/* Data in the observed rows, fixed numbers of discrete latents in theirs. */
static void start(struct exec *x, const struct elbo *e, const double *w)
{
    nami_err err = {0};
    const struct model *m = e->q->model;
    double *at = draw(m, LANES, 1);
    if (exec_init(x, &e->prog, LANES, e->num_loss_terms, EXEC_GRAD, &err)) fail_msg("%s", err.msg);
    x->param = w;
    x->seed = 11;
    for (int el = 0; el < m->ir.num_elements; el++)
        if (m->ir.row[el] >= 0 && m->ir.row[el] < m->ir.num_rows && m->ir.observed[el])
            memcpy(x->row + (size_t)m->ir.row[el] * (size_t)x->cap,
                   at + (size_t)m->ir.row[el] * LANES, sizeof *at * LANES);
    for (size_t k = 0; k < e->choice.n; k++)
        for (int b = 0; b < LANES; b++)
            x->row[(size_t)e->choice.a[k].row * (size_t)x->cap + (size_t)b] =
                e->configs > 1 ? elbo_state(e, b % e->configs, (int)k) : NAN;
    free(at);
}

static double sum_of(const struct exec *x)
{
    double sum = 0;
    for (int b = 0; b < x->lanes; b++) sum += x->total[b] * (1 + 0.1 * b);
    return sum;
}

static double value(struct exec *x)
{
    exec_run(x);
    return sum_of(x);
}

/* log p(x, z) of what was drawn, by the model; log q, by the network the other way round. */
static void check_value(const char *what, struct exec *x, const struct elbo *e, const double *w)
{
    struct qnet *q = e->q;
    struct model *m = q->model;
    double *z = calloc((size_t)m->ir.num_rows * LANES, sizeof *z), logp[LANES];
    nami_err err = {0};
    struct exec y;
    value(x);
    for (int r = 0; r < m->ir.num_rows; r++)
        memcpy(z + (size_t)r * LANES, x->row + (size_t)r * (size_t)x->cap, sizeof *z * LANES);
    for (size_t i = q->prog.nparam; i < e->prog.nparam; i++)
        m->programs.weights.a[i - q->prog.nparam] = w[i];
    if (model_logp(m, LANES, z, 1, &(struct density){.logp = logp}, &err)) fail_msg("%s", err.msg);
    exec_at(&y, q, LANES, 0, w);
    for (int r = 0; r < m->ir.num_rows; r++)
        memcpy(y.row + (size_t)r * (size_t)y.cap, z + (size_t)r * LANES, sizeof *z * LANES);
    exec_run(&y);
    for (int b = 0; b < LANES; b++) {
        double want = logp[b] - y.total[b], parts = 0;
        for (int k = 0; k < e->num_loss_terms; k++) parts += x->by_tag[k * x->cap + b];
        if (!(fabs(x->total[b] - want) < 1e-6 * fmax(1, fabs(want))))
            fail_msg("%s: %.10g, not %.10g", what, x->total[b], want);
        assert_true(fabs(parts - x->total[b]) < 1e-9 * fmax(1, fabs(parts)));
    }
    exec_fini(&y);
    free(z);
}

static void check_gradient(const char *what, struct exec *x, const struct elbo *e, double *w)
{
    double weight[LANES], *grad = calloc(e->prog.nparam + 1, sizeof *grad), big = 0;
    double *more = calloc(e->prog.nparam + 1, sizeof *more);
    assert_true(grad && more);
    for (int b = 0; b < LANES; b++) weight[b] = 1 + 0.1 * b;
    for (int k = 0; k < GRADIENT_GROUPS; k++) x->weight[k] = weight;
    for (int twice = 0; twice < 2; twice++) { /* what is added to is cleared */
        value(x);
        exec_back(x);
    }
    for (size_t i = 0; i < e->block.n; i++) {
        const struct dense *d = e->block.a[i].layer;
        size_t n = ((size_t)d->in + 1) * (size_t)d->out;
        x->product->weights(d, &x->units, 1, 0, d->out, more);
        for (size_t k = d->w; k < d->w + n; k++) grad[k] += more[k];
    }
    for (size_t i = 0; i < e->prog.nparam; i++) big = fmax(big, fabs(grad[i]));
    for (size_t i = 0; i < e->prog.nparam; i++) {
        double keep = w[i], h = 1e-5, d[2];
        for (int k = 0; k < 2; k++, h /= 2) {
            w[i] = keep + h;
            double up = value(x);
            w[i] = keep - h;
            d[k] = (up - value(x)) / (2 * h);
        }
        w[i] = keep;
        if (!(fabs((4 * d[1] - d[0]) / 3 - grad[i]) < 1e-5 * fmax(fabs(grad[i]), 1e-2 * big)))
            fail_msg("%s: by weight %zu of %zu (of q: %zu): %.10g, differences give %.10g", what, i,
                     e->prog.nparam, e->q->prog.nparam, grad[i], (4 * d[1] - d[0]) / 3);
    }
    free(grad);
    free(more);
}

static void test_gradients(void **state)
{
    static const char *const family[] = {"match", "mixture", "spline", "naf", "logistic"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (size_t f = 0; f < sizeof family / sizeof *family; f++)
            for (int kind = 0; net_archs[kind]; kind++) {
                struct net_at n;
                struct elbo e;
                struct exec x;
                char what[80];
                nami_err err = {0};
                if (models[i].rejects && strcmp(family[f], "match") == 0) continue;
                struct net_options opt = options_of(family[f], net_archs[kind]);
                snprintf(what, sizeof what, "%s, %s, %s", models[i].name, family[f],
                         net_archs[kind]->name);
                net_at(&n, models[i].text, NULL, NULL, &opt);
                if (elbo_make(&e, &n.q, &err)) fail_msg("%s: %s", what, err.msg);
                double *w = weights_of(&e);
                start(&x, &e, w);
                check_value(what, &x, &e, w);
                check_gradient(what, &x, &e, w);
                exec_fini(&x);
                elbo_free(&e);
                net_drop(&n);
                free(w);
            }
}

/* ---- trimmed programs --------------------------------------------------------------- */

/* Pixels by a network, for which densities are computed on the units, and numbers by two. */
static const char pixels[] =
    "network f : real[2] -> real[40] { dense(6, tanh); dense(40) }\n"
    "network g : real[2] -> real[4] { dense(4) }\n"
    "network s : real[2] -> real[4] { dense(4, softplus) }\n"
    "model { for (l in 1:2) { h[l] ~ normal(0, 1) }\n"
    "a[1:40] <- f(h[1:2])\n for (p in 1:40) { x[p] ~ bernoulli_logit(a[p]) }\n"
    "m[1:4] <- g(h[1:2])\n t[1:4] <- s(h[1:2])\n for (p in 1:4) { y[p] ~ normal(m[p], t[p]) } }\n"
    "observe x, y\nembed x { dense(5, tanh) }\nlearn f\nlearn g\nlearn s";

/* Totals and derivatives of the weights, for some lanes in room for `cap`. */
static double *run_at(const struct elbo *e, int lanes, int cap, int is_float, int no_total,
                      double *total)
{
    nami_err err = {0};
    const struct model *m = e->q->model;
    struct exec x;
    size_t n = e->prog.nparam;
    double *w = weights_of(e), *at = draw(m, 64, 1), weight[64], *out = calloc(n + 1, sizeof *out);
    float *single = calloc(n + 1, sizeof *single), *grad = calloc(n + 1, sizeof *grad);
    assert_true(out && single && grad);
    if (exec_init(&x, &e->prog, cap, e->num_loss_terms, EXEC_GRAD | (is_float ? EXEC_FLOAT : 0),
                  &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < n; i++) single[i] = (float)w[i];
    for (size_t i = 0; i < n; i++) w[i] = (double)single[i];
    x.param = is_float ? (void *)single : w;
    x.seed = 11;
    x.lanes = lanes;
    for (int b = 0; b < 64; b++) weight[b] = b % 5 == 3 || b >= lanes ? 0 : 1 + 0.1 * b;
    for (int k = 0; k < GRADIENT_GROUPS; k++) x.weight[k] = weight;
    for (int el = 0; el < m->ir.num_elements; el++)
        if (m->ir.row[el] >= 0 && m->ir.row[el] < m->ir.num_rows && m->ir.observed[el])
            for (int b = 0; b < x.cap; b++) /* lanes that fill up are as the last */
                x.row[(size_t)m->ir.row[el] * (size_t)x.cap + (size_t)b] =
                    m->ir.arrays.a[m->ir.array_of[el]].n == 40
                        ? (el * 7 + b) % 5 == 0
                        : at[(size_t)m->ir.row[el] * 64 + (size_t)(b < lanes ? b : lanes - 1)];
    x.no_total = no_total;
    for (int twice = 0; twice < 2; twice++) { /* what is added to is cleared */
        exec_run(&x);
        for (int b = 0; b < lanes; b++) total[b] = x.total[b];
        exec_back(&x);
    }
    for (size_t i = 0; i < e->block.n; i++) {
        const struct dense *d = e->block.a[i].layer;
        x.product->weights(d, &x.units, 1, 0, d->out, is_float ? (void *)grad : out);
    }
    for (size_t i = 0; i < n && is_float; i++) out[i] = (double)grad[i];
    exec_fini(&x);
    free(w), free(at), free(single), free(grad);
    return out;
}

static void test_trimmed(void **state)
{
    static const struct {
        int lanes, cap;
    } size[] = {{64, 64}, {40, 40}, {40, 64}, {56, 64}, {3, 8}, {8, 64}, {1, 8}};
    struct net_options opt = options_of("match", &arch_made);
    struct net_at n;
    struct elbo e;
    nami_err err = {0};
    int ahead = 0, units = 0;
    (void)state;
    net_at(&n, pixels, NULL, NULL, &opt);
    if (elbo_make(&e, &n.q, &err)) fail_msg("%s", err.msg);
    for (size_t k = 0; k < e.prog.code.n; k++) {
        const struct instr *c = &e.prog.code.a[k];
        ahead += c->ahead;
        for (int a = 0; a < c->narg; a++) units += c->arg[a].unit;
    }
    assert_int_equal(ahead, 2); /* x by its log odds */
    assert_int_equal(units, 3);
    assert_int_equal(e.prog.nsign, 40); /* the embedding of x adds weights up */
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        int lanes = size[i].lanes;
        double total[4][64], all[64];
        double *want = run_at(&e, lanes, size[i].cap, 0, 0, total[0]);
        free(run_at(&e, 64, 64, 0, 0, all));
        for (int k = 1; k < 4; k++) {
            double *got = run_at(&e, lanes, size[i].cap, k & 1, k & 2, total[k]), big = 0;
            for (size_t j = 0; j < e.prog.nparam; j++) big = fmax(big, fabs(want[j]));
            for (size_t j = 0; j < e.prog.nparam; j++)
                if (!(fabs(got[j] - want[j]) <= (k & 1 ? 3e-5 : 1e-12) * big))
                    fail_msg("%d of %d lanes, %d: by weight %zu: %g, not %g", lanes, size[i].cap, k,
                             j, got[j], want[j]);
            for (int b = 0; b < lanes && k < 2; b++)
                assert_true(fabs(total[k][b] - total[0][b]) < 1e-4 * fmax(1, fabs(total[0][b])));
            free(got);
        }
        for (int b = 0; b < lanes; b++) assert_true(total[0][b] == all[b]);
        free(want);
    }
    elbo_free(&e);
    net_drop(&n);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_trimmed),
    cmocka_unit_test(test_gradients),
};

RUN(tests)
