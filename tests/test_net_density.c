/* test_net_density.c: q(z | x) integrates to 1 over z for any weights; the integrals are
   computed on the variables' own scale, with independent changes of variables. */
#include "net_at.h"

enum { DIMS = 3, ELEMS = 4 };

/* t in R^n -> the elements of a value, and the density of these by t. */
typedef double place(const double *t, double *x);

static double on_real(const double *t, double *x) /* wide tails */
{
    x[0] = 3 * sinh(t[0]);
    return 3 * cosh(t[0]);
}

static double on_positive(const double *t, double *x)
{
    x[0] = exp(2 * t[0]);
    return 2 * x[0];
}

static double on_unit(const double *t, double *x)
{
    double e = exp(-3 * t[0]);
    x[0] = 1 / (1 + e);
    return 3 * x[0] * (e / (1 + e));
}

static double on_2_5(const double *t, double *x)
{
    double d = on_unit(t, x);
    x[0] = 2 + 3 * x[0];
    return 3 * d;
}

static double above_2(const double *t, double *x)
{
    double d = on_positive(t, x);
    x[0] += 2;
    return d;
}

static double below_3(const double *t, double *x)
{
    double d = on_positive(t, x);
    x[0] = 3 - x[0];
    return d;
}

static double on_plane(const double *t, double *x) { return on_real(t, x) * on_real(t + 1, x + 1); }

static double on_quarter(const double *t, double *x)
{
    return on_positive(t, x) * on_positive(t + 1, x + 1);
}

static double on_simplex2(const double *t, double *x)
{
    double d = on_unit(t, x);
    x[1] = 1 - x[0];
    return d;
}

static double on_simplex3(const double *t, double *x)
{
    double d = on_unit(t, x) * on_unit(t + 1, x + 1), rest = 1 - x[0];
    x[1] *= rest;
    x[2] = 1 - x[0] - x[1];
    return d * rest;
}

/* S = L L': by the elements on and below the diagonal */
static double on_spd2(const double *t, double *x)
{
    double a = exp(t[0]), c = exp(t[1]), b = 3 * sinh(t[2]);
    x[0] = a * a, x[1] = x[2] = a * b, x[3] = b * b + c * c;
    return 4 * a * a * c * (a * c * 3 * cosh(t[2]));
}

struct space {
    const char *name; /* of the array; two latents: a second space */
    int elems, dims;
    place *to;
    double lo[2]; /* to == NULL: the sum over lo .. hi */
};

struct density_case {
    const char *text;
    struct space space[2];
    double reach; /* t from -reach to reach */
    int points;   /* in each dimension */
    double tol;
};

