/* test_mcmc.c: R-hat and effective sample sizes are those of chains whose correlations are known;
   Markov chains need no network, agree with exact posteriors (1 to 101 dimensions, funnels, two
   modes), and say so when they do not cross between modes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "infer/chains.h"
#include "nami.h"
#include "run.h"

enum { CHAINS = 8, EACH = 1000, N = CHAINS * EACH };

/* AR(1) chains with correlation phi; chain k is shifted by k * shift. */
static struct chain_stats of_chains(double phi, double shift)
{
    double *x = malloc(sizeof *x * N);
    struct chain_stats s;
    nami_err err;
    assert_non_null(x);
    for (int k = 0; k < CHAINS; k++) {
        double z[EACH], at = 0;
        stream_normal(&(struct stream){7, (uint32_t)k, 0}, EACH, z);
        for (int i = 0; i < EACH; i++) {
            at = i ? phi * at + sqrt(1 - phi * phi) * z[i] : z[i];
            x[k * EACH + i] = at + k * shift;
        }
    }
    assert_int_equal(chain_stats(N, x, 1, CHAINS, &s, &err), 0);
    free(x);
    return s;
}

/* The effective size of the mean of an AR(1) chain is n (1 - phi) / (1 + phi); the seeds are fixed.
 */
static void sizes_are_those_of_known_chains(void **state)
{
    (void)state;
    for (double phi = -0.5; phi < 0.95; phi += 0.45) {
        struct chain_stats s = of_chains(phi, 0);
        double known = N * (1 - phi) / (1 + phi);
        assert_true(fabs(s.mean / known - 1) < 0.3 && fabs(s.bulk / known - 1) < 0.3);
        if (!(s.rhat < 1 + 20 / known && s.tail > 0.2 * fmin(known, N)))
            fail_msg("phi %g: R-hat %g, tail %g of %g", phi, s.rhat, s.tail, known);
    }
    assert_true(of_chains(0.3, 0.2).rhat > 1.05);
    assert_true(of_chains(0.3, 5).bulk < 20);
}

static void chains_that_do_not_move(void **state)
{
    double x[64] = {0};
    struct chain_stats s;
    nami_err err;
    (void)state;
    assert_int_equal(chain_stats(64, x, 1, 4, &s, &err), 0);
    assert_true(s.rhat == 1 && s.bulk == 64);
    for (int i = 0; i < 16; i++) x[i] = 1;
    assert_int_equal(chain_stats(64, x, 1, 4, &s, &err), 0);
    assert_true(s.rhat > 1.5);
    x[3] = NAN;
    assert_int_equal(chain_stats(64, x, 1, 4, &s, &err), 0);
    assert_true(isinf(s.rhat));
}

/* ---- posteriors ---------------------------------------------------------------------------- */

struct found {
    nami_verdict verdict;
    nami_summary first, second;
};

static struct found ask(const char *text, const char *data, const char *exact, const char *first,
                        const char *second)
{
    struct found f = {0};
    nami_data *d;
    nami_model *m;
    nami_network *net;
    nami_posterior *post;
    nami_err err;
    if (nami_data_new(&d, &err) || nami_data_parse(d, data, strlen(data), &err))
        fail_msg("%s", err.msg);
    if (nami_model_parse(text, strlen(text), "test", &(nami_model_options){.data = d}, &m, &err))
        fail_msg("%s", err.msg);
    if (nami_network_untrained(m, &(nami_options){.exact = exact}, &net, &err) ||
        nami_posterior_new(net, d, NULL, &post, &err) || nami_posterior_run(post, &err) ||
        nami_posterior_verdict(post, 0, &f.verdict, &err) ||
        nami_posterior_summary(post, 0, first, &f.first, &err) ||
        nami_posterior_summary(post, 0, second, &f.second, &err))
        fail_msg("%s", err.msg);
    nami_posterior_free(post);
    nami_network_free(net);
    nami_model_free(m);
    nami_data_free(d);
    return f;
}

/* Priors of sd 1000 and gamma(0.001, 0.001): the posterior of mu is a t distribution with 4 degrees
   of freedom around the mean of the data, to within 1e-3; that of 1/s2 is a gamma distribution. */
static void vague_priors(void **state)
{
    (void)state;
    struct found f = ask("model { mu ~ dnorm(0, 1.0E-6); tau ~ dgamma(0.001, 0.001)\n"
                         "for (i in 1:5) { y[i] ~ dnorm(mu, tau) } }",
                         "{\"y\": [1001.0, 1003.0, 1002.0, 1004.0, 1005.0]}", "none", "mu", "tau");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    assert_true(fabs(f.first.mean - 1003) < 0.12 && fabs(f.first.q50 - 1003) < 0.12);
    assert_true(fabs(f.second.mean - 0.4) < 0.05); /* 2.001 / 5.001, sd 0.28 */
}

