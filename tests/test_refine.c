/* test_refine.c: summaries of exact latents by their conditional moments: equal to formulas,
   whatever the blocks; and those of queries, against exact posteriors. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/stream.h"
#include "infer/refine.h"
#include "infer/weights.h"
#include "nami.h"

enum { N = 500 };

static void near(double x, double y, double eps)
{
    if (!(fabs(x - y) <= eps)) fail_msg("%.17g is not %.17g", x, y);
}

static struct refined put(size_t block, const double *m, const double *v, const double *logw)
{
    struct refined r = {0};
    double w[N];
    for (size_t i = 0; i < N; i++) w[i] = logw ? exp(logw[i]) : 1. / N;
    for (size_t i = 0; i < N; i += block) {
        size_t k = N - i < block ? N - i : block;
        refined_put(&r, k, m + i, v + i, w + i);
    }
    return r;
}

static void formulas(void **state)
{
    (void)state;
    struct rng g;
    double m[N], v[N], logw[N], flat[N];
    rng_init(&g, 5, 0);
    for (int weighted = 0; weighted < 2; weighted++) {
        for (int i = 0; i < N; i++) {
            m[i] = 3 + rng_normal(&g), v[i] = exp(rng_normal(&g));
            logw[i] = weighted ? rng_normal(&g) : 0;
        }
        weights_normalise(N, logw);
        double mean = 0, between = 0, within = 0, sum2 = 0, error = 0;
        for (int i = 0; i < N; i++) mean += exp(logw[i]) * m[i];
        for (int i = 0; i < N; i++) {
            double w = exp(logw[i]), t = m[i] - mean;
            between += w * t * t, within += w * v[i], sum2 += w * w;
            error += w / (1 - w) * (w / (1 - w)) * t * t;
        }
        double sd = sqrt(between / (1 - sum2) + within), mcse = sqrt(error * (1 - 1.0 / N));
        for (size_t block = 7; block <= N; block += N - 7) {
            struct refined r = put(block, m, v, weighted ? logw : NULL);
            struct summary means, out = {.q = {1, 2, 3, 4, 5}};
            assert_true(refined_means(&r, N, &means));
            refined_apply(&r, &means, N, &out);
            near(out.mean, mean, 1e-12);
            near(out.sd, sd, 1e-12);
            near(out.mcse, mcse, 1e-12);
            near(out.ess, fmin(sd / mcse * (sd / mcse), 1 / sum2), 1e-8);
            assert_true(out.q[0] == 1 && out.q[4] == 5);
        }
        memset(flat, 0, sizeof flat); /* equal means: no Monte Carlo error */
        struct refined r = put(N, flat, v, logw);
        struct summary means, out = {0};
        assert_true(refined_means(&r, N, &means));
        refined_apply(&r, &means, N, &out);
        near(out.mcse, 0, 1e-15);
        near(out.ess, 1 / sum2, 1e-8);
    }
}

/* The summary of the draws is kept where a moment is infinite, unless its draw does not count. */
static void no_moments(void **state)
{
    (void)state;
    double m[N] = {0}, v[N] = {0}, logw[N] = {0};
    struct summary out;
    struct refined r;
    logw[3] = -INFINITY;
    weights_normalise(N, logw);
    m[3] = NAN;
    r = put(N, m, v, logw);
    assert_true(refined_means(&r, N, &out));
    v[4] = INFINITY;
    r = put(N, m, v, logw);
    assert_false(refined_means(&r, N, &out));
    for (int i = 1; i < N; i++) logw[i] = -INFINITY; /* one draw has all the weight */
    logw[0] = 0;
    r = put(N, m, v, logw);
    assert_false(refined_means(&r, N, &out));
}

/* ---- queries -------------------------------------------------------------------------------- */

static void must(int rc, const nami_err *err)
{
    if (rc) fail_msg("%s", err->msg);
}

static const double y[] = {1, 2, 0.6, 0.3, -0.2, 0.9};