#define Y "\n y ~ normal(z, 1) }\n observe y"
static const struct density_case cases[] = {
    {"model { z ~ normal(3, 2)" Y, {{"z", 1, 1, on_real, {0}}}, 9, 2000, 1e-6},
    {"model { z ~ student_t(3, 1, 2)" Y, {{"z", 1, 1, on_real, {0}}}, 30, 4000, 1e-6},
    {"model { z ~ gamma(2, 3)" Y, {{"z", 1, 1, on_positive, {0}}}, 12, 2000, 1e-6},
    {"model { z ~ lognormal(-1, 2)" Y, {{"z", 1, 1, on_positive, {0}}}, 40, 4000, 1e-6},
    {"model { z ~ half_normal(4)" Y, {{"z", 1, 1, on_positive, {0}}}, 15, 2000, 1e-6},
    {"model { z ~ beta(2, 0.7)" Y, {{"z", 1, 1, on_unit, {0}}}, 11, 2000, 1e-6},
    {"model { z ~ relaxed_bernoulli(2, 0.3)" Y, {{"z", 1, 1, on_unit, {0}}}, 11, 2000, 1e-6},
    {"model { z ~ uniform(2, 5)" Y, {{"z", 1, 1, on_2_5, {0}}}, 11, 2000, 1e-6},
    {"model { z ~ pareto(2, 3)" Y, {{"z", 1, 1, above_2, {0}}}, 12, 2000, 1e-6},
    {"model { z ~ normal(0, 1) T(2, )" Y, {{"z", 1, 1, above_2, {0}}}, 12, 2000, 1e-6},
    {"model { z ~ normal(0, 1) T(, 3)" Y, {{"z", 1, 1, below_3, {0}}}, 12, 2000, 1e-6},
    {"model { z ~ normal(0, 1) T(2, 5)" Y, {{"z", 1, 1, on_2_5, {0}}}, 11, 2000, 1e-6},
    {"model { z ~ bernoulli(0.3)" Y, {{"z", 1, 0, NULL, {0, 1}}}, 0, 0, 1e-12},
    {"model { z ~ categorical(c(0.3, 0.2, 0.5))" Y, {{"z", 1, 0, NULL, {1, 3}}}, 0, 0, 1e-12},
    {"model { z ~ binomial(6, 0.4)" Y, {{"z", 1, 0, NULL, {0, 6}}}, 0, 0, 1e-12},
    {"model { z ~ binomial(100, 0.4)" Y, {{"z", 1, 0, NULL, {0, 100}}}, 0, 0, 1e-10},
    {"model { z ~ poisson(4)" Y, {{"z", 1, 0, NULL, {0, 400}}}, 0, 0, 1e-10},
    {"model { p[1:2] ~ dirichlet(c(2, 3))\n z <- p[1]" Y,
     {{"p", 2, 1, on_simplex2, {0}}},
     11,
     2000,
     1e-6},
    {"model { p[1:3] ~ dirichlet(c(2, 3, 1.5))\n z <- p[2]" Y,
     {{"p", 3, 2, on_simplex3, {0}}},
     8,
     250,
     1e-5},
    {"model { v[1:2] ~ multi_normal(c(1, -2), diag(c(2, 0.5)))\n z <- v[1] + v[2]" Y,
     {{"v", 2, 2, on_plane, {0}}},
     6,
     250,
     1e-5},
    {"model { S[1:2,1:2] ~ wishart(5, diag(c(0.3, 0.5)))\n z <- S[1,1] - S[1,2]" Y,
     {{"S", 4, 3, on_spd2, {0}}},
     4.5,
     60,
     1e-3},
    {"model { for (i in 1:2) { z[i] ~ normal(3, i)\n y[i] ~ normal(z[i], 1) } }\n observe y",
     {{"z", 2, 2, on_plane, {0}}},
     6,
     250,
     1e-5}, /* one network for both, or not */
    {"model { for (i in 1:2) { z[i] ~ gamma(2, 1)\n y[i] ~ normal(z[i], 1) } }\n observe y",
     {{"z", 2, 2, on_quarter, {0}}},
     8,
     250,
     1e-5},
    {"model { a ~ gamma(2, 1)\n b ~ normal(a, 1)\n z <- a * b" Y,
     {{"a", 1, 1, on_positive, {0}}, {"b", 1, 1, on_real, {0}}},
     8,
     300,
     1e-5},
    {"model { a ~ bernoulli(0.6)\n b ~ uniform(2, 5)\n z <- a + b" Y,
     {{"a", 1, 0, NULL, {0, 1}}, {"b", 1, 1, on_2_5, {0}}},
     10,
     3000,
     1e-6},
    {"model { a ~ categorical(c(0.2, 0.5, 0.3))\n b ~ poisson(a)\n z <- a + b" Y,
     {{"a", 1, 0, NULL, {1, 3}}, {"b", 1, 0, NULL, {0, 300}}},
     0,
     0,
     1e-9},
};

static const struct {
    const struct family *family;
    int size;
} family_rows[] = {{&family_match, 0},  {&family_mixture, 1}, {&family_mixture, 3},
                   {&family_spline, 4}, {&family_naf, 3},     {&family_logistic, 0}};

/* ---- sums over a grid --------------------------------------------------------------- */

struct grid {
    struct exec x;
    int used;
    double weight[256], sum;
};

