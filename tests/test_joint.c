/* test_joint.c: log p(x, z) as a function of coordinates is the model's density times the
   Jacobian, for every kind of support; derivatives agree with finite differences, one gradient
   group at a time. */
#include "net_at.h"

#include "net/joint.h"

static const char zoo[] = "model {\n"
                          "  m[1:2] ~ multi_normal(c(0, 0), diag(c(1, 4)))\n"
                          "  p[1:3] ~ dirichlet(c(2, 2, 2))\n"
                          "  s ~ gamma(3, 2)\n"
                          "  u ~ uniform(2, 5)\n"
                          "  w ~ beta(2, 3)\n"
                          "  above ~ normal(0, 1) T(1, )\n"
                          "  below ~ normal(0, 1) T(, 3)\n"
                          "  part ~ pareto(1.5, 3)\n"
                          "  r ~ relaxed_bernoulli(0.5, 0.3)\n"
                          "  for (i in 1:4) { k[i] ~ categorical(p[1:3])\n"
                          "    y[i] ~ normal(m[1] + k[i] * u, s + above) }\n"
                          "  t ~ normal(m[2] * w + below * part + r, 1)\n"
                          "  later ~ normal(m[1], s)\n"
                          "}\n"
                          "observe y, t, k\n";

/* Effects with scales that are latents, in two levels; a random walk, and one with a constant
 * scale. */
static const char effects[] =
    "model {\n"
    "  m ~ normal(0, 2)\n"
    "  s ~ half_normal(1)\n"
    "  t ~ gamma(2, 2)\n"
    "  for (i in 1:3) { g[i] ~ normal(m, s) }\n"
    "  for (i in 1:6) { h[i] ~ student_t(3, g[(i + 1) %/% 2] - m, t * s) }\n"
    "  w[1] ~ normal(0, s)\n"
    "  for (k in 2:4) { w[k] ~ normal(w[k-1], s) }\n"
    "  c ~ normal(m, 3)\n"
    "  for (i in 1:6) { y[i] ~ normal(h[i] + w[2] * c, 1 + s) }\n"
    "}\n"
    "observe y\n";

enum { LANES = 24 };
static const struct net_options opt = {.nhidden = 1, .hidden = {8}, .act = ACT_TANH, .skip = -1};

struct joint_at {
    struct net_at n;
    struct joint j;
    struct exec x;
    double *z; /* draws of the model */
};

static void joint_of(struct joint_at *s, const char *text)
{
    nami_err err = {0};
    net_at(&s->n, text, NULL, NULL, &opt);
    if (joint_make(&s->j, &s->n.q, &err)) fail_msg("%s", err.msg);
    if (exec_init(&s->x, &s->j.prog, LANES, GRADIENT_GROUPS, EXEC_GRAD, &err))
        fail_msg("%s", err.msg);
    s->z = draw(&s->n.m, LANES, 1);
    double *u = calloc((size_t)s->j.num_coordinates * LANES, sizeof *u);
    assert_int_equal(joint_coordinates(&s->j, LANES, s->z, u), 0);
    for (int r = 0; r < s->n.m.ir.num_rows; r++)
        memcpy(s->x.row + r * LANES, s->z + r * LANES, sizeof *u * LANES);
    for (int i = 0; i < s->n.q.inverse->nlatent;
         i++) { /* latents come from their coordinates alone */
        const struct encoding *c = &s->j.encoding[s->n.q.inverse->perm[i]];
        for (int k = 0; k < c->num_elements; k++)
            for (int b = 0; b < LANES; b++) s->x.row[c->row[k] * LANES + b] = NAN;
    }
    memcpy(s->x.row + s->j.coord * LANES, u, sizeof *u * (size_t)s->j.num_coordinates * LANES);
    free(u);
    exec_run(&s->x);
}

static void joint_at(struct joint_at *s) { joint_of(s, zoo); }

static void joint_drop(struct joint_at *s)
{
    exec_fini(&s->x);
    joint_free(&s->j);
    net_drop(&s->n);
    free(s->z);
}

