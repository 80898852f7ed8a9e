/* test_match.c: heads that match a distribution, over all rows of dist.def: they are that
   distribution, and match_fit() finds its parameters. */
#include "family_at.h"

/* A head with the parameters of a try at outputs 0. */
static struct case_ match_at(const struct at *it)
{
    struct output_dist h = {.family = &family_match, .dist = it->d};
    for (int k = 0; k < it->d->narg; k++) {
        enum domain in = it->d->arg[k].domain;
        h.scale[k] = 1;
        if (domains[in].discrete)
            h.fixed = it->p[k];
        else
            unconstrain(in, -INFINITY, INFINITY, 1, &it->p[k], &h.shift[k]);
    }
    return case_of(&h);
}

static int accepted(const struct at *it, int n, const double *x, struct output_dist *h)
{
    *h = (struct output_dist){0};
    for (int k = 0; k < it->d->narg; k++)
        if (domains[it->d->arg[k].domain].discrete) h->fixed = it->p[k];
    return match_fit(h, it->d, n, x) == 0;
}

static void kernels(void **state)
{
    (void)state;
    enum { N = 24 };
    struct rng r;
    rng_init(&r, 48, 1);
    for_each_try(it)
    {
        double x[N], y[N], o[OUTPUTS] = {0}, lq[N];
        struct stream s = {.seed = 41, .node = 3};
        struct output_dist h;
        if (!it.d->logp) continue;
        at_draw(&it, &s, N, x);
        if (!accepted(&it, N, x, &h)) continue;
        struct case_ c = match_at(&it);
        int unclear = 0, all = 0;
        sample_at(&c, 3, N, o, y);
        logq_at(&c, N, x, o, lq);
        for (int b = 0; b < N; b++) {
            check(&c, near(x[b], y[b], 1e-12), "draw %.17g, not %.17g", y[b], x[b]);
            check(&c, near(lq[b], at_logp(&it, &x[b]), 1e-9), "density %g at %g", lq[b], x[b]);
        }
        for (int i = 0; i < 60; i++) {
            double sd = i % 3 * 0.35;
            random_outputs(&r, c.dim[1], sd, o);
            sample_at(&c, 3, 8, o, y);
            for (int k = 0; k < it.d->narg; k++) c.h.scale[k] = 0.7 + k;
            if (!domain_holds(it.d->domain, &y[i % 8], 1)) continue;
            double lq1;
            logq_at(&c, 1, &y[i % 8], o, &lq1);
            if (!(lq1 > -1e6)) continue;
            unclear += check_grad(&c, y[i % 8], o, 1e-4);
            all += 1 + c.dim[1];
        }
        check(&c, unclear <= all / 5 && all > 50, "%d of %d derivatives are unclear", unclear, all);
    }
}

static double mean_logq(const struct case_ *c, int n, const double *x)
{
    double o[OUTPUTS] = {0}, lq, sum = 0;
    int count = 0;
    for (int b = 0; b < n; b++)
        if (domain_holds(c->h.dist->domain, &x[b], 1)) {
            logq_at(c, 1, &x[b], o, &lq);
            sum += lq;
            count++;
        }
    return sum / count;
}

static void fits(void **state)
{
    (void)state;
    enum { N = 4000 };
    static double x[N * MOST];
    char refused[1024] = "";
    for_each_try(it)
    {
        struct stream s = {.seed = 49, .node = (uint32_t)t_};
        struct output_dist h;
        at_draw(&it, &s, N, x);
        if (!accepted(&it, N, x, &h)) {
            if (t_ == 0) strcat(strcat(refused, it.d->name), " ");
            continue;
        }
        struct case_ c = case_of(&h), truth = match_at(&it);
        double got = mean_logq(&c, N, x), want = mean_logq(&truth, N, x);
        check(&c, got > want - 0.002, "fitted %.5f, true parameters %.5f", got, want);
        for (int k = 0; k < it.d->narg; k++)
            check(&c, domains[it.d->arg[k].domain].discrete || h.scale[k] > 0, "scale %g",
                  h.scale[k]);
    }
    assert_string_equal(refused,
                        "gev pareto pareto_type_2 uniform von_mises discrete_range hypergeometric "
                        "noncentral_hypergeometric categorical categorical_logit interval ordered_logistic "
                        "ordered_probit multinomial dirichlet_multinomial dirichlet multi_normal "
                        "multi_normal_prec multi_normal_cholesky multi_student_t relaxed_onehot "
                        "wishart inv_wishart scaled_wishart lkj_corr lkj_corr_cholesky ");
}

/* Scales; few, equal, huge, tiny and invalid draws. */
static void odd_fits(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double x[N], y[N];
    struct stream s = {.seed = 50, .node = 1};
    struct output_dist h = {0};
    stream_normal(&s, N, x);
    for (int i = 0; i < N; i++) y[i] = 1e6 + 1e-3 * x[i];
    assert_int_equal(match_fit(&h, &dist_normal, N, y), 0);
    assert_true(fabs(h.shift[0] - 1e6) < 1e-4 && fabs(exp(h.shift[1]) / 1e-3 - 1) < 0.1);
    assert_true(fabs(h.scale[0] / 1e-3 - 1) < 0.1 && h.scale[1] == 1);
    for (int i = 0; i < N; i++) y[i] = exp(-20 + 0.1 * x[i]);
    assert_int_equal(match_fit(&h, &dist_lognormal, N, y), 0);
    assert_true(fabs(h.shift[0] + 20) < 0.02 && fabs(h.scale[0] / 0.1 - 1) < 0.1);
    assert_int_equal(match_fit(&h, &dist_gamma, N, y), 0);
    assert_true(fabs(h.shift[0] - h.shift[1] + 20) < 0.02 && fabs(h.shift[0] - log(100)) < 0.2);
    y[7] = NAN, y[8] = INFINITY, y[9] = 0, y[10] = -1;
    assert_int_equal(match_fit(&h, &dist_gamma, N, y), 0);
    assert_int_equal(match_fit(&h, &dist_gamma, 1, y), 1);
    assert_int_equal(match_fit(&h, &dist_gamma, 0, y), 1);
    h.fixed = 3;
    for (int i = 0; i < N; i++) y[i] = 4;
    assert_int_equal(match_fit(&h, &dist_binomial, N, y), 1); /* more than N */
    for (int v = 0; v < 2; v++)
        for (int i = 0; dists[i]; i++) {
            for (int b = 0; b < N; b++) y[b] = dists[i]->domain == OPEN_UNIT ? 0.3 : v;
            h.fixed = 3;
            if (match_fit(&h, dists[i], N, y)) continue;
            struct case_ c = case_of(&h);
            double o[OUTPUTS], lq;
            for (int t = 0; t < 100; t++) {
                for (int j = 0; j < c.dim[1]; j++) o[j] = 1e4 * (t >> j & 1 ? 1 : -1) * (t % 5) / 4;
                logq_at(&c, 1, y, o, &lq);
                check(&c, !isnan(lq), "no number at %g", o[0]);
            }
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(kernels),
    cmocka_unit_test(fits),
    cmocka_unit_test(odd_fits),
};
RUN(tests)