static void flush(struct grid *g)
{
    if (!g->used) return;
    for (int b = g->used; b < g->x.cap; b++) { /* no lane is without a value */
        for (int r = 0; r < g->x.p->nnode; r++) g->x.row[r * g->x.cap + b] = g->x.row[r * g->x.cap];
        g->weight[b] = 0;
    }
    exec_run(&g->x);
    for (int b = 0; b < g->used; b++) {
        double q = exp(g->x.total[b]);
        if (!isfinite(q)) fail_msg("log q is %g", g->x.total[b]);
        g->sum += g->weight[b] * q;
    }
    g->used = 0;
}

/* All values of the spaces from the k-th on, at the next lane. */
static void visit(const struct density_case *c, const struct model *m, int k, double weight,
                  const double (*value)[ELEMS], struct grid *g)
{
    double at[2][ELEMS], t[DIMS];
    if (k == 2 || !c->space[k].name) {
        for (int i = 0; i < k; i++)
            for (int j = 0; j < c->space[i].elems; j++)
                g->x.row[row_of(m, c->space[i].name, j) * g->x.cap + g->used] = value[i][j];
        g->weight[g->used] = weight;
        if (++g->used == g->x.cap) flush(g);
        return;
    }
    const struct space *s = &c->space[k];
    memcpy(at, value, sizeof at);
    if (!s->to) {
        for (at[k][0] = s->lo[0]; at[k][0] <= s->lo[1]; at[k][0]++)
            visit(c, m, k + 1, weight, (const double(*)[ELEMS])at, g);
        return;
    }
    double h = 2 * c->reach / c->points;
    long n = 1;
    for (int d = 0; d < s->dims; d++) n *= c->points;
    for (long i = 0; i < n; i++) {
        long left = i;
        for (int d = 0; d < s->dims; d++, left /= c->points)
            t[d] = -c->reach + ((double)(left % c->points) + 0.5) * h;
        double w = weight * s->to(t, at[k]);
        for (int d = 0; d < s->dims; d++) w *= h;
        visit(c, m, k + 1, w, (const double(*)[ELEMS])at, g);
    }
}

static void check_density(const struct density_case *c, int f, const struct arch *arch)
{
    struct net_at n;
    struct grid g = {.sum = 0};
    nami_err err = {0};
    net_at(&n, c->text, NULL, NULL,
           &(struct net_options){.family = family_rows[f].family,
                                 .size = family_rows[f].size,
                                 .arch = arch,
                                 .nhidden = 1,
                                 .hidden = {24},
                                 .act = ACT_TANH,
                                 .skip = -1});
    double *w = random_weights(&n.q, 31);
    for (size_t i = 0; i < n.q.prog.nparam; i++) w[i] *= 0.7;
    if (exec_init(&g.x, &n.q.prog, 256, 0, 0, &err)) fail_msg("%s", err.msg);
    g.x.param = w;
    for (int b = 0; b < g.x.cap; b++) g.x.row[row_of(&n.m, "y", 0) * g.x.cap + b] = 1.7;
    double none[2][ELEMS] = {{0}};
    visit(c, &n.m, 0, 1, (const double(*)[ELEMS])none, &g);
    flush(&g);
    double tol = c->tol, h = c->points ? 2 * c->reach / c->points : 0;
    for (int i = 0; i < n.q.ngroup; i++) /* it has kinks */
        if (n.q.group[i].output.family == &family_spline) tol = fmax(tol, 10 * h * h);
    if (!(fabs(g.sum - 1) < tol))
        fail_msg("%s\n%s of %d, %s: the integral is %.9g", c->text, family_rows[f].family->name,
                 family_rows[f].size, arch->name, g.sum);
    exec_fini(&g.x);
    free(w);
    net_drop(&n);
}

static void test_integrals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int f = 0; f < 6; f++) check_density(&cases[i], f, f % 2 ? &arch_mlp : &arch_made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_integrals),
};
RUN(tests)