static nami_data *data_of(void)
{
    nami_data *d;
    nami_err err;
    must(nami_data_new(&d, &err), &err);
    must(nami_data_set(d, 0, "y", 2, (size_t[]){2, 3}, y, &err), &err);
    return d;
}

/* s is learned, or constant, and all is exact. */
static nami_network *train(const char *prior_of_s, int steps)
{
    char text[512];
    nami_err err;
    nami_model *m;
    nami_network *net;
    nami_train_options o = {0};
    snprintf(text, sizeof text,
             "model { %s\n mu ~ normal(0, 1)\n for (j in 1:2) { theta[j] ~ normal(mu, s)\n"
             " for (i in 1:3) { y[j, i] ~ normal(theta[j], 1) } } }\nobserve y\n",
             prior_of_s);
    must(nami_model_parse(text, strlen(text), NULL, NULL, &m, &err), &err);
    o.steps = steps, o.threads = 1;
    must(nami_train(m, NULL, &o, &net, &err), &err);
    nami_model_free(m);
    return net;
}

static nami_posterior *ask(const nami_network *net, const char *method, int draws)
{
    nami_data *d = data_of();
    nami_posterior *p;
    nami_err err;
    must(nami_posterior_new(net, d, &(nami_query){.draws = draws, .method = method, .seed = 3}, &p,
                            &err),
         &err);
    must(nami_posterior_run(p, &err), &err);
    nami_data_free(d);
    return p;
}

static const char *const latents[] = {"mu", "theta[1]", "theta[2]"};

/* No network: the moments are those of the posterior, for any number of draws. */
static void exact(void **state)
{
    (void)state;
    nami_network *net = train("s <- 0.7", 1);
    nami_posterior *p = ask(net, NULL, 50);
    nami_data *d = data_of();
    nami_exact *e;
    nami_err err;
    must(nami_exact_new(nami_network_model(net), d, 0, NULL, &e, &err), &err);
    for (int k = 0; k < 3; k++) {
        nami_summary of;
        double mean, sd;
        must(nami_exact_moments(e, latents[k], &mean, &sd, &err), &err);
        must(nami_posterior_summary(p, 0, latents[k], &of, &err), &err);
        near(of.exact_mean, mean, 1e-12);
        near(of.exact_sd, sd, 1e-12);
        near(of.exact_mcse, 0, 1e-12);
    }
    nami_exact_free(e);
    nami_data_free(d);
    nami_posterior_free(p);
    nami_network_free(net);
}

/* By each method: means of the moments agree with those of many draws (error rate of a comparison,
   at 6 standard errors, below 1e-8), and have a smaller error. */
static void learned(void **state)
{
    (void)state;
    nami_network *net = train("s ~ half_normal(1)", 300);
    static const char *const methods[] = {"is", "adaptive", "smc", "mcmc", "direct"};
    nami_posterior *many = ask(net, "is", 400000);
    nami_err err;
    for (int j = 0; j < 5; j++) {
        nami_posterior *p = ask(net, methods[j], 2000);
        for (int k = 0; k < 3; k++) {
            nami_summary of, want;
            must(nami_posterior_summary(p, 0, latents[k], &of, &err), &err);
            must(nami_posterior_summary(many, 0, latents[k], &want, &err), &err);
            double bias = strcmp(methods[j], "direct") == 0 ? 0.1 * want.sd : 0; /* not weighted */
            near(of.exact_mean, want.mean, 6 * (of.exact_mcse + want.mcse) + bias);
            near(of.exact_sd, want.sd, 0.1 * want.sd);
            assert_true(of.exact_mcse > 0 && of.exact_mcse < 0.5 * of.sd / sqrt(2000));
            assert_true(of.q5 < of.exact_mean && of.exact_mean < of.q95);
        }
        nami_posterior_free(p);
    }
    nami_posterior_free(many);
    nami_network_free(net);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(formulas),
    cmocka_unit_test(no_moments),
    cmocka_unit_test(exact),
    cmocka_unit_test(learned),
};

RUN(tests)