static void density(void **state)
{
    struct joint_at s;
    double lp[LANES], barren[LANES] = {0};
    (void)state;
    joint_at(&s);
    const struct model *m = &s.n.m;
    assert_int_equal(s.j.num_coordinates, 2 + 2 + 7);
    logp(m, LANES, s.z, 1, (struct density){.logp = lp});
    for (int b = 0; b < LANES; b++) {
        double mean = s.z[row_of(m, "m", 0) * LANES + b], sd = s.z[row_of(m, "s", 0) * LANES + b];
        double d = (s.z[row_of(m, "later", 0) * LANES + b] - mean) / sd;
        barren[b] = -0.5 * d * d - log(sd) - 0.5 * log(2 * M_PI);
    }
    for (int i = 0; i < s.n.q.inverse->nlatent; i++) {
        const struct encoding *c = &s.j.encoding[s.n.q.inverse->perm[i]];
        for (int k = 0; k < c->num_elements; k++)
            for (int b = 0; b < LANES; b++) {
                double got = s.x.row[c->row[k] * LANES + b], want = s.z[c->row[k] * LANES + b];
                if (!(fabs(got - want) < 1e-9 * fmax(1, fabs(want))))
                    fail_msg("%g, not %g", got, want);
            }
    }
    for (int b = 0; b < LANES; b++) {
        const double *by_group = s.x.by_tag + b;
        assert_true(fabs(by_group[GRADIENT_DATA * LANES] + by_group[GRADIENT_LATENT * LANES] -
                         lp[b] + barren[b]) < 1e-8 * fmax(1, fabs(lp[b])));
        assert_true(fabs(by_group[0] + by_group[LANES] + by_group[2 * LANES] - s.x.total[b]) <
                    1e-9 * fmax(1, fabs(lp[b])));
    }
    joint_drop(&s);
}

/* The gradient group of the Jacobian is log |dz/du|: of numbers, the sum of the logarithms of their
   slopes. Simplex and vector: one element by each coordinate, in turn. */
static void jacobian(void **state)
{
    struct joint_at s;
    double sum[LANES] = {0}, want[LANES], h = 1e-5;
    (void)state;
    joint_at(&s);
    memcpy(want, s.x.by_tag + GRADIENT_JACOBIAN * LANES, sizeof want);
    for (int i = 0; i < s.n.q.inverse->nlatent; i++) {
        const struct encoding *c = &s.j.encoding[s.n.q.inverse->perm[i]];
        for (int k = 0; k < c->ncoord; k++) { /* triangular: the diagonal is enough */
            double *u = s.x.row + (c->coord + k) * LANES, *z = s.x.row + c->row[k] * LANES;
            double keep[LANES], up[LANES];
            memcpy(keep, u, sizeof keep);
            for (int b = 0; b < LANES; b++) u[b] = keep[b] + h;
            exec_run(&s.x);
            memcpy(up, z, sizeof up);
            for (int b = 0; b < LANES; b++) u[b] = keep[b] - h;
            exec_run(&s.x);
            for (int b = 0; b < LANES; b++) sum[b] += log(fabs(up[b] - z[b]) / (2 * h));
            memcpy(u, keep, sizeof keep);
        }
    }
    for (int b = 0; b < LANES; b++)
        if (!(fabs(sum[b] - want[b]) < 1e-6)) fail_msg("%.10g, not %.10g", want[b], sum[b]);
    joint_drop(&s);
}

/* Each gradient group with a weight of its own; with no_total, the same derivatives. */
static void check_gradient(struct exec *x, int coord, int num)
{
    double w[GRADIENT_GROUPS][LANES], h = 1e-5;
    size_t size = (size_t)num * LANES;
    double *got = calloc(size, sizeof *got), *u = x->row + coord * LANES;
    for (int l = 0; l < GRADIENT_GROUPS; l++) {
        for (int b = 0; b < LANES; b++) w[l][b] = 0.3 + l + 0.1 * b;
        x->weight[l] = w[l];
    }
    exec_both(x);
    memcpy(got, x->adj + coord * LANES, sizeof *got * size);
    x->no_total = 1;
    exec_both(x);
    assert_memory_equal(got, x->adj + coord * LANES, sizeof *got * size);
    x->no_total = 0;
    for (int k = 0; k < num; k++) {
        double keep[LANES], f[2][LANES];
        memcpy(keep, u + k * LANES, sizeof keep);
        for (int side = 0; side < 2; side++) {
            for (int b = 0; b < LANES; b++) u[k * LANES + b] = keep[b] + (side ? -h : h);
            exec_run(x);
            for (int b = 0; b < LANES; b++) {
                f[side][b] = 0;
                for (int l = 0; l < GRADIENT_GROUPS; l++)
                    f[side][b] += w[l][b] * x->by_tag[l * LANES + b];
            }
        }
        memcpy(u + k * LANES, keep, sizeof keep);
        for (int b = 0; b < LANES; b++) {
            double d = (f[0][b] - f[1][b]) / (2 * h);
            if (!(fabs(got[k * LANES + b] - d) < 1e-4 * fmax(1, fabs(d))))
                fail_msg("coordinate %d: %.10g, differences give %.10g", k, got[k * LANES + b], d);
        }
    }
    free(got);
}

static void gradient(void **state)
{
    struct joint_at s;
    (void)state;
    joint_at(&s);
    check_gradient(&s.x, s.j.coord, s.j.num_coordinates);
    joint_drop(&s);
}

static double value_at(const struct exec *x, struct row_or_constant o, int b)
{
    return o.is_const ? x->p->constant.a[o.at] : x->row[o.at * LANES + b];
}

/* In noncentered coordinates of the effects, the latents and the density are the same, but for the
   Jacobian; a random walk, whose steps depend on each other, stays centered. */