/* Two modes, 40 apart: chains stay in theirs. */
static void modes_that_chains_do_not_cross(void **state)
{
    (void)state;
    struct found f = ask("model { m ~ dnorm(0, 0.0001); y ~ dnorm(m * m, 1) }", "{\"y\": 400}",
                         "none", "m", "m");
    assert_int_equal(f.verdict.verdict, NAMI_NOT_TRUSTED);
}

/* Ten correlated coordinates with scales from 1 to 10^4. */
static void scales_and_correlations(void **state)
{
    (void)state;
    struct found f = ask("model { for (i in 1:10) { z[i] ~ dnorm(0, pow(10, -0.8 * (i - 1)))\n"
                         "y[i] ~ dnorm(z[i] + sum(z[]) / 10, pow(10, -0.8 * (i - 1))) } }",
                         "{\"y\": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}", "none", "z[1]", "z[10]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    assert_true(fabs(f.first.mean) < 0.2 * f.first.sd && fabs(f.second.mean) < 0.2 * f.second.sd);
}

/* A mean within 6 standard errors, an sd within 15 %. */
static void is_near(const nami_summary *x, double mean, double sd)
{
    double error = 6 * sd / sqrt(x->ess) + 1e-9;
    if (!(fabs(x->mean - mean) < error && fabs(x->sd / sd - 1) < 0.15))
        fail_msg("mean %g, sd %g (%g effective draws), not %g and %g", x->mean, x->sd, x->ess, mean,
                 sd);
}

/* Random walks of 2, 8 and 32 steps, observed only at the end: z[t] ~ N(0, t), so that given y the
   last has mean n y / (n + 1) and the first y / (n + 1), with known variances. */
static void correlated_normals(void **state)
{
    (void)state;
    for (int n = 2; n <= 32; n *= 4) {
        char text[400], last[16];
        snprintf(last, sizeof last, "z[%d]", n);
        snprintf(text, sizeof text,
                 "model { z[1] ~ dnorm(0, 1)\nfor (t in 2:%d) { z[t] ~ dnorm(z[t-1], 1) }\n"
                 "y ~ dnorm(z[%d], 1) }",
                 n, n);
        struct found f = ask(text, "{\"y\": 3}", "none", "z[1]", last);
        assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
        is_near(&f.first, 3.0 / (n + 1), sqrt(1 - 1.0 / (n + 1)));
        is_near(&f.second, 3.0 * n / (n + 1), sqrt(n / (n + 1.0)));
    }
}

/* 101 coordinates whose posterior sds are from 0.7 to 0.01. */
static void many_normals(void **state)
{
    char ones[300] = "{\"y\": [1";
    (void)state;
    for (int i = 1; i < 101; i++) strcat(ones, ",1");
    strcat(ones, "]}");
    struct found f = ask("model { for (i in 1:101) { z[i] ~ dnorm(0, 1)\n"
                         "y[i] ~ dnorm(z[i], pow(10, 0.04 * (i - 1))) } }",
                         ones, "none", "z[1]", "z[101]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    is_near(&f.first, 0.5, sqrt(0.5));
    is_near(&f.second, 1e4 / (1e4 + 1), 1 / sqrt(1e4 + 1));
}

/* The log scale of effects of which data say nothing keeps its prior.  Trajectories diverge in the
   neck of a funnel; those in noncentered coordinates bring the chains there. */
static void funnels(void **state)
{
    (void)state;
    struct found f = ask("model { v ~ dnorm(0, 0.25)\nfor (i in 1:5) { x[i] ~ dnorm(0, exp(-v)) }\n"
                         "y ~ dnorm(0.0001 * sum(x[]), 0.0001) }",
                         "{\"y\": 3}", "none", "v", "v");
    assert_int_not_equal(f.verdict.verdict, NAMI_NOT_TRUSTED);
    is_near(&f.first, 0, 2);
    f = ask("model { s ~ dunif(1, 10); m ~ normal(0, 1)\nfor (i in 1:5) { x[i] ~ normal(m, s) }\n"
            "y ~ dnorm(0.0001 * sum(x[]), 0.0001) }",
            "{\"y\": 3}", "none", "s", "m");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    is_near(&f.first, 5.5, 9 / sqrt(12));
    is_near(&f.second, 0, 1);
    f = ask("model { s ~ dunif(1, 10); x[1] ~ normal(0, 1)\n" /* a walk is centered */
            "for (i in 2:4) { x[i] ~ normal(x[i-1], s) }\n"
            "y ~ dnorm(0.0001 * sum(x[]), 0.0001) }",
            "{\"y\": 3}", "none", "s", "x[1]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    is_near(&f.first, 5.5, 9 / sqrt(12));
    is_near(&f.second, 0, 1);
}

/* Two modes that chains cross: y ~ N(m^2, 1), by sums over a grid. */
static void modes_that_chains_cross(void **state)
{
    double sum = 0, square = 0;
    (void)state;
    for (double m = -8; m <= 8; m += 0.001) {
        double w = exp(-m * m / 8 - (2 - m * m) * (2 - m * m) / 2);
        sum += w, square += w * m * m;
    }
    struct found f =
        ask("model { m ~ dnorm(0, 0.25); y ~ dnorm(m * m, 1) }", "{\"y\": 2}", "none", "m", "m");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    is_near(&f.first, 0, sqrt(square / sum));
}

/* Components that may change places: each has the marginal of any, and chains agree. */
static void exchangeable_labels(void **state)
{
    (void)state;
    struct found f = ask("model { w ~ ddirch(one[])\nfor (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }\n"
                         "for (i in 1:8) { z[i] ~ dcat(w[]); y[i] ~ dnorm(mu[z[i]], 4) } }",
                         "{\"one\": [1, 1], \"y\": [-3.1, -2.9, -3.2, -2.8, 3.1, 2.9, 3.2, 2.8]}",
                         "closed", "mu[1]", "mu[2]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    is_near(&f.first, 0, 2.98); /* 3 * 16 / 16.1: in either place */
    is_near(&f.second, 0, 2.98);
    f = ask("model { for (k in 1:2) { A[k,1:2] ~ ddirch(one[]); mu[k] ~ dnorm(0, 0.1) }\n"
            "z[1] ~ dcat(one[] / 2); y[1] ~ dnorm(mu[z[1]], 4)\n"
            "for (i in 2:8) { z[i] ~ dcat(A[z[i-1],]); y[i] ~ dnorm(mu[z[i]], 4) } }",
            "{\"one\": [1, 1], \"y\": [-3.1, -2.9, -3.2, -2.8, 3.1, 2.9, 3.2, 2.8]}", "closed",
            "mu[1]", "A[1,1]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    is_near(&f.first, 0, 2.98);
}

/* Random effects whose mean and scale have effects as children that stay: the chains draw all of
   them, and none is stuck where the scale is 0.  An array that is constant in part, and a sum over
   the rest, has moments of the rest alone. */
static void latents_that_stay_have_their_parents(void **state)
{
    (void)state;
    struct found f = ask("model { for (i in 1:5) { r[i] ~ dbin(p[i], 20); logit(p[i]) <- b[i]\n"
                         "b[i] ~ dnorm(d, 1 / (s * s)) }\n d ~ dnorm(0, 1); s ~ dunif(0, 2) }",
                         "{\"r\": [10, 10, 10, 10, 10]}", "auto", "d", "b[1]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    assert_true(fabs(f.first.mean) < 0.1 && fabs(f.second.mean) < 0.1);
    assert_true(f.first.sd > 0.15 && f.first.sd < 0.5 && f.second.sd > 0.15 && f.second.sd < 0.5);
    f = ask("model { q ~ dunif(0, 1); z[1] <- 1\n"
            "for (t in 2:4) { z[t] ~ dbern(z[t-1] * q); y[t] ~ dnorm(z[t], 4) } }",
            "{\"y\": [null, 1, 1, 0]}", "auto", "q", "z[4]");
    assert_int_equal(f.verdict.verdict, NAMI_TRUSTED);
    assert_true(f.second.mean > 0 && f.second.mean < 0.5);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_are_those_of_known_chains),
    cmocka_unit_test(chains_that_do_not_move),
    cmocka_unit_test(vague_priors),
    cmocka_unit_test(modes_that_chains_do_not_cross),
    cmocka_unit_test(scales_and_correlations),
    cmocka_unit_test(correlated_normals),
    cmocka_unit_test(many_normals),
    cmocka_unit_test(funnels),
    cmocka_unit_test(modes_that_chains_cross),
    cmocka_unit_test(exchangeable_labels),
    cmocka_unit_test(latents_that_stay_have_their_parents),
};

RUN(tests)