static void noncentered(void **state)
{
    struct joint_at s;
    struct joint to;
    struct exec x;
    nami_err err;
    double jacobian[LANES] = {0}, total[LANES];
    (void)state;
    joint_of(&s, effects);
    assert_int_equal(joint_noncenter(&to, &s.j), 0);
    int scaled[2] = {0};
    for (int i = 0; i < s.j.num_scaled; i++) {
        const char *name = bn_name(model_bn(s.n.q.model), s.j.scaled[i].node);
        scaled[0] += name[0] == 'g' || name[0] == 'h';
        scaled[1] += strcmp(name, "w[4]") == 0 || name[0] == 'c';
    }
    assert_int_equal(scaled[0], 3 + 6);
    assert_int_equal(scaled[1], 0);
    assert_int_equal(exec_init(&x, &to.prog, LANES, GRADIENT_GROUPS, EXEC_GRAD, &err), 0);
    size_t given = sizeof *x.row * LANES * (size_t)(s.j.coord + s.j.num_coordinates);
    memcpy(x.row, s.x.row, given);
    for (int i = 0; i < s.j.num_scaled; i++) {
        const struct scaled_latent *l = &s.j.scaled[i];
        for (int b = 0; b < LANES; b++) {
            double scale = value_at(&s.x, l->scale, b);
            x.row[(s.j.coord + l->coordinate) * LANES + b] =
                (s.x.row[l->row * LANES + b] - value_at(&s.x, l->location, b)) / scale;
            x.row[l->row * LANES + b] = NAN;
            jacobian[b] += log(scale / l->unit);
        }
    }
    memcpy(total, s.x.total, sizeof total);
    exec_run(&x);
    for (int r = 0; r < s.j.coord; r++)
        for (int b = 0; b < LANES; b++) {
            double got = x.row[r * LANES + b], want = s.x.row[r * LANES + b];
            if (isfinite(want)) assert_true(fabs(got - want) < 1e-9 * fmax(1, fabs(want)));
        }
    for (int b = 0; b < LANES; b++)
        if (!(fabs(x.total[b] - total[b] - jacobian[b]) < 1e-9 * fmax(1, fabs(total[b]))))
            fail_msg("%.12g, not %.12g", x.total[b], total[b] + jacobian[b]);
    check_gradient(&x, to.coord, to.num_coordinates);
    exec_fini(&x);
    joint_free(&to);
    joint_drop(&s);
}

/* Nothing is noncentered without scales that are latents. */
static void constant_scales(void **state)
{
    struct joint_at s;
    struct joint to;
    (void)state;
    joint_of(&s, "model { m ~ normal(0, 2); x ~ normal(m, 3); y ~ normal(x, 1) }\nobserve y\n");
    assert_int_equal(joint_noncenter(&to, &s.j), 0);
    assert_int_equal(s.j.num_scaled, 0);
    joint_free(&to);
    joint_drop(&s);
}

static const struct encoding *encoding_of(const struct joint_at *s, const char *name)
{
    int row = row_of(&s->n.m, name, 0);
    for (int i = 0; i < s->n.q.inverse->nlatent; i++)
        if (s->j.encoding[s->n.q.inverse->perm[i]].row[0] == row)
            return &s->j.encoding[s->n.q.inverse->perm[i]];
    fail_msg("no latent %s", name);
    return NULL;
}

/* Far out, where numbers in an interval are rounded to its ends: nothing is infinite, and a relaxed
   Bernoulli variable still has its own slope, as it has on the logistic scale. */
static void far(void **state)
{
    static const char *const name[] = {"u", "w", "r"};
    struct joint_at s;
    (void)state;
    joint_at(&s);
    for (int b = 0; b < LANES; b++)
        for (int k = 0; k < 3; k++) {
            const struct encoding *c = encoding_of(&s, name[k]);
            double v = (b % 2 ? -1 : 1) * (30 + 8. * b);
            s.x.row[c->coord * LANES + b] = (v - c->mean[0]) / c->sd[0];
        }
    exec_both(&s.x);
    for (int b = 0; b < LANES; b++) {
        for (int k = 0; k < 3; k++) {
            const struct encoding *c = encoding_of(&s, name[k]);
            double x = s.x.row[c->row[0] * LANES + b], d = s.x.adj[c->coord * LANES + b];
            assert_true(x > (k ? 0 : 2) && x < (k ? 1 : 5));
            assert_true(isfinite(d) && isfinite(s.x.total[b]));
            if (k == 2) assert_true(fabs(d - (b % 2 ? 0.5 : -0.5) * c->sd[0]) < 1e-4 * c->sd[0]);
        }
    }
    joint_drop(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(density),     cmocka_unit_test(jacobian),        cmocka_unit_test(gradient),
    cmocka_unit_test(noncentered), cmocka_unit_test(constant_scales), cmocka_unit_test(far),
};
RUN(tests)
